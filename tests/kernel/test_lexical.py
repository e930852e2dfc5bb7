"""The compiled BM25F: equal to numpy's on any postings, and no reading outside of damaged ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError
from vademecum.kernel import compiled
from vademecum.retrieval import lexical
from vademecum.retrieval.postings import Postings, build
from vademecum.retrieval.segment import NO_SEGMENT, Segment

pytestmark = pytest.mark.skipif(compiled is None, reason="nothing was compiled: no C compiler, or VADE_KERNEL=off")
sizes = st.lists(st.integers(0, 12), min_size=0, max_size=3)


def segment_of(size: int, random: np.random.Generator) -> Segment:
    """A segment of `size` chunks in which each of eight terms is in about a third of them."""
    term, doc = np.nonzero(random.random((8, size)) < 0.3)
    tf = random.integers(0, 9, (len(doc), 4)).astype(np.uint8)
    postings = build(term.astype(np.uint64) * np.uint64(3), doc.astype(np.int32), tf)
    return replace(NO_SEGMENT, kinds=np.zeros(size, np.uint8), postings=postings)


@given(sizes, st.booleans(), st.lists(st.integers(0, 24), max_size=6, unique=True), st.integers(0, 2**32 - 1))
def test_it_finds_what_numpy_finds(sizes: list[int], copied: bool, terms: list[int], seed: int) -> None:
    """Matches, frequencies and idf are the same, and scores but for the last place."""
    random = np.random.default_rng(seed)
    segments, total = [segment_of(size, random) for size in sizes], sum(sizes)
    copies = random.integers(0, 4, total) if copied else None
    norms = random.random((total, 4), np.float32)
    keys = np.array(terms, np.uint64)
    rows = total if copies is None else int(copies.sum())
    ours = lexical._by_kernel(segments, copies, norms, keys, rows)
    theirs = lexical._by_numpy(segments, copies, norms, keys, rows)
    for own, their in zip(ours, theirs, strict=True):
        assert own.dtype == their.dtype
        np.testing.assert_allclose(own, their, rtol=1e-6)


@given(st.integers(0, 30), st.lists(st.integers(0, 24), max_size=6), st.integers(0, 2**32 - 1))
def test_it_finds_the_postings_that_numpy_finds(size: int, terms: list[int], seed: int) -> None:
    """The same documents and occurrences, term by term, also where a term is asked for twice."""
    postings = segment_of(size, np.random.default_rng(seed)).postings
    keys = np.array(terms, np.uint64)
    for own, their in zip(postings.find(keys), postings._find(keys), strict=True):
        assert own.dtype == their.dtype
        np.testing.assert_array_equal(own, their)


def damaged(**arrays: NDArray[np.generic]) -> Segment:
    """A segment of two chunks and one term, with some arrays of its postings exchanged."""
    whole = Postings(np.array([3], np.uint64), np.array([0, 2]), np.array([0, 1], np.int32), np.ones((2, 4), np.uint8))
    return replace(NO_SEGMENT, kinds=np.zeros(2, np.uint8), postings=replace(whole, **arrays))


@pytest.mark.parametrize(
    "segment",
    [
        damaged(docs=np.array([0, 2], np.int32)),
        damaged(docs=np.array([0, -1], np.int32)),
        damaged(offsets=np.array([0, 3])),
        damaged(offsets=np.array([-1, 2])),
        damaged(offsets=np.array([2, 0])),
        damaged(offsets=np.array([0])),
        damaged(tf=np.ones((1, 4), np.uint8)),
    ],
)
def test_damaged_postings_are_refused(segment: Segment) -> None:
    """What points outside is an error, never read or written."""
    with pytest.raises(ValueError, match="postings"):
        lexical._by_kernel([segment], None, np.ones((2, 4), np.float32), np.array([3], np.uint64), 2)


@pytest.mark.parametrize(
    "segment",
    [damaged(offsets=np.array([0, 3])), damaged(offsets=np.array([-1, 2])), damaged(offsets=np.array([0]))],
)
def test_damaged_postings_are_not_looked_up(segment: Segment) -> None:
    """What begins or ends outside is an error that says how to mend it, never read."""
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        segment.postings.find(np.array([3], np.uint64))


def test_a_question_of_damaged_postings_says_how_to_mend_them() -> None:
    """With the kernel and without, a document that there is not is a damaged index."""
    keys = np.array([3], np.uint64)
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        lexical.bm25f([damaged(docs=np.array([0, 9], np.int32))], None, np.ones((2, 4), np.float32), keys, 1)
