"""What somebody says in a message in their own words: no code, no quotations, no pasted output.

Everything else is blanked out character by character, so that a place in the prose is the same place in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_CHARACTERS = 40_000  # of a message; what is longer was pasted

_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_INDENTED = re.compile(r"^(?: {4,}|\t)(?!\s*(?:[-*+]|\d+[.)])\s).*$", re.MULTILINE)
_TAGGED = re.compile(
    r"<(pre|code|blockquote|system-reminder|command-\w+|local-command-\w+|file|document|log|output)\b.*?(?:</\1>|\Z)",
    re.DOTALL,
)
# Three words or more in quotation marks or backticks are somebody's, or a program's; one or two are a name.
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,600}\"|\u201c[^\u201d]{1,600}\u201d|\u00ab[^\u00bb]{1,600}\u00bb|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{12,400}'(?!\w)"
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
# A sentence ends at a full stop before a space, at a line's end or at the next point of a list.
_SENTENCE = re.compile(r"[^\n]+?(?:(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?\u2026]+[\"')\]]*(?=\s|$)|(?=\n)|$)")
_BULLET = re.compile(r"\s*(?:[-*+\u2022\u2013]|\d{1,2}[.)]|#{1,6}|\[[ xX]\])\s+")


def prose_of(message: str) -> str:
    """Return the message with all that is not its author's own prose turned into blanks; as long as the message.

    >>> prose_of('Use tabs. He said "always use four spaces".')
    'Use tabs. He said                         .'
    """
    text = message[:MOST_CHARACTERS]
    if "`" in text or "~~~" in text:
        text = _INLINE_FENCE.sub(_blank, _FENCED.sub(_blank, text))
    if "<" in text:
        text = _TAGGED.sub(_blank, text)
    text = _QUOTED_LINE.sub(_blank, text)
    text = _INDENTED.sub(_blank, text)
    text = _QUOTATION.sub(_blank_if_long, text)
    lines = [_blanked(line) if _LOG_LINE.match(line) or _CODE_LINE.match(line) else line for line in text.split("\n")]
    return "\n".join(lines)


def sentences(prose: str) -> Iterator[tuple[int, int]]:
    r"""Yield where each sentence of the prose starts and ends, list marks and blanks around it aside.

    >>> said = "Use tabs. See v1.2\n- no emojis"
    >>> [said[start:end] for start, end in sentences(said)]
    ['Use tabs.', 'See v1.2', 'no emojis']
    """
    for match in _SENTENCE.finditer(prose):
        start, end = match.span()
        while (bullet := _BULLET.match(prose, start, end)) is not None and bullet.end() > start:
            start = bullet.end()
        while start < end and prose[start].isspace():
            start += 1
        while end > start and prose[end - 1].isspace():
            end -= 1
        if end - start >= 3:
            yield start, end


def _blank(match: re.Match[str]) -> str:
    return _blanked(match[0])


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank_if_long(match: re.Match[str]) -> str:
    return _blanked(match[0]) if len(match[0].split()) >= 3 else match[0]
