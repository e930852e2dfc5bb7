"""Data that other users of the machine cannot read."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from vademecum.storage.sqlite import SqliteStore

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
COMMANDS = (
    ("index",),
    ("search", "add"),
    ("context", "add two numbers", "--session", "mine"),
    ("memory", "record", "I prefer tabs"),
    ("memory", "record", "--global", "I prefer tabs"),
    ("memory", "recall", "tabs"),
    ("memory", "consolidate"),
    ("tools", "observe", "traces.jsonl"),
    ("callers", "add"),
)
TRACE = (
    '{"session": "s", "intent": "send a letter", "calls": [{"tool": "post/send", "success": true}], "success": true}\n'
)


@pytest.fixture
def tree(tmp_path):
    """A repository, in a home directory of its own."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def add(one, other):\n    return one + other\n\n\nadd(1, 2)\n")
    (root / "traces.jsonl").write_text(TRACE)
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    return root


def _run(tree: Path, *command: str, **places: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VADE_", "XDG_"))}
    environ = {**kept, "HOME": str(tree.parent / "user"), **places}
    done = subprocess.run(
        [sys.executable, "-m", "vademecum", *command],
        cwd=tree, env=environ, umask=0o022, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr


def _open_to_others(home: Path) -> list[str]:
    return [str(path) for path in (home, *home.rglob("*")) if path.stat().st_mode & 0o077]


def _names(home: Path) -> set[str]:
    return {path.name for path in home.rglob("*")}


def test_no_command_leaves_anything_readable_by_others(tree, tmp_path):
    """Every file is 0600 and every folder 0700, those above the data folder that were missing too."""
    for command in COMMANDS:
        _run(tree, *command, VADE_HOME=str(tmp_path / "deep" / "data"))
    home = tmp_path / "deep" / "data"
    assert {"memory.db", "user.db", "index.db", "index.lock", "sessions"} <= _names(home)
    assert _open_to_others(tmp_path / "deep") == []


def test_the_usual_folder_and_its_databases_are_mended(tree, tmp_path):
    """A home that an older version left readable is closed when the next command opens it."""
    _run(tree, "memory", "record", "--global", "I prefer tabs", XDG_DATA_HOME=str(tmp_path / "share"))
    home = tmp_path / "share" / "vademecum"
    home.chmod(0o755)
    (home / "memory.db").chmod(0o644)
    _run(tree, "memory", "recall", "tabs", XDG_DATA_HOME=str(tmp_path / "share"))
    assert _open_to_others(home) == []


def test_a_folder_that_was_given_keeps_its_mode(tree, tmp_path):
    """A folder that somebody named and made is theirs; the databases in it are closed all the same."""
    given = tmp_path / "given"
    given.mkdir(mode=0o755)
    given.chmod(0o755)
    _run(tree, "memory", "record", "--global", "I prefer tabs", VADE_HOME=str(given))
    (given / "memory.db").chmod(0o644)
    _run(tree, "memory", "recall", "tabs", VADE_HOME=str(given))
    assert given.stat().st_mode & 0o777 == 0o755
    assert [path for path in _open_to_others(given) if path.endswith(".db")] == []


def test_what_stands_beside_an_open_database_is_closed_too(tmp_path):
    """The log and its index have the database's mode while it is written."""
    with closing(SqliteStore(tmp_path / "data" / "index.db")):
        assert {"index.db-wal", "index.db-shm"} <= _names(tmp_path / "data")
        assert _open_to_others(tmp_path / "data") == []
