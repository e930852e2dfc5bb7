"""Where the words of a question stand in events, read some at a time: what that takes does not grow with the events.

A word that is in every second event has half as many postings as there are events. They are read from where they are mapped, a
block of at most `MOST` after the other; what is kept of all of them is a number for each row, or for each session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.view import View
from vademecum.retrieval.lexical import inverse_document_frequency
from vademecum.retrieval.postings import Run

MOST = 4_096  # postings in a block, which takes some 40 bytes for each

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Block:
    """Some of the matches in living rows, as (P,) each: which rows, which of the question's terms, how often."""

    rows: NDArray[np.intp]
    terms: NDArray[np.intp]
    counts: Floats


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
            for block in self._blocks():
                held += np.bincount(block.terms, minlength=self.asked)
        return held

    def scores(self, idf: NDArray[np.float64], *, by_session: bool) -> tuple[Floats, Floats | None]:
        """BM25 of each row, float32 (N + 1,), and of each session as one document, float32 (S,), where that is asked for.

        The last of the first stands for no row, which says nothing: -1 is where a talk ends.
        """
        said, weights = np.zeros(len(self._view) + 1, np.float32), idf.astype(np.float32)
        total = self._view.session_count
        sums = np.zeros(self.asked * total) if by_session else None
        for block in self._blocks():
            held = block.counts / (block.counts + self._view.norms(block.rows))
            held *= weights.take(block.terms)
            np.add.at(said, block.rows, held)
            if sums is not None:
                place = block.terms * total
                place += self._view.session.take(block.rows)
                np.add.at(sums, place, block.counts.astype(np.float64))
        return said, None if sums is None else self._of_sessions(sums.reshape(self.asked, total))

    def _of_sessions(self, held: NDArray[np.float64]) -> Floats:
        """BM25 of sessions that hold each term so often, (T, S): float32 (S,)."""
        idf = inverse_document_frequency(held.shape[1], np.count_nonzero(held, axis=1).astype(np.float64))
        return np.asarray(idf @ (held / (held + self._view.session_norms)), np.float32)

    def share(self, rows: NDArray[np.integer[Any]], idf: NDArray[np.float64]) -> Floats:
        """Return how much of the question's idf some living rows hold, 0..1: float32 (R,)."""
        parts = idf / max(float(idf.sum()), 1e-9)
        shares = np.zeros(len(rows))
        for base, run in self._runs if len(rows) else ():
            docs = (rows - base).astype(np.int32)
            shares[run.docs.take(run.docs.searchsorted(docs), mode="clip") == docs] += parts[run.term]
        return shares.astype(np.float32)

    def _blocks(self) -> Iterator[Block]:
        """Yield all matches."""
        pieces: list[tuple[int, Run]] = []
        count = 0
        for base, run in self._runs:
            for begin in range(0, len(run.docs), MOST):
                part = run.part(begin, begin + MOST)
                if count + len(part.docs) > MOST:
                    yield self._block(pieces)
                    pieces, count = [], 0
                pieces.append((base, part))
                count += len(part.docs)
        if pieces:
            yield self._block(pieces)

    def _block(self, pieces: Sequence[tuple[int, Run]]) -> Block:
        sizes = [len(run.docs) for _, run in pieces]
        rows = np.concatenate([run.docs for _, run in pieces], dtype=np.intp)
        rows += np.repeat([base for base, _ in pieces], sizes)
        terms = np.repeat([run.term for _, run in pieces], sizes)
        counts = np.concatenate([run.tf[:, 0] for _, run in pieces], dtype=np.float32)
        if self._view.is_whole:
            return Block(rows, terms, counts)
        living = self._view.alive.take(rows)
        return Block(rows[living], terms[living], counts[living])
