"""Seals: whatever else changed a SQLite file is noticed, and nothing that vademecum or a copy does is taken for it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from vademecum.errors import StoreCorruptError
from vademecum.storage.sqlite import SqliteStore
from vademecum.storage.sqlite_file import EMPTY_SECONDS

ROWS = [(f"name{n}", "x" * 100) for n in range(400)]


@pytest.fixture
def path(tmp_path):
    """A sealed file of a few pages."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path, durable=True)) as store:
        store.upsert("meta", ROWS).unwrap()
    assert path.with_name("memory.db.seal").exists()
    return path


def rows(path, **options):
    with closing(SqliteStore(path, **options)) as store:
        return len(store.scan("meta").unwrap())


@pytest.mark.parametrize("damage", ["a letter", "cut", "emptied", "older"])
def test_what_something_else_changed_is_refused_and_left(path, damage):
    """Damage that SQLite would read as data, and an old copy, are named with the file and what to do."""
    content = path.read_bytes()
    if damage == "older":
        with closing(SqliteStore(path)) as store:
            store.upsert("meta", [("later", "1")]).unwrap()
    changed = {"a letter": content.replace(b"xx", b"xy", 1), "cut": content[:8192], "emptied": b"", "older": content}[
        damage
    ]
    path.write_bytes(changed)
    with pytest.raises(
        StoreCorruptError, match=r"memory\.db (was changed by something else.*delete memory\.db\.seal|is damaged)"
    ):
        rows(path)
    assert path.read_bytes() == changed


def test_what_can_be_made_again_is_set_aside_with_its_seal(path):
    """Nothing of it counts for the file that is begun anew."""
    path.write_bytes(path.read_bytes().replace(b"xx", b"xy", 1))
    assert rows(path, set_aside=True) == 0
    assert path.with_name("memory.db.damaged").exists()
    assert rows(path) == 0


def test_a_copy_of_both_files_is_as_good(path, tmp_path):
    """Times and numbers of files differ, and the content is what was sealed."""
    (tmp_path / "elsewhere").mkdir()
    for file in (path, path.with_name("memory.db.seal")):
        shutil.copyfile(file, tmp_path / "elsewhere" / file.name)
    copied = tmp_path / "elsewhere" / "memory.db"
    assert rows(copied) == len(ROWS)
    stamp, total = json.loads(copied.with_name("memory.db.seal").read_bytes())
    assert stamp[3] == copied.stat().st_ino, "it is read again at each opening"
    assert total == json.loads(path.with_name("memory.db.seal").read_bytes())[1]


def test_a_copy_alone_is_taken_once_its_seal_is_gone(path):
    """The way that the refusal names."""
    before = path.read_bytes()
    with closing(SqliteStore(path)) as store:
        store.upsert("meta", [("later", "1")]).unwrap()
    path.write_bytes(before)
    path.with_name("memory.db.seal").unlink()
    assert rows(path) == len(ROWS)


def test_a_file_that_was_deleted_is_begun_anew(path):
    """To delete it is to want that."""
    path.unlink()
    assert rows(path) == 0


def test_a_file_that_has_long_been_empty_was_emptied(tmp_path):
    """Without a seal as well; one that is just being made is left alone."""
    path = tmp_path / "memory.db"
    path.touch()
    assert rows(path) == 0
    path.write_bytes(b"")
    path.with_name("memory.db.seal").unlink(missing_ok=True)
    os.utime(path, (1e9, path.stat().st_mtime - 2 * EMPTY_SECONDS))
    with pytest.raises(StoreCorruptError, match=r"memory\.db is empty: delete it to begin anew"):
        SqliteStore(path)


def test_whoever_writes_takes_the_seal_first(path):
    """While a process writes, or after one was killed, no seal says anything; reading leaves it."""
    seal = path.with_name("memory.db.seal")
    with closing(SqliteStore(path)) as reader:
        assert reader.count("meta").unwrap()
        with closing(SqliteStore(path)) as writer:
            assert seal.exists()
            writer.upsert("meta", [("a", "1")]).unwrap()
            assert not seal.exists()
        assert not seal.exists(), "another connection of this process is open"
    assert seal.exists()


