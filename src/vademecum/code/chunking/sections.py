"""Sections of files without a grammar: Markdown, SQL and configuration.

Markdown is cut by headings, SQL by statements, configuration by its outermost blocks, and any other text by windows of
lines. A scanner yields the start of each section. Text before the first one is a section without a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from vademecum.code.languages import line_index, rules_of
from vademecum.code.languages.line_index import Lines
from vademecum.types import ChunkKind

_LIMIT = 2400  # bytes above which a section is cut into windows
_PACK = 700  # small unnamed neighbours and short configuration sections share a chunk up to this size

_HEADING = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*\r?$")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(rb" {0,3}(=+|-{3,})[ \t]*\r?$")

_SQL_TOKEN = rb"--[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|'(?:[^']|'')*+'?|\"[^\"\n]*+\"?|`[^`\n]*+`?|\$(\w*)\$|;|^GO\r?$|\b(?:BEGIN|CASE|END|AS|CREATE)\b"
_SQL_COMMENT = re.compile(rb"\s*(?:(?:[ \t]*--[^\n]*(?:\n|\Z))+|/\*(?:[^*]|\*(?!/))*+\*/)")
_LICENCE = re.compile(rb"licen[cs]ed? |copyright|SPDX-", re.IGNORECASE)
_SQL_NAME = (
    # possessive: else a comment line of dashes would take exponential time
    r"\s*+(?:--[^\n]*+\s*+|/\*(?:[^*]|\*(?!/))*+\*/\s*+)*+(?P<verb>CREATE|ALTER|DROP)\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNIQUE"
    r"|UNLOGGED|MATERIALIZED|EXTERNAL|CONSTRAINT|RECURSIVE|CLUSTERED|NONCLUSTERED|DEFINER\s*=\s*\S+)\s+)*(?P<what>[A-Z]+)\s+(?:CONCURRENTLY\s+)?"
    r"(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?P<name>[\w.\"`\[\]]+)"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A byte range that becomes one chunk."""

    start: int
    end: int
    kind: str = str(ChunkKind.SECTION)
    name: str = ""
    scope: str = ""
    signature: str = ""
    defines: str = ""  # the kind of symbol it defines, "" when none
    part: int = 1
    parts: int = 1


def sections(lines: Lines, language: str) -> list[Section]:
    r"""Cut a text into sections.

    A text whose language has no scanner is cut into windows of lines.

    >>> [(s.name, s.scope) for s in sections(Lines(b"# Top\ntext\n## Sub\ntext\n"), "markdown")]
    [('Top', ''), ('Sub', 'Top')]
    """
    rules = rules_of(language)
    if rules.sections:
        found = list(_SCANNERS[rules.sections](lines))
    elif rules.block:
        found = _packed(list(_blocks(lines, re.compile(rules.block, re.MULTILINE))))
    else:
        found = []
    if not found:
        found = [Section(0, len(lines.content), str(ChunkKind.WINDOW))]
    return [part for section in found for part in _parts(section, lines)]


def _parts(section: Section, lines: Lines) -> list[Section]:
    """Cut a large section into windows; drop a blank one."""
    start, end = lines.trim(section.start, section.end)
    if end <= start:
        return []
    window = section.kind == ChunkKind.WINDOW
    if end - start <= _LIMIT and not window:
        return [replace(section, start=start, end=end)]
    pieces = [lines.trim(*piece) for piece in line_index.windows(lines, start, end)]
    pieces = [piece for piece in pieces if piece[1] > piece[0]]
    if window:
        return [replace(section, start=start, end=end) for start, end in pieces]
    return [
        replace(
            section,
            start=begin,
            end=stop,
            defines=section.defines if number == 1 else "",
            part=number,
            parts=len(pieces),
        )
        for number, (begin, stop) in enumerate(pieces, 1)
    ]


def _markdown(lines: Lines) -> Iterator[Section]:
    """Yield the text under each heading, scoped by the headings above."""
    trail: list[tuple[int, str]] = []
    start, name, scope = 0, "", ""
    for at, level, title in _headings(lines):
        if at > start:
            yield Section(start, at, name=name, scope=scope, signature=name, defines="heading" if name else "")
        while trail and trail[-1][0] >= level:
            trail.pop()
        start, name, scope = at, title, " > ".join(text for _, text in trail)
        trail.append((level, title))
    yield Section(start, len(lines.content), name=name, scope=scope, signature=name, defines="heading" if name else "")


def _headings(lines: Lines) -> Iterator[tuple[int, int, str]]:
    """Yield offset, level and text of headings outside fences and front matter."""
    fence = b""
    previous = (0, b"")
    front = lines.content.startswith((b"---\n", b"---\r\n"))
    at = 0
    for number, line in enumerate(lines.content.split(b"\n")):
        opened = _FENCE.match(line)
        if front:
            front = number == 0 or line.rstrip() not in (b"---", b"...")
            line_text = b""
        elif fence:
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[:1]):
                fence = b""
            line_text = b""
        elif opened:
            fence, line_text = opened[1], b""
        else:
            line_text = line
            if found := _heading(line, previous, at):
                yield found
        previous = (at, line_text)
        at += len(line) + 1


