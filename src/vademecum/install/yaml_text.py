"""Entries in a mapping of a YAML text: insertion and removal.

The rest of the text stays. Paths have two keys. The hint holds:

opened      the line of the outer key is ours
was         the earlier text of the empty outer value: `{}`, or nothing
glue        the line end that was put before our lines
replaced    the text of an earlier entry of the same name
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from vademecum.install.part import MEND, EditError, Hint, Part, contains, newline_of, verify

MOST_ALIASES = 100  # more aliases are an attack on the parser


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the entry, as `formats.upsert` does."""
    before = _read(text)
    there = (before.get(part.path[0]) or {}) if isinstance(before, dict) else {}
    if not isinstance(before, dict) or not isinstance(there, dict):
        raise EditError(f"{part.path[0] if isinstance(before, dict) else 'what is in it'} is no mapping")
    if contains(there.get(part.path[1]), part.value):
        return text, {}
    new, hint = _placed(text, part, there.get(part.path[1]))
    verify(before, _read(new), part)
    return new, hint


def remove(text: str, part: Part, hint: Hint) -> str:
    """Remove the entry, as `formats.remove` does."""
    _read(text)
    root = yaml.compose(text)
    outer = _pair(root, part.path[0])
    inner = _pair(outer[1], part.path[1]) if outer else None
    if outer is None or inner is None:
        return text
    start, end = _line_start(text, inner[0].start_mark.index), _content_end(text, inner[1])
    if "replaced" in hint:
        return text[:start] + str(hint["replaced"]) + text[end:]
    is_last = len(outer[1].value) == 1
    if is_last and not hint.get("opened"):
        if "was" in hint:
            return text[: outer[1].start_mark.index].rstrip(" \t\r\n") + str(hint["was"]) + text[end:]
        return text[:start] + _line_margin(text, outer[0].start_mark.index) + "  {}" + text[end:]
    if is_last:
        start = _line_start(text, outer[0].start_mark.index)
    end = _line_end(text, end)
    glue = "" if text[end:] else str(hint.get("glue", ""))
    return text[:start].removesuffix(glue) + text[end:]


def _read(text: str) -> Any:
    try:
        if sum(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)) > MOST_ALIASES:
            raise EditError("it has too many aliases")
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, EditError):
            raise
        raise EditError(f"it is not valid YAML: {' '.join(str(error).split())}: {MEND}") from error
    return {} if value is None else value


def _placed(text: str, part: Part, there: Any) -> tuple[str, Hint]:
    newline = newline_of(text)
    outer = _pair(yaml.compose(text), part.path[0])
    if outer is None:
        glue = "" if not text or text.endswith("\n") else newline
        said = f"{part.path[0]}:\n" + _lines(part, part.value, "  ")
        return text + glue + said.replace("\n", newline), {"opened": True, "glue": glue}
    key, value = outer
    if not value.value or value.value == "~" or isinstance(value, yaml.ScalarNode):
        margin = _line_margin(text, key.start_mark.index) + "  "
        said = newline + _lines(part, part.value, margin).rstrip("\n").replace("\n", newline)
        colon = text.index(":", key.end_mark.index) + 1
        end = max(value.end_mark.index, colon)
        return text[:colon] + said + text[end:], {"was": text[colon:end]}
    if value.flow_style:
        raise EditError(f"{part.path[0]} is written in braces: put it on lines of its own")
    margin = " " * value.value[0][0].start_mark.column
    inner = _pair(value, part.path[1])
    if inner is not None:
        start, end = _line_start(text, inner[0].start_mark.index), _content_end(text, inner[1])
        merged = (there if isinstance(there, dict) else {}) | part.value
        said = _lines(part, merged, margin).rstrip("\n").replace("\n", newline)
        return text[:start] + said + text[end:], {"replaced": text[start:end]}
    end = _content_end(text, value)
    place = _line_end(text, end)
    glue = "" if text[:place].endswith("\n") else newline
    said = _lines(part, part.value, margin).replace("\n", newline)
    return text[:place] + glue + said + text[place:], {"glue": glue, "added": True}


def _lines(part: Part, value: dict[str, Any], margin: str) -> str:
    inside = "".join(f"{margin}  {key}: {json.dumps(each, ensure_ascii=False)}\n" for key, each in value.items())
    return f"{margin}{part.path[1]}:\n{inside}"


def _pair(node: Any, key: str) -> tuple[Any, Any] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((pair for pair in reversed(node.value) if getattr(pair[0], "value", None) == key), None)


def _content_end(text: str, node: Any) -> int:
    """Return the end of a node's content; its end mark is later."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        key, value = node.value[-1]
        return max(int(key.end_mark.index), _content_end(text, value))
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _content_end(text, node.value[-1])
    end = int(node.end_mark.index)
    while end > node.start_mark.index and text[end - 1] in "\r\n":
        end -= 1
    return end


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    """Return the end of a place's line, including its line end."""
    found = text.find("\n", place)
    return len(text) if found < 0 else found + 1


def _line_margin(text: str, place: int) -> str:
    line = text[_line_start(text, place) : place]
    return line[: len(line) - len(line.lstrip(" "))]
