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
        if not len(self.keys):
            return self.docs[:0], self.tf[:0], np.zeros(0, np.int64)
        try:
            slot = self.keys.searchsorted(keys)
            known = (self.keys.take(slot, mode="clip") == keys).nonzero()[0]
            slot = slot.take(known)
            begins, ends = self.offsets.take(slot), self.offsets.take(slot + 1)
            if begins.min(initial=0) < 0 or ends.max(initial=0) > len(self.docs):
                raise IndexError("postings begin or end outside")  # noqa: TRY301 - as numpy does for other places
            rows = ranges(begins, ends - begins)
            return self.docs.take(rows), self.tf.take(rows, axis=0), np.repeat(known, ends - begins)
        except (IndexError, ValueError) as error:
            raise damaged(error) from error


@dataclass(frozen=True, slots=True)
class Matches:
    """The postings of a question's terms, term by term.

    Attributes:
        docs: int32 (M,), the document of each, counted over all segments.
        terms: int64 (M,), ascending.
        share: float32 (M,), the term's share of the question.
        tf: uint8 (M, F), occurrences per field.
    """

    docs: NDArray[np.int32]
    terms: NDArray[np.int64]
    share: NDArray[np.float32]
    tf: NDArray[np.uint8]


def damaged(error: Exception | str) -> StoreCorruptError:
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
