"""Parts of a function where a test tells a type.

    if isinstance(x, Store) and x.is_open():     x is a Store from the test to the end of the `if`
        x.get()

A test that does not hold tells the type of what follows, where nothing else comes there: `if (!(x instanceof Store)) return;`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vademecum.code.languages.declarations import LEAVES, Outline

if TYPE_CHECKING:
    import tree_sitter

    from vademecum.code.languages.parse import Match

_NOT, _AND, _OR = frozenset({"!", "not"}), frozenset({"&&", "and"}), frozenset({"||", "or"})
_LEAVING = frozenset({"return", "throw", "raise", "continue", "break"})
_MOST_AROUND = 40  # operators around a test
_BLOCKS = frozenset({"block", "statement_block", "compound_statement", "colon_block", "expression_statement"})

# functions that throw where what they are given does not hold
_ASSERTING = re.compile(rb"\\?(?:\w+\.)?[aA]ssert\s*\(")
_REQUIRING = re.compile(rb"(?:assert|check|require)\s*\(")  # Kotlin's


class Told(NamedTuple):
    """A part, and the type that a name has in it."""

    start: int
    end: int
    subject: tree_sitter.Node
    kind: tree_sitter.Node


def narrowed(matches: Sequence[Match], outline: Outline) -> list[Told]:
    """Return the parts that declare nothing, with their types."""
    found = []
    for _, captured in matches:
        if "subject" in captured:
            parts = [captured["told"][0].byte_range] if "told" in captured else _parts(captured["test"][0])
            found += [Told(*part, captured["subject"][0], captured["kind"][0]) for part in parts if part[0] < part[1]]
    starts = sorted(each.start for each in outline.all if each.capture not in LEAVES) if found else []
    return [told for told in found if bisect_left(starts, told.start) == bisect_left(starts, told.end)]


def _parts(test: tree_sitter.Node) -> Iterator[tuple[int, int]]:
    """Yield the parts of a function in which a test holds."""
    node, holds = test, all(each.type != "!is" for each in test.children)
    beside: tuple[int, int] | None = None  # what stands behind the test in its condition
    for _ in range(_MOST_AROUND):
        if (around := node.parent) is None:
            break
        operator = around.children[1].type if len(around.children) > 2 else ""
        if around.children[0].type in _NOT:
            holds = not holds
        elif operator in _AND | _OR:
            if holds != (operator in _AND):
                break
            beside = (test.end_byte, around.end_byte) if node == around.children[0] else beside
        elif not around.type.startswith("parenthesized"):
            yield from _beyond(test, node, around, beside, holds=holds != around.type.startswith("unless"))
            return
        node = around
    if beside:
        yield beside


def _beyond(
    test: tree_sitter.Node,
    condition: tree_sitter.Node,
    around: tree_sitter.Node,
    beside: tuple[int, int] | None,
    *,
    holds: bool,
) -> Iterator[tuple[int, int]]:
    """Yield the parts of a statement where its condition holds."""
    named, block = around.named_children, around.parent
    is_asked = around.child_by_field_name("condition") == condition or around.type == "conditional_expression"
    others = [each for each in named if each != condition]
    body = around.child_by_field_name("consequence") or around.child_by_field_name("body") or next(iter(others), None)
    other = around.child_by_field_name("alternative") or (others[1] if is_asked and len(others) > 1 else None)
    if around.type == "if_clause" and holds and block is not None:  # of a comprehension
        yield block.named_children[0].byte_range
    elif (checking := _checking(around)) is not None and holds and checking.parent is not None:
        yield checking.end_byte, checking.parent.end_byte
    elif not is_asked or body is None:
        pass
    elif holds and body.start_byte > test.start_byte:
        yield test.end_byte, body.end_byte
        return
    elif holds:  # Python's `x.get() if isinstance(x, Store) else None`
        yield body.start_byte, test.start_byte
    elif other is not None:
        yield other.byte_range
    elif block is not None and _leaves(body):
        yield around.end_byte, block.end_byte
    if beside:
        yield beside


def _checking(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the statement that checks a condition, as `assert` does."""
    if node.type == "assert_statement":
        return node
    call: tree_sitter.Node | None = node
    while call is not None and ("argument" in call.type or call.type == "call_suffix"):
        call = call.parent
    checking = _REQUIRING if node.type == "value_argument" else _ASSERTING
    if call is None or call == node or not checking.match(call.text or b""):
        return None
    return call.parent if call.parent is not None and call.parent.type == "expression_statement" else call


def _leaves(body: tree_sitter.Node) -> bool:
    """Return whether a block ends by leaving its surroundings."""
    while body.type in _BLOCKS and body.named_children:
        body = body.named_children[-1]
    return body.type.partition("_")[0] in _LEAVING
