"""Neighbouring results that become one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vademecum.retrieval.spans import GAP, LONGEST, SHORT, STRONG, spans_of


@st.composite
def candidates(draw):
    """Some rows of a few files, in any order, whose chunks follow each other with gaps."""
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
    order = draw(st.permutations(range(len(rows))))
    fused = sorted((draw(st.floats(0.01, 1)) for _ in rows), reverse=True)
    take = np.array(order, int)
    table = np.array(lines, np.int32).reshape(-1, 2)
    return np.array(rows, int)[take], np.array(files, int)[take], table[take], np.array(fused, np.float32)


@given(candidates(), st.integers(1, 12))
def test_a_span_is_a_run_of_candidates_of_one_file(found, k):
    """No row in two spans, none that is no candidate, none too long that was joined, none too weak."""
    rows, files, lines, fused = found
    spans = spans_of(*found, k)
    place = {row: number for number, row in enumerate(rows.tolist())}
    seen = set()
    assert len(spans) <= k
    assert [span.place for span in spans] == sorted(span.place for span in spans)
    for span in spans:
        inside = [place[row] for row in range(span.first, span.last + 1)]  # a row that is no candidate would raise
        assert not seen.intersection(inside)
        seen.update(inside)
        assert len({int(files[each]) for each in inside}) == 1
        assert span.place in inside
        begins, ends = lines[inside, 0], lines[inside, 1]
        assert ((begins[1:] - ends[:-1]) <= GAP).all()
        assert len(inside) == 1 or ends[-1] - begins[0] < LONGEST
        assert (fused[inside] >= np.float32(STRONG) * fused[span.place] - 1e-6).all()


@given(candidates())
def test_the_best_candidate_begins_the_first_span(found):
    """Whatever joins, the order is that of the best of each."""
    spans = spans_of(*found, 10)
    assert not spans or spans[0].place == 0
    assert bool(spans) == bool(len(found[0]))


def test_a_short_result_takes_in_what_stands_beside_it():
    """The better neighbour first, and no more once it is long enough."""
    rows, files = np.array([5, 6, 4]), np.zeros(3, int)
    lines = np.array([[20, 24], [26, 20 + SHORT - 1], [1, 18]])
    [span] = list(spans_of(rows, files, lines, np.ones(3), 1))
    assert (span.first, span.last) == (4, 6)  # 6 while it was short, 4 when its own turn came: within LONGEST lines
    long = np.array([[20, 24], [26, 20 + LONGEST], [1, 18]])
    assert [(each.first, each.last) for each in spans_of(rows, files, long, np.ones(3), 3)] == [(4, 5), (6, 6)]
