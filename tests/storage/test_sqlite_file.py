"""A SQLite file where nothing can be written: what is there is read, and what would be written says why not."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from vademecum.errors import StoreError, StoreFullError
from vademecum.result import Ok
from vademecum.storage.sqlite import MIGRATIONS, SqliteStore
from vademecum.storage.sqlite_file import opened_to_read, set_aside

FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
from vademecum.storage.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
assert store.scan("meta").unwrap() == [("a", "1")]
said = store.upsert("meta", [("b", "2")])
sys.stdout.write(type(said.error).__name__) if hasattr(said, "error") else None
resource.setrlimit(resource.RLIMIT_FSIZE, before)
store.upsert("meta", [("b", "2")]).unwrap()
assert store.scan("meta").unwrap() == [("a", "1"), ("b", "2")]
"""


@pytest.fixture
def path(tmp_path):
    """A closed database with one row."""
    found = tmp_path / "s p?ce#.db"
    with closing(SqliteStore(found)) as store:
        store.upsert("meta", [("a", "1")]).unwrap()
    return found


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="a POSIX limit")
def test_a_full_disk_is_read_and_written_again_once_there_is_room(path):
    """Where no byte can be written a file is opened to be read; a write says why not, and succeeds when there is room."""
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", StoreFullError.__name__)


def test_a_full_disk_makes_no_database(tmp_path):
    """Where there is none to be read, the error is the one that writing met, and no empty file is left to be refused later."""
    code = FULL.partition("store = ")[0] + "SqliteStore(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "x.db"], capture_output=True, text=True, check=False)
    assert "StoreFullError" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_another_version_wrote_is_not_read(path):
    """A file that needs a migration cannot be read before it had one."""
    with closing(opened_to_read(path, 1.0, len(MIGRATIONS))) as db:
        assert db.execute("SELECT * FROM meta").fetchall() == [("a", "1")]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            db.execute("DELETE FROM meta")
    assert opened_to_read(path, 1.0, len(MIGRATIONS) + 1) is None
    assert opened_to_read(path.with_name("none.db"), 1.0, len(MIGRATIONS)) is None


def test_what_was_set_aside_is_never_overwritten(path):
    """Each damaged file has a name of its own, and the store says which it was."""
    path.write_bytes(b"first " * 1000)
    with closing(SqliteStore(path, set_aside=True)) as store:
        assert store.aside == f"{path}.damaged"
    path.write_bytes(b"second " * 1000)
    with closing(SqliteStore(path, set_aside=True)) as store:
        assert (store.aside, store.scan("meta")) == (f"{path}.damaged-2", Ok([]))
        store.start_over()
        assert store.aside == f"{path}.damaged-3"
    assert path.with_name(f"{path.name}.damaged").read_bytes().startswith(b"first")
    assert path.with_name(f"{path.name}.damaged-2").read_bytes().startswith(b"second")
    path.write_bytes(b"x")
    assert set_aside(path).name.endswith(".damaged-4")


def test_a_closed_database_is_said_to_be_closed(path):
    """In words of the engine, not of the database."""
    store = SqliteStore(path)
    store.close()
    with pytest.raises(StoreError, match="is closed: open the engine again"):
        store.scan("meta").unwrap()
