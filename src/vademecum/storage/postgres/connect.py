"""Shared connections to a server: opened on demand, reused, errors named.

Errors are recognised by SQLSTATE (PostgreSQL, appendix A) and not by their words, which a server may say in any language.

A wait for a silent server has a limit. A statement may take long on a healthy server, so silence alone says little. After some seconds of silence the server is asked
for another connection. If it twice gives none, it has stopped, and the statement is given up. If the server is alive but still
does not answer, the statement is given up after the connection's limit. The server has the same limit (`statement_timeout`)
and normally ends the statement itself.

Optional features of a server are vectors (pgvector) and similar words (pg_trgm). Tables and indexes for these features are derived from the records, so migrations ignore them: `vade db upgrade` creates them
if the server has the extension; other servers work without.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo
from psycopg.pq import TransactionStatus

from vademecum.addresses import is_loopback
from vademecum.errors import (
    StoreAwayError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
from vademecum.metrics import STORE_ERRORS
from vademecum.result import attempt

TRIGRAMS = (
    ("trigram_symbols_name", "symbols", "name"),
    ("trigram_symbols_signature", "symbols", "signature"),
    ("trigram_files_path", "files", "path"),
)
# for the server's search by meaning: one 16-bit vector of each chunk and embedder
EMBEDDINGS = (
    """CREATE TABLE IF NOT EXISTS derived_embeddings (
        space_id bigint NOT NULL, blob bigint NOT NULL, ordinal integer NOT NULL, embedder text COLLATE "C" NOT NULL,
        embedding halfvec NOT NULL, PRIMARY KEY (space_id, blob, ordinal, embedder))""",
    "ALTER TABLE derived_embeddings ALTER COLUMN embedding SET STORAGE PLAIN",  # read in place, not from a side table
)
# a vector index (`search.vectors = "pgvector"`): points with their payload
POINTS = (
    """CREATE TABLE IF NOT EXISTS derived_points (
        collection text COLLATE "C" NOT NULL, model text COLLATE "C" NOT NULL, key uuid NOT NULL, id text COLLATE "C" NOT NULL,
        repo text COLLATE "C" NOT NULL, branch text COLLATE "C" NOT NULL, commit text COLLATE "C" NOT NULL,
        path text COLLATE "C" NOT NULL, language text COLLATE "C" NOT NULL, start_line integer NOT NULL,
        end_line integer NOT NULL, kind text COLLATE "C" NOT NULL, file_kind text COLLATE "C" NOT NULL,
        symbols text[] NOT NULL, text text COLLATE "C" NOT NULL, blob text COLLATE "C" NOT NULL, ordinal integer NOT NULL,
        names text[] COLLATE "C" NOT NULL, places text[] COLLATE "C" NOT NULL, embedding vector NOT NULL,
        PRIMARY KEY (collection, model, key))""",
    "CREATE INDEX IF NOT EXISTS derived_points_by_repo ON derived_points (collection, model, repo, commit)",
    "CREATE INDEX IF NOT EXISTS derived_points_by_place ON derived_points USING gin (places)",
    "CREATE INDEX IF NOT EXISTS derived_points_by_name ON derived_points USING gin (names)",
)
DERIVED = ("trigram_", "derived_")  # prefixes of their names


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one database."""

    vectors: bool
    trigrams: bool


def is_derived(name: str) -> bool:
    """Return whether a table or index is derived, by its name."""
    return name.startswith(DERIVED)


def features_of(connection: psycopg.Connection) -> Features:
    """Return the features of a database. Raises `psycopg.Error`."""
    found = {name for (name,) in connection.execute("SELECT extname FROM pg_extension").fetchall()}
    return Features("vector" in found, "pg_trgm" in found)


