"""Cosine similarity by exact search: one matrix-vector product over every chunk.

At 100,000 chunks of 256 dimensions this takes 2-3 ms, and filters cost nothing since all scores are known; approximate
indexes lose most of the right answers under selective filters (recall 0.15-0.25 measured at a 2 % filter).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.view import View

# Document vectors have at most 127 * sqrt(dim) length in whole numbers; with questions of this length every partial
# sum stays below 2**24, where float32 counts exactly (Cauchy-Schwarz), up to dim 270; beyond, sums are as good as float32.
_QUERY_LENGTH = 8_000.0


def cosine(view: View, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return float32 (N,): the cosine of each chunk with a unit query vector of shape (dim,)."""
    whole = np.rint(query * _QUERY_LENGTH).astype(np.float32)
    unit = np.float32(1 / _QUERY_LENGTH)
    return np.concatenate([(s.floats @ whole) * (s.scales * unit) for s in view.segments] or [np.zeros(0, np.float32)])
