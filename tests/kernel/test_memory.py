"""What the kernel does for memory is what numpy does; what points outside is refused, never read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.kernel import compiled
from vademecum.memory import layout as layouts
from vademecum.memory.layout import Layout, Part, laid_out
from vademecum.memory.matches import Matches
from vademecum.memory.records import Event, Role
from vademecum.memory.segment import Reader
from vademecum.memory.view import view_of
from vademecum.plugins import load
from vademecum.retrieval import dense

pytestmark = pytest.mark.skipif(compiled is None, reason="nothing was compiled: no C compiler, or VADE_KERNEL=off")

READER = Reader(load("embedder", "hashing"))
NOBODY = np.zeros(0, np.int64)
seeds = st.integers(0, 2**32 - 1)


def laid(first: list[str], later: list[str]) -> Layout:
    """A layout of events of these sessions, of which some came after the others were put in order."""
    events = [Event(f"e{n}", float(n), Role.USER, "word", session) for n, session in enumerate([*first, *later], 1)]
    numbered = list(enumerate(events, 1))
    parts = [numbered[: len(first)], numbered[len(first) :]]
    segments = tuple(READER.segment(part) for part in parts if part)
    known = laid_out(Part(0, segments[:1], NOBODY)) if first else None
    return laid_out(Part(0, segments, NOBODY), known)


def both(ask, module):
    """What is answered by the kernel, and by numpy."""
    by_kernel = ask()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "compiled", None)
        return by_kernel.tolist(), ask().tolist()


names = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12)


@given(names, st.lists(st.sampled_from("abcdefgh"), max_size=6), st.data())
def test_rows_of_sessions_and_what_comes_after_are_the_same(first, later, data) -> None:
    layout = laid(first, later)
    codes = np.array(data.draw(st.lists(st.integers(0, len(layout.living) - 1), unique=True)), np.int64)
    by_kernel, by_numpy = both(lambda: layout.rows_of(codes), layouts)
    assert by_kernel == by_numpy
    rows = np.array(data.draw(st.lists(st.integers(0, len(layout) - 1))), np.intp)
    by_kernel, by_numpy = both(lambda: layout.after_of(rows), layouts)
    assert by_kernel == by_numpy


@given(seeds, st.integers(0, 6), st.integers(1, 40))
def test_sessions_are_scored_the_same(seed, terms, sessions) -> None:
    chance = np.random.default_rng(seed)
    held = np.floor(chance.random((terms, sessions)) * chance.integers(1, 4, (terms, 1)))
    view = view_of([Part(0, (), NOBODY)])
    norms = view.__dict__["session_norms"] = (0.5 + chance.random(sessions)).astype(np.float32)
    found = np.frombuffer(compiled.score_sessions(held, terms, norms), np.float32)
    asked = np.zeros(terms, np.uint64)
    np.testing.assert_allclose(found, Matches(view, asked).of_sessions(held), rtol=1e-6, atol=1e-7)


@given(seeds, st.sampled_from([1, 31, 64, 256, 257]), st.integers(0, 50))
def test_products_of_some_rows_are_the_same(seed, dim, count) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.integers(-128, 128, (30, dim)).astype(np.int8)
    query = chance.integers(-128, 128, (1, dim)).astype(np.int8), chance.random(1).astype(np.float32)
    scales, places = chance.random(30).astype(np.float32), chance.integers(0, 30, count)
    found = dense.products_of(vectors, places, query, scales)
    expected = dense.scaled_products(vectors.take(places, axis=0), query[0], scales.take(places), query[1])
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("codes", "order", "starts"),
    [([-1], [0, 1], [0, 2]), ([0], [0, 1], [0, 3]), ([0], [0, 1], [-1, 2]), ([0], [0, 1], [2, 1]), ([0], [0, 1], []),
     ([0], [0, 1, 2], [0, 3]), ([2**40], [0, 1], [0, 2])],
)  # fmt: skip
def test_rows_of_sessions_that_lie_outside_are_refused(codes, order, starts) -> None:
    arrays = np.array(codes, np.int64), np.zeros(2, np.int32), np.array(order, np.int32), np.array(starts, np.int64)
    with pytest.raises(ValueError, match="fit"):
        compiled.rows_of(*arrays)


def test_a_late_row_of_a_session_that_there_is_not_is_passed_over() -> None:
    session = np.array([0, -1, 2**31 - 1, 0], np.int32)
    found = compiled.rows_of(np.zeros(1, np.int64), session, np.zeros(1, np.int32), np.array([0, 1], np.int64))
    assert np.frombuffer(found, np.int64).tolist() == [3, 0]


@pytest.mark.parametrize(("rows", "befores"), [([-1], 2), ([2], 2), ([0], 3)])
def test_rows_that_nothing_stands_around_are_refused(rows, befores) -> None:
    with pytest.raises(ValueError, match="fit"):
        compiled.after_of(np.array(rows, np.int64), np.zeros(befores, np.int32), np.zeros(2, np.int32))


def test_what_comes_after_and_lies_outside_is_no_row() -> None:
    before, after = np.array([-1, 0], np.int32), np.array([2, -5], np.int32)
    found = compiled.after_of(np.arange(2), before, after)
    assert np.frombuffer(found, np.int32).tolist() == [-1, -1]


@pytest.mark.parametrize(("held", "terms", "sessions"), [(4, 2, 3), (4, -1, 4), (0, 1, 1), (3, 2, 1), (1, 0, 1)])
def test_what_sessions_hold_must_fit(held, terms, sessions) -> None:
    with pytest.raises(ValueError, match="fit"):
        compiled.score_sessions(np.zeros(held), terms, np.ones(sessions, np.float32))


@pytest.mark.skipif(not (compiled and compiled.HAS_PRODUCTS), reason="this processor has no AVX2")
@pytest.mark.parametrize(("places", "scales", "message"), [([2], 2, "not"), ([-1], 2, "not"), ([0], 3, "fit")])
def test_products_of_rows_outside_are_refused(places, scales, message) -> None:
    vectors, whole = np.ones((2, 32), np.int8), np.ones((1, 32), np.int8)
    with pytest.raises(ValueError, match=message):
        compiled.products_of(vectors, np.array(places, np.int64), whole, np.ones(scales, np.float32), 1.0)
