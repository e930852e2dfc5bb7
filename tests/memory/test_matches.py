"""What is read of postings some at a time is what would be read at once, and no more is held of them than that."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vademecum.memory import matches as reading
from vademecum.memory.matches import Matches
from vademecum.memory.records import Event, Role
from vademecum.memory.segment import Reader, Segment
from vademecum.memory.session_index import Part
from vademecum.memory.view import View, view_of
from vademecum.plugins import load

READER = Reader(load("embedder", "hashing"))
WORDS = ("cache", "retry", "limit", "token")
said = st.lists(st.sampled_from(WORDS), max_size=6)


def segment(first: int, texts: list[str]) -> Segment:
    events = (Event(f"e{n}", float(n), Role.USER, text, f"s{n % 3}") for n, text in enumerate(texts, first))
    return READER.segment(list(enumerate(events, first)))


def read(view: View, keys: np.ndarray, most: int) -> list[list[float]]:
    """All that is made of the matches, with blocks of so many postings."""
    before, reading.MOST = reading.MOST, most
    try:
        matches = Matches(view, keys)
        idf = np.arange(1.0, len(keys) + 1)
        living = np.flatnonzero(view.alive)
        return [
            each.tolist()
            for each in (matches.holding, *matches.scores(idf, by_session=True), matches.share(living, idf))
        ]
    finally:
        reading.MOST = before


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(said, min_size=1, max_size=9), min_size=1, max_size=4), st.integers(1, 9), st.data())
def test_blocks_of_any_size_say_the_same(told, most, data) -> None:
    """However the rows are cut, whatever was deleted; a word that nobody wrote is in none."""
    segments, count = [], 0
    for texts in told:
        segments.append(segment(count + 1, [" ".join(words) for words in texts]))
        count += len(texts)
    dead = np.array(data.draw(st.lists(st.integers(1, count), unique=True, max_size=count - 1)), np.int64)
    view = view_of([Part(0, tuple(segments), dead)])
    keys = np.unique(np.concatenate([one.postings.keys for one in segments] + [np.array([7], np.uint64)]))
    found = read(view, keys, most)
    assert found == read(view, keys, 10**9)


def test_what_a_common_word_takes_does_not_grow_with_the_events(monkeypatch) -> None:
    """Of each row a number is kept, four bytes; what is made of the postings on the way is as much for 8,000 as for 2,000."""
    monkeypatch.setattr(reading, "MOST", 1_000)
    took = []
    for count in (2_000, 8_000):
        view = view_of([Part(0, (segment(1, ["cache retry limit token"] * count),), np.zeros(0, np.int64))])
        keys = view.segments[0].postings.keys
        view.lay_out()
        matches = Matches(view, keys)
        tracemalloc.start()
        matches.scores(np.ones(len(keys)), by_session=True)
        took.append(tracemalloc.get_traced_memory()[1] - 4 * count)
        tracemalloc.stop()
    assert took[1] < 1.5 * took[0]
