"""The record families: their columns and keys, and the migrations that make them in SQLite.

A family's rows are tuples in this column order, everywhere. A new family, or a new column, is one more migration; a
migration is never edited once released.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """The shape of one kind of record."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


FAMILIES: dict[str, Family] = {
    # facts about the database itself
    "meta": Family(("name", "value"), ("name",)),
    # content, once: `hash` is git's blob id, `language` decides how it was cut
    "blobs": Family(("id", "hash", "language", "content", "imports", "has_errors"), ("id",)),
    # pieces of a blob, in order; offsets are bytes into its content; `metadata` is JSON
    "chunks": Family(
        ("blob", "ordinal", "start_line", "end_line", "start_byte", "end_byte", "kind", "name", "scope", "signature",
         "summary", "hash", "calls", "metadata"),
        ("blob", "ordinal"),
    ),
    # the names a chunk defines
    "symbols": Family(
        ("blob", "ordinal", "position", "name", "qualified", "kind", "start_line", "end_line", "signature"),
        ("blob", "ordinal", "position"),
    ),
    # what can be searched: a commit, or a worktree; `place` is the commit's id or the worktree's directory, `table_file`
    # the derived file that holds its `files` as arrays
    "snapshots": Family(
        ("id", "kind", "place", "label", "branch", "commit_id", "tree_hash", "indexed_at", "skipped",
         "table_file", "rules"),
        ("id",),
    ),
    # path -> blob, per snapshot; size, time and inode are those of the file when it was read
    "files": Family(("snapshot", "path", "blob", "size", "mtime_ns", "inode"), ("snapshot", "path")),
    # derived files of arrays, in the order they were made
    "segments": Family(("id", "file", "blobs"), ("id",)),
    # vectors that cost time or money to make again, by embedder and chunk hash
    "vectors": Family(("embedder", "hash", "vector"), ("embedder", "hash")),
    # what can be called, by `server/name`; schemas are JSON; `gone_at` is 0 while its server still lists it
    "tools": Family(
        ("id", "server", "name", "description", "input_schema", "output_schema", "pinned", "registered_at", "gone_at"),
        ("id",),
    ),
    # what was called, in order, for one intent; `calls` and `links` are JSON, `position` counts up with every write
    "traces": Family(
        ("id", "position", "intent", "calls", "links", "session", "at", "ok"),
        ("id",),
    ),
}  # fmt: skip

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE blobs (
        id INTEGER PRIMARY KEY, hash TEXT NOT NULL, language TEXT NOT NULL, content BLOB NOT NULL,
        imports TEXT NOT NULL, has_errors INTEGER NOT NULL, UNIQUE (hash, language)
    );
    CREATE TABLE chunks (
        blob INTEGER NOT NULL, ordinal INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
        start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
        scope TEXT NOT NULL, signature TEXT NOT NULL, summary TEXT NOT NULL, hash TEXT NOT NULL, calls TEXT NOT NULL,
        metadata TEXT NOT NULL, PRIMARY KEY (blob, ordinal)
    ) WITHOUT ROWID;
    CREATE TABLE symbols (
        blob INTEGER NOT NULL, ordinal INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
        qualified TEXT NOT NULL, kind TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
        signature TEXT NOT NULL, PRIMARY KEY (blob, ordinal, position)
    ) WITHOUT ROWID;
    CREATE INDEX symbols_by_name ON symbols (name);
    CREATE TABLE snapshots (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, place TEXT NOT NULL, label TEXT NOT NULL, branch TEXT NOT NULL,
        commit_id TEXT NOT NULL, tree_hash TEXT NOT NULL, indexed_at REAL NOT NULL, skipped TEXT NOT NULL,
        table_file TEXT NOT NULL, rules TEXT NOT NULL,
        UNIQUE (kind, place)
    );
    CREATE TABLE files (
        snapshot INTEGER NOT NULL, path TEXT NOT NULL, blob INTEGER NOT NULL, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, PRIMARY KEY (snapshot, path)
    ) WITHOUT ROWID;
    CREATE INDEX files_by_blob ON files (blob);
    CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT NOT NULL, blobs INTEGER NOT NULL);
    CREATE TABLE vectors (
        embedder TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder, hash)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE tools (
        id TEXT PRIMARY KEY, server TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
        input_schema TEXT NOT NULL, output_schema TEXT NOT NULL, pinned INTEGER NOT NULL, registered_at REAL NOT NULL,
        gone_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE traces (
        id TEXT PRIMARY KEY, position INTEGER NOT NULL, intent TEXT NOT NULL, calls TEXT NOT NULL, links TEXT NOT NULL,
        session TEXT NOT NULL, at REAL NOT NULL, ok INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX traces_by_position ON traces (position);
    """,
)
