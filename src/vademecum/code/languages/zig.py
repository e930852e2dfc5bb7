"""Zig: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "zig",
    extensions=(".zig",),
    module="tree_sitter_zig",
    queries=("zig",),
    special="main panic format",
    decorates=rb"(?:pub\s+)?export",
)
