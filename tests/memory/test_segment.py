"""Merging segments drops deleted events, their words and their names, and keeps all else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory.event_segment import Reader, Segment, load_segment, merge_segments, save_segment
from vademecum.memory.records import Event, Role
from vademecum.plugins import load

READER = Reader(load("embedder", "hashing"))
said = st.tuples(st.sampled_from("abc"), st.sampled_from(["", "Ann", "Ben"]), st.text("xyz ", max_size=8))
Told = list[tuple[str, str, str]]


def segment(first: int, told: Told) -> Segment:
    return of_events(list(enumerate(told, first)))


def of_events(numbered: list[tuple[int, tuple[str, str, str]]]) -> Segment:
    """Make the segment of some events, each a session, a speaker and a text."""
    return READER.segment([
        (number, Event(f"e{number}", float(number), Role.USER, text, session, speaker=speaker))
        for number, (session, speaker, text) in numbered
    ])  # fmt: skip


def shown(segment: Segment) -> dict[str, object]:
    """Return all that a segment says of its events, names spelled out."""
    postings = segment.postings
    arrays = {
        name: getattr(segment, name).tolist() for name in ("numbers", "at", "roles", "lengths", "vectors", "scales")
    }
    terms = {name: getattr(postings, name).tolist() for name in ("keys", "offsets", "docs", "tf")}
    names = {
        kind: [getattr(segment, f"{kind}_names")[code] for code in getattr(segment, f"{kind}s")]
        for kind in ("session", "speaker")
    }
    return arrays | terms | names


@given(st.lists(st.lists(said, min_size=1, max_size=6), min_size=1, max_size=4), st.data())
def test_a_merged_segment_is_the_segment_of_the_events_that_stay(told, data):
    """Also the names: the name of a session or speaker leaves with the last of its events."""
    starts = np.cumsum([1, *map(len, told)]).tolist()
    segments = [segment(first, own) for first, own in zip(starts, told, strict=False)]
    dead = data.draw(st.lists(st.integers(1, starts[-1] - 1), unique=True, max_size=starts[-1] - 2))
    merged = merge_segments(segments, np.array(dead, np.int64))
    every = [event for own in told for event in own]
    wanted = of_events([(number, event) for number, event in enumerate(every, 1) if number not in dead])
    assert shown(merged) == shown(wanted)
    assert set(merged.session_names) == set(wanted.session_names)
    assert set(merged.speaker_names) == set(wanted.speaker_names)


def test_a_segment_is_read_as_written(tmp_path):
    """All arrays and names come back, with the id of the last event."""
    made, path = segment(1, [("a", "Ann", "x y"), ("b", "", "y z z")]), tmp_path / "events.arrays"
    save_segment(path, made, "hashing", "e2")
    found, last_id = load_segment(path, "hashing")
    assert (shown(found), last_id) == (shown(made), "e2")
