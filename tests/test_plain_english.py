"""Docstrings open with a short, plain first line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "src" / "vademecum"
DOCUMENTED = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
MOST_WORDS = 12
OPENINGS = re.compile(r"(?:What|Where|Which|How|Whether|Who|Whose|When|Why|That|It|Its)\b")
RIDDLES = re.compile(r"\b(?:what|that which|is had|are had|of it|to be had|as it stands)\b", re.IGNORECASE)


def fault(line: str) -> str:
    """Return the fault of a first line, "" for none."""
    if len(re.findall(r"[\w`'./\[\]-]+", line)) > MOST_WORDS:
        return "too long"
    return "opens with a question" if OPENINGS.match(line) else "a riddle" if RIDDLES.search(line) else ""


def faults() -> Iterator[str]:
    """Yield the place of each docstring whose first line has a fault: `path::qualified name`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from named(tree, str(path.relative_to(PACKAGE)), "")


def named(node: ast.AST, path: str, scope: str) -> Iterator[str]:
    """Yield the places of faults below a node."""
    text = ast.get_docstring(node) if isinstance(node, DOCUMENTED | ast.Module) else None
    if text and fault(text.partition("\n")[0]):
        yield f"{path}::{scope}"
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # most of a tree, and without docstrings
            continue
        name = getattr(child, "name", "")
        inner = f"{scope}.{name}".lstrip(".") if isinstance(child, DOCUMENTED) else scope
        yield from named(child, path, inner)


def test_first_lines_are_short_and_plain() -> None:
    """A first line has at most 12 words, opens with no question word and holds no riddle."""
    assert list(faults()) == []


def test_the_rule_finds_each_fault() -> None:
    """Each kind of fault is seen, and a plain line passes."""
    assert fault("Return whether the database exists.") == ""
    assert fault("What a search does first.") == "opens with a question"
    assert fault("Return what was found.") == "a riddle"
    assert fault("Return " + "very " * 12 + "much.") == "too long"
