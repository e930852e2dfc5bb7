"""`VectorIndex` on Chroma: a local directory, one collection per model.

Chroma searches its graph (HNSW) and keeps parts of the graph in memory. Another process's writes show only after reopening the
directory, so this index reopens it when the files have changed. Telemetry is off, and no embedding function is loaded
(the default one downloads a model).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import chromadb
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError
from numpy.typing import NDArray

from vademecum.matching import Filter, Near, Point, payload_of
from vademecum.private import private_folder
from vademecum.storage.collection import LISTS, SCHEMA, DirectoryCollection, conditions, record_of

T = TypeVar("T")
Stamp = tuple[tuple[int, int], ...]  # time and size of each file

AT_ONCE = 2_000  # points of one call; Chroma's limit is 5,461
_FILES = ("chroma.sqlite3", "chroma.sqlite3-wal")


class ChromaIndex(DirectoryCollection):
    """The points of one model in a Chroma directory, created if missing."""

    raised = (ChromaError, OSError, RuntimeError, ValueError, KeyError, TypeError)
    most_points = AT_ONCE

    def __init__(self, collection: str, model: str, dim: int, *, directory: str | Path) -> None:
        super().__init__("chroma", collection, model, dim, directory)
        self._lock = threading.RLock()  # reopening must not close the client under another thread
        self._client: Any = None
        self._seen: Stamp = ()

    def run(self, step: Callable[[], T], *, reading: bool) -> T:
        """Run a step in one thread at a time."""
        with self._lock:
            done = super().run(step, reading=reading)
            if not reading:
                self._seen = self._stamp()
            return done

    def write(self, points: Sequence[Point]) -> None:
        """Write points with distinct keys."""
        keys = [point.payload.key for point in points]
        collection = self._collection(make=True)
        collection.delete(ids=keys)  # an upsert would keep old metadata that the new omit
        collection.upsert(
            ids=keys,
            embeddings=np.stack([point.vector for point in points]),
            documents=[point.payload.text for point in points],
            metadatas=[_metadata(point) for point in points],
        )

    def remove(self, keys: Sequence[str]) -> None:
        """Delete the points with these keys."""
        if collection := self._collection():
            collection.delete(ids=keys)

    def find(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        """Return the nearest points that pass `conditions`."""
        collection = self._collection()
        if collection is None or not collection.count():
            return []
        found = collection.query(
            query_embeddings=[np.asarray(vector, np.float32)], n_results=count, where=_expression(where),
            include=["metadatas", "documents", "distances"],
        )  # fmt: skip
        records = zip(found["metadatas"][0], found["documents"][0], found["distances"][0], strict=True)
        has_direction = bool(np.any(vector))
        near = [
            Near(payload_of(_record(metadata, text)), 1.0 - distance if has_direction else 0.0)
            for metadata, text, distance in records
        ]
        return sorted(near, key=lambda each: -each.score)

    def listed(self, where: Filter, *, whole: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the points that pass `conditions`: keys, and records if `whole`."""
        collection = self._collection()
        first, included = 0, ["metadatas", "documents"] if whole else []
        while collection is not None:
            page = collection.get(where=_expression(where), limit=AT_ONCE, offset=first, include=included)
            for number, key in enumerate(page["ids"]):
                yield key, _record(page["metadatas"][number], page["documents"][number]) if whole else {}
            if len(page["ids"]) < AT_ONCE:
                return
            first += AT_ONCE

    def switch(self) -> None:
        """Make this model's collection current and drop other models' collections."""
        self._collection(make=True)
        for other in self.make_current(self._names()):
            self._client.delete_collection(other)

    def close(self) -> None:
        """Close the directory."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _opened(self) -> Any:
        """Return the client, reopened after another process's write."""
        if self._client is not None and self._stamp() != self._seen:
            self.close()
        if self._client is None:
            private_folder(self.directory)
            self._client = chromadb.PersistentClient(str(self.directory), settings=Settings(anonymized_telemetry=False))
            self._seen = self._stamp()
        return self._client

    def _stamp(self) -> Stamp:
        paths = [self.directory / name for name in _FILES]
        found = [os.stat(path) for path in paths if path.exists()]
        return tuple((status.st_mtime_ns, status.st_size) for status in found)

    def _names(self) -> list[str]:
        return [collection.name for collection in self._opened().list_collections(limit=10_000)]

    def _collection(self, *, make: bool = False) -> Any:
        """Return the collection; create the collection if `make`, else None.

        Raises `StoreError` for a collection that this index cannot use.
        """
        if self.collection not in self._names():
            if not make:
                return None
            made = self._client.get_or_create_collection(
                self.collection, metadata={"schema": SCHEMA, "model": self.model, "dim": self.dim}, embedding_function=None,
                configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
            )  # fmt: skip
            self._seen = self._stamp()
            return made
        collection = self._client.get_collection(self.collection, embedding_function=None)
        said = collection.metadata or {}
        self.check_kept(said.get("schema"), said.get("dim"))
        return collection


def _metadata(point: Point) -> dict[str, Any]:
    """Return everything but the text, and no empty list: Chroma takes none."""
    return {name: value for name, value in record_of(point).items() if name != "text" and value != []}


def _record(metadata: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {"symbols": [], **metadata, "text": text}


def _expression(where: Filter) -> dict[str, Any] | None:
    said: list[dict[str, Any]] = []
    for field, values in conditions(where).items():
        holding: list[dict[str, Any]] = [{field: {"$contains": value}} for value in values]
        said.append({field: {"$in": values}} if field not in LISTS else _joined("$or", holding))
    return _joined("$and", said) if said else None


def _joined(word: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {word: parts}
