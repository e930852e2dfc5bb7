"""Extract an author's own prose: no code, no quotations, no pasted output.

Everything else is blanked out character by character, so offsets in the prose are offsets in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

from vademecum.memory.transcripts.convert import CUT

MOST_SENTENCE = 600  # characters: run-on sentences are real, and longer ones are read in parts


@dataclass(frozen=True)
class Reach:
    """The part of a message that is read.

    A longer message is read at both ends, where people comment on a paste.

    Attributes:
        characters: Characters searched for prose, half at each end.
        lines: Lines searched for prose, half at each end.
        prose: Characters of prose read: two thirds at the beginning, a third at the end.
        sentences: Sentences read; a part of a long sentence counts as one.
    """

    characters: int
    lines: int
    prose: int
    sentences: int


class Prose(NamedTuple):
    """A message with everything but prose blanked, and its unread middle."""

    text: str
    gap: tuple[int, int]


_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_INDENTED = re.compile(r"^(?: {4,}|\t)(?![ \t]*(?:[-*+]|\d+[.)])\s).*$", re.MULTILINE)
_TAGGED = re.compile(
    r"<(pre|code|blockquote|system-reminder|command-\w+|local-command-\w+|file|document|log|output)\b.*?(?:</\1>|\Z)",
    re.DOTALL,
)
# Three words or more in quotation marks or backticks are a quotation; one or two are a name.
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,600}\"|\u201c[^\u201c\u201d]{1,600}\u201d|\u00ab[^\u00ab\u00bb]{1,600}\u00bb|`[^`\n]{1,400}`|'(?<!\w.)[^'\n]{12,400}'(?!\w)"
)
_LOG_LINE = re.compile(
    r"""^\s*(?:
      \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b[\]:\s]
      | (?:Traceback\ \(most|File\ "|at\ [\w$.<>]+\(|Caused\ by:|npm\ (?:ERR|WARN)|error(?:\[\w+\])?:|warning:|fatal:|\w+(?:Error|Exception)\b:?)
      | (?:\$|>>>|%|PS>)\s | [+-]{3}\s | @@\s | diff\ --git | [\w./-]+:\d+:(?:\d+:)? | (?:PASS|FAIL|FAILED)\b\s | (?:ok|not\ ok)\s+(?:\d|[\w./-]*[./]\S*\s) | {[^a-z]*" | [\W\d_]{12,}
    )""",
    re.VERBOSE,
)  # fmt: skip
_CODE_LINE = re.compile(
    r"^\s*(?:[{}()\[\];]+\s*$|(?:def|class|import|from|function|const|let|var|public|private|static|return|async|export|#include|package|func|fn|SELECT|INSERT|UPDATE|CREATE)\b.*[(){};:=]\s*$|.*[;{}]\s*$|<[/!\w][^>]*>)"
)
_SHORTEST = 3  # characters of a sentence
_SPANS = 3  # stretches examined for each sentence allowed
_LINE = re.compile(r"\S.+\S")  # no sentence is shorter
# A sentence ends at a full stop before a space, at a line's end or at the next point of a list.
_STOP = re.compile(r"[.!?\u2026](?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\betc.)[\"')\]]*(?=\s|$)")
_BULLETS = re.compile(r"(?:\s*(?:[-*+\u2022\u2013]|\d{1,2}[.)]|#{1,6}|\[[ xX]\])\s++)*+")


def prose_of(message: str, reach: Reach) -> Prose:
    """Return a message of the same length with everything but prose blanked.

    >>> prose_of('Use tabs. He said "always use four spaces".', Reach(1000, 100, 1000, 10)).text
    'Use tabs. He said                         .'
    """
    if len(message) <= reach.characters and message.count("\n") < reach.lines:
        head, cut, tail = message.partition(CUT)  # an importer may have cut it already
        return Prose(_prose(head) + "\n" * len(cut) + _prose(_from_prose_on(tail)), (0, 0))
    half, lines = min(reach.characters, len(message)) // 2, reach.lines // 2
    head = "\n".join(message[:half].split("\n", lines)[:lines])
    tail = "\n".join(message[-half:].rsplit("\n", lines)[-lines:])
    gap = len(head), len(message) - len(tail)
    return Prose(_prose(head) + "\n" * (gap[1] - gap[0]) + _prose(_from_prose_on(tail)), gap)


def _prose(text: str) -> str:
    if "`" in text or "~~~" in text:
        text = _INLINE_FENCE.sub(_blank, _FENCED.sub(_blank, text))
    if "<" in text:
        text = _TAGGED.sub(_blank, text)
    text = _QUOTED_LINE.sub(_blank, text)
    text = _INDENTED.sub(_blank, text)
    text = _QUOTATION.sub(_blank_if_long, text)
    return _LINE.sub(_blank_if_no_prose, text)


def _from_prose_on(tail: str) -> str:
    """Return a message's tail without the code that its cut left open.

    An odd number of fences means that the first closes a block that opened before the cut.
    """
    if tail.count("```") % 2 == 0:
        return tail
    closed = tail.index("```") + 3
    return _blanked(tail[:closed]) + tail[closed:]


def _blank_if_no_prose(line: re.Match[str]) -> str:
    is_prose = _LOG_LINE.match(line[0]) is None and _CODE_LINE.match(line[0]) is None
    return line[0] if is_prose else _blanked(line[0])


def read_of(prose: Prose, reach: Reach) -> tuple[list[tuple[int, int]], int]:
    """Return the sentences to read, and the number of characters left out.

    A long sentence is returned in parts. Where characters are left out, the sentences at the end come first: a request
    usually follows the paste.

    >>> said = "Use tabs. " + "and so on, " * 2_000 + "never spaces."
    >>> spans, left = read_of(Prose(said, (0, 0)), Reach(40_000, 100, 8_000, 100))
    >>> spans[0] > spans[-1], min(spans), max(spans)[1] == len(said), left > 10_000
    (True, (0, 9), True, True)
    """
    text, (begin, end) = prose
    found, length = list[tuple[int, int]](), 0
    for number, span in enumerate(chain(_marked(text, 0, begin), _marked(text, end, len(text)))):
        found.extend(_pieces(text, *span) if span[1] - span[0] > MOST_SENTENCE else _whole(span))
        length += span[1] - span[0]
        if number > _SPANS * reach.sentences or len(found) > reach.sentences or length > reach.prose:
            return _both_ends(prose, found, reach)
    return found, end - begin


def _both_ends(prose: Prose, found: list[tuple[int, int]], reach: Reach) -> tuple[list[tuple[int, int]], int]:
    """Return sentences from both ends, and the number of characters skipped."""
    last = _last_of(prose.text, prose.gap[1], reach)
    behind = last[0][0] if last else len(prose.text)
    first = [span for span in found if span[1] <= behind][: reach.sentences - len(last)]
    first = first[: _within(first, reach.prose - _length(last))]
    return last + first, behind - (first[-1][1] if first else 0)


def _last_of(text: str, start: int, reach: Reach) -> list[tuple[int, int]]:
    """Return the last sentences from `start` on, a third of the limit."""
    most, count, looked = reach.prose // 3, reach.sentences // 3, 0
    found: list[tuple[int, int]] = []
    for line in reversed(list(_LINE.finditer(text, start))):
        begin = max(line.start(), line.end() - reach.prose)  # no more of one line than of the whole text
        marked = list(_stops(text, begin, line.end()))[-_SPANS * count :]
        found[:0] = [piece for span in marked for piece in _pieces(text, *_trimmed(text, *span))]
        looked += len(marked)
        if _length(found) > most or len(found) > count or looked > _SPANS * count:
            break
    found = found[-count:]
    return found[len(found) - _within(found[::-1], most) :]


def _within(spans: Sequence[tuple[int, int]], most: int) -> int:
    """Return the number of leading spans that fit in `most` characters."""
    return sum(total <= most for total in accumulate(end - start for start, end in spans))


def _length(spans: Sequence[tuple[int, int]]) -> int:
    return sum(end - start for start, end in spans)


def sentences(prose: str) -> Iterator[tuple[int, int]]:
    r"""Yield each sentence's start and end, without list marks and surrounding blanks.

    >>> said = "Use tabs. See v1.2\n- no emojis"
    >>> [said[start:end] for start, end in sentences(said)]
    ['Use tabs.', 'See v1.2', 'no emojis']
    """
    return (span for span in _marked(prose, 0, len(prose)) if span[1] - span[0] >= _SHORTEST)


def _whole(span: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return (span,) if span[1] - span[0] >= _SHORTEST else ()


def _pieces(text: str, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, or its parts where the sentence is too long.

    Parts end at a comma or between words.
    """
    start = first
    while end - start > MOST_SENTENCE:
        most = start + MOST_SENTENCE
        cuts = (text.rfind(mark, start + 1, most) for mark in (", ", " "))
        cut = next((at + 1 for at in cuts if at > 0), most)
        yield start, cut
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip(" "))
    if end - start >= _SHORTEST:
        yield start, end


def _marked(text: str, begin: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches between full stops and line ends, of any length."""
    for line in _LINE.finditer(text, begin, stop):
        for span in _stops(text, *line.span()):
            yield _trimmed(text, *span)


def _stops(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence in a line."""
    for found in _STOP.finditer(text, start + 1, end):  # there is a character before it
        yield start, found.end()
        start = found.end()
    if start < end:
        yield start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without list marks and surrounding blanks."""
    bullets = _BULLETS.match(text, start, end)
    begin = bullets.end() if bullets is not None else start
    said = text[begin:end].rstrip()
    return begin + len(said) - len(said.lstrip()), begin + len(said)


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def _blanked(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _blank_if_long(match: re.Match[str]) -> str:
    return _blanked(match[0]) if len(match[0].split()) >= 3 else match[0]
