"""Join candidates into results: passages of a file, worth their lines.

A reader has room for `k` results and pays for every line. So each row is weighed by what it is worth, the share of all that is
asked for that its lines are expected to hold, less PRICE for each of its lines, and the best begin results. A row in whose file a
result stands already joins that one, with all that lies between them, if it is worth the lines this adds: two functions far
apart stay two results, two of three methods become one passage with the third in it, and the place this saves goes to another.

This is greedy maximisation under a cost (Khuller, Moss and Naor 1999), the budget of lines being given as their price, which
lets a sure question have more lines than a vague one. What PRICE and LONGEST do is told in docs/ranking.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
PRICE = 1 / 3000  # of a line, as a share of all that is asked for: ten results then hold about 380 lines
LONGEST = 100  # lines of a result that was joined of several
GAP = 3  # lines from the end of one to the beginning of the next that is beside it: two blank ones between


@dataclass(slots=True)
class Span:
    """Rows and lines of one file, with the best row's place."""

    place: int
    first: int
    last: int
    begin: int
    end: int


def spans_of(
    rows: Numbers,
    files: Numbers,
    lines: Numbers,
    gain: Numbers | None,
    worth: Numbers,
    k: int,
    *,
    across: bool = True,
    longest: int = LONGEST,
) -> list[Span]:
    """Return at most `k` results, best first.

    Args:
        rows: int64 (m,), candidates best first; rows of one file follow each other in the order of its lines.
        files: int32 (m,), the file of each.
        lines: int32 (m, 2), the first and last line of each.
        gain: float32 (m,), what a result with this row alone is expected to give, in the unit of `worth`; None: results begin
            in the order that the candidates have.
        worth: float32 (m,), 0..1, the share of all that is asked for that these lines are expected to hold; 1 in sum.
        k: how many results.
        across: whether two candidates may be joined across rows that are none.
        longest: lines of a result that is joined of several, at most.

    >>> rows, files = np.array([4, 9, 6, 7]), np.array([0, 1, 0, 0])
    >>> lines = np.array([[10, 19], [1, 20], [31, 40], [41, 80]])
    >>> worth = np.array([0.5, 0.3, 0.1, 0.001])  # of three in one file two stand near each other; the last is not worth its lines
    >>> [(span.first, span.last) for span in spans_of(rows, files, lines, worth, worth, 2)]
    [(4, 6), (9, 9)]
    >>> [(span.first, span.last) for span in spans_of(rows, files, lines, worth, worth, 3, across=False)]
    [(4, 4), (9, 9), (6, 6)]
    """
    size = lines[:, 1] - lines[:, 0] + 1
    order = np.arange(len(rows)) if gain is None else np.argsort(PRICE * size - gain, kind="stable")
    joins = worth >= PRICE * size  # else it is not worth its own lines, let alone those between
    joining, spans = _Joining(across=across, longest=longest), dict[int, list[Span]]()
    known, files, begins, ends, values = (of.tolist() for of in (rows, files, lines[:, 0], lines[:, 1], worth))
    for place, may_join in zip(order.tolist(), joins[order].tolist(), strict=True):
        if joining.count >= k and not may_join:
            continue  # asked first: most rows are nothing to the results
        row, file = known[place], files[place]
        own = spans.get(file)
        if own is None:
            if joining.count >= k:
                continue
            own = spans[file] = []
        elif any(span.first <= row <= span.last for span in own):
            continue  # already, between two that were joined
        begin, end = begins[place], ends[place]
        if own and may_join:
            near, adds = _nearest(own, row, begin, end)
            if values[place] >= PRICE * adds and joining.join(own, near, Span(place, row, row, begin, end)):
                continue
        if joining.count < k:
            own.append(Span(place, row, row, begin, end))
            joining.count += 1
    return sorted((span for own in spans.values() for span in own), key=lambda span: span.place)


class _Joining:
    """Grows spans, and counts them."""

    def __init__(self, *, across: bool, longest: int) -> None:
        self.count = 0
        self._across = across
        self._longest = longest

    def join(self, own: list[Span], near: Span, one: Span) -> bool:
        """Join a row to a span of its file if they fit."""
        if not self._fits(near, one):
            return False
        self._take(near, one)
        for each in own:  # what it has grown up to becomes one with it: they are a passage, and a place is saved
            if each is not near and _beside(each, near) and self._fits(near, each):
                self._take(near, each)
                own.remove(each)
                self.count -= 1
                break
        return True

    def _fits(self, span: Span, one: Span) -> bool:
        long = max(span.end, one.end) - min(span.begin, one.begin) >= self._longest
        return not long and (self._across or _beside(span, one))

    def _take(self, span: Span, one: Span) -> None:
        span.place = min(span.place, one.place)
        span.first, span.last = min(span.first, one.first), max(span.last, one.last)
        span.begin, span.end = min(span.begin, one.begin), max(span.end, one.end)


def _nearest(own: list[Span], row: int, begin: int, end: int) -> tuple[Span, int]:
    """Return the span to which a row adds fewest lines, counted."""
    adds = [end - span.end if row > span.last else span.begin - begin for span in own]
    fewest = min(adds)
    return own[adds.index(fewest)], fewest


def _beside(span: Span, one: Span) -> bool:
    """Return whether two spans follow each other, with few lines between."""
    if one.first == span.last + 1:
        return one.begin - span.end <= GAP
    return one.last == span.first - 1 and span.begin - one.end <= GAP
