"""Scala: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "scala",
    extensions=(".scala", ".sc", ".sbt"),
    interpreters=("scala", "amm", "scala-cli"),
    module="tree_sitter_scala",
    queries=("scala",),
    head="java",
)
