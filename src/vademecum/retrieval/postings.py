"""Which documents hold a term, and how often in which field: an inverted index as four arrays.

keys     uint64 (T,)      term keys, ascending
offsets  int64  (T + 1,)  term t owns postings offsets[t] : offsets[t + 1]
docs     int32  (P,)      document numbers, ascending within a term
tf       uint8  (P, F)    occurrences per field, clipped at 255

>>> p = build(np.array([7, 3, 7], np.uint64), np.array([0, 0, 1], np.int32), np.array([[1], [2], [3]], np.uint8))
>>> p.keys.tolist(), p.docs.tolist(), p.tf[:, 0].tolist()
([3, 7], [0, 0, 1], [2, 1, 3])
>>> docs, tf, which = p.find(np.array([7, 9], np.uint64))
>>> docs.tolist(), tf[:, 0].tolist(), which.tolist()
([0, 1], [1, 3], [0, 0])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError
from vademecum.kernel import compiled


class Run(NamedTuple):
    """The postings of one term: its index in what was asked for, int32 (P,) documents ascending, uint8 (P, F) occurrences."""

    term: int
    docs: NDArray[np.int32]
    tf: NDArray[np.uint8]

    def part(self, begin: int, end: int) -> Run:
        """Return its postings `begin` to `end`; nothing is copied."""
        return Run(self.term, self.docs[begin:end], self.tf[begin:end])


@dataclass(frozen=True, slots=True)
class Postings:
    """An inverted index over documents 0..n, with `tf.shape[1]` fields."""

    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    docs: NDArray[np.int32]
    tf: NDArray[np.uint8]

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
        """Return documents and occurrences of all postings of the given terms, and for each its term's index in `keys`.

        Raises `StoreCorruptError` where they lie outside.
        """
        try:
            return self._find_by_kernel(keys) if compiled else self._find(keys)
        except ValueError as error:
            raise damaged(error) from error

    def _find_by_kernel(
        self, keys: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
        docs, tf, which = compiled.find(self.keys, self.offsets, self.docs, self.tf, keys)
        fields = np.frombuffer(tf, np.uint8).reshape(-1, self.tf.shape[1])
        return np.frombuffer(docs, np.int32), fields, np.frombuffer(which, np.int64)

    def _find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
        found = self.runs(keys)
        if not found:
            return self.docs[:0], self.tf[:0], np.zeros(0, np.int64)
        docs, tf = np.concatenate([run.docs for run in found]), np.concatenate([run.tf for run in found])
        return docs, tf, np.repeat(np.array([run.term for run in found]), [len(run.docs) for run in found])

    def runs(self, keys: NDArray[np.uint64]) -> list[Run]:
        """Return the postings of each of the given terms that is there, in their order; nothing is copied.

        Raises `ValueError` where they lie outside.
        """
        if not len(self.keys) or not len(keys):
            return []
        slot = self.keys.searchsorted(keys)
        known = (self.keys.take(slot, mode="clip") == keys).nonzero()[0]
        slot = slot.take(known)
        starts, ends = self.offsets.take(slot).tolist(), self.offsets.take(slot + 1).tolist()
        if min(starts, default=0) < 0 or max(ends, default=0) > len(self.docs):
            raise ValueError("postings begin or end outside")
        return [Run(t, self.docs[a:b], self.tf[a:b]) for t, a, b in zip(known.tolist(), starts, ends, strict=True)]


def damaged(error: Exception) -> StoreCorruptError:
    """Return the error to raise when something points outside of an index file."""
    return StoreCorruptError(f"an index file is damaged ({error}): run `vade index --full`")


def build(keys: NDArray[np.uint64], docs: NDArray[np.int32], tf: NDArray[np.uint8]) -> Postings:
    """Return postings from (key, doc, tf) triples; each pair appears once, the documents of a key in ascending order."""
    order = np.argsort(keys, kind="stable")  # stable: keeps each term's documents ascending
    keys, docs, tf = keys[order], docs[order], tf[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    offsets = np.concatenate((first, [len(keys)])).astype(np.int64)
    return Postings(keys[first], offsets, docs, tf)


def merge(pieces: Sequence[Postings], renumber: Sequence[NDArray[np.int32]]) -> Postings:
    """Join postings. `renumber[i][d]` is the new number of document d of piece i, or -1 to drop it.

    New numbers ascend within a piece.
    """
    keys, docs, tf = [], [], []
    for piece, new in zip(pieces, renumber, strict=True):
        number = new[piece.docs]
        keep = number >= 0
        keys.append(np.repeat(piece.keys, np.diff(piece.offsets))[keep])
        docs.append(number[keep])
        tf.append(piece.tf[keep])
    key, doc, count = np.concatenate(keys), np.concatenate(docs), np.concatenate(tf)
    numbers = np.concatenate(renumber)
    if (np.diff(numbers[numbers >= 0]) < 0).any():  # pieces interleave
        order = np.argsort(doc, kind="stable")
        key, doc, count = key[order], doc[order], count[order]
    return build(key, doc, count)
