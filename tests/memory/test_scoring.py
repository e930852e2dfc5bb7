"""How near events are does not depend on how they lie."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.memory.event_segment import Part, Reader, View
from vademecum.memory.records import Event, Role
from vademecum.memory.scoring import Asking, nearest_in_meaning
from vademecum.plugins import load
from vademecum.types import Passage

EMBEDDER = load("embedder", "hashing")
READER = Reader(EMBEDDER)
WORDS = ("cache", "retry", "limit", "token", "walrus", "river")
COUNT = 12


def laid(cuts: list[int]) -> View:
    """Twelve events, in segments that end where the cuts are."""
    texts = [f"{WORDS[n % 6]} {WORDS[n * n % 5]} {n}" for n in range(COUNT)]
    events = [(n, Event(f"e{n}", float(n), Role.USER, text, "s")) for n, text in enumerate(texts, 1)]
    ends = sorted({0, *cuts, COUNT})
    pieces = tuple(READER.segment(events[a:b]) for a, b in pairwise(ends))
    return View([Part(0, pieces, np.zeros(0, np.int64))])


@given(st.lists(st.integers(1, COUNT - 1), max_size=4), st.permutations(range(COUNT)), st.integers(1, COUNT))
def test_what_is_nearest_does_not_depend_on_the_segments(cuts, order, asked) -> None:
    """Rows of one segment, of some and of all, in any order."""
    rows = np.array(order[:asked], np.int64)
    vector = EMBEDDER.embed([Passage("cache limit")], "query").unwrap()[0]
    asking = Asking(np.zeros(0, np.uint64), vector, np.zeros(0, bool))
    whole, cosine = nearest_in_meaning(laid([]), asking, rows, COUNT)
    found, near = nearest_in_meaning(laid(cuts), asking, rows, COUNT)
    assert (found.tolist(), near.tolist()) == (whole.tolist(), cosine.tolist())
