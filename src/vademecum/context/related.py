"""Related code: graph neighbours of the matches, and their edges.

Neighbours are shown as pieces, edges as lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from vademecum.answers.pack import Form, Offer, Piece
from vademecum.code.graph.expand import expand
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node, Relation, node_id
from vademecum.context.primary import ChunksOf, File
from vademecum.types import Evidence, Neighbour

SEEDS = 5  # best pieces of evidence, whose neighbours are used; the next five cost more lines than they bring
MOST_RELATED = 10  # offered neighbours, as in CodeRAG §4
# Role of a neighbour towards the match, by the label of the graph's expansion.
_ROLES = {
    "calls": "callee", "called_by": "caller", "test_for": "test", "interface_of": "contract", "imports": "imported",
    "imported_by": "importer", "references": "named", "referenced_by": "naming", "sibling": "sibling",
}  # fmt: skip
_VERBS = {
    Relation.CALLS: "calls", Relation.INHERITS: "extends", Relation.IMPLEMENTS: "implements", Relation.IMPORTS: "imports",
    Relation.TESTS: "tests", Relation.REFERENCES: "names",
}  # fmt: skip
_NAMED = 6  # targets in one line of the excerpt


def relations(
    graph: Callable[[str], Graph], pieces: ChunksOf, task: str, found: Sequence[Evidence], exclude: Sequence[str] = ()
) -> tuple[Sequence[Offer], Sequence[Offer]]:
    """Return related code, best first, and lines about its edges.

    `graph` takes a repository's name; `pieces` returns every piece of a file, given its path and repository.
    """
    related: list[Offer] = []
    lines: list[Offer] = []
    seeds = found[:SEEDS]
    repos = dict.fromkeys(item.repo for item in seeds)
    for repo in repos:
        own = [item for item in seeds if item.repo == repo]
        its = graph(repo)
        neighbours = expand(its, own, task, limit=MOST_RELATED, exclude=exclude)
        related += offers_of(neighbours, pieces)
        starts = [node for item in own for node in its.at(item.path, item.start_line, item.end_line)]
        lines += excerpt(
            its, starts, [node_id(each.path, each.name) for each in neighbours], f"{repo}:" * (len(repos) > 1)
        )
    return related, lines


def offers_of(neighbours: Iterable[Neighbour], pieces: ChunksOf) -> list[Offer]:
    """Return the neighbouring declarations as offers.

    Each is shown whole or as a signature. Files are only named in the excerpt.
    """
    files: dict[str, File] = {}
    offers: list[Offer] = []
    for each in neighbours:
        if not each.name:
            continue
        if each.path not in files:
            files[each.path] = File(pieces(each.path, each.repo))
        piece = files[each.path].at(each.chunk, each.start_line)
        if piece is not None:
            offers.append(files[each.path].offer(piece, _reasons(each)))
    return offers


def _reasons(each: Neighbour) -> tuple[str, ...]:
    """Return a neighbour's role, its tier, and the way to it."""
    role = _ROLES.get(each.relation, each.relation)
    sure = "" if each.tier == "exact" else f" {each.tier}"
    return (f"{role}{sure} via {each.via}" if each.via else f"{role}{sure}",)


def excerpt(graph: Graph, starts: Sequence[Node], others: Sequence[int], within: str) -> list[Offer]:
    """Return a line per node, as "Engine.open calls assemble, narrow".

    `within` stands before each path.
    """
    every = dict.fromkeys([*(node.id for node in starts), *others])
    nodes = graph.nodes(every)
    leads: dict[int, dict[str, list[str]]] = {}
    for edge in graph.edges(every.keys()):
        if edge.target in nodes and edge.source in nodes and edge.source != edge.target:
            own = leads.setdefault(edge.source, {}).setdefault(_VERBS[edge.relation], [])
            own.append(nodes[edge.target].label)
    offers: list[Offer] = []
    for number in every:
        if number in leads:
            node = nodes[number]
            said = "; ".join(f"{verb} {_listed(targets)}" for verb, targets in leads[number].items())
            place = f" ({within}{node.path}:{node.start_line})" if node.qualified else ""
            text = f"{node.label}{place} {said}"
            offers.append((Piece(text, (), Form.LINE, None, (f"graph:{text}",)),))
    return offers


def _listed(targets: Sequence[str]) -> str:
    named = list(dict.fromkeys(targets))
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more
