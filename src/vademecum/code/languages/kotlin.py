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
# The grammar wants an end of the last statement in a body that ends on its line: `class A { val x = 1 }`.
_SHORT_BODY = re.compile(rb"^(?=.*\b(?:class|object|interface)\b)(?!.*\$\{).*[^\s{;,] \}.*", re.MULTILINE)
_LAST = re.compile(rb"(?<=[^\s{;,]) \}")
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
        """Return a file with each class's head on one line, and short bodies with their ends."""
        content = _SHORT_BODY.sub(lambda line: _LAST.sub(b";}", line[0]), content)
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
    implied="it",
    has_extensions=True,
    same=_SAME,
    one=_ONE,
    special=_SPECIAL,
)
