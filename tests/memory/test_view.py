"""The events of scopes end to end: their sessions, speakers and neighbours, however segments end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory.event_segment import Part, Reader, Segment, View, merge_segments
from vademecum.memory.records import Event, Role
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


def shown(view: View) -> list[object]:
    """All that a view says, in a form that can be compared: its sessions by name."""
    rows, codes = np.arange(len(view)), np.argsort(view.session_names)
    names = view.session_names
    return [
        view.numbers.tolist(), view.at.tolist(), view.roles.tolist(), view.alive.tolist(), view.norms.tolist(),
        [names[code] for code in view.session], view.before(rows).tolist(), view.after(rows).tolist(),
        view.session_terms[codes].tolist(), view.talks[codes].tolist(), view.speaker_words,
        [sorted(view.rows_of(np.array([code])).tolist()) for code in codes],
    ]  # fmt: skip


@given(st.lists(said, min_size=1, max_size=24), st.lists(st.integers(1, 9), max_size=4))
def test_it_does_not_matter_where_segments_end(told, sizes):
    segments = cut(told, sizes)
    whole = shown(View([Part(0, tuple(cut(told, [])), NOBODY)]))
    assert shown(View([Part(0, tuple(segments), NOBODY)])) == whole
    assert shown(View([Part(0, (merge_segments(segments, NOBODY),), NOBODY)])) == whole


@given(st.lists(said, min_size=2, max_size=16), st.data())
def test_what_was_deleted_is_in_nobodys_way(told, data):
    """Its row stays and is dead, and its neighbours are each other's."""
    gone = np.array(data.draw(st.lists(st.integers(1, len(told)), min_size=1, unique=True)))
    view = View([Part(0, tuple(cut(told, [])), gone)])
    assert view.numbers[~view.alive].tolist() == sorted(gone.tolist())
    living = np.flatnonzero(view.alive)
    before = view.before(living)
    assert view.alive[before[before >= 0]].all()
    assert view.living == len(living)


def test_two_scopes_end_to_end():
    """Rows, sessions and speakers of the second follow those of the first; the same name in both is two sessions."""
    one = Part(0, (segment(1, [("a", Role.USER, 1, "Ann"), ("b", Role.USER, 2, "")]),), NOBODY)
    two = Part(1, (segment(1, [("a", Role.USER, 1, ""), ("a", Role.USER, 2, "Ben Ng")]),), NOBODY)
    view = View([one, two])
    assert (len(view), view.session_count, view.scope_of(np.arange(4)).tolist()) == (4, 3, [0, 0, 1, 1])
    assert view.sessions_named("a") == [0, 2]
    assert view.rows_of(np.array([2, 0])).tolist() == [2, 3, 0]
    assert [next_to(np.arange(4)).tolist() for next_to in (view.before, view.after)] == [
        [-1, -1, -1, 2],
        [-1, -1, 3, -1],
    ]
    assert view.speaker_words.keys() == {"ann", "ben"}
    grown = View([Part(0, (*one.segments, segment(3, [("c", Role.USER, 9, "")])), NOBODY), two])
    assert grown.session_names == ("a", "b", "c", "a")
    assert grown.before(np.arange(5)).tolist() == [-1, -1, -1, -1, 3]


def test_a_scope_without_events_takes_no_rows():
    view = View([Part(0, (), NOBODY), Part(1, (segment(1, [("a", Role.USER, 1, "")]),), NOBODY)])
    assert (len(view), view.scope_of(np.arange(1)).tolist(), view.rows_in(1), view.rows_in(0)) == (
        1,
        [1],
        slice(0, 1),
        slice(0, 0),
    )
