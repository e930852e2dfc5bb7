"""A docstring parser for Google, NumPy and Sphinx styles.

Each style is recognised by its marks. Nothing is lost: sections other than parameters, returns and raises stay in the
description. The docstring_parser package drops such sections and the untyped returns of a NumPy docstring, and takes
ten times as long.
"""

from __future__ import annotations

import re
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
Section = tuple[str, list[str], dict[str, str], int]  # key of the result, lines, items, number of the next line


def parse_docstring(text: str) -> Parsed:
    r"""Parse a docstring whose indentation is removed (`inspect.cleandoc`).

    Returns:
        A dict of `summary` (the first paragraph on one line), `description` (the other prose), `params` (name → text),
        `returns`, and `raises` (exception → text). A key without text in the docstring is empty.

    >>> parse_docstring("Add.\n\nArgs:\n    x (int): One.\n    y: Two,\n        or three.")["params"]
    {'x': 'One.', 'y': 'Two, or three.'}
    """
    result: Parsed = {"summary": "", "description": "", "params": {}, "returns": "", "raises": {}}
    lines, prose, position = text.strip().split("\n"), [], 0
    if len(lines) == 1:
        return result | {"summary": lines[0].strip()}
    while position < len(lines):
        section = _sphinx(lines, position) or _google(lines, position) or _numpy(lines, position)
        if section is None:
            prose.append(lines[position])
            position += 1
            continue
        kind, block, items, position = section
        if kind == "returns":
            result["returns"] = _joined([result["returns"], *block])
        elif kind != "types":  # annotations hold the types
            result[kind].update(items)
    summary, _, description = "\n".join(prose).strip().partition("\n\n")
    return result | {"summary": _joined([summary]), "description": description.strip()}


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _sphinx(lines: list[str], at: int) -> Section | None:
    """Return the field that begins on a line: `:param count:`.

    `:param int count:` names its type first.
    """
    entry = _SPHINX_FIELD.match(lines[at])
    if entry is None or entry[1] not in _SPHINX_KINDS:
        return None
    end = _indented_end(lines, at + 1)
    block = [entry[3], *lines[at + 1 : end]]
    name = (entry[2] or "").split()
    return _SPHINX_KINDS[entry[1]], block, {name[-1] if name else "": _joined(block)}, end


def _google(lines: list[str], at: int) -> Section | None:
    """Return the indented section below a header such as `Args:`."""
    header = _GOOGLE_HEADER.match(lines[at])
    kind = _KINDS.get(header[1].lower()) if header else None
    if kind is None or at + 1 == len(lines) or not lines[at + 1].startswith((" ", "\t")):
        return None
    end = _indented_end(lines, at + 1)
    block = lines[at + 1 : end]
    return kind, block, _items(block, _GOOGLE_ITEM), end


def _numpy(lines: list[str], at: int) -> Section | None:
    """Return the section below an underlined header, up to the next one."""
    kind = _KINDS.get(lines[at].strip().lower())
    if kind is None or not _is_underlined(lines, at):
        return None
    end = next((n for n in range(at + 2, len(lines)) if lines[n].strip() and _is_underlined(lines, n)), len(lines))
    block = lines[at + 2 : end]
    return kind, block, _items(block, _NUMPY_ITEM), end


def _is_underlined(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(_NUMPY_RULE.match(lines[at + 1]))


def _indented_end(lines: list[str], start: int) -> int:
    """Return the first line that is neither blank nor indented."""
    after = range(start, len(lines))
    return next((n for n in after if lines[n] and not lines[n].startswith((" ", "\t"))), len(lines))


def _items(block: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Parse items at the block's own indentation; deeper lines continue them."""
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
