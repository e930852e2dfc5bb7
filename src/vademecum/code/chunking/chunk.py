"""Division of one file into chunks.

Declarations stay whole where they fit; other code is packed between them. Three steps: `layout` chooses byte ranges,
`_Describer` describes them, and `chunk_file` never fails. A file without a grammar is cut by sections or windows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from vademecum.code import languages
from vademecum.code.chunking import layout, sections
from vademecum.code.chunking.layout import Span
from vademecum.code.languages.declarations import FUNCTIONS, LEAVES, Declaration, Outline
from vademecum.code.languages.line_index import Lines
from vademecum.code.languages.parse import Syntax, parse
from vademecum.code.languages.references import VERSION, References
from vademecum.errors import ParseError
from vademecum.result import Err, Ok, Result
from vademecum.types import Chunk, ChunkKind, ParsedFile, Symbol

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
    spans = layout.Layout(lines, syntax, outline).spans
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
    parsed = parse(content, language, deadline_s) if row is not None and row.module is not None else None
    if row is None or not isinstance(parsed, Ok):
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
