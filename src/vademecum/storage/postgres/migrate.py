"""Migration of a database to a version, up or down, with Alembic.

Only this module and the migrations import Alembic. A call is one transaction: a database is at one version or another, never in between.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from vademecum.errors import StoreError, UsageError
from vademecum.storage.postgres.connect import alone, close_all, named, naming, place_of
from vademecum.storage.postgres.extensions import is_derived, provide
from vademecum.storage.postgres.tables import every_table
from vademecum.storage.postgres.versions import LOCK, NEWEST, REVISIONS, version_of

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
        with _connected(url) as connection:
            provide_nothing(connection)
    _run(command.downgrade, url, to)
    return [f"{place_of(url)}: {before or 'empty'} → {to}"]


def differences(url: str) -> list[Any]:
    """Return Alembic's list of differences from the expected tables."""
    with _connected(url) as connection:
        context = MigrationContext.configure(connection, opts=OPTIONS)
        return list(compare_metadata(context, every_table()))


def version(url: str) -> str:
    """Return a database's version, "" if empty. Raises `StoreError`."""
    with naming(url), alone(url) as connection:
        return version_of(connection)


# Derived tables and indexes depend on the server and have types that SQLAlchemy does not know: migrations ignore them.
OPTIONS: dict[str, Any] = {
    "include_object": lambda _, name, *more: not is_derived(name or ""),  # noqa: ARG005 - Alembic's signature
    "include_name": lambda name, *_: not is_derived(name or ""),
    "compare_type": True,
}


def serialised(connection: Connection) -> None:
    """Lock out other migrations until the transaction ends."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


def provide_nothing(connection: Connection) -> None:
    """Drop derived tables, which refer to tables of the records."""
    names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")).scalars()
    for name in [name for name in names if is_derived(name)]:
        connection.execute(text(f'DROP TABLE "{name}" CASCADE'))
    connection.commit()


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    engine = create_engine("postgresql+psycopg://", creator=lambda: alone(url), poolclass=NullPool)
    with _naming(url), engine.connect() as connection:
        yield connection


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
