"""Segments joined in a file are what they are joined in memory, whatever was deleted and however few postings are put in order at once."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vademecum.index.postings import build
from vademecum.memory import joined
from vademecum.memory.joined import save_joined
from vademecum.memory.records import Event, Role
from vademecum.memory.segment import Reader, Segment, load_segment, merge_segments
from vademecum.plugins import load

READER = Reader(load("embedder", "hashing"))
ARRAYS = ("numbers", "at", "roles", "lengths", "vectors", "scales")
said = st.tuples(st.sampled_from("abc"), st.sampled_from(["", "Ann", "Ben"]), st.text("xyz ", max_size=8))


def segment(first: int, told: list[tuple[str, str, str]]) -> Segment:
    return READER.segment([
        (first + n, Event(f"e{first + n}", float(n), Role.USER, text, session, speaker=speaker))
        for n, (session, speaker, text) in enumerate(told)
    ])  # fmt: skip


def saved(segments: list[Segment], dead: list[int]) -> Segment:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.arrays"
        save_joined(path, segments, np.array(dead, np.int64), "hashing", "last")
        found, last_id = load_segment(path, "hashing")
    assert last_id == "last"
    return found


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(said, min_size=1, max_size=6), min_size=1, max_size=4), st.data(), st.integers(1, 12))
def test_joined_in_a_file_as_in_memory(told, data, at_once):
    starts = np.cumsum([1, *map(len, told)]).tolist()
    segments = [segment(first, own) for first, own in zip(starts, told, strict=False)]
    dead = data.draw(st.lists(st.integers(1, starts[-1] - 1), unique=True))
    before, joined.AT_ONCE = joined.AT_ONCE, at_once
    try:
        found = saved(segments, dead)
    finally:
        joined.AT_ONCE = before
    wanted = merge_segments(segments, np.array(dead, np.int64))
    for name in ARRAYS:
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    for name in ("keys", "offsets", "docs", "tf"):
        assert np.array_equal(getattr(found.postings, name), getattr(wanted.postings, name)), name
    for kind in ("session", "speaker"):
        of_rows = [
            [getattr(each, f"{kind}_names")[code] for code in getattr(each, f"{kind}s")] for each in (found, wanted)
        ]
        assert of_rows[0] == of_rows[1]
        assert set(getattr(found, f"{kind}_names")) == set(of_rows[0])  # of what was deleted no name stays


def test_joining_takes_little_beside_what_is_mapped():
    words = [f"word{n}" for n in range(300)]
    segments = [
        segment(first, [(f"s{n % 9}", "", " ".join(words[(n * k) % 300] for k in range(7, 19))) for n in range(2000)])
        for first in (1, 2001, 4001, 6001)
    ]
    tracemalloc.start()
    found = saved(segments, [])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.size == 8000
    assert most < 8000 * 200  # 830 bytes an event when all of it was joined at once


def written(first: int, count: int) -> Segment:
    """A segment whose every event holds a word that all hold, one that some hold, and one of its own."""
    numbers = np.arange(first, first + count)
    keys = np.concatenate([np.full(count, 7), 1000 + numbers % 50, 5000 + numbers]).astype(np.uint64)
    docs, zeros = np.tile(np.arange(count, dtype=np.int32), 3), np.zeros(count, np.int32)
    return Segment(
        numbers, numbers, np.zeros(count, np.uint8), numbers.astype(np.int32) % 9, zeros, zeros + 3, np.zeros((count, 8), np.int8),
        np.ones(count, np.float32), build(keys, docs, np.ones((3 * count, 1), np.uint8)), tuple("abcdefghi"), ("",),
    )  # fmt: skip


@pytest.mark.parametrize("dead", [[], [3, 9, 4000]])
def test_joining_many_events_takes_no_more_of_the_process_than_joining_few(dead):
    """A word that every event holds, and words of which each event has one of its own, are what grows with the events."""

    def most(count: int) -> int:
        segments = [written(1 + n * count, count) for n in range(4)]
        tracemalloc.start()
        try:
            saved(segments, dead)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = most(4_000), most(16_000)
    assert many - few < 4 * 48_000  # 2 bytes an event; 57 where what was put in order stayed in memory
