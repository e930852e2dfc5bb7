"""TypeScript with markup."""

from __future__ import annotations

from vademecum.code.languages.javascript import Script

LANGUAGE = Script(
    "tsx",
    extensions=(".tsx",),
    aliases=("typescriptreact",),
    module="tree_sitter_typescript",
    factory="language_tsx",
    queries=("javascript", "typescript"),
    equations=True,
    head="javascript",
    subscripts_classes=True,
)
