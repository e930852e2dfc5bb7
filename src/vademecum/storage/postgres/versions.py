"""Database versions, oldest first, and the version check.

Alembic is not needed here.
"""

from __future__ import annotations

import psycopg

from vademecum.errors import StoreVersionError

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
