"""An inverted index as four arrays: the documents of each term.

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
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError
from vademecum.index.arrays import ranges


@dataclass(frozen=True, slots=True)
class Postings:
    """An inverted index over documents 0..n, with `tf.shape[1]` fields."""

    keys: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    docs: NDArray[np.int32]
    tf: NDArray[np.uint8]

    def find(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
        """Return the documents, occurrences and term indexes of all postings of terms.

        Raises `StoreCorruptError` where they lie outside.
        """
        try:
            places = self.places(keys)
            counts = places[:, 2] - places[:, 1]
            rows = ranges(places[:, 1], counts)
            return self.docs[rows], self.tf[rows], np.repeat(places[:, 0], counts)
        except (IndexError, ValueError) as error:
            raise damaged(error) from error

    def places(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the place of each known term: int64 (n, 3).

        The columns are the term's index, and the begin and end of its postings.

        Raises `ValueError` where that is outside.
        """
        if not len(self.keys) or not len(keys):
            return np.zeros((0, 3), np.int64)
        slot = self.keys.searchsorted(keys)
        known = (self.keys.take(slot, mode="clip") == keys).nonzero()[0]
        slot = slot.take(known)
        begins, ends = self.offsets.take(slot), self.offsets.take(slot + 1)
        if begins.min(initial=0) < 0 or ends.max(initial=0) > len(self.docs):
            raise ValueError("postings begin or end outside")
        return np.column_stack([known, begins, ends])


@dataclass(frozen=True, slots=True)
class Matches:
    """The postings of a question's terms in segments, end to end.

    Attributes:
        parts: of each segment int32 (P,) documents, uint8 (P, F) occurrences, and the number of its first document.
        runs: int64 (n, 4), of each run its term, its part, and where in that it begins and ends; term by term.
        share: float32 (n,), what share of the question each run's term is.
    """

    parts: tuple[tuple[NDArray[np.int32], NDArray[np.uint8], int], ...]
    runs: NDArray[np.int64]
    share: NDArray[np.float32]

    def laid_out(
        self, fields: int = 4
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float32], NDArray[np.uint8]]:
        """Return the document, term, share and occurrences of every match.

        The types are int32 (M,), int64 (M,), float32 (M,) and uint8 (M, F). `fields` is F where nothing matches.

        >>> part = np.array([4, 6], np.int32), np.array([[1], [2]], np.uint8), 10
        >>> [each.tolist() for each in Matches((part,), np.array([[3, 0, 1, 2]]), np.array([0.5], np.float32)).laid_out()]
        [[16], [3], [0.5], [[2]]]
        """
        runs, counts = self.runs.tolist(), self.runs[:, 3] - self.runs[:, 2]
        docs = [self.parts[part][0][begin:end] + np.int32(self.parts[part][2]) for _, part, begin, end in runs]
        tf = [self.parts[part][1][begin:end] for _, part, begin, end in runs]
        return (
            np.concatenate([np.zeros(0, np.int32), *docs]),
            np.repeat(self.runs[:, 0], counts),
            np.repeat(self.share, counts),
            np.concatenate(tf) if tf else np.zeros((0, fields), np.uint8),
        )


def end_to_end(several: Sequence[Matches], firsts: Sequence[int]) -> Matches:
    """Join matches; `firsts[i]` numbers the first document of `several[i]`."""
    counts = accumulate((len(each.parts) for each in several), initial=0)
    parts = [
        (docs, tf, base + first) for each, first in zip(several, firsts, strict=False) for docs, tf, base in each.parts
    ]
    runs = [each.runs + np.array([0, count, 0, 0]) for each, count in zip(several, counts, strict=False)]
    return Matches(tuple(parts), np.concatenate(runs), np.concatenate([each.share for each in several]))


def damaged(error: Exception) -> StoreCorruptError:
    """Return the error for a number that points outside an index file."""
    return StoreCorruptError(f"an index file is damaged ({error}): run `vade index --full`")


def build(keys: NDArray[np.uint64], docs: NDArray[np.int32], tf: NDArray[np.uint8]) -> Postings:
    """Return postings of (key, doc, tf) triples.

    Each pair appears once, and the documents of a key ascend.
    """
    order = np.argsort(keys, kind="stable")  # stable: keeps each term's documents ascending
    keys, docs, tf = keys[order], docs[order], tf[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    offsets = np.concatenate((first, [len(keys)])).astype(np.int64)
    return Postings(keys[first], offsets, docs, tf)


def merge(pieces: Sequence[Postings], renumber: Sequence[NDArray[np.int32]]) -> Postings:
    """Join postings, and renumber their documents.

    `renumber[i][d]` is the new number of document d of piece i, or -1 to drop it.

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
