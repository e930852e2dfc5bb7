"""Swift: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "swift",
    extensions=(".swift",),
    interpreters=("swift",),
    module="tree_sitter_swift",
    queries=("swift",),
)