def test_a_killed_writer_leaves_no_seal_and_loses_nothing(path):
    """What it wrote to the log is there, and who reads the file next seals it."""
    code = (
        "import os, sys; from vademecum.storage.sqlite import SqliteStore; s = SqliteStore(sys.argv[1], durable=True);"
        "s.upsert('meta', [('killed', '1')]).unwrap(); os._exit(1)"
    )
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(path)], env=environ, check=False, timeout=60)
    seal = path.with_name("memory.db.seal")
    assert not seal.exists()
    assert rows(path) == len(ROWS) + 1
    assert rows(path) == len(ROWS) + 1, "the first one found what was logged"
    assert seal.exists()


def test_a_reader_seals_nothing_that_another_may_write_to(path):
    """A log that is not empty is the writer's."""
    with closing(SqliteStore(path)) as writer:
        writer.upsert("meta", [("a", "1")]).unwrap()
        code = "import sys; from vademecum.storage.sqlite import SqliteStore; SqliteStore(sys.argv[1]).close()"
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", code, str(path)], env=environ, check=True, timeout=60)
        assert path.with_name("memory.db-wal").stat().st_size
        assert not path.with_name("memory.db.seal").exists()


def together(path, count, **options):
    """What threads that open a file at once get: a store or an error each."""
    start = threading.Barrier(count)

    def opened(_):
        start.wait(60)
        try:
            return SqliteStore(path, **options)
        except StoreCorruptError as error:
            return error

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(opened, range(count)))


def test_all_that_open_a_damaged_file_at_once_are_refused(path):
    """Not the first alone; and nobody's writing seals the damage as good."""
    path.write_bytes(path.read_bytes().replace(b"xx", b"xy", 1))
    for _ in range(50):
        assert [type(found) for found in together(path, 4, durable=True)] == [StoreCorruptError] * 4


@pytest.mark.parametrize("damage", ["a letter", "garbage"])
def test_what_was_made_anew_is_not_set_aside_by_who_comes_second(tmp_path, damage):
    """Whoever meets the damage goes on with the one new file: what was written to it stays."""
    for number in range(50):
        path = tmp_path / str(number) / "index.db"
        with closing(SqliteStore(path)) as store:
            store.upsert("meta", ROWS).unwrap()
        if damage == "a letter":
            path.write_bytes(path.read_bytes().replace(b"xx", b"xy", 1))
        else:  # that SQLite notices itself
            path.write_bytes(b"garbage " * 999)
            path.with_name("index.db.seal").unlink()
        stores = together(path, 4, set_aside=True)
        for n, store in enumerate(stores):
            store.upsert("meta", [(str(n), "1")]).unwrap()
        for store in stores:
            store.close()
        assert len([store for store in stores if store.aside]) == 1
        assert rows(path) == len(stores)


CHILD = """
import sys
from vademecum.storage.sqlite import SqliteStore
for n in range(40):
    store = SqliteStore(sys.argv[1], durable=n % 2 == 0)
    store.upsert("meta", [(f"{sys.argv[2]}-{n}", "1")]).unwrap()
    assert store.count("meta").unwrap()
    store.close()
"""


def test_many_that_open_write_and_close_at_once_never_take_each_other_for_damage(path):
    """Processes and threads, each sealing what it leaves."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    several = [subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(n)], env=environ) for n in range(3)]

    def write(of):
        for n in range(20):
            with closing(SqliteStore(path)) as store:
                store.upsert("meta", [(f"{of}:{n}", "1")]).unwrap()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(write, "abc"))
    assert [child.wait(120) for child in several] == [0, 0, 0]
    assert rows(path) == len(ROWS) + 3 * 40 + 3 * 20
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
