"""Migration of a database to a version, up or down, with Alembic.

Only this module and the migrations import Alembic. A call is one transaction: a database is at one version or another, never in between.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError

from vademecum.errors import StoreError, UsageError
from vademecum.storage.postgres.connect import alone, close_all, named, naming, place_of
from vademecum.storage.postgres.extensions import is_derived, provide
from vademecum.storage.postgres.migrations.script import SCRIPTS, statements
from vademecum.storage.postgres.versions import NEWEST, REVISIONS, version_of

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
            _provide_nothing(connection)
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


def _provide_nothing(connection: psycopg.Connection) -> None:
    """Drop derived tables, which refer to tables of the records."""
    names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
    for name in [name for (name,) in names if is_derived(name)]:
        connection.execute(f'DROP TABLE "{name}" CASCADE')


@contextmanager
def _naming(url: str) -> Iterator[None]:
    """Raise our errors for SQLAlchemy's and Alembic's."""
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
