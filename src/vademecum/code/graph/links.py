"""Edges of documents: links and paths to files, code spans to definitions.

A word that could be anything names nothing.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right

from vademecum.code.graph.definitions import Definitions, File
from vademecum.code.graph.edges import Found
from vademecum.code.graph.terms import Node, Relation, Tier

_LINK = re.compile(r"\]\(\s*<?([^)\s>#]+)")
_SPAN = re.compile(r"`+([^`\n]{3,120})`+")
_NAME = re.compile(r"[~.]?([A-Za-z_][\w]*(?:(?:\.|::|#)[A-Za-z_]\w*)*)(\(\)|\(\.*\))?")
_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)*\.\w{1,5}")
_TELLING = re.compile(r"_|[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z]|::|\.|#")


def document_edges(definitions: Definitions, file: File) -> Found:
    """Return the edges of one document."""
    found = Found()
    text = definitions.content(file.path)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for match in _LINK.finditer(text):
        if "://" not in match[1]:
            _link(definitions, file, match[1], bisect_right(starts, match.start()), found)
    for match in _SPAN.finditer(text):
        line = bisect_right(starts, match.start())
        spelled = match[1].strip()
        if _PATH.fullmatch(spelled):
            _link(definitions, file, spelled, line, found)
        named = _NAME.fullmatch(spelled)
        if named and (named[2] or _TELLING.search(named[1])):
            _name(definitions, file, re.sub(r"::|#", ".", named[1]), line, found)
    return found


def _link(definitions: Definitions, file: File, target: str, line: int, found: Found) -> None:
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), target))
    for path in (beside, posixpath.normpath(target.lstrip("/"))):
        definitions.consulted.add("/" + posixpath.basename(path))
        if path in definitions and path != file.path:
            found.add(_section(file, line), Relation.REFERENCES, definitions.file(path).itself, Tier.EXACT, line)
            return


def _name(definitions: Definitions, file: File, spelled: str, line: int, found: Found) -> None:
    """Add an edge to the one definition that a name spells out."""
    parts = spelled.split(".")
    fitting = [
        (other, node) for other, node in definitions.named(parts[-1], "")
        if not other.rules.is_document and not other.is_test and _ends_with(other, node, parts)
    ]  # fmt: skip
    if len(fitting) == 1:
        found.add(_section(file, line), Relation.REFERENCES, fitting[0][1], Tier.UNIQUE, line)


def _ends_with(file: File, node: Node, parts: list[str]) -> bool:
    """Return whether a definition's path and qualified name end so."""
    whole = [*file.path.rpartition(".")[0].split("/"), *node.qualified.split(".")]
    return whole[-len(parts) :] == parts


def _section(file: File, line: int) -> Node:
    """Return the innermost section of a document around a line."""
    inside = [node for node in file.nodes.values() if node.start_line <= line <= node.end_line]
    return max(inside, key=lambda node: node.start_line, default=file.itself)
