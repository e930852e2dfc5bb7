"""Kotlin: packages as in Java, members that extensions add anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vademecum.code.languages.imports import Bound
from vademecum.code.languages.java import Packaged
from vademecum.code.languages.scopes import anywhere

# Operators and methods of Any.
_SPECIAL = """
    toString equals hashCode compareTo plus minus times div rem unaryMinus not inc dec get set invoke iterator
    hasNext next contains rangeTo component1 component2 component3 getValue setValue provideDelegate close run call
"""
# A class's constructor may begin on the next line, as may its modifiers and annotations: they are put on one.
_CONSTRUCTOR = (
    rb"\bclass[ \t]+\w+[ \t]*(?:<[^\n{}]*>)?\s+"
    rb"(?:(?:@[\w.]+(?:\([^()\n]*\))?|public|private|protected|internal)\s+)*constructor\b"
)
_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")

# Methods of the standard library's containers and wrappers.
_SAME = """
    filter toList toMutableList sorted reversed asSequence values drop take distinct
"""
_ONE = """
    first last get firstOrNull lastOrNull getOrNull single singleOrNull find elementAt removeAt removeFirst
    removeLast getValue getOrElse getOrPut
"""


class _Kotlin(Packaged):
    def imported(self, statement: str) -> Iterator[Bound]:
        """Read an import, where a companion's members are the class's.

        >>> list(LANGUAGE.imported("import p.Url.Companion.of as url"))
        [('url', 'p.Url', 'of')]
        """
        return super().imported(statement.replace(".Companion.", "."))

    def readable(self, content: bytes) -> bytes:
        """Return a file with the head of each class on one line."""
        if b"constructor" not in content:
            return content
        return re.sub(_CONSTRUCTOR, lambda head: head[0].translate(_ONE_LINE), content)


LANGUAGE = _Kotlin(
    "kotlin",
    extensions=(".kt", ".kts"),
    aliases=("kt", "kts"),
    interpreters=("kotlin",),
    module="tree_sitter_kotlin",
    queries=("kotlin",),
    head="java",
    implicit_self=True,
    shares_names=True,
    opened_in=anywhere,
    imports_extensions=True,
    same=_SAME,
    one=_ONE,
    special=_SPECIAL,
)
