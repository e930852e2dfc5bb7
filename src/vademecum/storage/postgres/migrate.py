"""Bringing a database to a version, up or down, with Alembic; nothing else in the house imports that.

Everything of one call happens in one transaction: a database is at one version or at another, never between.
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
from vademecum.storage.postgres.connect import alone, close_all, named, place_of
from vademecum.storage.postgres.features import is_derived, provide
from vademecum.storage.postgres.tables import every_table
from vademecum.storage.postgres.versions import LOCK, NEWEST, REVISIONS, version_of

_ALONE = threading.Lock()  # Alembic keeps what it is at in global variables


def upgrade(url: str, to: str = NEWEST) -> list[str]:
    """Bring a database up to a version, and provide what its server can do beside; returns what was done, a line each.

    Raises:
        UsageError: there is no such version.
        StoreError: the server cannot be reached, or refuses; the database is as it was.
    """
    before = version(url)
    _run(command.upgrade, url, to)
    done = [] if before == to else [f"{place_of(url)}: {before or 'empty'} → {to}"]
    return done + (provide(url) if to == NEWEST else [])


def downgrade(url: str, to: str) -> list[str]:
    """Take a database down to a version, "base" for none; what the newer one added is dropped. Raises as `upgrade`."""
    before = version(url)
    if to == "base" or REVISIONS.index(_known(to)) < REVISIONS.index(NEWEST):
        with _connected(url) as connection:
            provide_nothing(connection)
    _run(command.downgrade, url, to)
    return [f"{place_of(url)}: {before or 'empty'} → {to}"]


def differences(url: str) -> list[Any]:
    """Return how a database differs from what the code expects of it, as Alembic says it; [] for a clean one."""
    with _connected(url) as connection:
        context = MigrationContext.configure(connection, opts=OPTIONS)
        return list(compare_metadata(context, every_table()))


def version(url: str) -> str:
    """Return the version of a database, "" where it is empty. Raises `StoreError`."""
    try:
        with alone(url) as connection:
            return version_of(connection)
    except psycopg.Error as error:
        raise named(error, url) from error


def include_object(thing: object, name: str | None, kind: str, reflected: bool, compared: object) -> bool:  # noqa: ARG001 - Alembic's signature
    """Say whether a table or index is the business of migrations: what is derived and depends on the server is not."""
    return not is_derived(name or "")


def include_name(name: str | None, kind: str, parents: object) -> bool:  # noqa: ARG001 - Alembic's signature
    """Say whether to look at a table at all: those that are derived have types that are not known here."""
    return not is_derived(name or "")


OPTIONS: dict[str, Any] = {"include_object": include_object, "include_name": include_name, "compare_type": True}


def serialised(connection: Connection) -> None:
    """Wait until no other process migrates the database; until the transaction ends it is ours."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


def provide_nothing(connection: Connection) -> None:
    """Drop what is derived, so that what it refers to can be taken down."""
    names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")).scalars()
    for name in [name for name in names if is_derived(name)]:
        connection.execute(text(f'DROP TABLE "{name}" CASCADE'))
    connection.commit()


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    engine = create_engine("postgresql+psycopg://", creator=lambda: alone(url), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        raise _foreign(error, url) from error
    except psycopg.Error as error:
        raise named(error, url) from error


def _run(action: Any, url: str, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["url"] = url
    close_all(url)  # whoever asks next looks at the version again
    try:
        with _ALONE:
            action(config, to if to == "base" else _known(to))
    except DBAPIError as error:
        raise _foreign(error, url) from error
    except psycopg.Error as error:
        raise named(error, url) from error
    except CommandError as error:
        raise StoreError(f"{place_of(url)} cannot be migrated: {error}") from error


def _foreign(error: DBAPIError, url: str) -> StoreError:
    cause = error.orig
    return named(cause, url) if isinstance(cause, psycopg.Error) else StoreError(f"{place_of(url)}: {error}")


def _known(revision: str) -> str:
    if revision not in REVISIONS:
        raise UsageError(f"there is no version {revision!r}: choose among {', '.join(REVISIONS)}")
    return revision
