"""The page of faults has a row for each that an outside server may have, and each row's test is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| `([^`|]+)::([^`|]+)`(?: `([^`|]+)`)? \|$", re.MULTILINE)
SERVERS = ("PostgreSQL", "Qdrant", "embedders", "language models", "backlogs, documents")
EVERY = ("wrong URL", "refused", "slow", "401", "429", "500", "garbage JSON", "dropped connection")
SOME = {
    "wrong dimensions": ("embedders", "Qdrant", "LanceDB, Chroma"),
    "half a batch": ("embedders", "Qdrant", "backlogs, documents"),
    "newer schema": ("PostgreSQL", "SQLite", "Qdrant", "LanceDB, Chroma"),
    "half-migrated schema": ("PostgreSQL", "SQLite", "Qdrant"),
}


def rows():
    return ROW.findall((TOP / "docs" / "faults.md").read_text(encoding="utf-8"))


@cache
def functions(file):
    """The functions of a file of tests, as text with their decorators."""
    text = (TOP / file).read_text(encoding="utf-8")
    return {node.name: text for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def test_every_fault_has_a_row_for_every_server():
    """What a server of each kind may do, and what its data may be like."""
    told = {(fault, of.partition(" (")[0].partition(", in")[0].partition(", be")[0]) for fault, of, *_ in rows()}
    wanted = {(fault, of) for fault in EVERY for of in SERVERS} | {(fault, of) for fault in SOME for of in SOME[fault]}
    assert wanted - told == set()


def test_every_row_is_shown_by_a_test_that_is_there():
    """By the test's name, and by the fault's where one test tries many."""
    page = (TOP / "docs" / "faults.md").read_text(encoding="utf-8")
    assert len(rows()) == page.count("\n| ") - 2, "a row that cannot be read"
    for fault, of, _, file, name, which in rows():
        assert name in functions(file), f"{fault}, {of}: there is no {name} in {file}"
        assert which in functions(file)[name], f"{fault}, {of}: {file} does not try {which!r}"


def test_every_promise_of_the_server_is_shown_by_a_test_that_is_there():
    page = (TOP / "docs" / "http.md").read_text(encoding="utf-8")
    named = re.findall(r"\| `(test_\w+\.py)::(\w+)` \|$", page, re.MULTILINE)
    assert len(named) > 10
    assert [each for each in named if each[1] not in functions(f"tests/http/{each[0]}")] == []
