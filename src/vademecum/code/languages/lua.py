"""Lua: declarations only; the graph reads no references."""

from __future__ import annotations

from vademecum.code.languages.language import Language

LANGUAGE = Language(
    "lua",
    extensions=(".lua", ".luau", ".rockspec", ".nse", ".wlua"),
    interpreters=("lua", "luajit"),
    module="tree_sitter_lua",
    queries=("lua",),
    names=(".luacheckrc", ".luacov"),
)
