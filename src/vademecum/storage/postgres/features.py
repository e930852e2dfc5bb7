"""What a server can do beside keeping records: vectors (pgvector) and similar words (pg_trgm), where they are installed.

What is built on them is derived from the records and not the business of migrations: `vade db upgrade` provides it when
the server has the extension, and a server without goes without.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from vademecum.storage.postgres.connect import named, place_of
from vademecum.storage.postgres.versions import LOCK

TRIGRAMS = (
    ("trigram_symbols_name", "symbols", "name"),
    ("trigram_symbols_signature", "symbols", "signature"),
    ("trigram_files_path", "files", "path"),
)
# what the server finds by meaning: one vector of each chunk, rounded to 16 bits, by the embedder that made it
EMBEDDINGS = (
    """CREATE TABLE IF NOT EXISTS derived_embeddings (
        space_id bigint NOT NULL, blob bigint NOT NULL, ordinal integer NOT NULL, embedder text COLLATE "C" NOT NULL,
        embedding halfvec NOT NULL, PRIMARY KEY (space_id, blob, ordinal, embedder))""",
    "ALTER TABLE derived_embeddings ALTER COLUMN embedding SET STORAGE PLAIN",  # read in place, not from beside
)
# an index of vectors (`search.vectors = "pgvector"`): points with their payload
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
DERIVED = ("trigram_", "derived_")  # how their names begin


@dataclass(frozen=True, slots=True)
class Features:
    """What is provided in one database."""

    vectors: bool
    trigrams: bool


def is_derived(name: str) -> bool:
    """Return whether a table or index, by its name, is derived."""
    return name.startswith(DERIVED)


def features_of(connection: psycopg.Connection) -> Features:
    """Return what is provided. Raises `psycopg.Error`."""
    found = {name for (name,) in connection.execute("SELECT extname FROM pg_extension").fetchall()}
    return Features("vector" in found, "pg_trgm" in found)


def provide(url: str) -> list[str]:
    """Make extensions and what stands on them, as far as the server has them; returns what it did or goes without.

    Raises:
        StoreError: the server cannot be reached or refuses.
    """
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])  # until the connection ends
            said = [_extended(connection, name, gives, url) for name, gives in EXTENSIONS.items()]
            if features_of(connection).vectors:
                for statement in (*EMBEDDINGS, *POINTS):
                    connection.execute(statement)
            if features_of(connection).trigrams:
                for index, table, column in TRIGRAMS:
                    connection.execute(
                        f"CREATE INDEX IF NOT EXISTS {index} ON {table} USING gin ({column} gin_trgm_ops)"
                    )
    except psycopg.Error as error:
        raise named(error, url) from error
    return [line for line in said if line]


EXTENSIONS = {"vector": "searching vectors in the server", "pg_trgm": "names that are spelled nearly so"}


def _extended(connection: psycopg.Connection, name: str, gives: str, url: str) -> str:
    """Install an extension where it can be had; returns what to say of it."""
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
