"""The part of the graph that a drawing shows.

This is the neighbourhood of a declaration or a file, or the most central files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vademecum.code.graph.centrality import centrality, file_centrality
from vademecum.code.graph.graph import ANY, Graph, check_depth
from vademecum.code.graph.terms import Edge, Node, Relation
from vademecum.errors import UnknownError

MOST = 80  # nodes drawn: more is a cloud


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Nodes, the edges among them, and the nodes in the middle."""

    title: str
    centre: tuple[int, ...]  # ids of what was asked for; () for the whole repository
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    weight: dict[int, float]  # how central each node is, 0..1
    left_out: int = 0  # nodes met that are not drawn


def surroundings(graph: Graph, name: str = "", depth: int = 2, most: int = MOST) -> Surroundings:
    """Return the nodes within `depth` steps of a name or path.

    Around nothing, return the most central files.

    Raises:
        UsageError: there is no such name, or `depth` is not 1, 2 or 3.
    """
    check_depth(depth)
    if not name:
        return _overview(graph, most)
    centre = graph.named(name)
    if not centre:
        raise UnknownError(f"{name!r} is defined nowhere here: `vade symbol {name}` shows the nearest names")
    ids = {node.id for node in centre}
    if not centre[0].qualified:  # a file stands for what it declares
        ids |= {node.id for node in graph.in_files([centre[0].path])}
    steps = graph.reach(sorted(ids), ANY, depth, into=True)
    for number, count in graph.reach(sorted(ids), ANY, depth).items():
        steps[number] = min(count, steps.get(number, count))
    ranks = centrality(graph, dict.fromkeys(ids, 1.0))
    own = {node.id for node in centre}
    drawn = sorted(steps, key=lambda n: (n not in own, steps[n] > 1, -ranks.get(n, 0.0), n))[:most]
    return _drawn(graph, name, tuple(sorted(own)), drawn, ranks, len(steps))


def _overview(graph: Graph, most: int) -> Surroundings:
    ranks = file_centrality(graph)
    best = sorted(ranks, key=lambda path: (-ranks[path], path))[:most]
    files = {node.path: node.id for node in graph.in_files(best) if not node.qualified}
    weights = {files[path]: ranks[path] for path in best if path in files}
    return _drawn(graph, graph.opened.repo.name, (), list(weights), weights, len(ranks))


def _drawn(
    graph: Graph, title: str, centre: tuple[int, ...], ids: Sequence[int], ranks: dict[int, float], met: int
) -> Surroundings:  # fmt: skip
    nodes = graph.nodes(ids)
    edges = [e for e in graph.edges(list(nodes)) if e.target in nodes and e.relation is not Relation.TESTS]
    highest = max((ranks.get(number, 0.0) for number in nodes if number not in centre), default=0.0) or 1.0
    weight = {number: min(1.0, ranks.get(number, 0.0) / highest) for number in nodes}
    return Surroundings(title, centre, tuple(nodes.values()), tuple(edges), weight, max(0, met - len(nodes)))
