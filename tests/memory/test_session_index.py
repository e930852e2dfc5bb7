"""What is worked out for new events alone is what would be worked out for all of them at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vademecum.memory import session_index as layouts
from vademecum.memory.records import Event, Role
from vademecum.memory.segment import Reader, Segment, merge_segments
from vademecum.memory.session_index import Layout, Part, laid_out
from vademecum.memory.view import view_of
from vademecum.plugins import load

READER = Reader(load("embedder", "hashing"))
NOBODY = np.zeros(0, np.int64)
said = st.tuples(
    st.sampled_from(["", "a", "b", "c"]),
    st.sampled_from(list(Role)[:3]),
    st.integers(0, 9),
    st.sampled_from(["", "Ann"]),
)


def segment(first: int, told: list[tuple[str, Role, int, str]]) -> Segment:
    return READER.segment([
        (number, Event(f"e{number}", float(at), role, f"word{at} of {role}", session, speaker=speaker))
        for number, (session, role, at, speaker) in enumerate(told, first)
    ])  # fmt: skip


def cut(told: list[tuple[str, Role, int, str]], sizes: list[int]) -> list[Segment]:
    """The events as segments of these sizes, what is left as the last."""
    segments, start = [], 0
    for size in [*sizes, len(told)]:
        if told[start : start + size]:
            segments.append(segment(start + 1, told[start : start + size]))
        start += size
    return segments


def cut_from(first: int, told: list[tuple[str, Role, int, str]]) -> list[Segment]:
    """The events as one segment, numbered from `first`; none where there are none."""
    return [segment(first, told)] if told else []


def neighbours(layout: Layout) -> list[list[int]]:
    """The row before each in its session, and the row after."""
    rows = np.arange(len(layout))
    return [layout.before[rows].tolist(), layout.after[rows].tolist()]


def shown(layout: Layout) -> list[object]:
    """All that a layout says, in a form that can be compared: its sessions by name."""
    names = layout.sessions.first(len(layout.living))
    by_name = np.argsort(names)
    whole, scales = layout.means.of(layout)
    means = (whole * scales[:, None])[by_name]
    return [
        layout.numbers.tolist(), layout.at.tolist(), layout.roles.tolist(), layout.alive.tolist(), layout.lengths.tolist(),
        [names[code] for code in layout.session], *neighbours(layout),
        [values[by_name].tolist() for values in (layout.living, layout.others, layout.terms)],
        [sorted(layout.rows_of(np.array([code])).tolist()) for code in by_name],
        means.round(2).tolist(),
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(said, min_size=1, max_size=24), st.lists(st.integers(1, 9), max_size=4), st.integers(0, 6), st.booleans()
)
def test_what_is_added_is_laid_out_as_all_at_once(told, sizes, late, merged):
    """However events come, also where the last segments were merged in between, and however few are sorted at once."""
    before, layouts.LATE = layouts.LATE, late
    try:
        segments = cut(told, sizes)
        grown = None
        for count in range(1, len(segments) + 1):
            own = segments[:count]
            if merged and count > 2:
                own = [own[0], merge_segments(own[1:], NOBODY)]
            grown = laid_out(Part(0, tuple(own), NOBODY), grown)
            grown.means.of(grown)
        fresh = laid_out(Part(0, tuple(cut(told, [])), NOBODY))
    finally:
        layouts.LATE = before
    assert shown(grown) == shown(fresh)


@settings(max_examples=30, deadline=None)
@given(st.lists(said, min_size=2, max_size=16), st.data())
def test_what_was_deleted_is_in_nobodys_way(told, data):
    """Its row stays and is dead; its neighbours are each other's; after a deletion all is worked out again."""
    gone = np.array(data.draw(st.lists(st.integers(1, len(told)), min_size=1, unique=True)))
    segments = tuple(cut(told, []))
    layout = laid_out(Part(0, segments, gone), laid_out(Part(0, segments, NOBODY)))
    assert layout.numbers[~layout.alive].tolist() == sorted(gone.tolist())
    living = np.flatnonzero(layout.alive)
    assert layout.alive[layout.before[living][layout.before[living] >= 0]].all()
    assert layout.living.sum() == len(living)


