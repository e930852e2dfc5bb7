"""Elixir: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "elixir",
    extensions=(".ex", ".exs"),
    aliases=("ex", "exs"),
    interpreters=("elixir",),
    module="tree_sitter_elixir",
    queries=("elixir",),
    names=("mix.lock",),
    equations=True,
)
