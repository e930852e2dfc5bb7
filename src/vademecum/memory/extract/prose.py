"""What somebody says in a message in their own words: no code, no quotations, no pasted output.

Everything else is blanked out character by character, so that a place in the prose is the same place in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from vademecum.memory.transcripts.shape import CUT

MOST_CHARACTERS = 40_000  # of a message are looked through for prose: half at its beginning, half at its end
MOST_READ = 8_000  # characters of prose; what is longer was pasted, and what one says about it stands before or behind
MOST_SENTENCE = 1_200  # characters: run-on sentences are real, and longer ones are read in parts

_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_INDENTED = re.compile(r"^(?: {4,}|\t)(?![ \t]*(?:[-*+]|\d+[.)])\s).*$", re.MULTILINE)
_TAGGED = re.compile(
    r"<(pre|code|blockquote|system-reminder|command-\w+|local-command-\w+|file|document|log|output)\b.*?(?:</\1>|\Z)",
    re.DOTALL,
)
# Three words or more in quotation marks or backticks are somebody's, or a program's; one or two are a name.
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,600}\"|\u201c[^\u201d]{1,600}\u201d|\u00ab[^\u00bb]{1,600}\u00bb|`[^`\n]{1,400}`|'(?<!\w.)[^'\n]{12,400}'(?!\w)"
)
_LOG_LINE = re.compile(
    r"""^\s*(?:
      \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b[\]:\s]
      | (?:Traceback\ \(most|File\ "|at\ [\w$.<>]+\(|Caused\ by:|npm\ (?:ERR|WARN)|error(?:\[\w+\])?:|warning:|fatal:|\w+(?:Error|Exception)\b:?)
      | (?:\$|>>>|%|PS>)\s | [+-]{3}\s | @@\s | diff\ --git | [\w./-]+:\d+:(?:\d+:)? | (?:PASS|FAIL|FAILED|ok|not\ ok)\b\s | {[^a-z]*" | [\W\d_]{12,}
    )""",
    re.VERBOSE,
)  # fmt: skip
_CODE_LINE = re.compile(
    r"^\s*(?:[{}()\[\];]+\s*$|(?:def|class|import|from|function|const|let|var|public|private|static|return|async|export|#include|package|func|fn|SELECT|INSERT|UPDATE|CREATE)\b.*[(){};:=]\s*$|.*[;{}]\s*$|<[/!\w][^>]*>)"
)
_LINE = re.compile(r"\S.+\S")  # no sentence is shorter
# A sentence ends at a full stop before a space, at a line's end or at the next point of a list.
_STOP = re.compile(r"[.!?\u2026](?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\betc.)[.!?\u2026]*[\"')\]]*(?=\s|$)")
_BULLET = re.compile(r"\s*(?:[-*+\u2022\u2013]|\d{1,2}[.)]|#{1,6}|\[[ xX]\])\s+")


def prose_of(message: str) -> str:
    """Return the message with all that is not its author's own prose turned into blanks; as long as the message.

    >>> prose_of('Use tabs. He said "always use four spaces".')
    'Use tabs. He said                         .'
    """
    head, left_out, tail = _parts(message)
    return _prose(head) + "\n" * len(left_out) + _prose(_from_prose_on(tail))


def _prose(text: str) -> str:
    if "`" in text or "~~~" in text:
        text = _INLINE_FENCE.sub(_blank, _FENCED.sub(_blank, text))
    if "<" in text:
        text = _TAGGED.sub(_blank, text)
    text = _QUOTED_LINE.sub(_blank, text)
    text = _INDENTED.sub(_blank, text)
    text = _QUOTATION.sub(_blank_if_long, text)
    return _LINE.sub(_blank_if_no_prose, text)


def _parts(message: str) -> tuple[str, str, str]:
    """The beginning of a message, what of it is not looked at, and its end; an importer may have cut it already."""
    half = MOST_CHARACTERS // 2
    if len(message) > MOST_CHARACTERS:
        return message[:half], message[half:-half], message[-half:]
    return message.partition(CUT)


def _from_prose_on(tail: str) -> str:
    """The end of a message without the code that it was cut in: of fences that open and close, one has lost its other."""
    if tail.count("```") % 2 == 0:
        return tail
    closed = tail.index("```") + 3
    return _blanked(tail[:closed]) + tail[closed:]


def _blank_if_no_prose(line: re.Match[str]) -> str:
    is_prose = _LOG_LINE.match(line[0]) is None and _CODE_LINE.match(line[0]) is None
    return line[0] if is_prose else _blanked(line[0])


def read_of(prose: str) -> list[tuple[int, int]]:
    """Return the sentences that are read, long ones in parts; of a very long text those at its beginning and its end.

    >>> read_of("Use tabs. " + "and so on, " * 2_000 + "never spaces.")[0], len(read_of("and so on, " * 200))
    ((0, 9), 2)
    """
    found = [piece for start, end in sentences(prose) for piece in _pieces(prose, start, end)]
    if sum(end - start for start, end in found) <= MOST_READ:
        return found
    last = len(found) - _within(found[::-1], MOST_READ // 3)
    room = MOST_READ - sum(end - start for start, end in found[last:])
    return found[: _within(found, room)] + found[last:]


def _within(spans: Sequence[tuple[int, int]], most: int) -> int:
    """How many spans, from the first on, are at most so many characters."""
    return sum(total <= most for total in accumulate(end - start for start, end in spans))


def _pieces(prose: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence; one that is too long in parts, cut behind commas or between words."""
    while end - start > MOST_SENTENCE:
        most = start + MOST_SENTENCE
        cuts = (prose.rfind(mark, start + 1, most) for mark in (", ", " "))
        cut = next((at + 1 for at in cuts if at > 0), most)
        yield start, cut
        start = cut
        while prose[start] == " ":
            start += 1
    yield start, end


def sentences(prose: str) -> Iterator[tuple[int, int]]:
    r"""Yield where each sentence of the prose starts and ends, list marks and blanks around it aside.

    >>> said = "Use tabs. See v1.2\n- no emojis"
    >>> [said[start:end] for start, end in sentences(said)]
    ['Use tabs.', 'See v1.2', 'no emojis']
    """
    for start_of, end_of in (each for line in _LINE.finditer(prose) for each in _stops(prose, *line.span())):
        start, end = start_of, end_of
        while (bullet := _BULLET.match(prose, start, end)) is not None and bullet.end() > start:
            start = bullet.end()
        while start < end and prose[start].isspace():
            start += 1
        while end > start and prose[end - 1].isspace():
            end -= 1
        if end - start >= 3:
            yield start, end


def _stops(prose: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the sentences of a line start and end."""
    while start < end:
        found = _STOP.search(prose, start + 1, end)  # there is a character before it
        stop = found.end() if found is not None else end
        yield start, stop
        start = stop


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def _blanked(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _blank_if_long(match: re.Match[str]) -> str:
    return _blanked(match[0]) if len(match[0].split()) >= 3 else match[0]
