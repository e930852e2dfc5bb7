"""`VectorIndex` by computing every product: the reference for the others.

With `search.vectors = "exact"`, searches compute the same products over a snapshot's arrays (`index.vectors`) instead. This
class holds its points in memory, for callers that want the protocol itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreError, VectorIndexError
from vademecum.matching import matches
from vademecum.points import Filter, Near, Payload, Point
from vademecum.result import Err, Ok, Result


class ExactIndex:
    """Points in this process's memory, at full precision.

    Nothing is kept after the process.
    """

    remote = False

    def __init__(self, collection: str, model: str, dim: int) -> None:
        self.name = f"exact index {collection}"
        self.model, self.dim = model, dim
        self._points: dict[str, tuple[Payload, NDArray[np.float32]]] = {}

    def upsert(self, points: Sequence[Point]) -> Result[int, StoreError]:
        """Write points, replacing those with the same key; all or none."""
        for point in points:
            if point.vector.shape != (self.dim,):
                said = "x".join(map(str, point.vector.shape))
                return Err(
                    VectorIndexError(
                        f"{self.name} holds vectors of {self.dim} numbers, and {point.payload.id} has {said}"
                    )
                )
        self._points |= {point.payload.key: (point.payload, _unit(point.vector)) for point in points}
        return Ok(len(points))

    def delete(self, which: Filter | Sequence[str]) -> Result[None, StoreError]:
        """Delete the points that match a filter, or have these keys."""
        for key in self._passing(which) if isinstance(which, Filter) else which:
            self._points.pop(key, None)
        return Ok(None)

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Result[list[Near], StoreError]:
        """Return up to `k` points that match a filter, nearest first."""
        if vector.shape != (self.dim,):
            return Err(VectorIndexError(f"{self.name} holds vectors of {self.dim} numbers, not of {vector.shape}"))
        keys = self._passing(where)
        if not keys:
            return Ok([])
        scores = np.stack([self._points[key][1] for key in keys]) @ _unit(vector)
        best = np.argsort(-scores, kind="stable")[:k]
        return Ok([Near(self._points[keys[i]][0], float(scores[i])) for i in best])

    def keys(self, where: Filter) -> Result[set[str], StoreError]:
        """Return the keys of all points that match a filter."""
        return Ok(set(self._passing(where)))

    def activate(self) -> Result[None, StoreError]:
        """Do nothing: this index has only one model."""
        return Ok(None)

    def close(self) -> None:
        """Delete all points."""
        self._points.clear()

    def _passing(self, where: Filter) -> list[str]:
        return [key for key, (payload, _) in self._points.items() if matches(where, payload)]


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)
