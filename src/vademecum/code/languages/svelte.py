"""Svelte: components with scripts in TypeScript, and their markup."""

from __future__ import annotations

import re

from vademecum.code.languages.vue import Component

# A component; braces, with what opens a block in them.
_IN_MARKUP = rb"""(?x)
    <(?P<component>[A-Z]\w*)(?=[\s/>])
  | \{(?:[\#:@/](?:else\ if|\w*))?(?P<text>(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}
"""


class _Svelte(Component):
    def expressions(self, content: bytes, read: bytearray, start: int, end: int) -> None:
        """Write the markup's expressions between two places, as statements.

        >>> LANGUAGE.readable(b"<A on:b={c}/>{#if d()}{e}{/if}")
        b';A      ;c   ;    d() ;e      '
        """
        for found in re.compile(_IN_MARKUP).finditer(content, start, end):
            if found["component"]:
                read[slice(*found.span())] = b";" + found["component"]
            elif found["text"].strip():
                read[found.start()] = ord(";")
                read[slice(*found.span("text"))] = found["text"]


LANGUAGE = _Svelte("svelte", extensions=(".svelte",))
