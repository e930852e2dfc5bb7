"""Postings that point outside are a damaged index: a question says how to mend it, and reads nothing there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import PathReader
from vademecum.code.search import signals
from vademecum.code.snapshot.view import FileRow, file_table
from vademecum.errors import StoreCorruptError
from vademecum.index import bm25
from vademecum.index.bm25 import CODE, Postings
from vademecum.index.segment import NO_SEGMENT, Segment
from vademecum.types import FileKind


def damaged(**arrays: NDArray[np.generic]) -> Segment:
    """A segment of two chunks and one term, with some arrays of its postings exchanged."""
    whole = Postings(np.array([3], np.uint64), np.array([0, 2]), np.array([0, 1], np.int32), np.ones((2, 4), np.uint8))
    return replace(NO_SEGMENT, kinds=np.zeros(2, np.uint8), postings=replace(whole, **arrays))


@pytest.mark.parametrize(
    "segment",
    [damaged(offsets=np.array([0, 3])), damaged(offsets=np.array([-1, 2])), damaged(offsets=np.array([0]))],
)
def test_damaged_postings_are_not_looked_up(segment: Segment) -> None:
    """What begins or ends outside is an error that says how to mend it, never read."""
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        segment.postings.find(np.array([3], np.uint64))


def test_a_question_of_damaged_postings_says_how_to_mend_them() -> None:
    """A posting of a document that does not exist is a damaged index."""
    keys = np.array([3], np.uint64)
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        bm25.bm25f(CODE, [damaged(docs=np.array([0, 9], np.int32))], None, np.ones((2, 4), np.float32), keys, 1)


@pytest.mark.parametrize("docs", [[1], [-1]])
def test_postings_of_paths_that_there_are_not_are_refused(docs: list[int]) -> None:
    """A posting of a path that does not exist is a damaged index."""
    files = file_table([FileRow("http.py", 1, "0" * 40, "python", 1, 1, 1)], PathReader(lambda _: FileKind.PRODUCT))
    files = replace(files, postings=replace(files.postings, docs=np.array(docs, np.int32)))
    keys, weight = bm25.term_keys(["http"]), np.ones(1)
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        signals.path_share(files, keys, weight)
