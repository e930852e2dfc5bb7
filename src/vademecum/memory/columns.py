"""Arrays that are only added to: what was handed out stays as it is, and adding to it costs no copy of what was there.

Each is the beginning of a longer array, whose rest is not touched before there is something to put there.

>>> column = Column()
>>> one = column.longer(np.zeros(0, np.int32), [np.array([1, 2], np.int32)])
>>> two = column.longer(one, [np.array([3], np.int32)])
>>> one.tolist(), two.tolist(), one.base is two.base
([1, 2], [1, 2, 3], True)
>>> column.longer(one, [np.array([4], np.int32)]).tolist(), two.tolist()
([1, 2, 4], [1, 2, 3])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

LEAST = 256  # values that there is room for
S = TypeVar("S", bound=np.generic)


class Column:
    """The room that an array grows in. For one thread at a time; what it hands out is safe to read from any."""

    def __init__(self) -> None:
        """Begin with no room."""
        self._room: NDArray[Any] | None = None
        self._used = 0

    def longer(self, known: NDArray[S], pieces: Sequence[NDArray[Any]]) -> NDArray[S]:
        """Return `known` with pieces after it, of its type; `known` is copied where it is not what was handed out last."""
        size = len(known) + sum(map(len, pieces))
        room = self._room
        if room is None or known.base is not room or len(known) != self._used or size > len(room):
            room = self._room = np.empty(max(LEAST, size + size // 2), known.dtype)
            room[: len(known)] = known
        place = len(known)
        for piece in pieces:
            room[place : place + len(piece)] = piece
            place += len(piece)
        self._used = size
        handed = room[:size]
        handed.flags.writeable = False
        return handed


class Columns:
    """Columns by name."""

    def __init__(self) -> None:
        """Begin with none."""
        self._columns: dict[str, Column] = {}

    def longer(self, name: str, known: NDArray[S], pieces: Sequence[NDArray[Any]]) -> NDArray[S]:
        """Return the column's array with pieces after it, as `Column.longer` does."""
        return self._columns.setdefault(name, Column()).longer(known, pieces)
