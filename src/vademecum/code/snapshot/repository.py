"""An open repository or source: its place, store and settings.

Items of a backlog or document source are read as files. They lie in the source's own database, next to their index, and never on disk. A snapshot of kind "source" lists items
as a snapshot of kind "commit" lists a commit's files. The snapshot is as fresh as the last sync.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import Source, contained
from vademecum.code.checkout.walk import WalkSettings
from vademecum.code.chunking.analyse import Plan
from vademecum.code.snapshot.catalogue import Catalogue, Snapshot
from vademecum.code.snapshot.past_commits import FileHistory
from vademecum.code.snapshot.view import View
from vademecum.index.segment import cosines, quantise
from vademecum.protocols import Clock, Embedder, Progress, Row, Store
from vademecum.types import Check, FileEntry, Query

READ_AT_ONCE = 200  # items whose text is in memory at a time
BY_ID = "CU-"  # ClickUp's prefix for a task's id
COLUMNS = ("id", "key", "path", "title", "kind", "state", "url", "updated", "labels", "links")


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """The stored facts about an item, besides its text."""

    id: str
    key: str
    path: str  # the document's path, which is not on disk
    title: str
    kind: str
    state: str
    url: str
    updated: float  # seconds since the epoch, 0 where unknown
    labels: tuple[str, ...]
    links: tuple[str, ...]


class Items:
    """The items of one source, whose database `store` opens when first needed."""

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store

    def listing(self) -> list[FileEntry]:
        """Return every item as a file with its blob id, by path."""
        rows = self._store().scan("items", columns=("path", "hash"), order=("path",)).unwrap()
        return [FileEntry(path, 0, 0, 0, digest) for path, digest in rows]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, Source]]:
        """Yield the documents at some paths, without those deleted since."""
        for first in range(0, len(paths), READ_AT_ONCE):
            some = paths[first : first + READ_AT_ONCE]
            columns = ("path", "hash", "content")
            for path, digest, content in self._store().scan("items", [("path", "in", some)], columns).unwrap():
                yield path, Source(bytes(content), digest)

    def at(self, path: str) -> ItemRecord | None:
        """Return the record of the item at a path, or None."""
        rows = self._store().scan("items", [("path", "=", path)], COLUMNS).unwrap()
        return _record(rows[0]) if rows else None

    def named(self, keys: Collection[str]) -> dict[str, ItemRecord]:
        """Return the items with these keys, by key."""
        if not keys:
            return {}
        rows = self._store().scan("items", [("key", "in", sorted(keys))], COLUMNS).unwrap()
        found = {record.key: record for record in map(_record, rows)}
        own = [key.removeprefix(BY_ID) for key in keys if key.startswith(BY_ID) and key not in found]
        if own:  # a task with a custom key is also named by its id
            rows = self._store().scan("items", [("id", "in", sorted(own))], COLUMNS).unwrap()
            found |= {BY_ID + record.id: record for record in map(_record, rows)}
        return found

    def synced_at(self) -> float:
        """Return the last complete sync's start, seconds since the epoch, or 0."""
        rows = self._store().scan("meta", [("name", "=", "synced_at")], ("value",)).unwrap()
        return float(rows[0][0]) if rows else 0.0


def _record(row: Row) -> ItemRecord:
    number, key, path, title, kind, state, url, updated, labels, links = row
    return ItemRecord(
        number, key, path, title, kind, state, url, updated, tuple(json.loads(labels)), tuple(json.loads(links))
    )


Alone = Callable[[], AbstractContextManager[None]]  # a lock against other processes
COMMIT_DIGITS = 40  # a commit's id has 40 or 64 digits, a tree's hash 12


@lru_cache(maxsize=64)  # called for every piece of evidence
def commit_of(label: str) -> str:
    """Return the commit in a snapshot's label, or "".

    A label has no commit outside git and before the first commit.

    >>> commit_of("1fb76d2285a4"), commit_of("edited"), commit_of(f"{'a' * 40}+1fb76d2285a4")[38:]
    ('', '', 'aa+1fb76d2285a4')
    """
    return label if len(label.partition("+")[0]) >= COMMIT_DIGITS else ""


class DenseSearch:
    """Dense search in the segments of the index itself.

    `dense_search.MirroredVectors` searches an external index instead.
    """

    def cosines(
        self,
        view: View,
        vector: NDArray[np.float32],
        query: Query,  # noqa: ARG002 - the filters, for an index that returns its nearest alone
        mask: NDArray[np.bool_] | None,  # noqa: ARG002
    ) -> tuple[NDArray[np.float32], str]:
        """Return each chunk's cosine, float32 (N,), and a note.

        `mask`, bool (R,), holds the rows that pass the query's filters; None for all. The note is "" without problems.
        """
        return cosines(view.segments, quantise(vector[None])), ""

    def catch_up(self, alone: Alone, progress: Progress) -> str:  # noqa: ARG002 - the segments are written with the index
        """Take in the catalogue's changes, and return a note on problems.

        `alone` keeps other processes from writing. Raises `StoreError` when the database fails.
        """
        return ""

    def checks(self, alone: Alone, *, repair: bool) -> list[Check]:  # noqa: ARG002 - the index has its own check
        """Return the checks for `doctor`, after a requested repair."""
        return []


LOCAL_VECTORS = DenseSearch()


@dataclass(frozen=True)
class Repository:
    """The state shared by the steps of `index` and `search`."""

    name: str
    root: Root
    catalogue: Catalogue
    embedder: Callable[[], Embedder]  # loads when first called: a refresh without changes needs none
    plan: Plan
    walk: WalkSettings
    clock: Clock
    prose: Callable[[], Embedder]  # the embedder for prose, as memory needs it; words alone decide while it fails
    batch: int = 64  # texts per request to an embedder outside the workers: a failure costs at most these
    enricher: str = ""  # the enricher whose sentences replace summaries
    database: str = ""  # the database's address, for display
    space: str = ""  # the repository's name in a shared database
    dense: DenseSearch = LOCAL_VECTORS
    items: Items | None = None  # the items of a backlog or document source; None for a directory

    @property
    def place(self) -> tuple[str, str]:
        """The kind and place of the snapshot that searches use by default."""
        return ("worktree", self.root.path) if self.items is None else ("source", self.name)

    @property
    def lock(self) -> Path:
        """The lock file, held by one indexing run at a time."""
        return self.catalogue.directory / "index.lock"


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository and its snapshot to search, narrowed to `prefixes`."""

    repo: Repository
    snapshot: Snapshot
    view: View
    prefixes: tuple[str, ...] = ()
    note: str = ""  # on the index's problems, shown with every answer

    @property
    def history(self) -> FileHistory | None:
        """The commits behind the snapshot; None where none are known."""
        return self.repo.catalogue.histories.of(self.snapshot.commit, self.view.files, self.repo.root.prefix)


def narrowed(opened: Opened, paths: Sequence[str]) -> Opened:
    """Return a repository narrowed to some directories and files.

    Without paths the repository is unchanged.

    Raises:
        OutsideRootError: a path leads out of the repository.
    """
    parts = [contained(opened.repo.root, path).unwrap() for path in paths]
    return replace(opened, prefixes=() if "." in parts else tuple(parts)) if parts else opened
