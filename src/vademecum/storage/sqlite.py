"""`Store` on the standard library's SQLite: one file, write-ahead log.

There is one writer at a time, and many readers. No loadable extension is used (many Pythons are built without them).
`synchronous=NORMAL` in WAL mode loses nothing when a process dies; at power loss the last commits may be missing, and the index
is simply refreshed. Data that cannot be read again from elsewhere is opened `durable`: every commit is on the disk before it is
acknowledged.

The record families: their tables in SQLite, columns and keys.

A family's rows are tuples in the order of its columns, everywhere. A new family or column needs one more version in
`schema.sql`; a version is never edited once released.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from heapq import merge
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, TypeVar

from vademecum.errors import StoreCorruptError, StoreError, StoreFullError, StoreReadOnlyError, StoreVersionError
from vademecum.protocols import Condition, Row
from vademecum.result import outcome
from vademecum.storage.sqlite_file import (
    EMPTY,
    REBUILD,
    Found,
    give_up,
    let_go,
    log_ahead,
    named,
    opened,
    opened_to_read,
    opening,
    put_aside,
    sealing,
    unseal,
    version_of,
)
from vademecum.storage.sqlite_file import set_aside as move_aside


@dataclass(frozen=True, slots=True)
class Family:
    """The shape of one kind of record."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


_SCRIPTS = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
MIGRATIONS = tuple(re.split(r"^-- version \d+\n", _SCRIPTS, flags=re.MULTILINE)[1:])
_COLUMNS = """
    SELECT family.name, part.name, part.pk FROM sqlite_schema family JOIN pragma_table_info(family.name) part
    WHERE family.type = 'table' AND family.name NOT LIKE 'sqlite%' ORDER BY family.rowid, part.cid
"""


def _families() -> dict[str, Family]:
    """Return the families that the migrations lead to."""
    columns: dict[str, list[str]] = {}
    keys: dict[str, dict[int, str]] = {}
    with closing(sqlite3.connect(":memory:")) as db:
        for script in MIGRATIONS:
            db.executescript(script)
        for family, column, place in db.execute(_COLUMNS):  # `place` in the key counts from 1
            columns.setdefault(family, []).append(column)
            if place:
                keys.setdefault(family, {})[place] = column
    return {name: Family(tuple(own), tuple(keys[name][n] for n in sorted(keys[name]))) for name, own in columns.items()}


FAMILIES = _families()


T = TypeVar("T")

BUSY_SECONDS = 30.0
_KEYS_AT_ONCE = 128  # keys in one statement
_LISTED = 256  # list members in one statement, which is then 60 KB and stays prepared
_OPERATORS = {"=": "=", ">": ">", ">=": ">=", "<": "<", "<=": "<="}


@contextmanager
def _asked(store: SqliteStore) -> Iterator[None]:
    """Hold a store's lock, and raise our errors for SQLite's."""
    try:
        with store.lock:
            yield
    except sqlite3.Error as error:
        raise named(error, store.path, store.remedy) from error


_outcome = outcome(_asked, StoreError)


