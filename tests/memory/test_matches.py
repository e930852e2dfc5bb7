"""The words of a question are scored the same however the events lie, and deleted events do not count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory.event_segment import Part, Reader, Segment, View
from vademecum.memory.records import Event, Role
from vademecum.memory.scoring import Matches
from vademecum.memory.words import query_keys
from vademecum.plugins import load

READER = Reader(load("embedder", "hashing"))
WORDS = ("cache", "retry", "limit", "token")
KEYS = query_keys("cache retry limit walrus")  # nobody wrote the last
NOBODY = np.zeros(0, np.int64)
Told = list[tuple[int, list[str]]]
told = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=2, max_size=20)


def segment(events: Told) -> Segment:
    """Make the segment of events, each a number and its words; the number gives the session."""
    return READER.segment([
        (number, Event(f"e{number}", float(number), Role.USER, " ".join(words), f"s{number % 3}"))
        for number, words in events
    ])  # fmt: skip


def scored(segments: list[Segment], dead: list[int]) -> list[list[float]]:
    """Return what the words say of the living rows, of the sessions, and of the terms."""
    view = View([Part(0, tuple(segments), np.array(dead, np.int64))])
    found, living = Matches(view, KEYS), np.flatnonzero(view.alive)
    sessions = {name: score for name, score in zip(view.session_names, found.sessions.tolist(), strict=True) if score}
    return [
        found.rows[living].tolist(), found.share(living).tolist(), sorted(sessions.items()), found.idf.tolist(),
        found.known.tolist(), found.rows[-1:].tolist(),
    ]  # fmt: skip


@given(told, st.integers(1, 19))
def test_scores_do_not_depend_on_where_segments_end(texts, cut):
    """One segment and two hold the same events."""
    events = list(enumerate(texts, 1))
    parts = [segment(events[:cut])] + ([segment(events[cut:])] if events[cut:] else [])
    assert scored(parts, []) == scored([segment(events)], [])


@given(told, st.data())
def test_a_deleted_event_is_as_one_that_never_was(texts, data):
    """Neither its words nor its length count, for no row, no session and no term."""
    events = list(enumerate(texts, 1))
    dead = data.draw(st.lists(st.integers(1, len(events)), unique=True, max_size=len(events) - 1))
    sessions = {number % 3 for number, _ in events if number not in dead}
    if len(sessions) < len({number % 3 for number, _ in events}):
        return  # an empty session is still a session until its segment is merged
    living = [event for event in events if event[0] not in dead]
    assert scored([segment(events)], dead) == scored([segment(living)], [])
