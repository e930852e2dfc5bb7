"""Arrays that are only added to: what was handed out stays as it is, and adding to it costs no copy of what was there.

Each is the beginning of a longer array, whose rest is not touched before there is something to put there.

>>> column = Column()
>>> one = column.longer(np.zeros(0, np.int32), [np.array([1, 2], np.int32)])
>>> two = column.longer(one, [np.array([3], np.int32)])
>>> one.tolist(), two.tolist(), one.base is two.base
([1, 2], [1, 2, 3], True)
>>> column.longer(one, [np.array([4], np.int32)]).tolist(), two.tolist()
([1, 2, 4], [1, 2, 3])

What grows without end is not the process's own memory: where a directory is given, room of some size lies in a file there that
has no name. The system writes such pages away when it needs them, and a process that ends, however it does, leaves nothing.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

LEAST = 256  # values that there is room for
FILED_FROM = 16_384  # bytes: less is held in memory, as is all that is known when a process begins
S = TypeVar("S", bound=np.generic)


class Column:
    """The room that an array grows in. For one thread at a time; what it hands out is safe to read from any."""

    def __init__(self, directory: Path | None = None) -> None:
        """Begin with no room; more of it lies in a file in `directory`, in memory where there is none."""
        self._directory = directory
        self._room: NDArray[Any] | None = None
        self._used = 0

    def longer(self, known: NDArray[S], pieces: Sequence[NDArray[Any]]) -> NDArray[S]:
        """Return `known` with pieces after it, of its type; `known` is copied where it is not what was handed out last."""
        size = len(known) + sum(map(len, pieces))
        room = self._room
        if room is None or known.base is not room or len(known) != self._used or size > len(room):
            room = self._room = self._new(known, max(LEAST, size + size // 2))
            room[: len(known)] = known
        place = len(known)
        for piece in pieces:
            room[place : place + len(piece)] = piece
            place += len(piece)
        self._used = size
        handed = room[:size]
        handed.flags.writeable = False
        return handed

    def put(self, places: NDArray[np.integer[Any]], values: NDArray[Any]) -> None:
        """Change values where they are, for all that has been handed out of the room there is now."""
        if self._room is not None:
            self._room[places] = values

    def _new(self, known: NDArray[Any], count: int) -> NDArray[Any]:
        """Return room for so many values; in memory for what a process asks once, which a file would only make wait."""
        return _room(self._directory if len(known) else None, count, known.dtype)


def _room(directory: Path | None, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return room for so many values, in a file where it is of some size and that goes."""
    size = count * dtype.itemsize
    if directory is not None and size >= FILED_FROM:
        try:
            return np.frombuffer(_filed(directory, size), dtype, count)
        except OSError:  # no room on the disk, or no leave to write there
            pass
    return np.empty(count, dtype)


def _filed(directory: Path, size: int) -> mmap.mmap:
    """Return so many bytes of a file without a name. Raises `OSError`."""
    with tempfile.TemporaryFile(dir=directory) as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)  # subtle: a page that the disk has no room for ends the process
        else:
            file.truncate(size)
        return mmap.mmap(file.fileno(), size)


class Columns:
    """Columns by name."""

    def __init__(self, directory: Path | None = None) -> None:
        """Begin with none; `directory` as for `Column`."""
        self._directory = directory
        self._columns: dict[str, Column] = {}

    def longer(self, name: str, known: NDArray[S], pieces: Sequence[NDArray[Any]]) -> NDArray[S]:
        """Return the column's array with pieces after it, as `Column.longer` does."""
        if name not in self._columns:
            self._columns[name] = Column(self._directory)
        return self._columns[name].longer(known, pieces)

    def put(self, name: str, places: NDArray[np.integer[Any]], values: NDArray[Any]) -> None:
        """Change values of the column where they are, as `Column.put` does."""
        if name in self._columns:
            self._columns[name].put(places, values)

    def room(self, count: int, dtype: type[S]) -> NDArray[S]:
        """Return room for so many values that grows no further, in a file as a column's is."""
        return _room(self._directory, count, np.dtype(dtype))