class SqliteStore:
    """A SQLite file as a `Store`.

    Safe to use from several threads; open one per process.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        busy_seconds: float = BUSY_SECONDS,
        set_aside: bool = False,
        durable: bool = False,
        remedy: str = REBUILD,
    ) -> None:
        """Open or create the file and migrate its tables.

        If the file cannot be written, it is opened for reading only.

        Args:
            path: the file; its directory is created.
            busy_seconds: the longest wait for another writer.
            set_aside: rename a damaged file and begin an empty one; otherwise the damaged file stays and is refused.
            durable: commits survive a power loss, at the price of waiting for the disk.
            remedy: the fix to name for a damaged file.

        Raises:
            StoreCorruptError: the file is damaged, or is no database.
            StoreVersionError: a newer vademecum wrote it.
            StoreError: the file cannot be opened.
        """
        self.path = Path(path)
        self.lock = threading.RLock()
        self.remedy = remedy
        self._busy_seconds = busy_seconds
        self._synchronous = "FULL" if durable else "NORMAL"
        # an index is written in large transactions; a store of single events would fill any cache in each connection
        self._cached_kib = 256 if durable else 16_000
        self._opened = 0
        self._unwritable: StoreError | None = None  # the reason that the file is open for reading only
        self._patience = threading.local()
        self.aside = ""  # the new name of a damaged file, if this object set one aside
        self._closed = False
        with opening(self.path) as found:
            self._place = found.place
            try:
                self._enter(found, set_aside=set_aside)
            except BaseException as error:
                give_up(self.path, found, error)
                raise

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the file's address: another process opens it anew."""
        return partial(SqliteStore, durable=self._synchronous == "FULL", remedy=self.remedy), (self.path,)

    def _enter(self, found: Found, *, set_aside: bool) -> None:
        try:
            self._refuse_broken(found)
            self._open()
        except StoreCorruptError:
            if not set_aside:
                raise
            self.aside = put_aside(self.path, found)
            self._open()

    def _refuse_broken(self, found: Found) -> None:
        if found.fault:
            self._refuse_newer(found.version)
            raise StoreCorruptError(f"{self.path} {found.fault}" + (f": {self.remedy}" if found.fault != EMPTY else ""))

    def _open(self) -> None:
        self._opened += 1
        self._unwritable = None
        try:
            self._db = opened(self.path, self._busy_seconds)
            self._waits = self._busy_seconds
        except sqlite3.Error as error:
            raise named(error, self.path, self.remedy) from error
        try:
            self._refuse_newer(version_of(self._db))
            log_ahead(self._db, self._busy_seconds)
            self._tune()
            self._migrate()
        except StoreError:
            self._db.close()
            raise
        except sqlite3.Error as error:
            self._db.close()
            self._read_only(named(error, self.path, self.remedy))

    def _read_only(self, why: StoreError) -> None:
        """Reopen the file for reading only. Raises `why` if that fails too."""
        found = None
        if isinstance(why, StoreFullError | StoreReadOnlyError):
            found = opened_to_read(self.path, self._busy_seconds, len(MIGRATIONS))
        if found is None:
            raise why
        self._db, self._unwritable = found, why
        self._tune()

    def _tune(self) -> None:
        for pragma in (f"synchronous={self._synchronous}", "temp_store=MEMORY", f"cache_size=-{self._cached_kib}"):
            self._db.execute(f"PRAGMA {pragma}")

    def _refuse_newer(self, version: int) -> None:
        if version > len(MIGRATIONS):
            raise StoreVersionError(
                f"{self.path} has version {version}, newer than this vademecum's {len(MIGRATIONS)}: upgrade vademecum, "
                "or set VADE_HOME to another directory"
            )

    def _migrate(self) -> None:
        if version_of(self._db) == len(MIGRATIONS):
            return
        with self.transaction():  # a second process waits here, then finds the work done
            for number, script in list(enumerate(MIGRATIONS, 1))[version_of(self._db) :]:
                for statement in filter(str.strip, script.split(";")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={number}")

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """Limit this thread's wait for another writer, inside the block."""
        before = getattr(self._patience, "seconds", self._busy_seconds)
        self._patience.seconds = seconds
        try:
            yield
        finally:
            self._patience.seconds = before

    def _begin(self) -> None:
        """Take the write lock, waiting as long as this thread allows."""
        if self._unwritable is not None:  # the disk may have room by now
            self._db.close()
            self._open()
            if self._unwritable is not None:
                raise self._unwritable
        seconds = getattr(self._patience, "seconds", self._busy_seconds)
        if seconds != self._waits:
            self._db.execute(f"PRAGMA busy_timeout={round(1000 * seconds)}")
            self._waits = seconds
        self._db.execute("BEGIN IMMEDIATE")
        try:
            unseal(self.path, self._place, durable=self._synchronous == "FULL")
        except OSError as error:
            self._roll_back()
            raise StoreReadOnlyError(f"cannot remove {sealing(self.path)}: {error.strerror}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock: all writes inside commit or none. Raises `StoreError`."""
        with self.lock:
            if self._db.in_transaction:  # nested: the outermost decides
                yield
                return
            try:
                self._begin()
                try:
                    yield
                    self._db.execute("COMMIT")
                except BaseException:
                    self._roll_back()
                    raise
            except sqlite3.Error as error:
                raise named(error, self.path, self.remedy) from error

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # after a full disk SQLite has already rolled back
            self._db.execute("ROLLBACK")

    @_outcome
    def upsert(self, family: str, rows: Sequence[Row]) -> int:
        """Insert or replace rows by key; return the number of rows written."""
        shape = FAMILIES[family]
        marks = ",".join("?" * len(shape.columns))
        changes = ",".join(f"{name}=excluded.{name}" for name in shape.columns if name not in shape.key)
        with self.transaction():
            self._db.executemany(
                f"INSERT INTO {family} ({','.join(shape.columns)}) VALUES ({marks}) "  # noqa: S608 - names of our own
                f"ON CONFLICT ({','.join(shape.key)}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}",
                rows,
            )
        return len(rows)

    @_outcome
    def scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> list[Row]:
        """Return the matching rows, or their named columns, in order."""
        if all(operator == "=" for _, operator, _ in where):  # the hot path: freshness checks
            statement = _look_up(family, tuple(column for column, _, _ in where), tuple(columns), tuple(order))
            return self._db.execute(statement, [value for _, _, value in where]).fetchall()
        chosen = self._known(family, columns or FAMILIES[family].columns)
        wanted = ",".join([*chosen, *self._known(family, order)])
        tail = f" ORDER BY {','.join(order)}" if order else ""
        parts = [
            self._db.execute(f"SELECT {wanted} FROM {family}{clause}{tail}", values).fetchall()  # noqa: S608 - names of our own
            for clause, values in _clauses(family, where)
        ]
        width = len(chosen)
        rows = merge(*parts, key=lambda row: row[width:]) if order and len(parts) > 1 else chain.from_iterable(parts)
        return [row[:width] for row in rows] if order else list(rows)

    @_outcome
    def newest(self, family: str, where: Sequence[Condition], order: Sequence[str], most: int) -> list[Row]:
        """Return the last `most` matching rows of an order, last first."""
        chosen, by = self._known(family, FAMILIES[family].columns), self._known(family, order)
        tail = f" ORDER BY {','.join(f'{name} DESC' for name in by)} LIMIT ?"
        parts = [
            self._db.execute(f"SELECT {','.join([*chosen, *by])} FROM {family}{clause}{tail}", [*values, most])  # noqa: S608 - names of our own
            for clause, values in _clauses(family, where)
        ]
        rows = merge(*(part.fetchall() for part in parts), key=lambda row: row[len(chosen) :], reverse=True)
        return [row[: len(chosen)] for row in islice(rows, most)]

    @_outcome
    def count(self, family: str, where: Sequence[Condition] = ()) -> int:
        """Return the number of matching rows."""
        return sum(
            int(self._db.execute(f"SELECT count(*) FROM {family}{clause}", values).fetchone()[0])  # noqa: S608 - names of our own
            for clause, values in _clauses(family, where)
        )

    @_outcome
    def get(self, family: str, keys: Sequence[Row]) -> list[Row]:
        """Return the rows whose key begins with one of `keys`.

        Keys are distinct and of one length; a whole key counts as its own beginning.
        """
        rows: list[Row] = []
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            part = _padded(keys[start : start + _KEYS_AT_ONCE])
            statement = _by_key(family, len(part), len(part[0]))
            rows += self._db.execute(statement, [value for key in part for value in key]).fetchall()
        return rows

    @_outcome
    def reach(
        self, family: str, start: Sequence[int], along: tuple[str, str], where: Sequence[Condition], depth: int
    ) -> list[tuple[int, int]]:
        """Follow a family's rows as edges; return nodes with least steps."""
        here, there = self._known(family, along)
        [(clause, values)] = _clauses(family, where)
        steps: dict[int, int] = {}
        for begin in range(0, len(start), _KEYS_AT_ONCE):
            part = start[begin : begin + _KEYS_AT_ONCE]
            # UNION drops repeated (node, steps) pairs; `depth` ends cycles
            statement = (
                f"WITH RECURSIVE reached (node, steps) AS (VALUES {','.join(['(?, 0)'] * len(part))} UNION "  # noqa: S608 - names of our own
                f"SELECT {there}, steps + 1 FROM reached CROSS JOIN {family}{clause or ' WHERE 1'} "
                f"AND {here} = reached.node AND steps < ?) SELECT node, min(steps) FROM reached GROUP BY node"
            )
            for node, count in self._db.execute(statement, [*part, *values, depth]):
                steps[node] = min(count, steps.get(node, count))
        return sorted(steps.items(), key=lambda reached: (reached[1], reached[0]))

    @_outcome
    def delete(self, family: str, where: Sequence[Condition]) -> int:
        """Delete the matching rows. Returns the number of rows deleted."""
        with self.transaction():
            return sum(
                self._db.execute(f"DELETE FROM {family}{clause}", values).rowcount  # noqa: S608 - names of our own
                for clause, values in _clauses(family, where)
            )

    def state(self) -> tuple[int, int, int] | None:
        """Return a value that any write changes; None in transactions or errors."""
        try:
            with self.lock:
                if self._db.in_transaction:  # these writes may be rolled back
                    return None
                (others,) = self._db.execute("PRAGMA data_version").fetchone()
                return self._opened, others, self._db.total_changes
        except sqlite3.Error:  # the next statement reports the error
            return None

    @_outcome
    def check(self) -> str:
        """Return "ok" if SQLite finds no damage, else SQLite's finding."""
        return str(self._db.execute("PRAGMA quick_check(1)").fetchone()[0])

    def start_over(self) -> None:
        """Set the file aside, undeleted, and begin an empty one. Raises `StoreError`."""
        with self.lock:
            self._db.close()
            self.aside = str(move_aside(self.path))
            self._open()

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            if not self._closed:
                self._closed = True
                let_go(self.path, self._place, self._db)

    @staticmethod
    def _known(family: str, columns: Sequence[str]) -> Sequence[str]:
        unknown = set(columns) - set(FAMILIES[family].columns)
        if unknown:
            raise ValueError(f"{family} has no column {', '.join(sorted(unknown))}")
        return columns


@lru_cache(maxsize=64)
def _look_up(family: str, equal: tuple[str, ...], columns: tuple[str, ...], order: tuple[str, ...]) -> str:
    """Return the statement that selects by equality alone."""
    SqliteStore._known(family, [*equal, *columns, *order])  # noqa: SLF001 - same module
    where = " AND ".join(_hinted(column, f"{column} = ?", equal) for column in equal)
    return (
        f"SELECT {','.join(columns or FAMILIES[family].columns)} FROM {family}"  # noqa: S608 - names of our own
        + (f" WHERE {where}" if where else "")
        + (f" ORDER BY {','.join(order)}" if order else "")
    )


@lru_cache(maxsize=64)
def _by_key(family: str, count: int, parts: int) -> str:
    """Return the statement for `count` rows by partial keys.

    Each key gives the first `parts` columns of the family's key.
    """
    shape = FAMILIES[family]
    # subtle: SQLite uses the index for alternatives of equalities, but scans the table for `(a, b) IN (VALUES ...)`
    one = "(" + " AND ".join(f"{column} = ?" for column in shape.key[:parts]) + ")"
    any_of = f"{shape.key[0]} IN ({','.join('?' * count)})" if parts == 1 else " OR ".join([one] * count)
    return f"SELECT {','.join(shape.columns)} FROM {family} WHERE {any_of}"  # noqa: S608 - names of our own


def _hinted(column: str, test: str, beside: Sequence[str]) -> str:
    """Return an equality test with a planner hint for snapshot queries.

    Without statistics SQLite takes every equality for a rare one, and scans a whole snapshot instead of using an index.

    >>> _hinted("name", "name = ?", ["snapshot", "name"]), _hinted("name", "name = ?", ["name"])
    ('likelihood(name = ?, 0.0001)', 'name = ?')
    """
    if "snapshot" not in beside:
        return test
    return f"likelihood({test}, {0.9 if column == 'snapshot' else 0.0001})"


def _clauses(family: str, where: Sequence[Condition]) -> Iterator[tuple[str, list[object]]]:
    """Yield WHERE clauses with values, several for a long `in` list."""
    SqliteStore._known(family, [column for column, _, _ in where])  # noqa: SLF001 - same module
    shared = [column for column, _, _ in where]
    fixed: list[str] = []
    values: list[object] = []
    members: tuple[str, list[object]] | None = None
    for column, operator, value in where:
        if operator == "in":
            members = (column, list(dict.fromkeys(value)))
        elif operator == "prefix":
            fixed.append(f"{column} >= ? AND {column} < ?")
            values += [value, value + "\U0010ffff"]
        else:
            test = f"{column} {_OPERATORS[operator]} ?"
            fixed.append(_hinted(column, test, shared) if operator == "=" else test)
            values.append(value)
    if members is None:
        yield (" WHERE " + " AND ".join(fixed) if fixed else ""), values
        return
    column, listed = members
    for start in range(0, len(listed), _LISTED):
        part = _padded(listed[start : start + _LISTED])
        clause = " AND ".join([*fixed, _hinted(column, f"{column} IN ({','.join('?' * len(part))})", shared)])
        yield f" WHERE {clause}", [*values, *part]


def _padded(some: Sequence[T]) -> list[T]:
    """Return a list padded to a power of two.

    The last member is repeated. Few statements, which SQLite keeps prepared, then serve lists of any length.

    >>> _padded("abc"), _padded("a"), _padded("")
    (['a', 'b', 'c', 'c'], ['a'], [])
    """
    return [*some, *repeat(some[-1], (1 << (len(some) - 1).bit_length()) - len(some))] if some else []
