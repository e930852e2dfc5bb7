"""Names of functions that code puts together, or writes in another form.

    getattr(self, f"do_{command}")()      may call `do_list`

Asked only where nothing else may call a function: what may hold the parts is read, up to some bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node
from vademecum.code.languages import language_of, rules_of
from vademecum.code.search.signals import holding
from vademecum.code.snapshot.view import LEFT_OUT

_MOST_READ = 5_000_000  # bytes
_CUTS = re.compile(r"(?<=\w)_|(?<=[a-z\d])(?=[A-Z])")
_LEAST = 2  # letters of a part
# What may follow the first part of a name, and come before the last: an interpolation, the end of a text that is joined to
# another, `##` of C, the brackets of Rust's `paste!`.
_QUOTE = rb"[\"'`]"  # a text may be the whole part: `startswith("do_")`
_QUOTE_BEFORE, _QUOTE_AFTER = rb"(?:[\"'`]|\[<|\b(?=\w+\s*##))\s*", rb"(?:[\"'`(]|\s*>\]|$)"
_GOES_ON = rb"(?:[{$%]|#\{|[\"'`]\s*(?:\+|\.[\s$])|\s*##|\s+\$\w+)"
_COMES_BEFORE = rb"(?:\}|%s|[+.]\s*[\"'`]|##\s*|\[<\s*\$\w+\s+)"


def made_elsewhere(graph: Graph, node: Node) -> str:
    """Say where a function's name may be made, or return ""."""
    own = rules_of(language_of(node.path))
    written = {each: rb"(?:\.|\{\{[#^/&{]?\s*)" + each.encode() + rb"\b" for each in own.otherwise(node.name)}
    for part, pattern in (*written.items(), *_parts(node.name)):
        found = re.compile(pattern)
        for path, content in _holding(graph, part):
            is_other = part in written and rules_of(language_of(path)) is own
            if not is_other and (match := found.search(content)) is not None:
                line = content.count(b"\n", 0, match.start()) + 1
                return f"{path}:{line} may write its name as {match[0].decode(errors='replace').strip()}"
    return ""


def _parts(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the beginnings and ends of a name, each with its pattern."""
    for cut in (found.end() for found in _CUTS.finditer(name)):
        head, tail = name[:cut], name[cut:]
        if len(head.strip("_")) >= _LEAST:
            goes_on = _GOES_ON + (b"|" + _QUOTE if head[-1] == "_" else b"")
            yield head, _QUOTE_BEFORE + head.encode() + b"(?:" + goes_on + b")"
        if len(tail) > _LEAST:
            before = _COMES_BEFORE + b"_?" + (b"|" + _QUOTE + b"_" if name[cut - 1] == "_" else b"")
            yield tail, b"(?:" + before + b")" + tail.encode() + _QUOTE_AFTER


def _holding(graph: Graph, part: str) -> Iterator[tuple[str, bytes]]:
    """Yield the code that may hold a part of a name."""
    table, catalogue = graph.opened.view.files, graph.opened.repo.catalogue
    left = _MOST_READ
    for number in np.flatnonzero(holding(graph.opened.view, part.strip("_")) & (table.blobs != LEFT_OUT)).tolist():
        rules = rules_of(table.language(number))
        if rules.is_prose or rules.is_document or rules.is_data or left <= 0:
            continue
        content = catalogue.content(int(table.blobs[number]))
        left -= len(content)
        yield table.paths[number], content
