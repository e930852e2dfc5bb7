"""Results that stand side by side in a file become one: a reader wants the passage, not its shreds.

Candidates come best first. One that touches a result joins it, as long as that stays within LONGEST lines; else it begins a
result of its own, and while that is shorter than SHORT it takes in the better of the candidates beside it. Only candidates
join, and only those for which the signals speak at least STRONG times as clearly as for the one that began. Measured on issues that are not reported, where ten results so hold a tenth
more of the lines that a fix changes, in fewer lines than ten windows of 40 (docs/ranking.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Numbers = NDArray[Any]
LONGEST = 60  # lines of a result that was joined of several
SHORT = 25  # lines below which a result takes in what stands beside it
STRONG = 0.4
GAP = 3  # lines from the end of one to the beginning of the next: two blank ones between


@dataclass(slots=True)
class Span:
    """Rows `first` to `last` of one file, and the place of the best of them among the candidates."""

    place: int
    first: int
    last: int


def spans_of(rows: Numbers, files: Numbers, lines: Numbers, fused: Numbers, k: int) -> list[Span]:
    """Return at most `k` results, best first.

    Args:
        rows: int64 (m,), candidates best first; rows of one file follow each other in the order of its lines.
        files: int32 (m,), the file of each.
        lines: int32 (m, 2), the first and last line of each.
        fused: float32 (m,), what every signal taken together says of each; see `rank.fuse`.
        k: how many results.

    >>> import numpy as np
    >>> rows, files = np.array([4, 9, 5]), np.array([0, 1, 0])
    >>> lines = np.array([[10, 19], [1, 90], [21, 30]])
    >>> [(span.first, span.last) for span in spans_of(rows, files, lines, np.array([0.9, 0.8, 0.5]), 10)]
    [(4, 5), (9, 9)]
    >>> [(span.first, span.last) for span in spans_of(rows, files, lines, np.array([0.9, 0.8, 0.1]), 10)]
    [(4, 4), (9, 9), (5, 5)]
    """
    joining = _Joining(rows.tolist(), files.tolist(), lines.tolist(), fused.tolist())
    owner = joining.owner
    for place, row in enumerate(joining.rows):
        if row in owner:
            continue
        beside = row - 1 in owner or row + 1 in owner  # asked here: most rows touch nothing
        if not (beside and joining.join(row)) and len(joining.spans) < k:
            joining.begin(place, row)
    return joining.spans


class _Joining:
    """Spans as they grow."""

    def __init__(
        self, rows: Sequence[int], files: Sequence[int], lines: Sequence[Sequence[int]], fused: Sequence[float]
    ) -> None:
        self.rows = rows
        self.spans: list[Span] = []
        self.owner: dict[int, Span] = {}
        self._place = {row: place for place, row in enumerate(rows)}
        self._files = files
        self._lines = lines
        self._fused = fused

    def begin(self, place: int, row: int) -> None:
        """Begin a span, and let it grow while it is short."""
        span = Span(place, row, row)
        self.spans.append(span)
        self.owner[row] = span
        while True:
            beside = [self._place[next_] for next_ in (span.first - 1, span.last + 1) if self._fits(span, next_, SHORT)]
            if not beside:
                return
            self._take(span, self.rows[min(beside)])

    def join(self, row: int) -> bool:
        """Let a row join the span that it touches, if it fits."""
        for neighbour in (row - 1, row + 1):
            span = self.owner.get(neighbour)
            if span is not None and self._fits(span, row, LONGEST):
                self._take(span, row)
                return True
        return False

    def _fits(self, span: Span, row: int, most: int) -> bool:
        place = self._place.get(row)
        if place is None or row in self.owner or self._files[place] != self._files[span.place]:
            return False
        if self._fused[place] < STRONG * self._fused[span.place]:
            return False
        first, last = self._lines[self._place[span.first]][0], self._lines[self._place[span.last]][1]
        begin, end = self._lines[place]
        apart = begin - last if row > span.last else first - end
        return apart <= GAP and max(last, end) - min(first, begin) < most

    def _take(self, span: Span, row: int) -> None:
        span.first, span.last = min(span.first, row), max(span.last, row)
        self.owner[row] = span
