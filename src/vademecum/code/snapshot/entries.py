"""Items of a backlog or document source, read as files.

Items lie in the source's own database, next to their index, and never on disk. A snapshot of kind "source" lists items
as a snapshot of kind "commit" lists a commit's files. The snapshot is as fresh as the last sync.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from vademecum.code.checkout.source import Source
from vademecum.protocols import Row, Store
from vademecum.types import FileEntry

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
