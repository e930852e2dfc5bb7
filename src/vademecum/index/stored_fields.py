"""Stored fields: the facts of a chunk for answers, as arrays.

No database is asked for them.

    offsets  int64 (N + 1,)  chunk n has told[offsets[n]:offsets[n + 1]]
    told     uint8 (M,)      the fields of `StoredChunk`, a JSON list for each chunk, in ASCII

>>> stored = stored_of([StoredChunk(0, 9, "a1", "def f()", "Does f.", ("f",)), StoredChunk(9, 20, "b2", "", "", ())])
>>> stored.read([1, 0])[1]
StoredChunk(start=0, end=9, hash='a1', signature='def f()', summary='Does f.', symbols=('f',))
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class StoredChunk(NamedTuple):
    """The stored fields of one chunk."""

    start: int  # its first byte in its content
    end: int
    hash: str  # of its text
    signature: str  # "" for none
    summary: str
    symbols: tuple[str, ...]  # qualified names it defines, or the one it is part of


@dataclass(frozen=True)
class Stored:
    """The stored fields of N chunks. See the module's docstring for shapes."""

    offsets: NDArray[np.int64]
    told: NDArray[np.uint8]

    def read(self, chunks: Sequence[int]) -> list[StoredChunk]:
        """Return chunks' stored fields, in order. Raises `StoreCorruptError`."""
        places, told = np.asarray(chunks, np.intp), self.told.data
        begins, ends = self.offsets.take(places).tolist(), self.offsets.take(places + 1).tolist()
        lists = b",".join([told[begin:end] for begin, end in zip(begins, ends, strict=True)])
        try:
            found = json.loads(f"[{lists.decode('ascii')}]")
            return [
                StoredChunk(start, end, digest, signature, summary, tuple(symbols))
                for _, (start, end, digest, signature, summary, *symbols) in zip(chunks, found, strict=True)
            ]
        except (ValueError, TypeError) as error:
            raise StoreCorruptError(f"what was kept of chunks is damaged ({error}): run `vade index --full`") from error

    def part(self, first: int, last: int) -> Stored:
        """Return those of chunks first … last - 1."""
        begin, end = self.offsets[first], self.offsets[last]
        return Stored(self.offsets[first : last + 1] - begin, self.told[begin:end])


def stored_of(said: Iterable[StoredChunk]) -> Stored:
    """Return the stored fields of chunks as arrays."""
    told = [_encode([s.start, s.end, s.hash, s.signature, s.summary, *s.symbols]).encode("ascii") for s in said]
    return Stored(np.cumsum([0, *map(len, told)], dtype=np.int64), np.frombuffer(b"".join(told), np.uint8))


def laid(parts: Sequence[Stored]) -> Stored:
    """Return parts one after the other.

    >>> parts = [stored_of([StoredChunk(0, 1, "a", "", "", ())]), stored_of([StoredChunk(1, 2, "b", "", "", ())])]
    >>> [said.hash for said in laid(parts).read([0, 1])]
    ['a', 'b']
    """
    bases = np.cumsum([0, *(len(part.told) for part in parts)])
    offsets = [part.offsets[1:] + base for part, base in zip(parts, bases, strict=False)]
    none = NOTHING_STORED
    return Stored(np.concatenate([none.offsets, *offsets]), np.concatenate([none.told, *(part.told for part in parts)]))


NOTHING_STORED = Stored(np.zeros(1, np.int64), np.zeros(0, np.uint8))