def test_two_layouts_that_go_on_from_one_do_not_write_over_each_other():
    both = (segment(1, [("a", Role.USER, 1, ""), ("b", Role.USER, 2, "")]),)
    begun = laid_out(Part(0, both, NOBODY))
    one, two = (laid_out(Part(0, (*both, segment(3, [("c", Role.USER, at, "")])), NOBODY), begun) for at in (3, 4))
    again = laid_out(Part(0, (*one.part.segments, segment(4, [("d", Role.USER, 5, "")])), NOBODY), one)
    assert [each.at.tolist() for each in (begun, one, two, again)] == [
        [1000, 2000], [1000, 2000, 3000], [1000, 2000, 4000], [1000, 2000, 3000, 5000],
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(said, min_size=3, max_size=16),
    st.integers(1, 8),
    st.integers(1, 8),
    st.lists(said, min_size=1, max_size=4),
)
def test_what_was_laid_out_before_stays_as_it_was(told, first, more, otherwise):
    """A layout that others went on from, also two that know nothing of each other, stands to its own rows alone."""
    begun = laid_out(Part(0, tuple(cut(told[:first], [])), NOBODY))
    own = [Part(0, (*begun.part.segments, *cut_from(first + 1, tail)), NOBODY) for tail in (told[first:], otherwise)]
    one, other = (laid_out(part, begun) for part in own)
    last = laid_out(Part(0, (*one.part.segments, *cut_from(len(one) + 1, told[:more])), NOBODY), one)
    for layout in (begun, one, other, last):
        assert neighbours(layout) == neighbours(laid_out(Part(0, layout.part.segments, NOBODY)))


@settings(max_examples=20, deadline=None)
@given(st.lists(said, min_size=1, max_size=24), st.integers(1, 5))
def test_means_are_the_same_however_few_vectors_are_made_floats_at_once(told, most):
    before, layouts._SUMMED = layouts._SUMMED, most
    try:
        layout = laid_out(Part(0, tuple(cut(told, [])), NOBODY))
        few = layout.means.of(layout)
    finally:
        layouts._SUMMED = before
    whole = laid_out(Part(0, tuple(cut(told, [])), NOBODY))
    for one, other in zip(few, whole.means.of(whole), strict=True):
        assert np.allclose(one.astype(float), other.astype(float), atol=1.01)


def test_one_scope_is_read_where_it_lies():
    """A view of one scope holds no column of its own: what is as long as a memory is there once."""
    view = view_of([Part(0, (segment(1, [("a", Role.USER, 1, "Ann"), ("b", Role.USER, 2, "")]),), NOBODY)])
    for name in ("numbers", "at", "roles", "session", "speaker", "alive"):
        assert np.shares_memory(getattr(view, name), getattr(view.layouts[0], name)), name


def test_two_scopes_end_to_end():
    """Rows, sessions and speakers of the second follow those of the first; the same name in both is two sessions."""
    one = Part(0, (segment(1, [("a", Role.USER, 1, "Ann"), ("b", Role.USER, 2, "")]),), NOBODY)
    two = Part(1, (segment(1, [("a", Role.USER, 1, ""), ("a", Role.USER, 2, "Ben Ng")]),), NOBODY)
    view = view_of([one, two])
    assert (len(view), view.session_count, view.scope_of(np.arange(4)).tolist()) == (4, 3, [0, 0, 1, 1])
    assert view.sessions_named("a") == [0, 2]
    assert view.rows_of(np.array([2, 0])).tolist() == [0, 2, 3]
    assert [next_to(np.arange(4)).tolist() for next_to in (view.before, view.after)] == [
        [-1, -1, -1, 2],
        [-1, -1, 3, -1],
    ]
    assert view.speaker_words.keys() == {"ann", "ben"}
    more = Part(0, (*one.segments, segment(3, [("c", Role.USER, 9, "")])), NOBODY)
    grown = view_of([more, two], view)
    assert grown.layouts[1] is view.layouts[1]
    assert grown.session_names == ("a", "b", "c", "a")
    assert grown.before(np.arange(5)).tolist() == [-1, -1, -1, -1, 3]
