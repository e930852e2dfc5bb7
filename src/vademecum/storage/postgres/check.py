"""Checks of a database: connection, version, tables and records."""

from __future__ import annotations

from collections.abc import Iterator

from vademecum.errors import StoreError
from vademecum.result import Err, Ok
from vademecum.storage.postgres.connect import connections, place_of
from vademecum.storage.postgres.extensions import features_of
from vademecum.storage.postgres.migrate import differences, version
from vademecum.storage.postgres.store import TIMEOUT_SECONDS, PostgresStore
from vademecum.storage.postgres.versions import NEWEST
from vademecum.types import Check

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
