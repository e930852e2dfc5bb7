"""PostgreSQL: a space of a shared database, the queue of jobs.

Readers never wait. Writers of one space take turns, as in a SQLite file, by an advisory lock that a transaction
holds; writers of different spaces are independent. A statement outside a transaction is its own transaction, and is retried
after a lost connection if that is safe. Inside a transaction nothing is retried, and nothing is kept.

The queue is a table of leased jobs: repositories to index. Workers take jobs with `FOR UPDATE SKIP LOCKED`, so they
never wait for each other. A job belongs to one worker until its lease ends; a living worker renews it. Any worker that
finds an expired lease puts the job back, with its attempt counted. A failed job waits twice as long each time, and is
dead after the last attempt. An index enforces that one job of a source runs at a time. All times are the server's.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from vademecum.errors import StoreAwayError, StoreError
from vademecum.protocols import Condition, Row
from vademecum.result import Result, outcome
from vademecum.storage.postgres import statements
from vademecum.storage.postgres.connect import ATTEMPTS, connections, is_local, is_lost, naming, place_of
from vademecum.storage.postgres.statements import columns_of, decode, encode, shapes
from vademecum.types import Job

T = TypeVar("T")

TIMEOUT_SECONDS = 60.0
AT_ONCE = 2_000  # rows in one statement
AT_ONCE_BYTES = 8_000_000
WRITERS = 0x7370  # the class of the writers' advisory locks: "sp"


_outcome = outcome(lambda store: naming(store.url), StoreError)


class PostgresStore:
    """One space of a PostgreSQL database as a `Store`.

    Safe to use from several threads, and in several processes.
    """

    def __init__(
        self, url: str, space: str, *, timeout_s: float = TIMEOUT_SECONDS, durable: bool = False, at_once: bool = True
    ) -> None:
        """Open a space, creating it if missing.

        Args:
            url: the database, as libpq takes it: `postgresql://user:password@host:port/database`, or `key=value …`.
            space: the space's name; rows of other spaces are never seen.
            timeout_s: the longest wait for another writer of the space, in seconds.
            durable: commits are on the server's disk before they are acknowledged; otherwise within a second.
            at_once: raise at once if the server is away; otherwise each later call fails until the server is back.

        Raises:
            StoreVersionError: the database is empty, or of another version.
            StoreAwayError: the server cannot be reached.
        """
        self.url = url
        self.space = space
        self._durable, self._timeout_s = durable, timeout_s
        self._connections = connections(url, timeout_s)
        self._own = threading.local()  # the connection of each thread's transaction
        self._closed = False
        self.aside = ""  # damaged spaces stay in the same database: `vade db check` reports them
        self._known: int | None = None
        try:
            self._known = self._space_number()
        except StoreAwayError:
            if at_once:
                raise

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the space's address: another process connects anew."""
        again = partial(PostgresStore, timeout_s=self._timeout_s, durable=self._durable)
        return again, (self.url, self.space)

    @staticmethod
    def place(url: str) -> str:
        """Return a database's address without user and password."""
        return place_of(url)

    @staticmethod
    def is_remote(url: str) -> bool:
        """Return whether a database is, or may be, on another machine."""
        return not is_local(url)

    @staticmethod
    def spaces(url: str, beginning: str = "", *, timeout_s: float = TIMEOUT_SECONDS) -> list[str]:
        """Return the database's space names with a prefix. Raises `StoreError`."""
        statement = "SELECT name FROM spaces WHERE starts_with(name, %s) ORDER BY name"
        with naming(url):
            rows = connections(url, timeout_s).run(lambda c: c.execute(statement, [beginning]).fetchall())
        return [name for (name,) in rows]

    @staticmethod
    def across(
        url: str, family: str, where: Sequence[Condition], columns: Sequence[str], *, timeout_s: float = TIMEOUT_SECONDS
    ) -> list[Row]:
        """Return every space's matching rows after its name. Raises `StoreError`."""
        clause, values = statements.conditions(family, where, "own.")
        wanted = ",".join(f"own.{each}" for each in statements.known(family, columns))
        statement = (
            f"SELECT spaces.name,{wanted} FROM spaces JOIN {family} own ON own.space_id = spaces.id "
            f"WHERE true{clause} ORDER BY spaces.name"
        )
        with naming(url):
            return connections(url, timeout_s).run(lambda connection: connection.execute(statement, values).fetchall())

    @property
    def _number(self) -> int:
        """The space's id in the database."""
        if self._known is None:
            self._known = self._space_number()
        return self._known

    def _space_number(self) -> int:
        insert = "INSERT INTO spaces (name, made_at) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
        find = "SELECT id FROM spaces WHERE name = %s"

        def number(connection: psycopg.Connection) -> int:
            row = connection.execute(find, [self.space]).fetchone()
            while row is None:
                connection.execute(insert, [self.space, time.time()])
                row = connection.execute(find, [self.space]).fetchone()
            return int(row[0])

        with naming(self.url):
            return self._connections.run(number)

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:  # noqa: ARG002 - `storage.timeout_s` says how long, for all
        """Wait for another writer as long as always."""
        yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Lock the space; all writes inside commit together or not. Raises `StoreError`."""
        if getattr(self._own, "connection", None) is not None:  # nested: the outermost decides
            yield
            return
        self._check_open()
        with naming(self.url), self._begun() as connection:
            self._own.connection = connection
            try:
                yield
                self._commit(connection)
            except BaseException:
                with suppress(psycopg.Error):  # a broken connection has already rolled back
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._own.connection = None

    @contextmanager
    def _begun(self) -> Iterator[psycopg.Connection]:
        """Lend a connection with an open transaction.

        Nothing is lost yet if an idle connection turns out to be dead.
        """
        begin = "SELECT set_config('synchronous_commit', %s, true), pg_advisory_xact_lock(%s, %s)"
        values = ["on" if self._durable else "off", WRITERS, self._number]
        with ExitStack() as lent:
            for attempt in range(1, ATTEMPTS + 1):
                connection = lent.enter_context(self._connections.borrowed())
                try:
                    connection.execute("BEGIN")
                    connection.execute(begin, values)
                    break
                except psycopg.Error as error:
                    if attempt == ATTEMPTS or not is_lost(error):
                        raise
                    self._connections.close()
            yield connection

    def _commit(self, connection: psycopg.Connection) -> None:
        if connection.info.transaction_status == TransactionStatus.INERROR:
            raise StoreError(f"{place_of(self.url)}: a statement failed, so nothing of its transaction was kept")
        connection.execute("COMMIT")

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{place_of(self.url)} is closed")

    def _run(self, step: Callable[[psycopg.Connection], T], *, again: bool = True, slow: bool = False) -> T:
        """Run a step in the thread's transaction, or by itself with retries.

        With `again`, the step may safely run twice; with `slow`, it may take long.
        """
        self._check_open()
        own: psycopg.Connection | None = getattr(self._own, "connection", None)
        if own is not None:
            return step(own)
        return self._connections.run(step, again=again, slow=slow)

    def _fetched(self, statement: str, values: Sequence[Any]) -> list[Row]:
        return self._run(lambda connection: connection.execute(statement, values).fetchall())

    @_outcome
    def upsert(self, family: str, rows: Sequence[Row]) -> int:
        """Insert or replace rows by key; return the number of rows written."""
        shape = shapes()[family]
        place = tuple(shape.columns).index(shape.key[0])
        unnumbered = sum(row[place] is None for row in rows)
        with self.transaction() if unnumbered else nullcontext():
            if unnumbered:
                numbers = iter(self._numbers(family, shape.key[0], unnumbered))
                rows = [(*row[:place], next(numbers), *row[place + 1 :]) if row[place] is None else row for row in rows]
            self._write(family, rows)
        return len(rows)

    def _write(self, family: str, rows: Sequence[Row]) -> None:
        shape = shapes()[family]
        places = [tuple(shape.columns).index(each) for each in shape.key]
        distinct = {tuple(row[place] for place in places): row for row in rows}
        ordered = [distinct[key] for key in sorted(distinct)]  # one order, so that writers never deadlock
        parts = list(_parts(ordered))
        with self.transaction() if len(parts) > 1 else nullcontext():
            for part in parts:
                values = [self._number, *columns_of(shape, part)]
                self._run(lambda connection, values=values: connection.execute(statements.upsert(family), values))  # type: ignore[misc]

    def _numbers(self, family: str, column: str, count: int) -> range:
        """Take numbers never used in this space. Call this inside a transaction."""
        statement = (
            "INSERT INTO counters (space_id, family, last) "
            f"SELECT %(space)s, %(family)s, coalesce(max({column}), 0) + %(count)s FROM {family} WHERE space_id = %(space)s "
            "ON CONFLICT (space_id, family) DO UPDATE SET last = greatest(counters.last + %(count)s, excluded.last) "
            "RETURNING last"
        )
        values = {"space": self._number, "family": family, "count": count}
        [(last,)] = self._run(lambda connection: connection.execute(statement, values).fetchall())
        return range(last - count + 1, last + 1)

    @_outcome
    def scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> list[Row]:
        """Return the matching rows, or their named columns, in order."""
        statement, values = statements.select(family, where, columns, order)
        shape = shapes()[family]
        rows = self._fetched(statement, [self._number, *values])
        return decode([shape.columns[each] for each in columns or shape.columns], rows)

    @_outcome
    def newest(self, family: str, where: Sequence[Condition], order: Sequence[str], most: int) -> list[Row]:
        """Return the last `most` matching rows of an order, last first."""
        statement, values = statements.newest(family, where, order)
        return decode(list(shapes()[family].columns.values()), self._fetched(statement, [self._number, *values, most]))

    @_outcome
    def count(self, family: str, where: Sequence[Condition] = ()) -> int:
        """Return the number of matching rows."""
        clause, values = statements.conditions(family, where)
        found = self._fetched(f"SELECT count(*) FROM {family} WHERE space_id = %s{clause}", [self._number, *values])
        return int(found[0][0])

    @_outcome
    def get(self, family: str, keys: Sequence[Row]) -> list[Row]:
        """Return the rows whose key begins with one of `keys`.

        Keys are distinct and of one length; a whole key counts as its own beginning.
        """
        if not keys:
            return []
        shape = shapes()[family]
        wanted = [
            [encode(shape, column, key[place]) for key in keys]
            for place, column in enumerate(shape.key[: len(keys[0])])
        ]
        rows = self._fetched(statements.by_key(family, len(keys[0])), [*wanted, self._number])
        return decode(list(shape.columns.values()), rows)

    @_outcome
    def reach(
        self, family: str, start: Sequence[int], along: tuple[str, str], where: Sequence[Condition], depth: int
    ) -> list[tuple[int, int]]:
        """Follow a family's rows as edges; return nodes with least steps."""
        found = self._fetched(*statements.reach(family, start, along, where, depth, self._number))
        return [(node, steps) for node, steps in found]

    @_outcome
    def delete(self, family: str, where: Sequence[Condition]) -> int:
        """Delete the matching rows. Returns the number of rows deleted."""
        clause, values = statements.conditions(family, where)
        statement = f"DELETE FROM {family} WHERE space_id = %s{clause}"
        # after a lost connection the delete may be done, and a second one would count nothing
        return self._run(
            lambda connection: connection.execute(statement, [self._number, *values]).rowcount, again=False
        )

    def state(self) -> None:
        """Return None: a shared server has no cheap sign of writes."""

    @_outcome
    def check(self) -> str:
        """Return "ok" if the space's records are consistent, else the fault."""
        for family, column, of in (
            ("chunks", "blob", "blobs"),
            ("files", "blob", "blobs"),
            ("files", "snapshot", "snapshots"),
        ):
            lacking = (
                f"SELECT count(*) FROM {family} own WHERE space_id = %s AND {column} > 0 AND NOT EXISTS "
                f"(SELECT 1 FROM {of} WHERE {of}.space_id = own.space_id AND {of}.id = own.{column})"
            )
            [(count,)] = self._run(lambda c, read=lacking: c.execute(read, [self._number]).fetchall(), slow=True)  # type: ignore[misc]
            if count:
                return f"{count} of {family} name {of} that are not there"
        return "ok"

    def start_over(self) -> None:
        """Rename the space, without deleting, and begin an empty one. Raises `StoreError`."""
        statement = "UPDATE spaces SET name = name || '.damaged-' || id WHERE id = %s"
        with self.transaction():
            self._run(lambda connection: connection.execute(statement, [self._number]))
        self._known = self._space_number()

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self._connections.close()


