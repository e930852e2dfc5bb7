"""A tool as text, for matching and embedding."""

from __future__ import annotations

import re

from vademecum.tools.fields import fields_of
from vademecum.tools.records import Tool
from vademecum.types import Passage

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
    taken = [part for field in fields_of(tool.input_schema) for part in (field.own, field.said) if part]
    given = [field.own for field in fields_of(tool.output_schema)]
    return " ".join([tool.name, tool.name, tool.description, *taken, *given])


def passage(tool: Tool) -> Passage:
    """Return the text that the embedder reads."""
    taken = " ".join(field.own for field in fields_of(tool.input_schema))
    return Passage(f"{tool.description} {taken}".strip(), tool.name, tool.server)


def is_deprecated(tool: Tool) -> bool:
    """Return whether a tool says of itself that it is deprecated.

    >>> said = "[Deprecated] Use read.", "Read a file. This tool is deprecated.", "Find deprecated calls."
    >>> [is_deprecated(Tool.of("files", "cat", each)) for each in said]
    [True, True, False]
    """
    return _DEPRECATED.search(tool.description) is not None