def _heading(line: bytes, previous: tuple[int, bytes], at: int) -> tuple[int, int, str] | None:
    if match := _HEADING.match(line):
        return at, len(match[1]), (match[2] or b"").decode().strip()
    above = previous[1].strip()
    if above and _UNDERLINE.match(line) and not above.startswith((b"-", b"|", b">", b"#", b"=", b"*", b"<")):
        return previous[0], 1 if b"=" in line else 2, above.decode()
    return None


def _blocks(lines: Lines, opens: re.Pattern[bytes]) -> Iterator[Section]:
    """Yield a section from each opening line and the comments above."""
    start, name = 0, ""
    for match in opens.finditer(lines.content):
        at = _above(lines, match.start())
        if at > start:
            yield Section(start, at, name=name)
        start, name = at, match[1].decode().strip().strip("\"'")
    yield Section(start, len(lines.content), name=name)


def _above(lines: Lines, at: int) -> int:
    """Return the start of the comment lines directly above."""
    while at > 0:
        before = lines.content.rfind(b"\n", 0, at - 1) + 1
        if not lines.content[before:at].lstrip().startswith((b"#", b"//", b"/*", b"* ", b"*/", b"<!--", b";")):
            break
        at = before
    return at


def _packed(found: list[Section]) -> list[Section]:
    """Join short neighbours into one section that lists their names."""
    packed: list[Section] = []
    for section in found:
        last = packed[-1] if packed else None
        if last and section.end - last.start <= _PACK:
            name = ", ".join(filter(None, (last.name, section.name)))
            packed[-1] = replace(last, end=section.end, name=name if len(name) <= 120 else last.name)
        else:
            packed.append(section)
    return packed


def _sql(lines: Lines) -> Iterator[Section]:
    """Yield one section per statement; nameless statements share one."""
    pending: Section | None = None
    name_of = re.compile(_SQL_NAME, re.IGNORECASE | re.DOTALL)
    for start, end in _statements(lines.content):
        named = name_of.match(lines.content[start : min(end, start + 2000)].decode("utf-8", "ignore"))
        if named is None and pending and end - pending.start <= _PACK:
            pending = replace(pending, end=end)
            continue
        if pending:
            yield pending
            pending = None
        if named is None:
            pending = Section(start, end)
            continue
        scope, _, name = re.sub(r"[\"`\[\]]", "", named["name"]).rpartition(".")
        signature = " ".join(named[0][named.start("verb") - named.start() :].split())
        creates = named["verb"].upper() == "CREATE"
        yield Section(
            start, end, name=name, scope=scope, signature=signature, defines=named["what"].lower() if creates else ""
        )
    if pending:
        yield pending


def _statements(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the byte range of each statement.

    A semicolon ends a statement, except in a string, a comment or a routine's body. A licence at the head of the file
    is apart from the first statement.
    """
    start, depth, routine, dollar = _past_licence(content), 0, False, b""
    if start:
        yield 0, start
    for token in re.compile(_SQL_TOKEN, re.IGNORECASE | re.MULTILINE).finditer(content, start):
        word = token[0].upper().strip()
        if dollar or token[1] is not None:  # between $tag$ and $tag$ nothing counts
            dollar = b"" if dollar == token[0] else dollar or token[0]
        elif word == b"CREATE" and depth == 0:
            routine = bool(
                re.match(
                    rb"CREATE[^;(]{0,80}?\b(?:PROCEDURE|FUNCTION|TRIGGER|PACKAGE)\b",
                    content[token.start() : token.start() + 200],
                    re.IGNORECASE,
                )
            )
        elif word == b"CASE" or (word == b"BEGIN" and routine):
            depth += 1
        elif word == b"END" and depth:
            depth -= not re.match(
                rb"\s+(?:IF|LOOP|WHILE|REPEAT)\b", content[token.end() : token.end() + 20], re.IGNORECASE
            )
        elif (word == b";" and depth == 0) or word == b"GO":
            end = _to_line_end(content, token.end())
            yield start, end
            start, depth, routine = end, 0, False
    if start < len(content):
        yield start, len(content)


def _past_licence(content: bytes) -> int:
    """Return the end of the licence above the first statement, or 0."""
    end = at = 0
    while comment := _SQL_COMMENT.match(content, at):
        at = comment.end()
        if _LICENCE.search(comment[0]):
            end = at
    return end


def _to_line_end(content: bytes, at: int) -> int:
    """Return the line's end if only blanks or comments follow, else `at`."""
    stop = content.find(b"\n", at)
    stop = len(content) if stop < 0 else stop + 1
    rest = content[at : min(stop, at + 300)].strip()
    return stop if not rest or rest.startswith(b"--") else at


_SCANNERS: Mapping[str, Callable[[Lines], Iterator[Section]]] = {"headings": _markdown, "statements": _sql}
