"""Optional server features: vectors (pgvector) and similar words (pg_trgm).

Tables and indexes for these features are derived from the records, so migrations ignore them: `vade db upgrade` creates them
if the server has the extension; other servers work without.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from vademecum.storage.postgres.connect import naming, place_of
from vademecum.storage.postgres.versions import LOCK

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
