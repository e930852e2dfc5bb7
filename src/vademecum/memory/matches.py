"""BM25 of the events of a view, and of its sessions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.bm25 import bm25f, inverse_document_frequency, saturated
from vademecum.memory.view import EVENT, SESSION, View

Floats = NDArray[np.float32]


class Matches:
    """The occurrences of a question's terms in living rows."""

    def __init__(self, view: View, keys: NDArray[np.uint64]) -> None:
        """Look the terms up and score every row. Raises `StoreCorruptError`."""
        self._view = view
        copies = None if view.is_whole else view.alive.astype(np.int64)
        self._found = bm25f(EVENT, view.segments, copies, view.norms, keys, len(keys))
        self.idf = self._found.idf
        self.known = self._found.known

    @cached_property
    def rows(self) -> Floats:
        """BM25 of rows, then 0 for none: float32 (N + 1,)."""
        score = self._found.score if self._view.is_whole else np.where(self._view.alive, self._found.score, 0)
        return np.append(score, np.float32(0))

    @cached_property
    def sessions(self) -> Floats:
        """float32 (S,): BM25 of each session as one document."""
        view, found = self._view, self._found.matches
        docs, term, tf = found.docs, found.terms, found.tf
        count, terms = view.session_count, len(self.idf)
        occurrences = tf[:, 0] if view.is_whole else tf[:, 0] * view.alive.take(docs)
        places = view.session.take(docs) * np.int64(terms) + term
        counts = np.bincount(places, occurrences, count * terms).reshape(count, terms)
        idf = inverse_document_frequency(count, np.count_nonzero(counts, axis=0).astype(np.float64))
        return (saturated(SESSION, counts, view.session_terms) @ idf).astype(np.float32)

    def share(self, rows: NDArray[np.integer[Any]]) -> Floats:
        """Return each living row's share of the question's idf, float32 (R,)."""
        found = self._found.matches
        return np.bincount(found.docs, found.share, len(self._view)).take(rows).astype(np.float32)
