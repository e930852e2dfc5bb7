"""Which files may refer to a declaration without the graph knowing: what "nobody calls it" depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vademecum.codebase.graph.definitions import FAMILIES
from vademecum.codebase.graph.graph import Graph
from vademecum.codebase.graph.terms import Node
from vademecum.codebase.languages import has_references, row


def uncovered_files(graph: Graph, nodes: Sequence[Node]) -> list[str]:
    """Return, sorted, the files in which a reference to one of the nodes may stand unseen.

    These call its name on something unknown; or hold its name and were not parsed without errors; or hold it and are
    in a programming language of which the graph reads no references.
    """
    names = {node.name for node in nodes}
    found = {path for name in names for path in graph.unresolved(name)}
    found |= set(_unread(graph, names, {_language(graph, node) for node in nodes}))
    return sorted(found)


def _unread(graph: Graph, names: set[str], languages: set[str]) -> Iterator[str]:
    """Yield files that hold one of the names, and whose references are not all known."""
    table, catalogue = graph.opened.view.files, graph.opened.repo.catalogue
    families = {FAMILIES.get(language, language) for language in languages}
    broken = catalogue.with_errors()
    wanted = [name.encode() for name in names]
    for number, path in enumerate(table.paths):
        language, blob = table.language(number), int(table.blobs[number])
        is_code = (known := row(language)) is not None and known.module is not None
        if not is_code or not blob:
            continue
        silent = not has_references(language)
        if (silent or (blob in broken and FAMILIES.get(language, language) in families)) and _holds(
            catalogue.content(blob), wanted
        ):
            yield path


def _holds(content: bytes, names: Sequence[bytes]) -> bool:
    return any(name in content for name in names)


def _language(graph: Graph, node: Node) -> str:
    table = graph.opened.view.files
    return table.language(table.paths.index(node.path)) if node.path in table.paths else ""
