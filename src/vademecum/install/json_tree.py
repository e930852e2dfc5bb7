"""Syntax tree of JSON text with comments, with places, for `json_text`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from vademecum.install.part import MEND, EditError

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<punctuation>[{}\[\],:])|(?P<word>[^\s{}\[\],:"/]+)|(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(slots=True)
class Node:
    """A value: its start and end, and its items if any.

    Only objects and lists have items.
    """

    start: int
    kind: str  # "{", "[" or "" for a plain value
    end: int = -1
    items: list[Item] = field(default_factory=list)

    def find(self, key: str) -> Item | None:
        """Return the last member with this name, as JSON readers do."""
        return next((item for item in reversed(self.items) if item.key == key), None)


@dataclass(slots=True)
class Item:
    """A member of an object, or an element of a list.

    `start` is the place of its key, or of its value; `comma` the place of the comma after it.
    """

    start: int
    key: str | None
    node: Node
    comma: int | None = None


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of each token."""
    for match in _TOKEN.finditer(text):
        yield str(match.lastgroup), match.start(), match.end()


def bare(text: str) -> str:
    r"""Replace comments and trailing commas by spaces, keeping all places.

    >>> bare('{"a": 1, // one\n}')
    '{"a": 1        \n}'
    """
    pieces: list[str] = []
    comma = -1  # index of the last comma, while only space follows it
    for kind, start, end in tokens(text):
        word = text[start:end]
        if kind == "comment":
            word = re.sub(r"[^\r\n]", " ", word)
        elif kind == "punctuation" and word in "}]" and comma >= 0:
            pieces[comma] = " "
        if kind not in {"space", "comment"}:
            comma = len(pieces) if word == "," else -1
        pieces.append(word)
    return "".join(pieces)


def value_of(text: str, *, comments: bool) -> Any:
    """Parse a text.

    Raises:
        EditError: the text is not valid JSON, or nested too deeply.
    """
    try:
        return json.loads(bare(text) if comments else text, parse_constant=_no_constant)
    except RecursionError as error:
        raise EditError("it is nested too deeply") from error
    except ValueError as error:
        if not comments and _is_json(bare(text)):
            raise EditError(
                f"it is not valid JSON, which has no comments and no trailing commas: {error}: {MEND}"
            ) from error
        raise EditError(f"it is not valid JSON: {error}: {MEND}") from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def tree_of(text: str) -> Node:
    """Return the tree of a text that `value_of` accepts."""
    top = Node(0, "[", len(text))
    stack, key = [top], None
    key_start = -1
    for kind, start, end in tokens(text):
        word = text[start:end]
        if kind in {"space", "comment"} or word == ":":
            continue
        inside = stack[-1]
        if word == ",":
            inside.items[-1].comma = start
        elif word in {"}", "]"}:
            stack.pop().end = end
        elif inside.kind == "{" and key is None:
            key, key_start = json.loads(word) if "\\" in word else word[1:-1], start
        else:
            node = Node(start, word if word in {"{", "["} else "", end)
            inside.items.append(Item(start if key is None else key_start, key, node))
            key = None
            if node.kind:
                stack.append(node)
    return top.items[0].node
