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
    # what a content refers to by name, as JSON; resolved per snapshot
    "mentions": Family(("blob", "found"), ("blob",)),
    # the graph of a snapshot: what can be referred to, `parent` the id of what it stands in, 0 for a file
    "nodes": Family(
        ("snapshot", "id", "path", "name", "qualified", "kind", "start_line", "end_line", "chunk", "parent"),
        ("snapshot", "id"),
    ),
    # who refers to whom, how (`kind`), how that is known (`tier`), and the first line that says so
    "edges": Family(("snapshot", "source", "kind", "target", "tier", "line"), ("snapshot", "source", "kind", "target")),
    # of which content each file's edges were made, what was looked at for them, and which names stayed without one
    "resolved": Family(("snapshot", "path", "blob", "consulted", "unresolved"), ("snapshot", "path")),
    # of which state of a snapshot its graph was made
    "graphs": Family(("snapshot", "tree_hash"), ("snapshot",)),
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
    # what a language model said of a piece of code, by chunk hash
    "summaries": Family(("enricher", "hash", "summary"), ("enricher", "hash")),
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
    CREATE TABLE mentions (blob INTEGER PRIMARY KEY, found TEXT NOT NULL);
    CREATE TABLE nodes (
        snapshot INTEGER NOT NULL, id INTEGER NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL, qualified TEXT NOT NULL,
        kind TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, chunk INTEGER NOT NULL,
        parent INTEGER NOT NULL, PRIMARY KEY (snapshot, id)
    ) WITHOUT ROWID;
    CREATE INDEX nodes_by_name ON nodes (snapshot, name);
    CREATE INDEX nodes_by_path ON nodes (snapshot, path);
    CREATE TABLE edges (
        snapshot INTEGER NOT NULL, source INTEGER NOT NULL, kind INTEGER NOT NULL, target INTEGER NOT NULL,
        tier INTEGER NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (snapshot, source, kind, target)
    ) WITHOUT ROWID;
    CREATE INDEX edges_by_target ON edges (snapshot, target, kind, source, tier);
    CREATE TABLE resolved (
        snapshot INTEGER NOT NULL, path TEXT NOT NULL, blob INTEGER NOT NULL, consulted TEXT NOT NULL,
        unresolved TEXT NOT NULL, PRIMARY KEY (snapshot, path)
    ) WITHOUT ROWID;
    CREATE TABLE graphs (snapshot INTEGER PRIMARY KEY, tree_hash TEXT NOT NULL);
    """,
    """
    CREATE TABLE summaries (
        enricher TEXT NOT NULL, hash TEXT NOT NULL, summary TEXT NOT NULL, PRIMARY KEY (enricher, hash)
    ) WITHOUT ROWID;
    """,
)
