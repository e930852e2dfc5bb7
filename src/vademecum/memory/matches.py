"""Where the words of a question stand in events, read some at a time: what that takes does not grow with the events.

A word that is in every second event has half as many postings as there are events. They are read from where they are mapped, a
block of at most `MOST` after the other; what is kept of all of them is a number for each row, or for each session.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.bm25 import inverse_document_frequency
from vademecum.index.postings import Run
from vademecum.memory.view import View

MOST = 4_096  # postings in a block, which takes some 40 bytes for each

Floats = NDArray[np.float32]


class Matches:
    """Every occurrence of a question's terms, uint64 (T,), in a view's living rows, ordered by segment, then by term."""

    def __init__(self, view: View, keys: NDArray[np.uint64]) -> None:
        """Look the terms up; nothing else is read yet."""
        self.asked = len(keys)
        self._view = view
        self._runs: list[tuple[int, Run]] = []  # each with the row that its segment begins at
        base = 0
        for segment in view.segments:
            self._runs += [(base, run) for run in segment.postings.runs(keys)]
            base += segment.size

    @cached_property
    def holding(self) -> NDArray[np.float64]:
        """float64 (T,): rows that hold each term."""
        held = np.zeros(self.asked)
        if self._view.is_whole:
            for _, run in self._runs:
                held[run.term] += len(run.docs)
        else:
            for term, rows, _ in self._blocks():
                held[term] += len(rows)
        return held

    def scores(self, idf: NDArray[np.float64], *, by_session: bool) -> tuple[Floats, Floats | None]:
        """BM25 of each row, float32 (N + 1,), and of each session as one document, float32 (S,), where that is asked for.

        The last of the first stands for no row, which says nothing: -1 is where a talk ends.
        """
        view = self._view
        said, weights = np.zeros(len(view) + 1, np.float32), idf.astype(np.float32)
        sums = np.zeros((self.asked, view.session_count)) if by_session else None
        self._add(said, sums, weights)
        if sums is None:
            return said, None
        return said, self.of_sessions(sums)

    def _add(self, said: Floats, sums: NDArray[np.float64] | None, weights: Floats) -> None:
        """Add to each row what each term says of it, and to sessions, (T, S), how often they hold it."""
        view = self._view
        for term, rows, tf in self._blocks():
            counts, held = tf.astype(np.float32), view.norms(rows)
            held += counts
            np.divide(counts, held, out=held)
            held *= weights[term]
            said[rows] += held  # a block is of one term: no row is in it twice
            if sums is not None:
                sums[term] += np.bincount(view.session.take(rows), tf, view.session_count)

    def of_sessions(self, held: NDArray[np.float64]) -> Floats:
        """BM25 of sessions that hold each term so often, (T, S), which is written over: float32 (S,)."""
        holding = np.array(
            [np.count_nonzero(row) for row in held > 0], np.float64
        )  # truth values are counted many at once
        idf = inverse_document_frequency(held.shape[1], holding)
        held /= held + self._view.session_norms
        return np.asarray(idf @ held, np.float32)

    def share(self, rows: NDArray[np.integer[Any]], idf: NDArray[np.float64]) -> Floats:
        """Return how much of the question's idf some living rows hold, 0..1: float32 (R,)."""
        parts = (idf / max(float(idf.sum()), 1e-9)).tolist()
        shares = np.zeros(len(rows))
        docs, of = rows.astype(np.int32), 0
        for base, run in self._runs if len(rows) else ():
            if base != of:
                docs, of = docs + np.int32(of - base), base
            shares += (run.docs.take(run.docs.searchsorted(docs), mode="clip") == docs) * parts[run.term]
        return shares.astype(np.float32)

    def _blocks(self) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.uint8]]]:
        """Yield all matches, of one term at a time: which of the terms, in which living rows, (P,), and how often in each, (P,)."""
        alive = None if self._view.is_whole else self._view.alive
        for base, run in self._runs:
            for begin in range(0, len(run.docs), MOST):
                part = run.part(begin, begin + MOST)
                rows, tf = part.docs.astype(np.intp), part.tf[:, 0]
                if base:
                    rows += base
                if alive is None:
                    yield run.term, rows, tf
                else:
                    living = alive.take(rows)
                    yield run.term, rows[living], tf[living]
