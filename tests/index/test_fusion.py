"""Joining rankings: RRF as published, convex sums, and ties that never depend on chance."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.index.fusion import RRF_K, convex, highest, reciprocal_rank, top

scores = st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5, -1.0]), min_size=1, max_size=60).map(
    lambda s: np.array(s, np.float32)
)


@given(scores, st.integers(0, 70))
def test_top_is_a_stable_sort_cut(score, count):
    """The highest come first, equal ones in order of position, whatever shortcut is taken."""
    expected = sorted(range(len(score)), key=lambda i: (-score[i], i))[:count]
    assert top(score, count).tolist() == expected


@given(scores.flatmap(lambda s: st.sampled_from([s, np.tile(s, 40)])), st.integers(0, 70))
def test_the_highest_in_order_of_position_are_those_of_top(score, count):
    """Of ties at the cut the first are taken, however many there are, and whatever was read off a sample."""
    assert highest(score, count).tolist() == sorted(top(score, count).tolist())


@given(scores, scores, st.integers(1, 70))
def test_rrf_is_the_published_sum(one, other, depth):
    """Each ranking gives 1 / (60 + rank) to what it matched, and nothing beyond its depth."""
    size = min(len(one), len(other))
    lists = [one[:size], other[:size]]
    expected = np.zeros(size)
    for score in lists:
        ranked = [i for i in sorted(range(size), key=lambda i: (-score[i], i)) if score[i] > 0][:depth]
        for rank, i in enumerate(ranked, 1):
            expected[i] += 1 / (RRF_K + rank)
    np.testing.assert_allclose(reciprocal_rank(lists, depth), expected, rtol=1e-5)
    assert RRF_K == 60


@given(scores, scores)
def test_convex_is_bounded_and_keeps_an_agreed_winner(one, other):
    """The sum lies between 0 and the weights' sum; what both rank first stays first."""
    size = min(len(one), len(other))
    joined = convex([one[:size], other[:size]], [0.5, 0.5])
    assert ((joined >= 0) & (joined <= 1.0001)).all()
    both = (one[:size] == one[:size].max()) & (other[:size] == other[:size].max())
    if both.any():
        assert (joined[both] == joined.max()).all()


@given(scores, st.floats(0.1, 100))
def test_scale_does_not_matter_to_a_convex_sum(score, factor):
    """A signal counts the same in whatever unit it comes."""
    np.testing.assert_allclose(convex([score], [1.0]), convex([score * np.float32(factor)], [1.0]), rtol=1e-5)
