"""Dart: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "dart",
    extensions=(".dart",),
    interpreters=("dart",),
    module="tree_sitter_dart",
    queries=("dart",),
    special="main call toString hashCode noSuchMethod runtimeType",
    decorates=b"@",
    inert="deprecated Deprecated immutable visibleForTesting protected internal nonVirtual mustCallSuper useResult",
)
