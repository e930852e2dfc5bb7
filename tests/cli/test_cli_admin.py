"""`vade status`, `doctor`, `gc` and `config`."""

from __future__ import annotations

import json


def test_status_shows_what_is_indexed(vade):
    vade("index")
    done = vade("status")
    assert done.code == 0
    assert done.out.startswith("handbook\n  root       ")
    assert "python 2" in done.out
    status = json.loads(vade("status", "--json").out)[0]
    assert (status["repo"], status["files"], status["fresh"]) == ("handbook", 3, True)


def test_status_works_before_anything_is_indexed(vade):
    assert vade("status").code == 0


def test_doctor_finds_a_healthy_house(vade):
    vade("index")
    done = vade("doctor")
    assert done.code == 0
    assert all(line.startswith("ok") for line in done.out.splitlines())
    assert all(check["ok"] for check in json.loads(vade("doctor", "--json").out))


def test_doctor_looks_at_memory(vade, tmp_path):
    """Where something was recorded; a damaged database is named, with what to do, and left as it is."""
    assert "memory, " not in vade("doctor").out
    vade("memory", "record", "We use pnpm because the lock file merges cleanly")
    assert "memory, repository" in vade("doctor").out
    for name in ("", "-wal", "-shm"):
        for path in tmp_path.rglob(f"memory.db{name}"):
            path.write_bytes(b"no database at all" * 100)
    done = vade("doctor")
    assert done.code == 3
    assert "WRONG" in done.out
    assert "vade memory import" in done.out


def test_doctor_mentions_settings_that_are_not_read(vade, repository):
    (repository / ".coderag.yaml").write_text("search: {vectorWeight: 0.7}\n")
    assert "note: search.vectorWeight" in vade("doctor").out


def test_gc_says_what_it_dropped(vade):
    vade("index")
    assert vade("gc").out.startswith("dropped ")
    assert set(json.loads(vade("gc", "--json").out)) == {"blobs", "chunks", "bytes", "note"}


def test_config_shows_each_value_and_where_it_comes_from(vade, repository, monkeypatch):
    (repository / ".vade.toml").write_text("[search]\nk = 3\n")
    monkeypatch.setenv("VADE_INDEX__WORKERS", "2")
    shown = json.loads(vade("config", "show", "--json").out)
    assert shown["search.k"] == {"value": 3, "origin": str(repository / ".vade.toml")}
    assert shown["index.workers"] == {"value": 2, "origin": "VADE_INDEX__WORKERS"}
    assert shown["search.ranker"]["origin"] == "default"
    text = vade("config").out.splitlines()
    assert ["search.k", "3", "#", str(repository / ".vade.toml")] in [line.split() for line in text]
    assert text[-1].startswith("data is in ")


def test_one_setting_can_be_shown_and_a_name_that_is_none_is_refused(vade):
    """What is neither a directory nor a setting is told what was probably meant."""
    one = vade("config", "show", "search.k")
    assert (one.code, one.out.split()[0], one.out.count("\n")) == (0, "search.k", 1)
    for args, said in ((("serch.k",), "did you mean 'search.k'?"), (("nope",), "lists them all")):
        done = vade("config", "show", *args)
        assert (done.code, done.out) == (2, "")
        assert said in done.err


def test_the_json_of_status_fits_a_screen(vade, repository):
    """Skipped files are counted by reason, with a few examples; `-v` lists all."""
    for number in range(40):
        (repository / f"p{number}.png").write_bytes(b"\x89PNG\0")
    (repository / "key.pem").write_text("secret")
    vade("index")
    [told] = json.loads(vade("status", "--json").out)
    assert told["skipped"]["count"] == 41
    assert sum(told["skipped"]["reasons"].values()) == 41
    assert len(told["skipped"]["reasons"]) == 2
    assert len(told["skipped"]["examples"]) == 5
    [told] = json.loads(vade("status", "--json", "-v").out)
    assert len(told["skipped"]["files"]) == 41
