"""BM25F: a document's score depends on the document, and not on where it stands."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.index.bm25 import CODE, gains


@given(count=st.integers(1, 40), begin=st.integers(0, 40), end=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
def test_a_gain_is_the_same_beside_any_others(count, begin, end, seed):
    """To the last bit: an index that grew holds its documents in another order than a fresh one."""
    chance = np.random.default_rng(seed)
    tf = chance.integers(0, 5, (count, len(CODE.fields))).astype(np.uint8)
    norms, idf = chance.random(tf.shape, np.float32), chance.random(count)
    some = slice(begin, end)
    assert gains(CODE, tf[some], norms[some], idf[some]).tolist() == gains(CODE, tf, norms, idf)[some].tolist()
