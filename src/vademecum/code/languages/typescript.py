"""TypeScript: JavaScript with types, read by a grammar without markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vademecum.code.languages import javascript
from vademecum.code.languages.lexing import Span

# What the grammar does not know: a generic signature on a line below a type, types handed on from another module, and
# the variance of a type parameter.
_SIGNATURE = rb"\n[ \t]*([ \t])<(?:\r?\n|[A-Z]\w*\b[^\n]*>\()"
_ENDED = rb"(?:[\w\]})\"']|[^=]>)(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*\Z"
_TYPES_OF = rb"\nexport (type) \*"
_VARIANCE = rb"[<,]\s*((?:(?:in|out) )+)(?=[A-Z]\w*(?: extends\b|[ =,>]))"
_BEFORE = 400  # bytes before a signature that say whether another one ends there


class _TypeScript(javascript.Script):
    def readable(self, content: bytes) -> bytes:
        """Return a file rewritten where the grammar lacks a rule."""
        put = [(found.span(1), b" " * len(found[1])) for found in re.finditer(_TYPES_OF, content)]
        if b"out " in content or b"<in " in content:
            put += [(found.span(1), b" " * len(found[1])) for found in re.finditer(_VARIANCE, content)]
        for found in re.finditer(_SIGNATURE, content):
            if re.search(_ENDED, content[max(0, found.start() - _BEFORE) : found.start()]):
                put.append((found.span(1), b";"))
        read = bytearray(content)
        for (start, end), text in put:
            read[start:end] = text
        return bytes(read)

    def lexed(self, content: bytes) -> Iterator[Span]:
        """Yield comments and strings: there is no markup."""
        return javascript.lexed(content)


LANGUAGE = _TypeScript(
    "typescript",
    extensions=(".ts", ".mts", ".cts"),
    aliases=("ts",),
    interpreters=("deno", "ts-node", "tsx"),
    module="tree_sitter_typescript",
    factory="language_typescript",
    queries=("javascript", "typescript"),
    equations=True,
    head="javascript",
    subscripts_classes=True,
)
