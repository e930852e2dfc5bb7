"""The base of vector indexes that live in a local directory.

Each model has its own collection, named by the repository's collection and the model; a small file in the directory names
the current one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreError, StoreVersionError, VectorIndexError
from vademecum.points import Point
from vademecum.result import Err, Ok

T = TypeVar("T")

SCHEMA = 1  # of a stored point


class DirectoryIndex:
    """One model's collection in a directory.

    Args:
        kind: the library's name, for messages.
        collection, model, dim: the arguments of every vector index.
        directory: the directory of the index.
    """

    remote = False

    def __init__(self, kind: str, collection: str, model: str, dim: int, directory: str | Path) -> None:
        self.name = f"{kind} in {directory}"
        self.model, self.dim = model, dim
        self.directory = Path(directory)
        self._alias = collection
        digest = blake2b(model.encode(), digest_size=4).hexdigest()
        self.named = f"{collection}.{re.sub(r'[^A-Za-z0-9_-]+', '-', model)[:40]}-{digest}"

    def check_points(self, points: Sequence[Point]) -> None:
        """Refuse points with vectors of another length.

        Raises `VectorIndexError`.
        """
        for point in points:
            self.check_length(point.vector, point.payload.id)

    def check_length(self, vector: NDArray[np.float32], whose: str) -> None:
        """Refuse a vector of another length.

        Raises `VectorIndexError`.
        """
        if vector.shape != (self.dim,):
            said = "x".join(map(str, vector.shape))
            raise VectorIndexError(f"{self.name} holds vectors of {self.dim} numbers, and {whose} has {said}")

    def check_kept(self, schema: object, length: object) -> None:
        """Refuse a collection with a newer schema or another vector length.

        Raises `StoreError`.
        """
        if not isinstance(schema, int) or schema > SCHEMA:
            raise StoreVersionError(
                f"{self.named!r} of {self.name} has schema {schema}, newer than this vademecum's {SCHEMA}: upgrade "
                "vademecum, or remove the directory"
            )
        if length != self.dim:
            raise VectorIndexError(
                f"{self.name} holds vectors of {length} numbers, and {self.model} makes {self.dim}: remove the directory"
            )

    def make_current(self, names: Iterable[str]) -> list[str]:
        """Make this model's collection current; return the other models' among `names`."""
        pointer = self.directory / f"{self._alias}.current"
        beside = pointer.with_name(f"{pointer.name}.{os.getpid()}.tmp")
        beside.write_text(self.named, encoding="utf-8")
        beside.replace(pointer)
        return [name for name in names if name.startswith(f"{self._alias}.") and name != self.named]


def outcome(*raised: type[Exception]) -> Callable[[Callable[..., T]], Callable[..., Ok[T] | Err[StoreError]]]:
    """Return a decorator that returns a library's errors as a `Result`.

    `raised` are the library's errors; they become a `VectorIndexError`. A `StoreError` is returned unchanged.
    """

    def decorate(method: Callable[..., T]) -> Callable[..., Ok[T] | Err[StoreError]]:
        @wraps(method)
        def wrapped(index: DirectoryIndex, *args: Any) -> Ok[T] | Err[StoreError]:
            try:
                return Ok(method(index, *args))
            except StoreError as ours:
                return Err(ours)
            except raised as error:
                said = " ".join(str(error).split())[:200]
                named = VectorIndexError(
                    f"{index.name}: {said}: `vade doctor --repair` writes what is missing; if that fails too, remove the "
                    "directory"
                )
                named.__cause__ = error
                return Err(named)

        return wrapped

    return decorate
