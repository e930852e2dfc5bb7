"""Cosine similarity by exact search: the inner product of a question with every chunk, in whole numbers.

Vectors and question are int8 (`segment.quantise`), so each product is an exact integer whatever the order of the rows
or the processor, and 100,000 chunks of 256 dimensions take 1.5 ms of one core, read from the mapped file without a
copy. Filters cost nothing since all scores are known; approximate indexes lose most of the right answers under
selective filters (recall 0.15-0.25 measured at a 2 % filter).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.files import FileTable
from vademecum.retrieval.view import View

Quantised = tuple[
    NDArray[np.int8], NDArray[np.float32]
]  # a question's unit vector as `quantise` returns it: (1, dim), (1,)


def cosine(view: View, query: Quantised) -> NDArray[np.float32]:
    """Return float32 (N,): the cosine of each chunk with a question."""
    whole, scale = query
    parts = [
        products(s.vectors, whole) * (s.scales * scale) if s.vectors.shape[1] else np.zeros(s.size, np.float32)
        for s in view.segments
        if s.size
    ]
    return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.zeros(0, np.float32)


def path_cosine(files: FileTable, query: Quantised | None) -> NDArray[np.float32]:
    """Return float32 (F,): the cosine of each path with a question; 0 without one, or where paths have no vectors."""
    if query is None or not files.vectors.size:
        return np.zeros(len(files), np.float32)
    whole, scale = query
    return products(files.vectors, whole) * (files.scales * scale)


def products(vectors: NDArray[np.int8], whole: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return float32 (n,): the inner product of each row, int8 (n, dim), with a question, int8 (1, dim)."""
    import simsimd

    found = simsimd.cdist(vectors, whole, "dot")
    return np.asarray(found, np.float32).reshape(-1)  # whole numbers below 2**24 up to dim 1,040: exact in float32
