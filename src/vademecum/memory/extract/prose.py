"""Extract an author's own prose: no code, no quotations, no pasted output.

Everything else is blanked out character by character, so offsets in the prose are offsets in the message.

Of a commit message wrapped lines are joined, and only decisions are read that are called so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from vademecum.memory.forms import compiled
from vademecum.memory.transcripts.convert import CUT

MOST_SENTENCE = 600  # characters: run-on sentences are real, and longer ones are read in parts


_SAID = compiled(__file__)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*(?:>|\|).*$")
_INDENTED = re.compile(r"^(?: {4,}|\t)(?![ \t]*(?:[-*+]|\d+[.)])\s).*$", re.MULTILINE)
_TAGGED = re.compile(
    r"<(pre|code|blockquote|system-reminder|command-\w+|local-command-\w+|file|document|log|output)\b.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_LOG_LINE = re.compile(
    r"""^\s*(?:
      \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b[\]:\s]
      | (?:Traceback\ \(most|File\ "|at\ [\w$.<>]+\(|Caused\ by:|npm\ (?:ERR|WARN)|error(?:\[\w+\])?:|warning:|fatal:|\w+(?:Error|Exception)\b:?)
      | (?:\$|>>>|%|PS>)\s | [+-]{3}\s | @@\s | diff\ --git | [\w./-]+:\d+:(?:\d+:)? | (?:PASS|FAIL|FAILED)\b\s | (?:ok|not\ ok)\s+(?:\d|[\w./-]*[./]\S*\s) | {[^a-z]*" | [\W\d_]{12,}
    )""",
    re.VERBOSE,
)  # fmt: skip
_SHORTEST = 3  # characters of a sentence
_LINE = re.compile(r"\S.+\S")  # no sentence is shorter
# A sentence ends at a full stop before a space, at a line's end or at the next point of a list.
_STOP = re.compile(r"[.!?\u2026](?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\betc.)[\"')\]]*(?=\s|$)")
_BULLETS = re.compile(r"(?:\s*(?:[-*+\u2022\u2013]|\d{1,2}[.)]|#{1,6}|\[[ xX]\])\s++)*+")


def prose_of(message: str) -> str:
    """Return a message of the same length with everything but prose blanked.

    >>> prose_of('Use tabs. He said "always use four spaces".')
    'Use tabs. He said                         .'
    """
    head, cut, tail = message.partition(CUT)  # an importer may have cut it
    return _prose(head) + "\n" * len(cut) + _prose(_from_prose_on(tail))


def _prose(text: str) -> str:
    if "`" in text or "~~~" in text:
        text = _INLINE_FENCE.sub(_blank, _FENCED.sub(_blank, text))
    if "<" in text:
        text = _TAGGED.sub(_blank, text)
    text = _QUOTED_LINE.sub(_blank, text)
    text = _SAID["introduced"].sub(_blank, text) if ":" in text or "bot]" in text else text
    text = _INDENTED.sub(_blank, text)
    text = _SAID["quotation"].sub(lambda said: _blank(said) if len(said[0].split()) >= 3 else said[0], text)
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
    is_prose = _LOG_LINE.match(line[0]) is None and _SAID["code_line"].match(line[0]) is None
    return line[0] if is_prose else _blanked(line[0])


def read_of(prose: str, most: int) -> tuple[list[tuple[int, int]], int]:
    """Return at most `most` sentences, and the number of characters left out.

    A long sentence is returned in parts. Where characters are left out, a third of the sentences are those at the end: a
    request usually follows the paste.

    >>> said = "Use tabs. " + "and so on, " * 2_000 + "never spaces."
    >>> spans, left = read_of(said, 12)
    >>> spans[0], spans[-1][1] == len(said), left > 10_000
    ((0, 9), True, True)
    """
    found = list(sentences(prose))
    if len(found) <= most:
        return found, 0
    last = found[-(most // 3) :]
    first = found[: most - len(last)]
    return first + last, last[0][0] - first[-1][1]


def sentences(prose: str) -> Iterator[tuple[int, int]]:
    r"""Yield each sentence's start and end, without list marks and surrounding blanks.

    A sentence that is too long is yielded in parts.

    >>> said = "Use tabs. See v1.2\n- no emojis"
    >>> [said[start:end] for start, end in sentences(said)]
    ['Use tabs.', 'See v1.2', 'no emojis']
    """
    for line in _LINE.finditer(prose):
        start, stop = line.span()
        for mark in _STOP.finditer(prose, start + 1, stop):  # there is a character before it
            yield from _pieces(prose, start, mark.end())
            start = mark.end()
        yield from _pieces(prose, start, stop)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, or its parts where the sentence is too long.

    List marks and surrounding blanks are left out. Parts end at a comma or between words.
    """
    bullets = _BULLETS.match(text, start, end)
    start = bullets.end() if bullets is not None else start
    end = start + len(text[start:end].rstrip())
    start = end - len(text[start:end].lstrip())
    while end - start > MOST_SENTENCE:
        most = start + MOST_SENTENCE
        cuts = (text.rfind(mark, start + 1, most) for mark in (", ", " "))
        cut = next((at + 1 for at in cuts if at > 0), most)
        yield start, cut
        start = end - len(text[cut:end].lstrip(" "))
    if end - start >= _SHORTEST:
        yield start, end


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def _blanked(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)
    return "\n".join(" " * len(line) for line in text.split("\n"))


_WRAPPED_FROM = 50  # characters: a shorter line ends where its author ended it


def unwrapped(message: str) -> str:
    r"""Join the wrapped lines of each paragraph; the length stays.

    >>> unwrapped("Subject\n\nWe decided to remove the packages topic to avoid any\nconfusion.\n- one\n- two").count("\n")
    4
    """
    lines = message.split("\n")
    out = lines[0]
    for line, after in pairwise(lines):
        goes_on = len(line.rstrip()) >= _WRAPPED_FROM and after.strip() and not _SAID["begins"].match(after)
        out += (" " if goes_on else "\n") + after
    return out


def is_decided(sentence: str) -> bool:
    """Return whether a sentence calls a decision one.

    >>> is_decided("We decided to use SQLite."), is_decided("I chose to go this route because indexing is big.")
    (True, False)
    """
    return _SAID["decided"].search(sentence) is not None
