"""`VectorIndex` by computing every product: the reference for the others.

With `search.vectors = "exact"`, searches compute the same products over a snapshot's arrays (`index.vectors`) instead. This
class holds its points in memory, for callers that want the protocol itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.matching import matches
from vademecum.points import Filter, Near, Point
from vademecum.storage.collection import Collection, record_of


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
