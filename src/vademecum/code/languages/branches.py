"""Conditionals of C's preprocessor that the grammar does not know.

    static const size_t size =          static const size_t size =
    #ifdef SIZE
        SIZE                    →           SIZE
    #else
        32768
    #endif
        - 1;                                - 1;

The grammar knows those around whole statements and members. Of one that cuts across a statement, a list or a bracket the
longest branch is kept alone.
"""

from __future__ import annotations

import re
from itertools import pairwise

_DIRECTIVE = rb"(?m)^[ \t]*#[ \t]*(if|el|endif)[a-z]*\b(?:\\\r?\n|[^\n])*"
_HEADER = rb"\(([<\"][^>\"\n]*[>\"])\)"  # of `__has_include`, which the grammar takes for no number
_OTHERS = rb"(?m)^[ \t]*#(?:\\\r?\n|[^\n])*"  # directives of any kind
_ASIDE = rb"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_LONGEST = 2000  # bytes of a branch; longer ones hold whole statements
_BEFORE = 300  # bytes before a conditional that say whether a statement ended there
_OPEN = rb"(?:[=(,+\-*/%&|^?<\[]|\b[a-z_]\w*)\Z"  # what a statement does not end with
_GOES_ON = rb"(?:[,.?=/%|^<>)\]]|&&|:(?!:))"  # what no statement begins with
_ENDED = rb"[,;{})>:\"]\Z|\b[A-Z0-9_]{3,}\Z"  # what may stand before a directive that cuts across nothing


def with_one_branch(content: bytes) -> bytes:
    r"""Return a file with one branch of conditionals that cut across code.

    >>> with_one_branch(b"int a =\n#if B\n 1\n#else\n 22\n#endif\n;\n#if C\nint d;\n#endif\n")
    b'int a =\n     \n  \n     \n 22\n      \n;\n#if C\nint d;\n#endif\n'
    """
    read, around = bytearray(content), []
    for directive in re.finditer(_DIRECTIVE, content):
        for header in re.finditer(_HEADER, directive[0]):
            start, end = (directive.start() + place for place in header.span(1))
            read[start:end] = b"1".ljust(end - start)
        if directive[1] == b"if":
            around.append([directive.span()])
        elif around:
            around[-1].append(directive.span())
            if directive[1] == b"endif":
                _settle(read, around.pop())
    return bytes(read)


def _settle(read: bytearray, places: list[tuple[int, int]]) -> None:
    """Keep one branch of a conditional that cuts across code."""
    branches = [(end, start) for (_, end), (start, _) in pairwise(places)]
    if max(end - start for start, end in branches) > _LONGEST:
        return
    texts = [_code(read[start:end]) for start, end in branches]
    begun = _code(read[max(0, places[0][0] - _BEFORE) : places[0][0]])
    if not any(texts) or not (re.search(_OPEN, begun) or any(map(_cuts, texts))):
        return
    if begun.endswith(b",") and all(text.endswith(b",") for text in texts if text):
        return  # a list, as of an enumeration
    kept = max(branches, key=lambda branch: branch[1] - branch[0])
    for start, end in [*places, *(branch for branch in branches if branch != kept)]:
        read[start:end] = re.sub(rb"[^\r\n]", b" ", read[start:end])


def _code(text: bytearray) -> bytes:
    """Return a text without comments, strings and directives."""
    return re.sub(_OTHERS, b"", re.sub(_ASIDE, lambda found: b'""' if found[0][:1] in b"\"'" else b"", text)).strip()


def _cuts(text: bytes) -> bool:
    """Return whether a branch is no sequence of whole statements."""
    is_even = all(text.count(pair[:1]) == text.count(pair[1:]) for pair in (b"()", b"[]", b"{}"))
    return bool(text) and (not is_even or re.match(_GOES_ON, text) is not None or not re.search(_ENDED, text))
