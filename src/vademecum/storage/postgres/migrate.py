"""Care of a database: `vade db` upgrades, checks and copies it.

Only this module and the migrations import Alembic. A migration is a file of SQL for each version; released ones are never
edited. A call is one transaction: a database is at one version or another, never in between.

A copy into another store is resumable and verified. Rows that are already there and equal are skipped, so a second run continues the first. Every row is read
back; a family is verified by its number of rows and by a digest that does not depend on their order.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
from alembic import command, op
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from vademecum.errors import StoreError, UsageError
from vademecum.protocols import Progress, Row, Store
from vademecum.result import Err, Ok
from vademecum.storage.postgres.connect import (
    NEWEST,
    REVISIONS,
    alone,
    close_all,
    connections,
    features_of,
    is_derived,
    named,
    naming,
    place_of,
    provide,
    version_of,
)
from vademecum.storage.postgres.statements import decode, encode, shapes
from vademecum.storage.postgres.store import TIMEOUT_SECONDS, PostgresStore
from vademecum.storage.sqlite import FAMILIES
from vademecum.types import Check

SCRIPTS = Path(__file__).parent / "migrations" / "versions"  # a file of SQL for each version
AT_ONCE = 1_000  # rows compared and written at a time
_MODULUS = 1 << 64

Turned = Callable[[str, Row], Row | None]


@dataclass(frozen=True, slots=True)
class Copied:
    """One copied family: its rows, the new ones, and their digest."""

    family: str
    rows: int
    written: int
    digest: str


def copy(source: Store, target: Store, turned: Turned, progress: Progress, *, name: str = "") -> list[Copied]:
    """Copy every family into an empty or partly copied store.

    `turned` returns the target's form of a row; None to skip the row. Raises `StoreError` where the target holds other records,
    or does not return the records as written: then do not rely on it.
    """
    _check_target(source, target, name)
    return [_copy_family(family, source, target, turned, progress, name) for family in FAMILIES]


def to_machine(machine: str) -> Turned:
    """Return the conversion of a file's rows for a shared database.

    Worktrees and derived files get this machine's name.
    """

    def turned(family: str, row: Row) -> Row | None:
        named = dict(zip(FAMILIES[family].columns, row, strict=True))
        if family == "snapshots" and named["kind"] == "worktree":
            named["place"] = f"{machine}:{named['place']}"
        if family == "segments":
            named["file"] = f"{machine}/{named['file']}"
        shape = shapes()[family]
        encoded = tuple(encode(shape, column, value) for column, value in named.items())
        return decode(list(shape.columns.values()), [encoded])[0]  # as the database will return it

    return turned


def from_machine(machine: str) -> Turned:
    """Return the conversion of a shared database's rows for a file.

    Worktrees and derived files of other machines are skipped.
    """

    def turned(family: str, row: Row) -> Row | None:
        named = dict(zip(FAMILIES[family].columns, row, strict=True))
        for of, column, mark in (("snapshots", "place", ":"), ("segments", "file", "/")):
            if family == of and (of == "segments" or named["kind"] == "worktree"):
                if not named[column].startswith(machine + mark):
                    return None
                named[column] = named[column].removeprefix(machine + mark)
        return tuple(named.values())

    return turned


def _check_target(source: Store, target: Store, name: str) -> None:
    """Refuse a target with records that the source lacks."""
    for family in ("blobs", "events", "tools"):
        there = {row[0] for row in target.scan(family, columns=FAMILIES[family].key).unwrap()}
        other = (
            there - {row[0] for row in source.scan(family, columns=FAMILIES[family].key).unwrap()} if there else there
        )
        if other:
            raise StoreError(
                f"{name} holds {len(other)} records of {family} that are no copies: copy into an empty database, or have "
                "`vade index` and `vade memory import` add what is missing"
            )


def _copy_family(family: str, source: Store, target: Store, turned: Turned, progress: Progress, name: str) -> Copied:
    count = written = theirs = ours = 0
    for part in _batches(source, family):
        rows = [made for row in source.get(family, part).unwrap() if (made := turned(family, row)) is not None]
        there = _by_key(target, family, rows)
        lacking = [row for row in rows if there.get(_key_of(family, row)) != row]
        if lacking:
            target.upsert(family, lacking).unwrap()
            there |= _by_key(target, family, lacking)
        count, written = count + len(rows), written + len(lacking)
        ours += sum(map(_digest, rows))
        theirs += sum(map(_digest, there.values()))
        progress(f"copying {family}", count, 0)
    if ours % _MODULUS != theirs % _MODULUS:
        raise StoreError(f"{name} does not give back what was written of {family}: run `vade db check` and copy again")
    return Copied(family, count, written, f"{theirs % _MODULUS:016x}")


def _by_key(store: Store, family: str, rows: Sequence[Row]) -> dict[Row, Row]:
    keys = [_key_of(family, row) for row in rows]
    return {_key_of(family, row): row for row in store.get(family, keys).unwrap()}


def _batches(store: Store, family: str) -> Iterator[list[Row]]:
    keys = store.scan(family, columns=FAMILIES[family].key).unwrap()
    for start in range(0, len(keys), AT_ONCE):
        yield keys[start : start + AT_ONCE]


def _key_of(family: str, row: Row) -> Row:
    places = [FAMILIES[family].columns.index(column) for column in FAMILIES[family].key]
    return tuple(row[place] for place in places)


def _digest(row: Row) -> int:
    return int.from_bytes(blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


LEAST_SERVER = 15


def check_database(url: str) -> Iterator[Check]:
    """Yield check after check, stopping when the rest cannot run."""
    try:
        found = version(url)
    except StoreError as error:
        yield Check("connection", ok=False, detail=str(error), fix="check storage.url, and that the server runs")
        return
    yield Check(
        "version", found == NEWEST, f"{found or 'no tables'}{'' if found == NEWEST else f', not {NEWEST}'}",
        "run `vade db upgrade`",
    )  # fmt: skip
    if found != NEWEST:
        return
    with connections(url, TIMEOUT_SECONDS).borrowed() as connection:
        server, features = connection.info.server_version // 10_000, features_of(connection)
    yield Check(
        "server", server >= LEAST_SERVER, f"PostgreSQL {server} at {place_of(url)}",
        f"use PostgreSQL {LEAST_SERVER} or newer",
    )  # fmt: skip
    changed = differences(url)
    yield Check(
        "tables", not changed, "as expected" if not changed else "; ".join(changed[:5]),
        "undo what was changed by hand, or restore a backup",
    )  # fmt: skip
    for what, there, without in (
        ("vectors", features.vectors, "pgvector is not installed: the server cannot search vectors"),
        (
            "trigrams",
            features.trigrams,
            "pg_trgm is not installed: names that are spelled nearly so are not looked for",
        ),
    ):
        yield Check(what, ok=True, detail="provided" if there else without)
    yield from _check_spaces(url)


def _check_spaces(url: str) -> Iterator[Check]:
    names = PostgresStore.spaces(url)
    broken = []
    for name in names:
        match PostgresStore(url, name).check():
            case Ok("ok"):
                pass
            case Ok(said):
                broken.append(f"{name}: {said}")
            case Err(error):
                broken.append(f"{name}: {error}")
    detail = "; ".join(broken) or f"{len(names)} spaces, all whole"
    yield Check("records", not broken, detail, "run `vade index --full` where the repository is")


_ALONE = threading.Lock()  # Alembic keeps its state in global variables


def upgrade(url: str, to: str = NEWEST) -> list[str]:
    """Upgrade a database and install server features; return a report.

    The report has a line for each change.

    Raises:
        UsageError: there is no such version.
        StoreError: the server cannot be reached, or refuses; the database is unchanged.
    """
    before = version(url)
    _run(command.upgrade, url, to)
    done = [] if before == to else [f"{place_of(url)}: {before or 'empty'} → {to}"]
    return done + (provide(url) if to == NEWEST else [])


def downgrade(url: str, to: str) -> list[str]:
    """Downgrade a database to a version, or to "base" for none.

    The newer version's tables are dropped. Raises as `upgrade`.
    """
    before = version(url)
    if to == "base" or REVISIONS.index(_known(to)) < REVISIONS.index(NEWEST):
        with naming(url), alone(url) as connection:
            # derived tables refer to tables of the records
            names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
            for name in [name for (name,) in names if is_derived(name)]:
                connection.execute(f'DROP TABLE "{name}" CASCADE')
    _run(command.downgrade, url, to)
    return [f"{place_of(url)}: {before or 'empty'} → {to}"]


def differences(url: str) -> list[str]:
    """Return the columns and indexes that migrations would make otherwise.

    The expected tables are made beside the others, for this connection alone, and never kept.
    """
    with naming(url), alone(url) as connection:
        found = _parts(connection, "current_schema()::regnamespace")
        with connection.transaction(force_rollback=True):
            connection.execute("SET LOCAL search_path = pg_temp")
            for statement in chain.from_iterable(statements(path.name) for path in sorted(SCRIPTS.glob("*.sql"))):
                connection.execute(statement)
            expected = _parts(connection, "pg_my_temp_schema()")
    return [f"{part} is missing" for part in sorted(expected - found)] + [
        f"{part} is not expected" for part in sorted(found - expected)
    ]


_PARTS = r"""
    SELECT c.relname, concat_ws(' ', 'column', c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = {schema} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL SELECT i.relname, regexp_replace(pg_get_indexdef(i.oid), ' ON (ONLY )?\w+\.', ' ON ')
    FROM pg_class i WHERE i.relnamespace = {schema} AND i.relkind IN ('i', 'I')
"""


def _parts(connection: psycopg.Connection, schema: str) -> set[str]:
    """Return a schema's columns and indexes in words, without derived ones."""
    rows = connection.execute(_PARTS.format(schema=schema)).fetchall()
    return {said for name, said in rows if not is_derived(name) and not name.startswith("alembic_version")}


def version(url: str) -> str:
    """Return a database's version, "" if empty. Raises `StoreError`."""
    with naming(url), alone(url) as connection:
        return version_of(connection)


@contextmanager
def _naming(url: str) -> Iterator[None]:
    try:
        with naming(url):
            yield
    except DBAPIError as error:
        cause = error.orig
        raise (
            named(cause, url) if isinstance(cause, psycopg.Error) else StoreError(f"{place_of(url)}: {error}")
        ) from error
    except CommandError as error:
        raise StoreError(f"{place_of(url)} cannot be migrated: {error}") from error


def _run(action: Any, url: str, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["url"] = url
    close_all(url)  # the next caller checks the version again
    with _naming(url), _ALONE:
        action(config, to if to == "base" else _known(to))


def _known(revision: str) -> str:
    if revision not in REVISIONS:
        raise UsageError(f"there is no version {revision!r}: choose among {', '.join(REVISIONS)}")
    return revision


def statements(script: str) -> list[str]:
    """Return the statements of a script, in order."""
    return [each for each in (SCRIPTS / script).read_text(encoding="utf-8").split(";") if each.strip()]


def create(script: str) -> None:
    """Run a script, inside a migration."""
    for statement in statements(script):
        op.execute(statement)


def drop(script: str) -> None:
    """Drop the tables that a script creates, inside a migration."""
    tables = re.findall(r"CREATE TABLE (\w+)", "".join(statements(script)))
    op.execute(f"DROP TABLE {', '.join(tables)}")
