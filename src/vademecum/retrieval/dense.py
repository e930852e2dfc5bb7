"""Cosine similarity by exact search: the inner product of a question with every chunk, in whole numbers.

Vectors and question are int8 (`segment.quantise`), so each product is an exact integer whatever the order of the rows
or the processor, and 100,000 chunks of 256 dimensions take 1.5 ms of one core, read from the mapped file without a
copy. Filters cost nothing since all scores are known; approximate indexes lose most of the right answers under
selective filters (recall 0.15-0.25 measured at a 2 % filter).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.segment import Segment, quantise
from vademecum.retrieval.view import View


def cosine(view: View, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return float32 (N,): the cosine of each chunk with a unit query vector of shape (dim,)."""
    whole, scale = quantise(query[None, :])
    parts = [products(segment, whole) * (segment.scales * scale) for segment in view.segments if segment.size]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def products(segment: Segment, whole: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return float32 (N,): the inner product of each row with a question, int8 (1, dim)."""
    import simsimd

    found = simsimd.cdist(segment.vectors, whole, "dot")
    return np.asarray(found, np.float32).reshape(-1)  # whole numbers below 2**24 up to dim 1,040: exact in float32
