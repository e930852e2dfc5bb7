"""Indexes on this machine: listed with size, age and place, and deleted without touching what was remembered."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest


@pytest.fixture
def second(tmp_path, vade, repository):
    """Two indexed repositories; the second has a memory."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.py").write_text("def b(): ...\n")
    subprocess.run(["git", "init", "-q", "."], cwd=other, check=True)
    assert vade("index").code == 0
    assert vade("index", str(other)).code == 0
    return other


def _listed(vade):
    return {each["name"]: each for each in json.loads(vade("repos", "--json").out)}


def test_nothing_is_listed_where_nothing_is_indexed(vade):
    """No home directory is made for being asked."""
    done = vade("repos")
    assert (done.code, done.out) == (0, "0 indexes, 0 bytes\n")


def test_indexes_are_listed_with_size_age_and_place(vade, repository, second):
    """The one used last first; a checkout that is gone is said to be."""
    told = _listed(vade)
    assert list(told) == ["other", "handbook"]
    assert told["handbook"]["paths"] == [str(repository)]
    assert told["handbook"]["bytes"] > 1000
    assert told["handbook"]["indexed_at"] > 0
    shutil.rmtree(second)
    lines = vade("repos").out.splitlines()
    assert lines[0].startswith("other")
    assert lines[0].endswith(f"just now  {second} (gone)")
    assert lines[2].startswith("2 indexes, ")


@pytest.mark.parametrize("by", ["name", "path", "gone"])
def test_an_index_is_deleted_by_name_or_path(vade, repository, second, tmp_path, by):
    """Its files are gone and others stay, as do the repository's own."""
    folder = _listed(vade)["other"]["folder"]
    if by == "gone":
        shutil.rmtree(second)
    done = vade("repos", "remove", "other" if by == "name" else str(second), "--yes")
    assert done.code == 0
    assert done.out.startswith("deleted the index of other (")
    assert list(_listed(vade)) == ["handbook"]
    assert not (tmp_path / "data" / "repos" / folder).exists()
    assert by == "gone" or (second / "b.py").exists()
    assert vade("search", "split the token budget").code == 0


def test_what_was_remembered_is_kept_unless_asked_for(vade, repository):
    """It is said to be kept; `--memory` deletes it."""
    vade("index")
    vade("memory", "remember", "We use pnpm because the lock file merges cleanly")
    done = vade("repos", "remove", "handbook", "--yes")
    assert "its memory is kept (" in done.out
    assert "--memory deletes it too" in done.out
    left = _listed(vade)["handbook"]
    assert (left["bytes"], left["paths"]) == (0, [])
    assert left["memory_bytes"] > 0
    assert "memory " in vade("repos").out
    assert vade("memory", "recall", "pnpm").code == 0
    done = vade("repos", "remove", "handbook", "--yes", "--memory")
    assert ", and its memory (" in done.out
    assert _listed(vade) == {}
    assert vade("memory", "recall", "pnpm").code == 1


def test_nothing_is_deleted_without_agreement(vade, second):
    """Without a terminal and `--yes` it is refused with exit code 2, as is a name that is none."""
    done = vade("repos", "remove", "other")
    assert done.code == 2
    assert done.err.startswith("vade: nothing was deleted of the index of other (")
    assert vade("repos", "remove", "nothing", "--yes").code == 2
    assert "other" in _listed(vade)


def test_a_name_of_two_indexes_is_refused(vade, tmp_path, second):
    """Which one is meant is not guessed."""
    twin = tmp_path / "elsewhere" / "other"
    shutil.copytree(second, twin)
    vade("index", str(twin))
    done = vade("repos", "remove", "other", "--yes")
    assert done.code == 2
    assert "2 indexes are called 'other'" in done.err
    assert vade("repos", "remove", str(twin), "--yes").code == 0
    assert list(_listed(vade)) == ["other", "handbook"]
