"""Candidates that become results: passages at a price per line."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.search.evidence import GAP, LONGEST, PRICE, spans_of


@st.composite
def candidates(draw):
    """Some rows of a few files, in any order, whose chunks follow each other with gaps, and what they are worth."""
    rows, files, lines, line, file = [], [], [], 1, 0
    for row in range(draw(st.integers(0, 40))):
        if draw(st.booleans()) and draw(st.booleans()):
            file, line = file + 1, 1
        begin = line + draw(st.integers(0, 5))
        line = begin + draw(st.integers(1, 70))
        if draw(st.integers(0, 3)):  # some rows are no candidates
            rows.append(row)
            files.append(file)
            lines.append((begin, line - 1))
    take = np.array(draw(st.permutations(range(len(rows)))), int)
    table = np.array(lines, np.int32).reshape(-1, 2)
    worth = np.array([draw(st.floats(0, 0.1)) for _ in rows], np.float32)
    gain = worth + np.array([draw(st.sampled_from([0.0, 0.2])) for _ in rows], np.float32)
    return np.array(rows, int)[take], np.array(files, int)[take], table[take], gain, worth


@given(candidates(), st.integers(1, 12), st.booleans(), st.booleans())
def test_a_span_is_a_passage_of_one_file(found, k, across, ordered):
    """No row in two spans, each within one file and with its best, none too long that was joined."""
    rows, files, lines, gain, worth = found
    spans = spans_of(rows, files, lines, None if ordered else gain, worth, k, across=across)
    place = {row: number for number, row in enumerate(rows.tolist())}
    seen = set()
    assert len(spans) <= k
    assert bool(spans) == bool(len(rows))
    assert [span.place for span in spans] == sorted(span.place for span in spans)
    for span in spans:
        inside = range(span.first, span.last + 1)
        assert not seen.intersection(inside)
        seen.update(inside)
        known = [place[row] for row in inside if row in place]
        assert len({int(files[each]) for each in known}) == 1
        assert span.place in known
        assert (span.begin, span.end) == (lines[place[span.first], 0], lines[place[span.last], 1])
        assert span.first == span.last or span.end - span.begin < LONGEST
        if not across:
            assert len(known) == len(inside)
            assert (lines[known[1:], 0] - lines[known[:-1], 1] <= GAP).all()


@given(candidates(), st.integers(1, 12))
def test_no_line_is_shown_that_costs_more_than_it_is_worth(found, k):
    """What a joined span holds beside its best row is worth the lines that it has beside the best row's."""
    rows, files, lines, _, worth = found
    for span in spans_of(rows, files, lines, None, worth, k):
        others = [n for n, row in enumerate(rows.tolist()) if span.first <= row <= span.last and n != span.place]
        own = lines[span.place, 1] - lines[span.place, 0] + 1
        held = sum(max(float(worth[n]), PRICE * (lines[n, 1] - lines[n, 0] + 1)) for n in others)
        blank = (GAP - 1) * len(others)  # between two that grew up to each other
        assert held >= PRICE * (span.end - span.begin + 1 - own - blank) * (1 - 1e-4)


@given(candidates(), st.integers(1, 12))
def test_what_is_worth_nothing_joins_nothing(found, k):
    """Then results are pieces as they were found, the first k of them."""
    rows, files, lines, _, worth = found
    spans = spans_of(rows, files, lines, None, np.zeros_like(worth), k)
    assert [(span.first, span.last) for span in spans] == [(row, row) for row in rows[:k].tolist()]


@given(candidates())
def test_lines_that_cost_nothing_beside_their_worth_are_all_shown_together(found):
    """Chunks of a file that fit into one result are one, whatever stands between."""
    rows, files, lines, _, worth = found
    spans = spans_of(rows, files, lines, None, np.ones_like(worth), 100)
    for file in set(files.tolist()):
        own = lines[files == file]
        if own[:, 1].max() - own[:, 0].min() < LONGEST:
            shown = [span for span in spans if files[span.place] == file]
            assert [(span.begin, span.end) for span in shown] == [(own[:, 0].min(), own[:, 1].max())]


def test_of_two_that_are_as_likely_the_shorter_is_shown():
    """A line costs the same wherever it stands."""
    lines, worth = np.array([[1, 90], [1, 9]]), np.full(2, 0.02)
    [span] = spans_of(np.array([3, 8]), np.array([0, 1]), lines, worth, worth, 1)
    assert span.place == 1


def test_a_place_that_joining_saves_goes_to_another():
    """The piece between two results makes one of them, and the next file comes in."""
    rows, files = np.array([2, 4, 3, 9]), np.array([0, 0, 0, 1])
    lines = np.array([[1, 10], [60, 69], [12, 58], [1, 5]])
    worth = np.array([0.3, 0.01, 0.2, 0.005])  # the second is not worth the 59 lines from the first on
    spans = spans_of(rows, files, lines, None, worth, 2)
    assert [(span.first, span.last) for span in spans] == [(2, 4), (9, 9)]


def test_no_result_is_longer_than_it_may_be():
    """Whatever joining would be worth."""
    rows, files, lines = np.arange(4), np.zeros(4, np.int64), np.array([[n * 10 + 1, n * 10 + 9] for n in range(4)])
    for longest, count in ((100, 1), (20, 2), (10, 4)):
        spans = spans_of(rows, files, lines, None, np.ones(4), 9, longest=longest)
        assert len(spans) == count
        assert all(span.end - span.begin < longest for span in spans)