def provide(url: str) -> list[str]:
    """Install available extensions with their tables and indexes; return a report.

    The report has a line for each extension that was installed or is missing.

    Raises:
        StoreError: the server cannot be reached or refuses.
    """
    with naming(url), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])  # until the connection ends
        said = [_extended(connection, name, gives, url) for name, gives in EXTENSIONS.items()]
        if features_of(connection).vectors:
            for statement in (*EMBEDDINGS, *POINTS):
                connection.execute(statement)
        if features_of(connection).trigrams:
            for index, table, column in TRIGRAMS:
                connection.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {table} USING gin ({column} gin_trgm_ops)")
    return [line for line in said if line]


EXTENSIONS = {"vector": "searching vectors in the server", "pg_trgm": "names that are spelled nearly so"}


def _extended(connection: psycopg.Connection, name: str, gives: str, url: str) -> str:
    """Install an extension if available; return a line for the report."""
    row = connection.execute("SELECT installed_version FROM pg_available_extensions WHERE name = %s", [name]).fetchone()
    if row is None:
        return f"{place_of(url)} does not have {name}: it goes without {gives}"
    if row[0] is not None:
        return ""
    try:
        connection.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
    except psycopg.errors.InsufficientPrivilege:
        return f"{place_of(url)} has {name}, which this user may not install: it goes without {gives}"
    return f"{place_of(url)}: {name} provides {gives}"


REVISIONS = ("0001", "0002", "0003")
NEWEST = REVISIONS[-1]
LOCK = 0x7661_6465  # the advisory lock of migrations: "vade"


def version_of(connection: psycopg.Connection) -> str:
    """Return a database's version, "" for an empty database. Raises `psycopg.Error`."""
    found = connection.execute("SELECT to_regclass('alembic_version'), to_regclass('spaces')").fetchone()
    if found is None or found[0] is None:
        return "" if found is None or found[1] is None else "unknown"
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return "" if row is None else str(row[0])


def check_version(connection: psycopg.Connection, where: str) -> None:
    """Refuse a database at another version than this code's.

    Raises:
        StoreVersionError: the database is empty, older, newer or incomplete; the message says which, and names the fix.
    """
    version = version_of(connection)
    if version == NEWEST:
        return
    if not version:
        raise StoreVersionError(f"{where} has no tables yet: run `vade db upgrade`")
    if version in REVISIONS:
        raise StoreVersionError(f"{where} has version {version}, older than {NEWEST}: run `vade db upgrade`")
    if version == "unknown":
        raise StoreVersionError(
            f"{where} has tables and no version, as when something else made them: set storage.url to another database"
        )
    raise StoreVersionError(
        f"{where} has version {version}, newer than this vademecum's {NEWEST}: upgrade vademecum, or set storage.url to "
        "another database"
    )


ASKED_AFTER = 5.0  # seconds of silence before each check that the server is alive
FAILURES = 2  # failed checks in a row before the server counts as dead: a busy server may miss one
GRACE = 5.0  # seconds for the server to end a statement by itself
SLOWER = 20.0  # factor on the limit for statements that build an index or read everything
_NOTHING_READY = 0  # psycopg's value for "no data in this interval"


class SilentError(psycopg.OperationalError):
    """The server did not answer; a retry would wait as long."""


