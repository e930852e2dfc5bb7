"""Kotlin: packages as in Java, members that extensions add anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vademecum.code.languages.imports import Bound
from vademecum.code.languages.java import Packaged
from vademecum.code.languages.language import Read
from vademecum.code.languages.scopes import anywhere

if TYPE_CHECKING:
    import tree_sitter

# Operators and methods of Any.
_SPECIAL = """
    toString equals hashCode compareTo plus minus times div rem plusAssign minusAssign timesAssign divAssign remAssign unaryPlus unaryMinus not inc dec get set invoke iterator
    hasNext next contains rangeTo rangeUntil component1 component2 component3 getValue setValue provideDelegate close run call
"""
# A class's constructor may begin on the next line, as may its modifiers and annotations: they are put on one.
_CONSTRUCTOR = (
    rb"\bclass[ \t]+\w+[ \t]*(?:<[^\n{}]*>)?\s+"
    rb"(?:(?:@[\w.]+(?:\([^()\n]*\))?|public|private|protected|internal)\s+)*constructor\b"
)
# What the grammar does not know is put away, or ended: the last statement of a body on one line (`class A { val x = 1 }`), a
# call of `get` below a property, which is no getter, contexts, `suspend` before a lambda, the dollars before a text.
_SHORT_BODY = rb"^(?=.*\b(?:class|object|interface)\b)(?!.*\$\{).*[^\s{;,] \}.*"
_NO_GETTER = rb"([\w)\]}\"']\n[ \t]*)[ \t](?=get\([^)\s])"
_UNKNOWN = rb"\bsuspend(?=[ \t]*\{)|\$\$+(?=\")|^[ \t]*context\([^()\n]*\)(?=[ \t]*$)"
_BACKING = rb"(?<=[\w>?])\r?\n[ \t]+field(?=[ \t]*=)"  # of a property with a value of its own
_LAST = rb"(?<=[^\s{;,]) \}"
_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")

# Methods of the standard library's containers and wrappers.
_SAME = """
    filter toList toMutableList sorted reversed asSequence values entries drop take distinct
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

    def taken(self, parameters: tree_sitter.Node, text: Read) -> Sequence[tuple[int, str]]:
        """Return the types that a lambda behind the call is read with.

        They are written as TypeScript's: what is `this` in the lambda at place 0, its parameters at place 1.
        """
        last = next((each for each in reversed(parameters.named_children) if each.type == "parameter"), None)
        kind = next((each for each in last.named_children if each.type == "function_type"), None) if last else None
        parts = [each for each in kind.named_children if each.type != "type_modifiers"] if kind is not None else []
        found = [(0, f"(this: {text(parts[0]).removeprefix('suspend ')}) => Unit")] if len(parts) > 2 else []
        for listed in parts[-2:-1]:
            types = [each.named_children[-1] if each.type == "parameter" else each for each in listed.named_children]
            found += [(1, f"({', '.join(f'_: {text(each)}' for each in types)}) => Unit")] if types else []
        return found

    def readable(self, content: bytes) -> bytes:
        r"""Return a file, no byte longer, as the grammar can read it.

        >>> LANGUAGE.readable(b"object A { val x = 1 }"), LANGUAGE.readable(b"val a = 1\n  get(a) { suspend { } }")
        (b'object A { val x = 1;}', b'val a = 1\n ;get(a) {         { } }')
        """
        content = re.sub(_SHORT_BODY, lambda line: re.sub(_LAST, b";}", line[0]), content, flags=re.MULTILINE)
        content = re.sub(_NO_GETTER, rb"\1;", content)
        content = re.sub(_UNKNOWN, lambda word: b" " * len(word[0]), content, flags=re.MULTILINE)
        content = re.sub(_BACKING, lambda field: b" " * len(field[0]), content)
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
    anything=frozenset({"Any"}),
    same=_SAME,
    one=_ONE,
    special=_SPECIAL,
    decorates=b"@",
    inert="""
        Deprecated Suppress SuppressWarnings OptIn Throws JvmStatic JvmOverloads JvmField JvmName JvmSynthetic PublishedApi
        VisibleForTesting Synchronized Volatile
    """,
)
