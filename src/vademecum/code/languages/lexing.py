"""Comments and strings by characters: the parts that languages share.

A reader yields spans in order. It raises `UnsureError` where only a parser tells what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

COMMENT, TEXT, TEMPLATE, FRAGMENT, UNSURE = range(5)
Span = tuple[int, int, int]  # start, end, one of the above
KINDS = {b"/": COMMENT, b"#": COMMENT, b'"': TEXT, b"'": TEXT, b"`": TEMPLATE}

# These say what may follow the first byte of a token. Only first bytes are searched for, which is four times as fast as
# alternatives of whole tokens; a byte that nothing follows is a token by itself.
DOUBLE = rb'(?<=")(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*"'
SINGLE = DOUBLE.replace(b'"', b"'")
BLOCK = rb'(?<=")""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
SLASHED = rb"(?<=/)(?:/[^\n]*|\*[^*]*(?:\*(?!/)[^*]*)*\*/)"
ODD_LINES = rb"\r(?!\n)|\xe2\x80[\xa8\xa9]"  # ends of lines that only a parser reads


class UnsureError(Exception):
    """The characters alone do not tell."""


@cache
def tokens(first: bytes, *followed: bytes) -> re.Pattern[bytes]:
    """Compile the pattern of tokens that begin with one of some bytes."""
    return re.compile(b"[" + first + b"](?:" + b"|".join(followed) + b")?", re.DOTALL)


def plain(content: bytes, pattern: re.Pattern[bytes]) -> Iterator[Span]:
    """Yield the spans of a language whose tokens one pattern finds."""
    for found in pattern.finditer(content):
        start, end = found.span()
        first = content[start : start + 1]
        if end - start > 1 or first == b"#":
            yield start, end, KINDS[first]
        elif first != b"/":
            raise UnsureError  # a quote that nothing closes