class Watching:
    """The watching shared by both kinds of connection."""

    limit_s: float = 0.0  # seconds; 0 for no limit
    lives: Callable[[], bool] | None = None
    pgconn: Any

    def _watched(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        heard = asked = time.monotonic()
        failures = 0
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready != _NOTHING_READY:
                    heard = asked = now
                    failures = 0
                elif self.limit_s and now - heard > self.limit_s + GRACE:
                    self._give_up(f"no answer to a statement for {now - heard:.0f} s")
                elif self.lives is not None and now - asked > ASKED_AFTER:
                    failures = 0 if self.lives() else failures + 1
                    asked = time.monotonic()
                    if failures == FAILURES:
                        self._give_up(f"it stopped answering {asked - heard:.0f} s ago")
                wanted = gen.send(ready)
        except StopIteration as done:
            value: T = done.value
            return value

    def _give_up(self, said: str) -> None:
        self.pgconn.finish()
        raise SilentError(said)


class Watched(Watching, psycopg.Connection[Any]):
    """A connection that gives up on a server that stopped answering."""

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, *args: Any, **options: Any) -> T:
        """Run a step of the protocol. Raises `SilentError`, with the connection closed."""
        return super().wait(self._watched(gen), interval, *args, **options)

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Raise the time limit for slow statements, outside a transaction."""
        usual = self.limit_s
        self.limit_s = usual * SLOWER
        try:
            self.execute(f"SET statement_timeout = {int(self.limit_s * 1000)}")
            yield
        finally:
            self.limit_s = usual
            with suppress(psycopg.Error):  # a broken connection is not lent again
                self.execute("RESET statement_timeout")


class WatchedAsync(Watching, psycopg.AsyncConnection[Any]):
    """The same for migrations, which Alembic runs asynchronously."""

    async def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, *args: Any, **options: Any) -> T:
        """Run a step of the protocol. Raises `SilentError`, with the connection closed."""
        return await super().wait(self._watched(gen), interval, *args, **options)


T = TypeVar("T")

ATTEMPTS = 3  # of one step, when connections are lost
IDLE_KEPT = 4  # idle connections kept open
CONNECT_SECONDS = 10  # the longest single attempt to connect
ENCODING = "utf8"  # of the protocol, independent of the database's own encoding
PATIENCE = 2.0  # a statement may take this many times the wait for another writer, and at least
LEAST_PATIENCE = 5.0  # seconds
SLOW_FAILURE = 1.0  # seconds: after a slower failure the server is left alone for a while
RESTED = 30.0  # seconds of leaving a slow server alone, because every caller would wait as long
PAUSES = (0.2, 0.6, 1.5)  # seconds between attempts while a server starts or has no free connection
LOST = frozenset({"57P01", "57P02", "57P03", "08000", "08001", "08003", "08004", "08006", "08007"})
TRANSIENT = frozenset({"40001", "40P01"})  # serialization_failure, deadlock_detected: a retry may succeed
SOON = frozenset({"53300", "57P03"})  # too_many_connections, cannot_connect_now
# before there is a session, libpq passes on only the server's words, without a code
_SOON_WORDS = ("starting up", "too many", "connection slots")

_NAMES: tuple[tuple[frozenset[str], type[StoreError], str], ...] = (
    # disk_full, io_error
    (frozenset({"53100", "58030"}), StoreFullError,
     "no room on the disk of {place}: free some space there and try again ({said})"),
    # lock_not_available, query_canceled, too_many_connections
    (frozenset({"55P03", "57014", "53300"}), StoreBusyError,
     "{place} is busy ({said}): try again, or raise storage.timeout_s"),
    (TRANSIENT, StoreBusyError, "{place}: another process wrote the same at once ({said}): try again"),
    # data_corrupted, index_corrupted
    (frozenset({"XX001", "XX002"}), StoreCorruptError,
     "{place} is damaged ({said}): restore it from a backup; nothing was changed"),
    # undefined_table, undefined_column
    (frozenset({"42P01", "42703"}), StoreVersionError,
     "{place} lacks a table or column ({said}): run `vade db check`"),
    # insufficient_privilege, read_only_sql_transaction
    (frozenset({"42501", "25006"}), StoreError,
     "{place} may not be written ({said}): set storage.url to a user and server that may write"),
)  # fmt: skip


def place_of(url: str) -> str:
    """Return a database's address without user and password.

    >>> place_of("postgresql://ada:secret@db.example.org:5433/code")
    'postgresql://db.example.org:5433/code'
    """
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "storage.url"
    host, database = str(parts.get("host") or parts.get("hostaddr") or "localhost"), parts.get("dbname") or ""
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql:///{database} at {host}" if host.startswith("/") else f"postgresql://{host}{port}/{database}"


def is_local(url: str) -> bool:
    """Return whether a database is on this machine.

    Local are a socket's file and a loopback address. Raises `StoreError` for a malformed URL.

    >>> is_local("postgresql:///code"), is_local("host=/run/postgresql"), is_local("postgresql://db.example.org/code")
    (True, True, False)
    >>> is_local("postgresql://127.0.0.1/code"), is_local("postgresql://127.0.0.1.example.org/code")
    (True, False)
    """
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        raise _no_address(error) from error
    # libpq takes missing parts of the URL from the environment
    host = str(
        parts.get("hostaddr") or parts.get("host") or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST") or ""
    )
    return all(not each or each.startswith(("/", "@")) or is_loopback(each) for each in host.split(","))


def _no_address(error: psycopg.Error) -> StoreError:
    said = " ".join(str(error).split()).partition(":")[0]  # the rest may quote a password
    return StoreError(f"storage.url is no address ({said}): write it as postgresql://user:password@host:port/database")


def named(error: psycopg.Error, url: str) -> StoreError:
    """Return our error for a psycopg error, and count it."""
    found = _named(error, url)
    STORE_ERRORS.add(error=type(found).__name__)
    return found


@contextmanager
def naming(url: str) -> Iterator[None]:
    """Raise our errors for psycopg's."""
    try:
        yield
    except psycopg.Error as error:
        raise named(error, url) from error