def _parts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    part: list[Row] = []
    weight = 0
    for row in rows:
        part.append(row)
        weight += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(part) >= AT_ONCE or weight >= AT_ONCE_BYTES:
            yield part
            part, weight = [], 0
    if part:
        yield part


MOST_ATTEMPTS = 5  # of a job
PAUSE_SECONDS = 10.0  # before the second attempt; doubles with each attempt
MOST_PAUSE_SECONDS = 3600.0
KEPT_DAYS = 30  # days that finished jobs stay in the list
_COLUMNS = (
    "id, source, revision, state, attempts, lease, worker, said, extract(epoch FROM added_at)::double precision, "
    "greatest(extract(epoch FROM not_before - now()), 0)::double precision"
)


@dataclass(frozen=True)
class Queue:
    """The queue in one database. Safe to use from several threads."""

    url: str
    attempts: int = MOST_ATTEMPTS

    def add(self, source: str, revision: str = "") -> Result[Job, StoreError]:
        """Add a job; return the waiting one if there is one.

        A waiting job counts if it has the same source and revision.
        """
        statement = (
            "WITH swept AS (DELETE FROM jobs WHERE state = 'done' AND ended_at < now() - make_interval(days => %s)), "
            "added AS (INSERT INTO jobs (source, revision) VALUES (%s, %s) "
            f"ON CONFLICT (source, revision) WHERE state = 'ready' DO UPDATE SET source = excluded.source RETURNING {_COLUMNS}) "
            "SELECT * FROM added"
        )
        return self._ask(lambda c: Job(*c.execute(statement, [KEPT_DAYS, source, revision]).fetchall()[0]))

    def take(self, worker: str, lease_s: float) -> Result[Job | None, StoreError]:
        """Take the job that has waited longest, under a lease.

        The result is None if no job can be taken. `lease_s` is in seconds.
        """

        def take(connection: psycopg.Connection) -> Job | None:
            for _ in range(3):
                with suppress(psycopg.errors.UniqueViolation):  # another worker has just taken a job of the same source
                    connection.execute(_PUT_BACK, {"most": self.attempts})
                    row = connection.execute(_TAKE, [worker, lease_s]).fetchone()
                    return Job(*row) if row else None
            return None

        return self._ask(take)

    def renew(self, job: Job, lease_s: float) -> Result[bool, StoreError]:
        """Renew a job's lease; return False if the lease is lost."""
        return self._changed(
            "UPDATE jobs SET lease_until = now() + make_interval(secs => %s) WHERE id = %s AND lease = %s AND state = 'running'",
            [lease_s, job.id, job.lease],
        )

    def done(self, job: Job, said: str) -> Result[bool, StoreError]:
        """Mark a job as done; False changes nothing: the lease is lost."""
        return self._changed(
            "UPDATE jobs SET state = 'done', said = %s, ended_at = now(), worker = '' "
            "WHERE id = %s AND lease = %s AND state = 'running'",
            [said, job.id, job.lease],
        )

    def failed(self, job: Job, said: str, *, again: bool = True) -> Result[bool, StoreError]:
        """Mark a job as failed, with the reason.

        The job is tried again after a pause, unless `again` is false or no attempts are left.
        """
        pause = min(PAUSE_SECONDS * 2 ** (job.attempts - 1), MOST_PAUSE_SECONDS) * random.uniform(0.8, 1.2)  # noqa: S311
        dead = not again or job.attempts >= self.attempts
        return self._changed(
            "UPDATE jobs SET state = %s, said = %s, worker = '', not_before = now() + make_interval(secs => %s), "
            "ended_at = CASE WHEN %s THEN now() END WHERE id = %s AND lease = %s AND state = 'running'",
            ["dead" if dead else "ready", said, pause, dead, job.id, job.lease],
        )

    def jobs(self, states: Sequence[str] = ()) -> Result[list[Job], StoreError]:
        """Return jobs in some states, or all jobs, in order of addition."""
        return self._rows(
            f"SELECT {_COLUMNS} FROM jobs WHERE %s::text[] = '{{}}' OR state = ANY(%s) ORDER BY id",
            [list(states), list(states)],
        )

    def retry(self, ids: Sequence[int] = ()) -> Result[list[Job], StoreError]:
        """Put dead jobs back with new attempts, all by default; return them."""
        return self._rows(
            "UPDATE jobs SET state = 'ready', attempts = 0, not_before = now(), ended_at = NULL WHERE id IN ("
            "SELECT min(dead.id) FROM jobs dead WHERE dead.state = 'dead' AND (%s::bigint[] = '{}' OR dead.id = ANY(%s)) "
            "AND NOT EXISTS (SELECT 1 FROM jobs other WHERE other.state = 'ready' AND other.source = dead.source "
            f"AND other.revision = dead.revision) GROUP BY dead.source, dead.revision) RETURNING {_COLUMNS}",
            [list(ids), list(ids)],
        )

    def _rows(self, statement: str, values: Sequence[Any]) -> Result[list[Job], StoreError]:
        return self._ask(lambda c: [Job(*row) for row in c.execute(statement, values).fetchall()])

    def _changed(self, statement: str, values: Sequence[Any]) -> Result[bool, StoreError]:
        return self._ask(lambda c: c.execute(statement, values).rowcount == 1)

    def _ask(self, step: Callable[[psycopg.Connection], T]) -> Result[T, StoreError]:
        return connections(self.url, TIMEOUT_SECONDS).ask(step)


# Jobs whose worker stopped answering; a job that already waits at the same revision makes one superfluous.
_PUT_BACK = """
UPDATE jobs SET worker = '', not_before = now(), said = 'its worker ' || worker || ' stopped answering',
    ended_at = CASE WHEN attempts >= %(most)s THEN now() END,
    state = CASE WHEN attempts >= %(most)s THEN 'dead' WHEN EXISTS (
        SELECT 1 FROM jobs other WHERE other.state = 'ready' AND other.source = jobs.source AND other.revision = jobs.revision
    ) THEN 'done' ELSE 'ready' END
WHERE id IN (SELECT id FROM jobs WHERE state = 'running' AND lease_until < now() FOR UPDATE SKIP LOCKED)
"""
_TAKE = f"""
UPDATE jobs SET state = 'running', worker = %s, attempts = attempts + 1, lease = lease + 1,
    lease_until = now() + make_interval(secs => %s)
WHERE id = (
    SELECT id FROM jobs WHERE state = 'ready' AND not_before <= now() AND NOT EXISTS (
        SELECT 1 FROM jobs other WHERE other.state = 'running' AND other.source = jobs.source
    ) ORDER BY not_before, id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING {_COLUMNS}
"""
