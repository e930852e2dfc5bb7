"""`VectorIndex` on Chroma: a local directory, one collection per model.

Chroma searches its graph (HNSW) and keeps parts of the graph in memory. Another process's writes show only after reopening the
directory, so this index reopens it when the files have changed. Telemetry is off, and no embedding function is loaded
(the default one downloads a model).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import chromadb
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError
from numpy.typing import NDArray

from vademecum.errors import StoreError
from vademecum.matching import defined_names, is_exact, matches, nearest_passing, places, said_by_places
from vademecum.points import Filter, Near, Point, payload_of
from vademecum.private import private_folder
from vademecum.result import Result
from vademecum.storage.directory import SCHEMA, DirectoryIndex, outcome

T = TypeVar("T")
Said = tuple[int, int]

AT_ONCE = 2_000  # points of one call; Chroma's limit is 5,461
_FILES = ("chroma.sqlite3", "chroma.sqlite3-wal")


def _locked(method: Callable[..., T]) -> Callable[..., T]:
    """Run a method in one thread at a time."""

    @wraps(method)
    def wrapped(index: ChromaIndex, *args: Any) -> T:
        with index._lock:  # noqa: SLF001 - same module
            return method(index, *args)

    return wrapped


_outcome = outcome(ChromaError, OSError, RuntimeError, ValueError, KeyError, TypeError)


class ChromaIndex(DirectoryIndex):
    """The points of one model in a Chroma directory.

    The directory is created if missing.
    """

    def __init__(self, collection: str, model: str, dim: int, *, directory: str | Path) -> None:
        super().__init__("chroma", collection, model, dim, directory)
        self._lock = threading.RLock()  # reopening must not close the client under another thread
        self._client: Any = None
        self._seen: tuple[Said, ...] = ()

    def upsert(self, points: Sequence[Point]) -> Result[int, StoreError]:
        """Write points, or replace those with the same key."""
        return self._upsert(points)

    @_outcome
    @_locked
    def _upsert(self, points: Sequence[Point]) -> int:
        self.check_points(points)
        unique = list({point.payload.key: point for point in points}.values())
        for first in range(0, len(unique), AT_ONCE):
            part = unique[first : first + AT_ONCE]
            keys = [point.payload.key for point in part]
            collection = self._collection(make=True)
            collection.delete(ids=keys)  # an upsert would keep old metadata that the new omit
            collection.upsert(
                ids=keys,
                embeddings=np.stack([point.vector for point in part]),
                documents=[point.payload.text for point in part],
                metadatas=[_metadata(point) for point in part],
            )
        self._seen = self._stamp()
        return len(points)

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that match a filter, or have these keys."""
        return self._delete(which)

    @_outcome
    @_locked
    def _delete(self, which: Filter | Sequence[str]) -> None:
        collection = self._collection()
        if collection is None:
            return
        keys = list(self._passing(collection, which)) if isinstance(which, Filter) else list(dict.fromkeys(which))
        for first in range(0, len(keys), AT_ONCE):
            collection.delete(ids=keys[first : first + AT_ONCE])
        self._seen = self._stamp()

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first."""
        return nearest_passing(lambda count: self._asked(vector, count, where), k, where)

    @_outcome
    @_locked
    def _asked(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        self.check_length(vector, "the question")
        collection = self._collection()
        if collection is None or not collection.count():
            return []
        found = collection.query(
            query_embeddings=[np.asarray(vector, np.float32)], n_results=count, where=_conditions(where),
            include=["metadatas", "documents", "distances"],
        )  # fmt: skip
        records = zip(found["metadatas"][0], found["documents"][0], found["distances"][0], strict=True)
        has_direction = bool(np.any(vector))
        near = [
            Near(payload_of(_record(metadata, text)), 1.0 - distance if has_direction else 0.0)
            for metadata, text, distance in records
        ]
        return sorted(near, key=lambda each: -each.score)

    def keys(self, where: Filter) -> Result[set[str], StoreError]:
        """Return the keys of all points that match a filter."""
        return self._keys(where)

    @_outcome
    @_locked
    def _keys(self, where: Filter) -> set[str]:
        collection = self._collection()
        return set() if collection is None else set(self._passing(collection, where))

    def _passing(self, collection: Any, where: Filter) -> Iterator[str]:
        exact = is_exact(where)
        first = 0
        while True:
            page = collection.get(
                where=_conditions(where),
                limit=AT_ONCE,
                offset=first,
                include=[] if exact else ["metadatas", "documents"],
            )
            for number, key in enumerate(page["ids"]):
                if exact or matches(where, payload_of(_record(page["metadatas"][number], page["documents"][number]))):
                    yield key
            if len(page["ids"]) < AT_ONCE:
                return
            first += AT_ONCE

    def activate(self) -> Result[None, StoreError]:
        """Make this model's collection current and drop other models' collections."""
        return self._activate()

    @_outcome
    @_locked
    def _activate(self) -> None:
        self._collection(make=True)
        for other in self.make_current(self._names()):
            self._client.delete_collection(other)
        self._seen = self._stamp()

    def close(self) -> None:
        """Close the directory."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    # -- the collection ------------------------------------------------------------------------------------------

    def _opened(self) -> Any:
        """Return the client, reopened after another process's write."""
        if self._client is not None and self._stamp() != self._seen:
            self.close()
        if self._client is None:
            private_folder(self.directory)
            self._client = chromadb.PersistentClient(str(self.directory), settings=Settings(anonymized_telemetry=False))
            self._seen = self._stamp()
        return self._client

    def _stamp(self) -> tuple[Said, ...]:
        found = []
        for name in _FILES:
            try:
                status = os.stat(self.directory / name)
            except OSError:
                continue
            found.append((status.st_mtime_ns, status.st_size))
        return tuple(found)

    def _names(self) -> list[str]:
        return [collection.name for collection in self._opened().list_collections(limit=10_000)]

    def _collection(self, *, make: bool = False) -> Any:
        """Return the collection; create the collection if `make`, else None.

        Raises `StoreError` for a collection that this index cannot use.
        """
        if self.named not in self._names():
            if not make:
                return None
            made = self._client.get_or_create_collection(
                self.named, metadata={"schema": SCHEMA, "model": self.model, "dim": self.dim}, embedding_function=None,
                configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
            )  # fmt: skip
            self._seen = self._stamp()
            return made
        collection = self._client.get_collection(self.named, embedding_function=None)
        said = collection.metadata or {}
        self.check_kept(said.get("schema"), said.get("dim"))
        return collection