def _named(error: psycopg.Error, url: str) -> StoreError:
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return _no_address(error)
    place, said = place_of(url), " ".join(str(error).split()) or type(error).__name__
    code = error.sqlstate or ""
    for codes, kind, sentence in _NAMES:
        if code in codes:
            return kind(sentence.format(place=place, said=said))
    if _may_pass(error):
        return StoreBusyError(f"{place} is busy ({said}): try again, or let its max_connections be raised")
    if isinstance(error, SilentError):
        return StoreAwayError(f"{place} says nothing ({said}): see what its server is at, or raise storage.timeout_s")
    if is_lost(error) or isinstance(error, psycopg.OperationalError):
        return StoreAwayError(f"{place} cannot be reached ({said}): check storage.url, and that the server runs")
    return StoreError(f"{place}: {said}")


class Connections:
    """The connections of one process to one database.

    Safe to use from several threads, and after a fork.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self.url = url
        self.timeout_s = timeout_s
        self._idle: list[Watched] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._checked = False
        self._failure: tuple[float, StoreError] | None = None  # end of the pause, and the error

    @contextmanager
    def borrowed(self) -> Iterator[Watched]:
        """Lend a connection in autocommit.

        A connection that broke, or is left in a transaction, is closed instead of lent again.

        Raises:
            StoreError: no connection can be made.
        """
        connection = self._idle_one() or self._new()
        try:
            yield connection
        finally:
            self._take_back(connection)

    def run(self, step: Callable[[psycopg.Connection], T], *, again: bool = True, slow: bool = False) -> T:
        """Run a step, again after a lost connection or a conflict.

        With `again`, the step may safely run twice; with `slow`, its statements may take long. Raises `psycopg.Error`, and
        `StoreError` if no connection can be made.
        """
        for count in range(1, ATTEMPTS + 1):
            try:
                with self.borrowed() as connection, connection.unhurried() if slow else nullcontext():
                    return step(connection)
            except psycopg.Error as error:
                lost = is_lost(error)
                if not again or count == ATTEMPTS or not (lost or error.sqlstate in TRANSIENT):
                    raise
                if lost:
                    self.close()  # the others are probably dead too
        raise AssertionError("the last attempt returns or raises")

    @attempt(StoreError, StoreError)
    def ask(self, step: Callable[[psycopg.Connection], T], *, slow: bool = False) -> T:
        """Return the result of `run` for a step that may run twice."""
        with naming(self.url):
            return self.run(step, slow=slow)

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _idle_one(self) -> Watched | None:
        with self._lock:
            if os.getpid() != self._process:  # after a fork these sockets are the parent's
                self._idle, self._process = [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _take_back(self, connection: Watched) -> None:
        whole = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            if whole and len(self._idle) < IDLE_KEPT:
                self._idle.append(connection)
                return
        with suppress(psycopg.Error):
            connection.close()

    def _new(self) -> Watched:
        """Connect; repeat a recent slow failure without asking the server."""
        if self._failure is not None and time.monotonic() < self._failure[0]:
            raise type(self._failure[1])(str(self._failure[1]))
        started = time.monotonic()
        try:
            connection = self._tried()
        except StoreAwayError as error:
            now = time.monotonic()
            self._failure = (now + RESTED, error) if now - started > SLOW_FAILURE else None
            raise
        self._failure = None
        return connection

    def _tried(self) -> Watched:
        for pause in (*PAUSES, None):
            try:
                connection = self._connected()
            except psycopg.Error as error:
                if pause is None or not _may_pass(error):
                    raise named(error, self.url) from error
                time.sleep(pause)
            else:
                return connection
        raise AssertionError("the last attempt returns or raises")

    def _connected(self) -> Watched:
        wait, limit = int(self.timeout_s * 1000), max(PATIENCE * self.timeout_s, LEAST_PATIENCE)
        own = conninfo.conninfo_to_dict(self.url).get("options") or ""
        connection = Watched.connect(
            self.url,
            client_encoding=ENCODING,
            autocommit=True,
            connect_timeout=self._connect_s,
            options=f"-c lock_timeout={wait} -c statement_timeout={int(limit * 1000)} -c jit=off -c idle_in_transaction_session_timeout=10min -c client_min_messages=warning {own}",
            application_name="vademecum",
            keepalives_idle=30,  # detects a vanished machine within a minute
            keepalives_interval=10,
            keepalives_count=3,
            tcp_user_timeout=int(self.timeout_s * 1000),
        )
        connection.limit_s, connection.lives = limit, partial(lives, self.url, self._connect_s)
        if not self._checked:
            try:
                check_version(connection, place_of(self.url))
            except BaseException:
                connection.close()
                raise
            self._checked = True
        return connection

    @property
    def _connect_s(self) -> int:
        return max(2, min(CONNECT_SECONDS, int(self.timeout_s)))  # libpq's minimum is 2


def lives(url: str, connect_s: int) -> bool:
    """Return whether a server is alive: it connects, or is busy."""
    try:
        psycopg.connect(url, connect_timeout=connect_s).close()
    except psycopg.OperationalError as error:
        return _may_pass(error)
    return True


def alone(url: str) -> Watched:
    """Return an unshared connection, at any version, without time limit.

    Statements may take as long as they need while the server is alive.

    Raises:
        psycopg.Error: the connection failed.
    """
    connection = Watched.connect(url, client_encoding=ENCODING, connect_timeout=CONNECT_SECONDS)
    connection.lives = partial(lives, url, CONNECT_SECONDS)
    return connection


def is_lost(error: psycopg.Error) -> bool:
    """Return whether a connection failed, so that another may work.

    A garbled answer ends a connection too; silence is the server's.
    """
    if isinstance(error, SilentError):
        return False
    unnamed = isinstance(error, psycopg.OperationalError) or type(error) is psycopg.DatabaseError
    return error.sqlstate in LOST or (error.sqlstate is None and unnamed)


def _may_pass(error: psycopg.Error) -> bool:
    """Return whether waiting may help.

    It helps while a server starts, or has all its connections in use.
    """
    said = str(error)
    return (error.sqlstate or "") in SOON or any(words in said for words in _SOON_WORDS)


_SHARED: dict[tuple[str, float], Connections] = {}
_SHARED_LOCK = threading.Lock()


def connections(url: str, timeout_s: float) -> Connections:
    """Return this process's connections to a database, shared by its stores."""
    with _SHARED_LOCK:
        return _SHARED.setdefault((url, timeout_s), Connections(url, timeout_s))


def close_all(url: str) -> None:
    """Close all connections to a database, as before dropping it."""
    with _SHARED_LOCK:
        gone = [_SHARED.pop(key) for key in list(_SHARED) if key[0] == url]
    for each in gone:
        each.close()
