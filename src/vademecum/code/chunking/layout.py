"""A file's division into spans, each of which becomes a chunk.

Spans are declarations, class heads, blocks of small declarations, and the code between them. This module decides all
sizes. The content of a span is described later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vademecum.code.languages import line_index
from vademecum.code.languages.declarations import FUNCTIONS, KIND, LEAVES, Declaration, Outline
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import Range, Syntax
from vademecum.types import ChunkKind

_SMALL, _SMALL_LINES = 700, 20  # a class of this size stays whole; a block of small declarations grows to it
_TINY, _TINY_LINES = 350, 5  # a declaration of this size shares a block with its neighbours
_REMAINDER = 1200
_DEEPEST = 40  # classes within classes

# Possessive (`*+`): else a comment of many dashes would take exponential time.
_CLOSERS = re.compile(rb"(?:[\s{}()\[\];,]|\bend\b|#endif\b[^\n]*+|#else\b[^\n]*+|//[^\n]{0,60}+)*+")
_OPENERS = re.compile(
    rb"(?:\s|(?:public|private|protected)[ \t]*+(?:slots)?:|#\s*+(?:if|ifdef|ifndef)\b[^\n]*+|extern\s++\"C\"\s*+\{"
    rb"|(?:inline[ \t]++)?namespace\b[^\n{;]*+\{|impl\b(?:(?! for )[^\n{])*+\{)*+"
)
_COMMENTS = re.compile(rb"(?:[\s;]|//[^\n]*+|#[^\n]*+|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")


@dataclass(slots=True)
class Span:
    """A byte range that becomes one chunk."""

    start: int
    end: int
    kind: str
    owner: Declaration | None = None
    part: int = 1
    parts: int = 1


class Layout:
    """The spans of one file, in order and disjoint."""

    def __init__(self, lines: Lines, syntax: Syntax, outline: Outline) -> None:
        self.spans: list[Span] = []
        self._lines = lines
        self._content = lines.content
        self._root = syntax.root
        self._region(0, len(lines.content), outline.top, None, 0)

    def _region(
        self, start: int, end: int, children: Sequence[Declaration], owner: Declaration | None, depth: int
    ) -> None:
        """Lay out a file, class or namespace: members, and the code between."""
        groups = self._groups(children)
        cursor = start
        for position, group in enumerate(groups):
            begin = self._lines.start(group[0].start, cursor) if group[0].start > cursor else cursor
            following = groups[position + 1][0].start if position + 1 < len(groups) else end
            stop = min(self._lines.end(max(begin, group[-1].end - 1)), max(end, group[-1].end))
            if following < stop:
                stop = max(cursor, min(group[-1].end, following))
            if stop <= begin:
                continue
            if not self._gap(cursor, begin, owner):
                begin = cursor
            self._group(group, begin, stop, depth)
            cursor = stop
        if cursor < end and not self._gap(cursor, end, owner):
            self._plain(cursor, end, owner)

    def _groups(self, children: Sequence[Declaration]) -> list[list[Declaration]]:
        """Join small neighbours, and declarations on one line, into blocks."""
        groups: list[list[Declaration]] = []
        for child in children:
            last = groups[-1] if groups else None
            if last and child.end - last[0].start <= _SMALL and self._belong_together(last[-1], child):
                last.append(child)
            else:
                groups.append([child])
        return groups

    def _belong_together(self, one: Declaration, other: Declaration) -> bool:
        between = self._content[one.end : other.start]
        if b"\n" not in between:
            return True
        return self._is_tiny(one) and self._is_tiny(other) and bool(_COMMENTS.fullmatch(between))

    def _is_tiny(self, declaration: Declaration) -> bool:
        leaf = declaration.capture in LEAVES or (declaration.capture in FUNCTIONS and not declaration.body)
        return leaf and self._fits(declaration.start, declaration.end, _TINY, _TINY_LINES)

    def _fits(self, start: int, end: int, size: int, count: int) -> bool:
        return end - start <= size and self._lines.number(max(start, end - 1)) - self._lines.number(start) < count

    def _group(self, group: list[Declaration], begin: int, stop: int, depth: int) -> None:
        if len(group) > 1:
            self._add(begin, stop, _shared_kind(group))
            return
        declaration = group[0]
        members = [] if declaration.capture in FUNCTIONS | LEAVES else self._members(declaration)
        if members and depth < _DEEPEST and not self._fits(declaration.start, declaration.end, _SMALL, _SMALL_LINES):
            self._region(begin, stop, members, declaration, depth + 1)
        else:
            self._split(begin, stop, declaration)

    def _members(self, declaration: Declaration) -> list[Declaration]:
        """Return the members with their own chunk; small ones stay behind."""
        return [child for child in declaration.children if not self._stays_with_head(child)]

    def _stays_with_head(self, child: Declaration) -> bool:
        if child.capture in LEAVES:
            return self._fits(child.start, child.end, _SMALL, _SMALL_LINES)
        return self._is_tiny(child)

    def _gap(self, start: int, end: int, owner: Declaration | None) -> bool:
        """Lay out the code before a member; False for a mere opening."""
        text = self._content[start:end] if end - start < 400 else b"x"
        if _CLOSERS.fullmatch(text):
            if text.strip() and self.spans and self.spans[-1].end <= start:
                last = self.spans[-1]
                if end - last.start > line_index.HARD_LIMIT:
                    return False
                last.end = self._lines.trim(last.start, end)[1]
                return True
            return not text.strip()
        if _OPENERS.fullmatch(text):
            return False
        self._plain(start, end, owner)
        return True

    def _plain(self, start: int, end: int, owner: Declaration | None) -> None:
        """Lay out a range without members, such as a class's head."""
        if owner is not None:
            self._split(start, end, owner)
            return
        for piece in self._pieces(start, end, _REMAINDER):
            self._add(*piece, str(ChunkKind.MODULE))

    def _split(self, start: int, end: int, owner: Declaration) -> None:
        """Lay out one declaration, in equal parts where it is large."""
        start, end = self._lines.trim(start, end)
        size = end - start
        count = self._lines.number(max(start, end - 1)) - self._lines.number(start) + 1
        parts = max(-(-size // line_index.LARGE), -(-count // line_index.LARGE_LINES))
        pieces = [(start, end)] if parts <= 1 else self._pieces(start, end, size // parts + size // (4 * parts))
        spans = [Span(*piece, str(KIND[owner.capture]), owner) for piece in pieces if piece[1] > piece[0]]
        for number, span in enumerate(spans, 1):
            span.part, span.parts = number, len(spans)
        self.spans += spans

    def _pieces(self, start: int, end: int, limit: int) -> list[Range]:
        start, end = self._lines.trim(start, end)
        if end <= start:
            return []
        if end - start <= limit:
            return [(start, end)]
        cuts = line_index.statements(self._root, start, end, limit)
        return [self._lines.trim(*piece) for piece in line_index.pack(self._lines, start, end, limit, cuts)]

    def _add(self, start: int, end: int, kind: str) -> None:
        start, end = self._lines.trim(start, end)
        if end > start:
            self.spans.append(Span(start, end, kind))


def _shared_kind(group: Sequence[Declaration]) -> str:
    """Return the kind of a block of declarations.

    Functions and methods give function, one shared kind gives that kind, and a mixture gives constant.
    """
    if all(declaration.capture in FUNCTIONS for declaration in group):
        return str(ChunkKind.FUNCTION)
    kinds = {KIND[declaration.capture] for declaration in group}
    return str(kinds.pop() if len(kinds) == 1 else ChunkKind.CONSTANT)
