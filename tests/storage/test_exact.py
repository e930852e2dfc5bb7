"""The exact index is what the others are measured against: held to the same promises, and to plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import StoreError
from vademecum.matching import Filter, Near, nearest_passing
from vademecum.result import Err, Ok
from vademecum.storage.collection import ExactIndex
from vademecum.testing import check_vector_index, some_points


def test_it_keeps_the_promises_of_a_vector_index():
    """As every index does."""
    check_vector_index(ExactIndex("app", "model", 8))


class _Forgetful(ExactIndex):
    def delete(self, which):
        return Ok(None)


class _Unfiltered(ExactIndex):
    def nearest(self, vector, k, where):
        return super().nearest(vector, k, Filter())


@pytest.mark.parametrize(
    ("kind", "promise"), [(_Forgetful, "goes by its key"), (_Unfiltered, "filtered before the cut")]
)
def test_a_broken_promise_is_named(kind, promise):
    """The check tells an index that forgets to delete, or to filter, from one that keeps its word."""
    with pytest.raises(AssertionError, match=promise):
        check_vector_index(kind("app", "model", 8))


@given(st.integers(1, 30), st.sampled_from([Filter(paths=("*1*",)), Filter(exclude=("src",)), Filter(paths=("none",))]))
def test_enough_is_asked_for_that_what_passes_is_found(k, where):
    """Whatever share of the points a filter lets pass, the answer is the one that filtering first would give."""
    index = ExactIndex("app", "model", 8)
    points = some_points()
    index.upsert(points).unwrap()
    asked = points[0].vector
    found = nearest_passing(lambda n: index.nearest(asked, n, Filter()), k, where)
    assert found == index.nearest(asked, k, where)


def test_a_failure_is_passed_on():
    """An index that cannot be asked answers with its error."""
    failed = Err(StoreError("gone"))
    assert nearest_passing(lambda _: failed, 3, Filter()) == failed


def test_points_compare_by_what_they_are():
    """The same id has the same key everywhere; what was found can be compared."""
    one, other = some_points()[:2]
    assert one.payload.key == some_points()[0].payload.key != other.payload.key
    assert Near(one.payload, 0.5) == Near(one.payload, 0.5)
    assert np.isclose(np.linalg.norm(one.vector), 1)
