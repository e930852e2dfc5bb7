"""The SQLite store: what it says when the file is busy, full, damaged or from the future."""

from __future__ import annotations

import re
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from vademecum.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError, StoreVersionError
from vademecum.result import Err, Ok
from vademecum.storage.sqlite import FAMILIES, MIGRATIONS, SqliteStore


@pytest.fixture
def path(tmp_path):
    """A database with one row."""
    path = tmp_path / "deep" / "index.db"
    with closing(SqliteStore(path)) as store:
        store.upsert("meta", [("a", "1")]).unwrap()
    return path


def test_what_was_written_is_there_for_the_next_process(path):
    """A closed database opens again with its rows."""
    with closing(SqliteStore(path)) as store:
        assert store.scan("meta") == Ok([("a", "1")])
        assert store.check() == Ok("ok")


def test_every_family_is_a_table_of_its_columns(path):
    """The families and the migrations say the same."""
    with closing(sqlite3.connect(path)) as db:
        for name, family in FAMILIES.items():
            assert tuple(row[1] for row in db.execute(f"PRAGMA table_info({name})")) == family.columns


def test_a_database_of_an_older_version_is_brought_up_to_date(tmp_path):
    """Each migration is applied once, from whatever version the file has."""
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as db:
        db.executescript(MIGRATIONS[0] + "PRAGMA user_version=1;")
        db.execute("INSERT INTO meta VALUES ('a', '1')")
        db.commit()
    with closing(SqliteStore(old)) as store:
        assert store.scan("meta") == Ok([("a", "1")])


def test_a_migration_that_fails_leaves_the_version_before(tmp_path):
    """All of them are one transaction: here a table of a later one is in the way, and nothing of those before it is left."""
    names = [re.findall(r"CREATE TABLE (\w+)", migration) for migration in MIGRATIONS]
    last = max(number for number, made in enumerate(names) if made)
    assert last > 1
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as db:
        db.executescript(f"{MIGRATIONS[0]}PRAGMA user_version=1; CREATE TABLE {names[last][-1]} (mine int);")
    with pytest.raises(StoreError, match=names[last][-1]):
        SqliteStore(old)
    with closing(sqlite3.connect(old)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables - {"sqlite_sequence"} == {*names[0], names[last][-1]}
        assert db.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_newer_database_is_left_alone(path):
    """A file of a newer version is refused with its number and what to do, and not changed."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=999")
    with pytest.raises(StoreVersionError, match=r"999.*upgrade vademecum"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT * FROM meta").fetchall() == [("a", "1")]


def test_a_file_that_is_no_database_is_named(tmp_path):
    """Garbage is refused with the file's name."""
    (tmp_path / "index.db").write_bytes(b"no database at all " * 200)
    with pytest.raises(StoreCorruptError, match=r"index\.db"):
        SqliteStore(tmp_path / "index.db")


def test_a_damaged_page_is_named_when_it_is_met(path):
    """Damage inside a file shows as an Err of the right class, or in the check, never as rows."""
    with closing(SqliteStore(path)) as store:
        store.upsert("meta", [(f"name{n}", "x" * 100) for n in range(2000)]).unwrap()
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xa5" * (len(content) - len(content) // 2)
    path.write_bytes(content)
    with pytest.raises(StoreCorruptError, match="changed by something else"):
        SqliteStore(path)
    path.with_name("index.db.seal").unlink()  # as a run that was killed leaves it
    with closing(SqliteStore(path)) as store, pytest.raises(StoreCorruptError, match="--full"):
        store.scan("meta", order=["name"]).unwrap()


def test_a_locked_database_is_busy_not_broken(path):
    """While another connection writes, writing is an Err that says to try again; reading goes on."""
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        closing(SqliteStore(path, busy_seconds=0.05)) as store,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="try again"):
            store.upsert("meta", [("b", "2")]).unwrap()
        with pytest.raises(StoreBusyError), store.transaction():
            pass
        assert store.scan("meta") == Ok([("a", "1")])
        other.execute("ROLLBACK")
        assert store.upsert("meta", [("b", "2")]) == Ok(1)


def test_a_full_disk_undoes_the_transaction_and_nothing_else(path):
    """When no page can be added the error says so; the rows from before are intact and small writes work again."""
    with closing(SqliteStore(path)) as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count={pages + 2}")
        store.upsert("meta", [("a", "1")]).unwrap()
        with pytest.raises(StoreFullError, match="free some space"), store.transaction():
            [store.upsert("vectors", [("e", str(n), b"x" * 1000)]).unwrap() for n in range(500)]
        assert store.scan("meta") == Ok([("a", "1")])
        store._db.execute("PRAGMA max_page_count=100000")
        assert store.upsert("meta", [("b", "2")]) == Ok(1)


