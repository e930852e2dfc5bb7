"""Division of one file into chunks.

Declarations stay whole where they fit; other code is packed between them. Byte ranges are
chosen first, then described, and `chunk_file` never fails. A file without a grammar is cut by sections or windows.

Each span becomes a chunk: a declaration, a class head, a block of small declarations, or the code between them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vademecum.code import languages
from vademecum.code.chunking import sections
from vademecum.code.languages import line_index
from vademecum.code.languages.declarations import FUNCTIONS, KIND, LEAVES, Declaration, Outline
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import Range, Syntax, parse
from vademecum.code.languages.references import VERSION, References
from vademecum.errors import ParseError
from vademecum.result import Err, Ok, Result
from vademecum.types import Chunk, ChunkKind, ParsedFile, Symbol

_SMALL, _SMALL_LINES = 700, 20  # a class of this size stays whole; a block of small declarations grows to it
_TINY, _TINY_LINES = 350, 5  # a declaration of this size shares a block with its neighbours
_REMAINDER = 1200
_DEEPEST = 40  # classes within classes
_GAP = re.compile(rb"\n{10,}")  # between the cells of a notebook, where its outputs are

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
        if b"\n" not in between or _GAP.search(between):
            return b"\n" not in between
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
        for gap in (*_GAP.finditer(self._content, start, end), None):
            for piece in self._pieces(start, gap.start() if gap else end, _REMAINDER):
                self._add(*piece, str(ChunkKind.MODULE))
            start = gap.end() if gap else end

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


# Read backwards from a callee's name: `.erots.fles` before `get`.
_RECEIVER = re.compile(rb"(?:(?:\.[?&]?|\.!!|>-|::|:)[?!]?[\w$@]+)+")
_RECEIVER_REACH = 60  # bytes
MOST_SAID = 1_000  # characters of a name, a scope or a signature: each piece of a declaration repeats them
_QUOTES = "\"'`<> "


def chunk_file(content: bytes, language: str, deadline_s: float = 5.0, *, references: bool = False) -> ParsedFile:
    r"""Cut one file into chunks.

    Args:
        content: The file, valid UTF-8.
        language: A language id from `languages.language_of`.
        deadline_s: Seconds of parsing after which the file is cut by windows instead; 0 for a file that no parser survives.
        references: Whether to find the file's references as well.

    Returns:
        The chunks in order, disjoint, covering every line that is not blank.

        >>> parsed = chunk_file(b"import os\n\ndef home():\n    return os.getcwd()\n", "python")
        >>> [(c.kind, c.name, c.start_line, c.end_line, c.calls) for c in parsed.chunks]
        [('module', '', 1, 1, ()), ('function', 'home', 3, 4, ('os.getcwd',))]
    """
    row = languages.row(language)
    lines = Lines(content)
    if row is None or row.module is None:
        return ParsedFile(language, tuple(_bounded(_plain(span, lines)) for span in sections.sections(lines, language)))
    if not deadline_s:
        parsed: Result[Syntax, ParseError] = Err(
            ParseError(f"the {language} parser crashed or did not end on this file")
        )
    else:
        parsed = parse(content, language, deadline_s, references=references)
    if not isinstance(parsed, Ok):
        windows = tuple(_bounded(_plain(span, lines)) for span in sections.sections(lines, "text"))
        nothing = References(VERSION).dump()  # linking does not try again
        return ParsedFile(language, windows, has_errors=True, problem=str(parsed.error), references=nothing)
    syntax = parsed.value
    outline = Outline(content, syntax, equations=row.equations)
    describe = _Describer(lines, syntax, outline, language)
    spans = Layout(lines, syntax, outline).spans
    chunks, imports = tuple(_bounded(describe(span)) for span in spans), tuple(describe.imports())
    refers = _references(lines, syntax, outline, language) if references else ""
    return ParsedFile(language, chunks, imports, syntax.has_errors, references=refers)


def references_of(content: bytes, language: str, deadline_s: float = 5.0) -> str:
    r"""Return one file's references, as `references.References` reads them.

    Returns "" where no grammar reads the file.

    >>> chunk_file(b"import os\n\nos.getcwd()\n", "python", references=True).references == references_of(
    ...     b"import os\n\nos.getcwd()\n", "python"
    ... )
    True
    """
    row = languages.row(language)
    if row is None or row.module is None:
        return ""
    parsed = parse(content, language, deadline_s, references=True)
    if not isinstance(parsed, Ok):
        return ""
    outline = Outline(content, parsed.value, equations=row.equations)
    return _references(Lines(content), parsed.value, outline, language)


def _references(lines: Lines, syntax: Syntax, outline: Outline, language: str) -> str:
    # loaded only when needed
    from vademecum.code.languages.find_references import find_references

    return find_references(lines, syntax, outline, language)


def _bounded(chunk: Chunk) -> Chunk:
    """Return a chunk whose names and signatures are cut at MOST_SAID characters."""
    said = (chunk.name, chunk.scope, chunk.signature)
    if max(map(len, said)) <= MOST_SAID and all(
        len(s.qualified) + len(s.signature) <= MOST_SAID for s in chunk.symbols
    ):
        return chunk
    symbols = tuple(
        replace(s, name=_cut(s.name), qualified=_cut(s.qualified), signature=_cut(s.signature)) for s in chunk.symbols
    )
    name, scope, signature = map(_cut, said)
    return replace(chunk, name=name, scope=scope, signature=signature, symbols=symbols)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SAID else f"{text[: MOST_SAID - 1]}…"


def _plain(section: sections.Section, lines: Lines) -> Chunk:
    """Build a chunk from a section or window."""
    start, end = section.start, section.end
    name, scope = section.name, section.scope
    first, last = lines.number(start), lines.number(end - 1)
    qualified = f"{scope}.{name}" if scope else name
    symbols = (Symbol(name, qualified, section.defines, first, last, section.signature),) if section.defines else ()
    metadata: dict[str, Any] = {"part": section.part, "parts": section.parts} if section.parts > 1 else {}
    text = lines.content[start:end].decode()
    return Chunk(
        first, last, start, end, section.kind, text, name, scope, section.signature, symbols=symbols, metadata=metadata
    )


class _Describer:
    """A builder of chunks from spans; symbols are found by position."""

    def __init__(self, lines: Lines, syntax: Syntax, outline: Outline, language: str) -> None:
        self.lines = lines
        self.content = lines.content
        self.symbols = sorted(self._named(outline.all), key=lambda named: named[0])
        self.positions = [position for position, _ in self.symbols]
        heads = {names[0] for declaration in outline.all if (names := declaration.names)}
        self.calls = [extent for extent in syntax.captures.get("call", ()) if extent not in heads]
        self.branches = (
            [start for start, _ in syntax.captures.get("branch", ())]
            if not languages.rules_of(language).is_described
            else None
        )
        self.docstrings = outline.docstrings
        self.imported = syntax.captures.get("import", [])

    def __call__(self, span: Span) -> Chunk:
        start, end, owner = span.start, span.end, span.owner
        text = self.content[start:end].decode()
        head = owner is not None and start <= owner.core < end
        own = (told for at, told in self.docstrings if start <= at < end)
        return Chunk(
            self.lines.number(start),
            self.lines.number(end - 1),
            start,
            end,
            span.kind,
            text,
            owner.name if owner else "",
            owner.scope if owner else "",
            owner.signature if owner else "",
            owner.doc if owner and head else "\n".join(own) if span.kind == ChunkKind.MODULE else "",
            "",
            tuple(self._symbols(start, end)),
            tuple(dict.fromkeys(self._callees(start, end))),
            self._metadata(span, text, head=head),
        )

    def imports(self) -> Iterator[str]:
        """Yield module paths as written, each once."""
        yield from dict.fromkeys(
            " ".join(self.content[start:end].decode().split()).removeprefix("import ").strip(_QUOTES)
            for start, end in self.imported
        )

    def _named(self, declarations: Sequence[Declaration]) -> Iterator[tuple[int, Symbol]]:
        """Yield every symbol with an offset in the chunk that defines it."""
        number = self.lines.number
        for declaration in filter(_worth_naming, declarations):
            kind, scope, signature = declaration.capture, declaration.scope, declaration.signature
            first, last = number(declaration.core), number(max(declaration.core, declaration.end - 1))
            extra = declaration.names[1:] if kind in LEAVES else ()
            if extra:
                first = last = number(declaration.names[0][0])
            yield declaration.core, Symbol(declaration.name, declaration.qualified, kind, first, last, signature)
            for begin, stop in extra:
                name, line = self.content[begin:stop].decode().lstrip(":"), number(begin)
                yield begin, Symbol(name, f"{scope}.{name}" if scope else name, kind, line, line, signature)

    def _symbols(self, start: int, end: int) -> Iterator[Symbol]:
        for _, symbol in self.symbols[bisect_left(self.positions, start) : bisect_left(self.positions, end)]:
            yield symbol

    def _callees(self, start: int, end: int) -> Iterator[str]:
        """Yield callees as `self.store.get`; of `f(x).get`, only `get`."""
        content, calls = self.content, self.calls
        for begin, stop in calls[bisect_left(calls, (start,)) : bisect_left(calls, (end,))]:
            if stop - begin > _RECEIVER_REACH:
                continue
            if content[begin - 1 : begin] in b".>:" and begin > start:
                receiver = _RECEIVER.match(content[max(start, begin - _RECEIVER_REACH) : begin][::-1])
                yield content[begin - (receiver.end() if receiver else 0) : stop].decode()
            else:
                yield content[begin:stop].decode()

    def _metadata(self, span: Span, text: str, *, head: bool) -> dict[str, Any]:
        metadata: dict[str, Any] = {"lines_of_code": sum(map(bool, map(str.strip, text.split("\n"))))}
        if span.parts > 1:
            metadata |= {"part": span.part, "parts": span.parts}
        owner = span.owner
        if owner is None:
            return metadata
        if head and owner.decorators:
            metadata["decorators"] = owner.decorators
        if head and owner.bases:
            metadata["bases"] = owner.bases
        if owner.capture in FUNCTIONS and self.branches is not None:
            inside = bisect_left(self.branches, owner.end) - bisect_left(self.branches, owner.core)
            metadata["cyclomatic"] = 1 + inside
        return metadata


def _worth_naming(declaration: Declaration) -> bool:
    """Return whether a declaration is a symbol: no local constant, no prototype."""
    if not declaration.defines:
        return False
    passing = declaration.capture in LEAVES or (declaration.capture in FUNCTIONS and not declaration.body)
    return not (passing and any(around.capture in FUNCTIONS for around in declaration.ancestors()))
