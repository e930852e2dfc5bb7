"""The compiled BM25F: equal to numpy's on any postings, and no reading outside of damaged ones."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError
from vademecum.kernel import compiled
from vademecum.retrieval import features, lexical
from vademecum.retrieval.files import FileRow, PathReader, file_table
from vademecum.retrieval.lexical import term_keys
from vademecum.retrieval.postings import Postings, build
from vademecum.retrieval.segment import NO_SEGMENT, Segment
from vademecum.retrieval.tokens import run_terms
from vademecum.types import FileKind

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
    asked = int(random.integers(0, len(terms) + 1))
    ours = lexical._by_kernel(segments, copies, norms, keys, asked, rows)
    theirs = lexical._by_numpy(segments, copies, norms, keys, asked, rows)
    told = [[getattr(each, field.name) for field in fields(each) if field.name != "matches"] for each in (ours, theirs)]
    told[0] += ours.matches.laid_out()
    told[1] += theirs.matches.laid_out()
    for own, their in zip(*told, strict=True):
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
        damaged(docs=np.array([1, 0], np.int32)),
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
        lexical._by_kernel([segment], None, np.ones((2, 4), np.float32), np.array([3], np.uint64), 1, 2)


def test_a_segment_names_no_document_of_the_one_before() -> None:
    """A number below 0 would be one of another segment's."""
    segments = [damaged(), damaged(docs=np.array([-1, 1], np.int32))]
    with pytest.raises(ValueError, match="postings"):
        lexical._by_kernel(segments, None, np.ones((4, 4), np.float32), np.array([3], np.uint64), 1, 4)


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


WORDS = st.sampled_from(["http", "client", "test", "index", "Réseau"])
PATHS = st.lists(st.builds("{}/{}.py".format, WORDS, WORDS), max_size=6, unique=True)


@given(PATHS, st.lists(WORDS, max_size=6), st.integers(0, 2**32 - 1))
def test_what_paths_hold_of_a_question_is_what_numpy_says(paths: list[str], asked: list[str], seed: int) -> None:
    """Shares but for the last place, and the same terms; a term that is asked for twice counts twice."""
    files = file_table(
        [FileRow(path, 1, "0" * 40, "python", 1, 1, 1) for path in paths], PathReader(lambda _: FileKind.PRODUCT)
    )
    keys, weight = (
        term_keys([term for word in asked for term in run_terms(word)]),
        np.random.default_rng(seed).random(20),
    )
    weight = weight[: len(keys)]
    for own, their in zip(
        features._path_share_by_kernel(files, keys, weight), features._path_share(files, keys, weight), strict=True
    ):
        assert own.dtype == their.dtype
        np.testing.assert_allclose(own, their, rtol=1e-6)


@pytest.mark.parametrize("docs", [[1], [-1]])
def test_postings_of_paths_that_there_are_not_are_refused(docs: list[int]) -> None:
    """What points outside is an error that says how to mend it, with the kernel and without."""
    files = file_table([FileRow("http.py", 1, "0" * 40, "python", 1, 1, 1)], PathReader(lambda _: FileKind.PRODUCT))
    files = replace(files, postings=replace(files.postings, docs=np.array(docs, np.int32)))
    keys, weight = term_keys(["http"]), np.ones(1)
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        features.path_share(files, keys, weight)
    with pytest.raises(ValueError, match=r"postings name a path|negative"):
        features._path_share(files, keys, weight)
