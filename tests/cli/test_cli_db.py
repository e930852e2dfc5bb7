"""`vade db`: upgrade, downgrade, check and copies, as one types them."""

from __future__ import annotations

import json

import pytest

from vademecum.storage.postgres.store import PostgresStore


@pytest.fixture
def named(repository, monkeypatch, empty_database):
    """A repository whose user has set the address of an empty database, and nothing more."""
    monkeypatch.setenv("VADE_STORAGE__URL", empty_database)
    return empty_database


def test_a_database_is_set_up_used_and_taken_down(vade, named, monkeypatch):
    """From nothing to a search, and back to nothing; what is missing is said at every step."""
    monkeypatch.setenv("VADE_STORAGE__PROVIDER", "postgres")
    assert "run `vade db upgrade`" in vade("search", "token budget").err
    assert vade("db", "check").code == 3
    done = vade("db", "upgrade")
    assert (done.code, "empty → " in done.out) == (0, True)
    assert vade("db", "upgrade").code == 0
    assert "src/budget.py:" in vade("search", "split the token budget").out
    assert vade("memory", "record", "We decided to keep data in PostgreSQL.").code == 0
    assert "PostgreSQL" in vade("memory", "recall", "where is data kept").out
    assert vade("status").out.count("postgresql://") == 1
    checks = json.loads(vade("db", "check", "--json").out)
    assert all(check["ok"] for check in checks)
    assert vade("doctor").code == 0
    assert vade("db", "downgrade", "base").code == 0
    assert vade("db", "downgrade", "nowhere").code == 2
    assert "run `vade db upgrade`" in vade("search", "token budget").err


def test_without_an_address_it_says_what_to_set(vade, repository):
    """The setting and an example, and no provider that nobody chose."""
    done = vade("db", "check")
    assert done.code == 2
    assert "VADE_STORAGE__URL" in done.err
    assert "storage.provider is" not in done.err


def test_an_address_is_never_shown(vade, named):
    """It may hold a password."""
    assert named not in vade("config", "show").out
    assert '"storage.url"' in vade("config", "show", "--json").out


def test_everything_is_copied_into_a_database_and_back(vade, named, monkeypatch, tmp_path):
    """Code, memory and tools answer the same from there, and from files again; a second copy writes nothing."""
    vade("index")
    vade("memory", "record", "We decided to use tabs.")
    vade("db", "upgrade")
    before = vade("search", "split the token budget", "--json").out, vade("memory", "recall", "tabs", "--json").out
    copied = json.loads(vade("db", "copy", "--to", "postgres", "--json").out)
    assert {each["what"] for each in copied} >= {"index.db", "memory.db"}
    assert all(len(each["digest"]) == 16 for each in copied)
    assert sum(each["rows"] for each in copied) > 20
    again = json.loads(vade("db", "copy", "--to", "postgres", "--json").out)
    assert [each["digest"] for each in again] == [each["digest"] for each in copied]
    assert all(", 0 written now" in each["said"] for each in again)
    monkeypatch.setenv("VADE_STORAGE__PROVIDER", "postgres")
    after = vade("search", "split the token budget", "--json").out, vade("memory", "recall", "tabs", "--json").out
    assert after == before
    for path in [*(tmp_path / "data").rglob("*.db*"), *(tmp_path / "data").rglob("*.safetensors")]:
        path.unlink()
    assert vade("db", "copy", "--to", "sqlite").code == 0
    monkeypatch.setenv("VADE_STORAGE__PROVIDER", "sqlite")
    back = vade("search", "split the token budget", "--json").out, vade("memory", "recall", "tabs", "--json").out
    assert back == before


def test_a_copy_that_was_broken_off_goes_on(vade, named, tmp_path):
    """What is there and the same is left, what is missing or different is written."""
    vade("index")
    vade("db", "upgrade")
    vade("db", "copy", "--to", "postgres")
    [space] = PostgresStore.spaces(named, "code:")
    store = PostgresStore(named, space)
    chunks = store.scan("chunks").unwrap()
    store.delete("chunks", [("blob", "=", 1)]).unwrap()
    store.upsert("files", [(*row[:3], 0, *row[4:]) for row in store.scan("files").unwrap()]).unwrap()
    [code] = [
        each for each in json.loads(vade("db", "copy", "--to", "postgres", "--json").out) if each["what"] == "index.db"
    ]
    assert ", 0 written" not in code["said"]
    assert sorted(store.scan("chunks").unwrap()) == sorted(chunks)


def test_a_copy_never_mixes_two_indexes(vade, named):
    """A database that holds other contents under the same numbers is refused."""
    vade("index")
    vade("db", "upgrade")
    vade("db", "copy", "--to", "postgres")
    [space] = PostgresStore.spaces(named, "code:")
    PostgresStore(named, space).upsert("blobs", [(999, "h", "python", b"", "", 0)]).unwrap()
    done = vade("db", "copy", "--to", "postgres")
    assert done.code == 3
    assert "are no copies" in done.err


def test_a_search_of_the_whole_database(vade, repository, database, monkeypatch):
    """`--scope shared` names repositories, and says what it needs where there is no database."""
    assert "needs a shared database" in vade("search", "token budget", "--scope", "shared").err
    monkeypatch.setenv("VADE_STORAGE__URL", database)
    monkeypatch.setenv("VADE_STORAGE__PROVIDER", "postgres")
    vade("index")
    done = vade("search", "split the token budget", "--scope", "shared")
    assert done.code == 0
    assert "handbook/src/budget.py" in done.out or "handbook:src/budget.py" in done.out
    assert vade("search", "zebra crossing", "--scope", "shared").code == 1
