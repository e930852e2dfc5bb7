"""Vue: components with scripts in TypeScript, and their templates.

The grammar is TypeScript's. It is given the file without its markup, in which each expression of the template is a
statement at the place where the template has it.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass

from vademecum.code.languages.javascript import Script, lexed
from vademecum.code.languages.lexing import COMMENT, Span

_OPENS = re.compile(rb"<!--|<(?P<tag>script|style)\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.IGNORECASE)
_CLOSES = {b"": re.compile(rb"-->")} | {tag: re.compile(rb"(?i)</" + tag + rb"\s*>") for tag in (b"script", b"style")}
_IN_STYLE = re.compile(rb"\bv-bind\(([^()]*)\)")
# What is shown; a component; what a handler runs, or a binding holds.
_IN_TEMPLATE = rb"""(?xs)
    \{\{(?P<shown>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\}
  | <(?P<component>[A-Z]\w*)(?=[\s/>])
  | \s(?:(?P<handler>@|v-on:)|[:\#]|v-|ref(?==))[\w.:\[\]-]*\s*(?P<equals>=)\s*(?P<quoted>"[^"]*"|'[^']*')
"""


@dataclass(frozen=True, eq=False)
class Component(Script):
    """A language of components, in files of markup with scripts."""

    head: str = "javascript"
    module: str | None = "tree_sitter_typescript"
    factory: str = "language_typescript"
    queries: tuple[str, ...] = ("javascript", "typescript")
    equations: bool = True
    subscripts_classes: bool = True
    has_markup: bool = True

    def readable(self, content: bytes) -> bytes:
        """Return scripts, comments and the markup's expressions, the rest blank."""
        read, at = bytearray(re.sub(rb"[^\r\n]", b" ", content)), 0
        while opening := _OPENS.search(content, at):
            tag = (opening["tag"] or b"").lower()
            closing = _CLOSES[tag].search(content, opening.end())
            if closing is None:
                break
            self.expressions(content, read, at, opening.start())
            inside, at = slice(opening.end(), closing.start()), closing.end()
            if tag == b"script":
                read[opening.start()] = ord(";")
                read[inside] = content[inside]
            elif tag:
                for found in _IN_STYLE.finditer(content, inside.start, inside.stop):
                    read[slice(*found.span())] = b";      " + found[1].replace(b"'", b" ") + b" "
            else:
                read[opening.start() : at] = b"/*  " + content[inside].replace(b"*/", b"* ") + b" */"
        self.expressions(content, read, at, len(content))
        return bytes(read)

    def expressions(self, content: bytes, read: bytearray, start: int, end: int) -> None:
        """Write the markup's expressions between two places; here none."""

    def lexed(self, content: bytes) -> Iterator[Span]:
        """Yield comments, strings, and the markup, which is no code."""
        read = self.readable(content)
        blank = (found.span() for found in re.finditer(rb"\s+", read))
        markup = ((start, end, COMMENT) for start, end in blank if content[start:end].strip())
        yield from heapq.merge(markup, lexed(read))


class _Vue(Component):
    def expressions(self, content: bytes, read: bytearray, start: int, end: int) -> None:
        """Write the template's expressions between two places, as statements.

        >>> LANGUAGE.readable(b'<A :b="c" @d="e()">{{ f }}</A><!--g-->')
        b';A   ;(c)   ; e()  ;  f       /*  g */'
        """
        for found in re.compile(_IN_TEMPLATE).finditer(content, start, end):
            if found["shown"]:
                read[found.start()] = ord(";")
                read[slice(*found.span("shown"))] = found["shown"]
            elif found["component"]:
                read[slice(*found.span())] = b";" + found["component"]
            elif found["quoted"]:
                around = b"  " if found["handler"] else b"()"
                read[found.start("equals")] = ord(";")
                inside = found["quoted"][1:-1].replace(b" of ", b" in ", 1)
                read[slice(*found.span("quoted"))] = around[:1] + inside + around[1:]


LANGUAGE = _Vue("vue", extensions=(".vue",))