def test_a_directory_that_cannot_be_made_is_named(tmp_path):
    """A file where the directory should be is an error that names it and the way out."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match=r"taken.*VADE_HOME"):
        SqliteStore(tmp_path / "taken" / "index.db")


def test_a_new_database_is_opened_by_many_at_once(tmp_path):
    """Whoever comes second waits for the first to set the file up; nobody is refused."""
    together = threading.Barrier(8)

    def open_each(_):
        for number in range(60):
            together.wait(60)
            with closing(SqliteStore(tmp_path / f"{number}.db")) as store:
                store.scan("meta").unwrap()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(open_each, range(8))) == [None] * 8


def test_threads_share_a_store(path):
    """Writers in several threads take turns; no row is lost."""
    with closing(SqliteStore(path)) as store:

        def write(n):
            for i in range(50):
                store.upsert("meta", [(f"{n}-{i}", "x")]).unwrap()

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.scan("meta").unwrap()) == 201


def test_lists_of_any_length_are_asked_for_by_a_few_statements(tmp_path, monkeypatch):
    """SQLite keeps what it has prepared: one for each length of a list would grow for as long as lists do."""
    asked: list[str] = []

    class Traced(sqlite3.Connection):
        def execute(self, statement, *values):
            asked.append(statement)
            return super().execute(statement, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **given: connect(*args, factory=Traced, **given))
    with closing(SqliteStore(tmp_path / "index.db")) as store:
        store.upsert("meta", [(f"{n:04}", str(n)) for n in range(1_500)]).unwrap()
        asked.clear()
        for count in range(1, 1_200, 7):
            names = [f"{n:04}" for n in range(count)]
            found = store.scan("meta", [("name", "in", [*names, *names])], order=("name",)).unwrap()
            assert [name for name, _ in found] == names
            assert sorted(name for name, _ in store.get("meta", [(name,) for name in names]).unwrap()) == names
    assert len({statement for statement in asked if statement.startswith("SELECT")}) < 20
    assert max(map(len, asked)) < 1_000


def test_a_damaged_file_is_set_aside_when_asked_for(tmp_path):
    """The damaged file is kept beside an empty new one."""
    path = tmp_path / "index.db"
    path.write_bytes(b"no database at all " * 200)
    with closing(SqliteStore(path, set_aside=True)) as store:
        assert store.scan("meta") == Ok([])
    assert (tmp_path / "index.db.damaged").read_bytes().startswith(b"no database")


def test_starting_over_empties_the_store_and_keeps_the_file(path):
    """An open store can begin anew; what it held is beside it."""
    with closing(SqliteStore(path)) as store:
        store.start_over()
        assert store.scan("meta") == Ok([])
        assert store.upsert("meta", [("b", "2")]) == Ok(1)
    with closing(sqlite3.connect(f"{path}.damaged")) as db:
        assert db.execute("SELECT * FROM meta").fetchall() == [("a", "1")]


def test_its_state_tells_whether_anything_was_written(path):
    """The same while nothing is written; another after a write of its own, of another process, and a new beginning."""
    with closing(SqliteStore(path)) as store, closing(SqliteStore(path)) as other:
        seen = [store.state()]
        assert store.scan("meta") == Ok([("a", "1")])
        assert store.state() == seen[0]
        for write in (
            lambda: store.upsert("meta", [("a", "2")]),
            lambda: other.upsert("meta", [("a", "3")]),
            lambda: other.delete("meta", []),
            store.start_over,
        ):
            write()
            assert store.state() not in seen
            seen.append(store.state())
        assert None not in seen


def test_what_may_be_taken_back_has_no_state(path):
    """Inside a transaction nothing may be kept of what is read, and after it was rolled back nothing is left of it."""
    with closing(SqliteStore(path)) as store:

        def fail():
            with store.transaction():
                store.upsert("meta", [("a", "2")]).unwrap()
                assert store.state() is None
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert store.state() is not None
        assert store.scan("meta") == Ok([("a", "1")])


def test_a_closed_database_has_no_state(path):
    """Whatever is asked next says what is wrong."""
    store = SqliteStore(path)
    store.close()
    assert store.state() is None
    assert isinstance(store.scan("meta"), Err)


@pytest.mark.parametrize(
    ("family", "where"),
    [
        ("nodes", [("name", "=", "f")]),
        ("nodes", [("path", "in", ["a.py"])]),
        ("nodes", [("path", "in", [f"{number}.py" for number in range(200)])]),
        ("edges", [("target", "in", list(range(200))), ("tier", ">=", 1), ("tier", "<=", 4)]),
        ("edges", [("source", "in", [1, 2, 3])]),
    ],
)
def test_a_few_rows_of_a_snapshot_are_found_without_going_through_it(tmp_path, family, where):
    """What is asked of a graph takes an index as far as its second column, however many are asked for."""
    with closing(SqliteStore(tmp_path / "index.db")) as store:
        said: list[str] = []
        store._db.set_trace_callback(said.append)
        store.scan(family, [("snapshot", "=", 1), *where]).unwrap()
        store._db.set_trace_callback(None)
        [statement] = [each for each in said if each.startswith("SELECT")]
        [plan] = [row[3] for row in store._db.execute(f"EXPLAIN QUERY PLAN {statement}") if family in row[3]]
    assert f"(snapshot=? AND {where[0][0]}=?" in plan
