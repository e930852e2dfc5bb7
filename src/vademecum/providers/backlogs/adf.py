"""Atlassian Document Format to Markdown.

Jira Cloud's version 3 writes descriptions and comments in this format. A document is a tree of nodes:
{"type": "paragraph", "content": [{"type": "text", "text": "…", "marks": [{"type": "strong"}]}]}.
Source: Atlassian Document Format, developer.atlassian.com/cloud/jira/platform/apis/document/structure. A node of an unknown kind
is replaced by its content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

DEEPEST = 60  # depth of nodes; deeper ones are not read
_MARKS = {"strong": "**", "em": "*", "code": "`", "strike": "~~"}
_NAMED = {"mention": "text", "emoji": "text", "status": "text", "placeholder": "text"}
_CARDS = frozenset({"inlineCard", "blockCard", "embedCard"})


def adf_markdown(node: Any) -> str:
    """Return a document as Markdown; strings, as in version 2, stay unchanged.

    >>> said = {"type": "text", "text": "twice", "marks": [{"type": "strong"}]}
    >>> adf_markdown({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Retry "}, said]}]})
    'Retry **twice**'
    """
    if isinstance(node, str):
        return node.strip()
    return "\n\n".join(_blocks(node, 0)).strip() if isinstance(node, Mapping) else ""


Node = Mapping[str, Any]


def _blocks(node: Node, depth: int) -> list[str]:
    """Return a node's blocks."""
    kind, inner = str(node.get("type")), _inner(node, depth)
    if kind in _BLOCKS:
        return [_BLOCKS[kind](_attributes(node), inner, depth)]
    if kind in {"text", "hardBreak", "inlineExtension", *_NAMED, *_CARDS}:
        return [_inline([node], depth)]
    return [block for each in inner for block in _blocks(each, depth + 1) if block]


def _attributes(node: Node) -> Mapping[str, Any]:
    given = node.get("attrs")
    return given if isinstance(given, Mapping) else {}


def _heading(given: Mapping[str, Any], inner: Sequence[Node], depth: int) -> str:
    level = given.get("level")
    return f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 2)} {_inline(inner, depth)}"


def _code(given: Mapping[str, Any], inner: Sequence[Node], _: int) -> str:
    return f"```{given.get('language') or ''}\n{''.join(str(each.get('text', '')) for each in inner)}\n```"


def _quote(_: Mapping[str, Any], inner: Sequence[Node], depth: int) -> str:
    said = "\n\n".join(block for each in inner for block in _blocks(each, depth + 1))
    return "\n".join(f"> {line}".rstrip() for line in said.split("\n"))


def _inner(node: Mapping[str, Any], depth: int) -> Sequence[Node]:
    content = node.get("content") if depth < DEEPEST else None
    return [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []


def _inline(nodes: Sequence[Node], depth: int) -> str:
    return "".join(_word(node, depth) for node in nodes).strip()


def _word(node: Mapping[str, Any], depth: int) -> str:
    kind = node.get("type")
    given = _attributes(node)
    if kind == "text":
        return _marked(str(node.get("text", "")), node.get("marks"))
    if kind == "hardBreak":
        return "\n"
    if kind in _NAMED:
        return str(given.get(_NAMED[str(kind)]) or given.get("shortName") or "")
    if kind in _CARDS:
        return str(given.get("url") or "")
    return _inline(_inner(node, depth), depth + 1)


def _marked(text: str, marks: Any) -> str:
    for mark in marks if isinstance(marks, list) else ():
        kind = mark.get("type") if isinstance(mark, Mapping) else ""
        if kind in _MARKS:
            text = f"{_MARKS[str(kind)]}{text}{_MARKS[str(kind)]}"
        elif kind == "link" and isinstance(mark.get("attrs"), Mapping):
            text = f"[{text}]({mark['attrs'].get('href', '')})"
    return text


def _listed(items: Sequence[Node], depth: int, *, ordered: bool) -> str:
    lines = []
    for number, item in enumerate(items, 1):
        own = _inner(item, depth + 1)
        blocks = [_inline(own, depth)] if own and own[0].get("type") == "text" else []
        blocks = blocks or [block for each in own for block in _blocks(each, depth + 2)]
        said = "\n".join(blocks).split("\n")
        lines.append((f"{number}. " if ordered else "- ") + "\n  ".join(said))
    return "\n".join(lines)


def _table(rows: Sequence[Node], depth: int) -> str:
    lines = []
    for number, row in enumerate(rows):
        cells = [
            " ".join(block for each in _inner(cell, depth + 2) for block in _blocks(each, depth + 3))
            for cell in _inner(row, depth + 1)
        ]
        lines.append("| " + " | ".join(" ".join(cell.split()) for cell in cells) + " |")
        if not number:
            lines.append("|" + " --- |" * len(cells))
    return "\n".join(lines)


_BLOCKS: Mapping[str, Callable[[Mapping[str, Any], Sequence[Node], int], str]] = {
    "paragraph": lambda _, inner, depth: _inline(inner, depth),
    "caption": lambda _, inner, depth: _inline(inner, depth),
    "heading": _heading,
    "codeBlock": _code,
    "bulletList": lambda _, inner, depth: _listed(inner, depth, ordered=False),
    "taskList": lambda _, inner, depth: _listed(inner, depth, ordered=False),
    "decisionList": lambda _, inner, depth: _listed(inner, depth, ordered=False),
    "orderedList": lambda _, inner, depth: _listed(inner, depth, ordered=True),
    "table": lambda _, inner, depth: _table(inner, depth),
    "rule": lambda *_: "---",
    "blockquote": _quote,
}
