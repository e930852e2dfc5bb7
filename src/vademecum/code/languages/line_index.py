"""Places to cut a text: lines, statements, windows.

Owns the arithmetic of byte offsets. Every function is linear in the bytes it looks at, so one file of a single 5 MB
line is as cheap as any other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.parse import Range

NEWLINE = ord("\n")
HARD_LIMIT = 4000  # bytes that no chunk exceeds
LARGE = 2400  # bytes above which a declaration is split
LARGE_LINES = 60
WINDOW = 1500
WINDOW_LINES = 40
_SNAP = 240  # bytes of a line that a cut may move over to reach the line's edge


class Lines:
    r"""The lines of a file: only a newline ends one.

    >>> lines = Lines(b"a\n\nbc")
    >>> [lines.number(at) for at in (0, 1, 2, 3, 4)], lines.starts
    ([1, 1, 2, 3, 3], [0, 2, 3])
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.starts = [0, *(np.flatnonzero(np.frombuffer(content, np.uint8) == NEWLINE) + 1).tolist()]

    def number(self, at: int) -> int:
        """Return the number, from 1, of an offset's line."""
        return bisect_right(self.starts, at)

    def start(self, at: int, floor: int = 0) -> int:
        """Return the start of an offset's line, the offset if far."""
        begin = self.starts[bisect_right(self.starts, at) - 1]
        return begin if begin >= floor and at - begin <= _SNAP else at

    def end(self, at: int) -> int:
        """Return the end of an offset's line, the offset if far."""
        stop = self.content.find(b"\n", at, at + _SNAP)
        if stop < 0:
            return len(self.content) if len(self.content) - at <= _SNAP else at
        return stop + 1

    def trim(self, start: int, end: int) -> Range:
        """Narrow a range to its lines that are not blank."""
        text = self.content[start:end]
        lead = len(text) - len(text.lstrip())
        stop = start + len(text.rstrip())
        if stop <= start:
            return start, start
        first = start + lead
        begin = self.content.rfind(b"\n", start, first) + 1
        return (begin or start), stop


def statements(root: tree_sitter.Node, start: int, end: int, limit: int) -> list[int]:
    """Return the starts of statements in a range."""
    found: list[int] = []
    stack = [root]
    while stack:
        children = stack.pop().children
        after_comment = False
        for child in children[bisect_right(children, start, key=lambda node: node.end_byte) :]:
            begin, stop = child.byte_range
            if begin >= end:
                break
            if child.is_named:
                if begin > start and not after_comment:
                    found.append(begin)
                after_comment = "comment" in child.type
                if stop - begin > limit:
                    stack.append(child)
    return sorted(set(found))


def pack(lines: Lines, start: int, end: int, limit: int, cuts: Sequence[int] = ()) -> list[Range]:
    """Cut a range at offsets that start a line.

    What the offsets leave above the hard limit is cut at lines, and a line above it at characters.
    """
    content = lines.content
    edges = []
    for cut in cuts:
        begin = lines.start(cut, start)
        if start < begin < end and not content[begin:cut].strip():
            edges.append(begin)
    pieces = []
    for piece in greedy(start, end, limit, edges):
        if piece[1] - piece[0] > HARD_LIMIT:
            pieces += windows(lines, *piece)
        else:
            pieces.append(piece)
    return pieces


def greedy(start: int, end: int, limit: int, edges: Sequence[int]) -> list[Range]:
    """Cut at the last edge within each stretch of `limit` bytes.

    >>> greedy(0, 10, 4, [2, 3, 6, 9])
    [(0, 3), (3, 6), (6, 10)]
    """
    pieces: list[Range] = []
    last = start
    for edge in (*edges, end):
        if edge - start > limit and last > start:
            pieces.append((start, last))
            start = last
        last = edge
    pieces.append((start, end))
    return pieces


def windows(lines: Lines, start: int, end: int, limit: int = WINDOW, count: int = WINDOW_LINES) -> list[Range]:
    """Cut a range into windows of lines, best at blank lines."""
    content, starts = lines.content, lines.starts
    pieces: list[Range] = []
    while start < end:
        first = bisect_right(starts, start)  # the index of the next line
        if min(end, start + limit) == end and bisect_left(starts, end) - first < count:
            pieces.append((start, end))
            break
        stop = bisect_right(starts, start + limit) - 1
        stop = min(stop, first + count - 1)
        if stop < first:  # one long line
            line_end = min(starts[first] if first < len(starts) else end, end)
            pieces += slices(content, start, line_end)
            start = line_end
            continue
        cut = next(
            (starts[i] for i in range(stop, (first + stop) // 2, -1) if _blank(content, starts, i)), starts[stop]
        )
        pieces.append((start, min(cut, end)))
        start = cut
    return pieces


def _blank(content: bytes, starts: Sequence[int], line: int) -> bool:
    """Return whether the line before is blank."""
    return not content[starts[line - 1] : starts[line]].strip()


def slices(content: bytes, start: int, end: int, limit: int = HARD_LIMIT) -> list[Range]:
    """Cut one long line into pieces that begin and end between characters."""
    pieces: list[Range] = []
    while start < end:
        stop = min(start + limit, end)
        while stop < end and content[stop] & 0xC0 == 0x80:  # inside a character
            stop -= 1
        pieces.append((start, stop))
        start = stop
    return pieces
