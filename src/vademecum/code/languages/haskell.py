"""Haskell: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "haskell",
    extensions=(".hs", ".hs-boot", ".hsc"),
    aliases=("hs",),
    interpreters=("runhaskell", "runghc", "stack"),
    module="tree_sitter_haskell",
    queries=("haskell",),
    equations=True,
)
