"""A tool as text, for matching and embedding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vademecum.tools.records import Tool
from vademecum.types import Passage

_DEEPEST = 3  # levels of a schema that are read
_MOST_FIELDS = 60
_DEPRECATED = re.compile(
    r"\A\W*deprecated(?=\s*[^\w\s]|\s+(?:since|in|as|use|by|and)\b|\s*\Z)"
    r"|\b(?:this|it|tool|method|endpoint|operation|function)\s+(?:is|was|has been)\s+(?:now\s+)?deprecated\b"
    r"|[\[(]deprecated\b",
    re.IGNORECASE,
)


def document(tool: Tool) -> str:
    """Return the text that words are matched in: the name counts twice.

    >>> schema = {"properties": {"path": {"type": "string", "description": "Where it is."}}}
    >>> document(Tool.of("files", "read", "Read a file.", input_schema=schema))
    'read read Read a file. path Where it is.'
    """
    return " ".join([tool.name, tool.name, tool.description, *fields(tool.input_schema), *names(tool.output_schema)])


def passage(tool: Tool) -> Passage:
    """Return the text that the embedder reads."""
    return Passage(f"{tool.description} {' '.join(names(tool.input_schema))}".strip(), tool.name, tool.server)


def is_deprecated(tool: Tool) -> bool:
    """Return whether a tool says of itself that it is deprecated.

    >>> said = "[Deprecated] Use read.", "Read a file. This tool is deprecated.", "Find deprecated calls."
    >>> [is_deprecated(Tool.of("files", "cat", each)) for each in said]
    [True, True, False]
    """
    return _DEPRECATED.search(tool.description) is not None


def names(schema: Mapping[str, Any]) -> list[str]:
    """Return the property names of a JSON Schema, outermost first.

    >>> names({"properties": {"to": {"type": "array", "items": {"properties": {"mail": {}}}}, "text": {}}})
    ['to', 'mail', 'text']
    """
    return [name for name, _ in _properties(schema, 0)][:_MOST_FIELDS]


def fields(schema: Mapping[str, Any]) -> list[str]:
    """Return names and descriptions of a JSON Schema's properties."""
    found: list[str] = []
    for name, body in _properties(schema, 0):
        said = body.get("description")
        found += [name, said] if isinstance(said, str) and said else [name]
        if len(found) > 2 * _MOST_FIELDS:
            break
    return found


def _properties(schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    properties = schema.get("properties")
    if depth < _DEEPEST and isinstance(properties, Mapping):
        for name, body in properties.items():
            known = body if isinstance(body, Mapping) else {}
            yield str(name), known
            yield from _properties(known, depth + 1)
    items = schema.get("items")
    if depth < _DEEPEST and isinstance(items, Mapping):
        yield from _properties(items, depth + 1)
