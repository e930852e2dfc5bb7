"""The common part of vector indexes, and the exact one.

An index says how it writes, removes, finds and lists points, each as one step that raises `StoreError`. `Collection` makes the
methods of `protocols.VectorIndex` from these. A step that writes may be repeated.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreError, StoreVersionError, VectorIndexError
from vademecum.matching import (
    Filter,
    Near,
    Point,
    defined_names,
    is_exact,
    matches,
    nearest_passing,
    payload_of,
    places,
    said_by_places,
)
from vademecum.private import replacing
from vademecum.result import Result, attempt

T = TypeVar("T")

SCHEMA = 1  # of a stored point
LISTS = ("names", "places")  # the fields of a record that are made for filters, and hold several values


class Collection(ABC):
    """The points of one model.

    Attributes:
        name: kind and place, for messages.
        alias: the name that the collections of all models begin with.
        collection: the name of this model's.
        remedy: what to do about a collection that cannot be used.
        most_points: points in one write.
    """

    remote = False
    remedy = ""
    most_points = 2_000

    def __init__(self, name: str, collection: str, model: str, dim: int) -> None:
        self.name, self.alias, self.model, self.dim = name, collection, model, dim
        digest = blake2b(model.encode(), digest_size=4).hexdigest()
        self.collection = f"{collection}.{re.sub(r'[^A-Za-z0-9_-]+', '-', model)[:40]}-{digest}"

    def run(self, step: Callable[[], T], *, reading: bool) -> T:  # noqa: ARG002 - some indexes retry writes more often
        """Run a step, and raise a library's errors as `StoreError`."""
        return step()

    @abstractmethod
    def write(self, points: Sequence[Point]) -> None:
        """Write points with distinct keys."""

    @abstractmethod
    def remove(self, keys: Sequence[str]) -> None:
        """Delete the points with these keys."""

    @abstractmethod
    def find(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        """Return the nearest points that pass `conditions`."""

    @abstractmethod
    def listed(self, where: Filter, *, whole: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the points that pass `conditions`: keys, and records if `whole`."""

    @abstractmethod
    def switch(self) -> None:
        """Make this model's points current, and drop other models'."""

    @attempt(StoreError, StoreError)
    def upsert(self, points: Sequence[Point]) -> int:
        """Write points, replacing those with the same key."""
        for point in points:
            self.check_length(point.vector, point.payload.id)
        unique = {point.payload.key: point for point in points}
        for batch in self.batches(list(unique.values())):
            self.run(partial(self.write, batch), reading=False)
        return len(points)

    def batches(self, points: Sequence[Point]) -> Iterator[Sequence[Point]]:
        """Cut points into writes."""
        return _parts(points, self.most_points)

    @attempt(StoreError, StoreError)
    def delete(self, which: Filter | Sequence[str]) -> None:
        """Delete the points that match a filter, or have these keys."""
        keys = sorted(self.keys(which).unwrap()) if isinstance(which, Filter) else list(dict.fromkeys(which))
        for part in _parts(keys, self.most_points):
            self.run(partial(self.remove, part), reading=False)

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first."""
        return nearest_passing(lambda count: self._nearest(vector, count, where), k, where)

    @attempt(StoreError, StoreError)
    def _nearest(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        self.check_length(vector, "the question")
        return self.run(partial(self.find, vector, count, where), reading=True)

    @attempt(StoreError, StoreError)
    def keys(self, where: Filter) -> set[str]:
        """Return the keys of all points that match a filter."""
        exact = is_exact(where)

        def matching() -> set[str]:
            found = self.listed(where, whole=not exact)
            return {key for key, record in found if exact or matches(where, payload_of(record))}

        return self.run(matching, reading=True)

    @attempt(StoreError, StoreError)
    def activate(self) -> None:
        """Make this model's points current, and drop other models'."""
        self.run(self.switch, reading=False)

    def check_length(self, vector: NDArray[np.float32], whose: str) -> None:
        """Refuse a vector of another length. Raises `VectorIndexError`."""
        if vector.shape != (self.dim,):
            said = "x".join(map(str, vector.shape))
            raise VectorIndexError(f"{self.name} holds vectors of {self.dim} numbers, and {whose} has {said}")

    def check_kept(self, schema: object, length: object) -> None:
        """Refuse a collection of a newer schema or another length. Raises `StoreError`."""
        if not isinstance(schema, int) or schema > SCHEMA:
            raise StoreVersionError(
                f"{self.collection!r} of {self.name} has schema {schema}, newer than this vademecum's {SCHEMA}: upgrade "
                f"vademecum, or {self.remedy}"
            )
        if length != self.dim:
            raise VectorIndexError(
                f"{self.collection!r} of {self.name} holds vectors of {length or 'no'} numbers, and {self.model} makes "
                f"{self.dim}: {self.remedy}"
            )


class DirectoryCollection(Collection):
    """A collection in a local directory, with a file naming the current."""

    remedy = "remove the directory"
    raised: tuple[type[Exception], ...] = ()  # the library's errors

    def __init__(self, kind: str, collection: str, model: str, dim: int, directory: str | Path) -> None:
        super().__init__(f"{kind} in {directory}", collection, model, dim)
        self.directory = Path(directory)

    def run(self, step: Callable[[], T], *, reading: bool) -> T:
        """Run a step, and raise a library's errors as `StoreError`."""
        try:
            return super().run(step, reading=reading)
        except self.raised as error:
            said = " ".join(str(error).split())[:200]
            raise VectorIndexError(
                f"{self.name}: {said}: `vade doctor --repair` writes what is missing; if that fails too, {self.remedy}"
            ) from error

    def make_current(self, names: Iterable[str]) -> list[str]:
        """Make this model's collection current; return the other models' among `names`."""
        with replacing(self.directory / f"{self.alias}.current") as pointer:
            pointer.write(self.collection.encode())
        return [name for name in names if name.startswith(f"{self.alias}.") and name != self.collection]


def record_of(point: Point) -> dict[str, Any]:
    """Return a point's payload, with the fields that `conditions` needs."""
    payload = point.payload
    made = {"names": defined_names(payload.symbols), "places": places(payload.path), "symbols": list(payload.symbols)}
    return asdict(payload) | made


def conditions(where: Filter) -> dict[str, list[str]]:
    """Return a filter without its globs, as allowed values by field.

    >>> conditions(Filter(repo="app", symbol="read", exclude=("*.md",)))
    {'repo': ['app'], 'names': ['read']}
    """
    said = {
        "repo": [where.repo], "commit": [where.commit], "path": where.files, "language": where.languages, "kind": where.kinds,
        "file_kind": where.file_kinds, "names": [where.symbol], "places": said_by_places(where.paths),
    }  # fmt: skip
    return {field: list(values) for field, values in said.items() if any(values)}


def _parts(every: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    return (every[first : first + most] for first in range(0, len(every), most))


class ExactIndex(Collection):
    """Points at full precision, in this process's memory alone."""

    def __init__(self, collection: str, model: str, dim: int) -> None:
        super().__init__(f"exact index {collection}", collection, model, dim)
        self._points: dict[str, Point] = {}

    def write(self, points: Sequence[Point]) -> None:
        """Write points with distinct keys."""
        self._points |= {point.payload.key: point for point in points}

    def remove(self, keys: Sequence[str]) -> None:
        """Delete the points with these keys."""
        for key in keys:
            self._points.pop(key, None)

    def find(self, vector: NDArray[np.float32], count: int, where: Filter) -> list[Near]:
        """Return the nearest points that match a filter."""
        passing = [point for point in self._points.values() if matches(where, point.payload)]
        if not passing:
            return []
        scores = np.stack([_unit(point.vector) for point in passing]) @ _unit(vector)
        best = np.argsort(-scores, kind="stable")[:count]
        return [Near(passing[i].payload, float(scores[i])) for i in best]

    def listed(self, where: Filter, *, whole: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ARG002 - all are whole
        """Yield the points that match a filter."""
        return ((key, record_of(point)) for key, point in self._points.items() if matches(where, point.payload))

    def switch(self) -> None:
        """Do nothing: this index has only one model."""

    def close(self) -> None:
        """Delete all points."""
        self._points.clear()


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)
