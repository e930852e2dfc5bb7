"""TypeScript: JavaScript with types, read by a grammar without markup."""

from __future__ import annotations

from collections.abc import Iterator

from vademecum.code.languages import javascript
from vademecum.code.languages.lexing import Span


class _TypeScript(javascript.Script):
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