def _metadata(point: Point) -> dict[str, Any]:
    """Return everything but the text.

    Chroma takes no empty list, so empty values are left out.
    """
    payload = asdict(point.payload)
    payload |= {"places": places(point.payload.path), "names": defined_names(point.payload.symbols)}
    payload["symbols"] = list(point.payload.symbols)
    return {name: value for name, value in payload.items() if name != "text" and value not in ([], ())}


def _record(metadata: dict[str, Any], text: str) -> dict[str, Any]:
    return {"symbols": [], **metadata, "text": text}


def _conditions(where: Filter) -> dict[str, Any] | None:
    """Return the part of a filter that Chroma supports: no globs."""
    equal = [("repo", where.repo), ("commit", where.commit)]
    some = [
        ("path", where.files),
        ("language", where.languages),
        ("kind", where.kinds),
        ("file_kind", where.file_kinds),
    ]
    said: list[dict[str, Any]] = [{column: {"$eq": value}} for column, value in equal if value]
    said += [{column: {"$in": list(values)}} for column, values in some if values]
    if where.symbol:
        said.append({"names": {"$contains": where.symbol}})
    below: list[dict[str, Any]] = [{"places": {"$contains": place}} for place in said_by_places(where.paths)]
    if below:
        said.append(below[0] if len(below) == 1 else {"$or": below})
    if not said:
        return None
    return said[0] if len(said) == 1 else {"$and": said}
