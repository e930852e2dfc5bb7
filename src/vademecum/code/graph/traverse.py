"""Walks along trusted edges: outward from nodes, and shortest ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.graph import Graph, check_depth
from vademecum.code.graph.terms import Edge, Node, Relation, Tier, node_id
from vademecum.code.languages.declarations import FUNCTIONS
from vademecum.code.languages.scopes import CLASSES
from vademecum.types import FileKind

Met = tuple[Node, Edge, int, str, Tier]
_CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "initialize", "__construct"})


def walked(
    graph: Graph,
    start: Sequence[Node],
    relations: Sequence[Relation],
    depth: int,
    *,
    into: bool,
    begun: Mapping[int, tuple[str, Tier]] = MappingProxyType({}),
) -> list[Met]:
    """Return every reached node with its last edge.

    With it come the steps, the nodes between, and the weakest tier. Code names a class to call its constructor, so
    backwards a walk goes on from a constructor to whoever makes an instance of its class.

    `begun` tells by which way, and how surely, the start itself was reached.
    """
    ways: dict[int, tuple[str, Tier]] = {node.id: ("", Tier.EXACT) for node in start} | dict(begun)
    frontier = [node.id for node in start]
    classes: set[int] = set()  # met by their constructors: whoever only names one does not lead there
    found: list[Met] = []
    for step in range(1, check_depth(depth) + 1):
        edges = graph.edges(frontier, relations, into=into)
        nodes = graph.nodes(edge.source if into else edge.target for edge in edges)
        frontier = []
        several = {key for key, count in Counter(edge.source for edge in edges).items() if count > 1 and into}
        imports = {e for e in edges if e.source in several and graph.is_import(e, nodes[e.source])}
        # a call says more than another use, a use more than its import
        for edge in sorted(edges, key=lambda e: (e.tier, e in imports, e.relation is not Relation.CALLS, e.line)):
            here, there = (edge.target, edge.source) if into else (edge.source, edge.target)
            if there in nodes and there not in ways and (here not in classes or edge.relation is Relation.CALLS):
                via, tier = ways[here]
                node, tier = nodes[there], max(tier, edge.tier)
                ways[there] = (f"{via} > {node.label}" if via else node.label, tier)
                found.append((graph.overload(node, edge.line) if into else node, edge, step, via, tier))
                frontier.append(there)
        for made, constructor in made_by(graph, [nodes[there] for there in frontier] if into else ()).items():
            if made not in ways:
                ways[made] = ways[constructor]
                classes.add(made)
                frontier.append(made)
    return sorted(found, key=order)


def is_constructor(node: Node) -> bool:
    """Return whether a declaration runs when an instance is made."""
    holder = node.qualified.rpartition(".")[0].rpartition(".")[2]
    is_named_so = node.name in _CONSTRUCTORS or (node.name == holder and node.kind in FUNCTIONS)
    return is_named_so or node.kind == "constructor"


def made_by(graph: Graph, nodes: Iterable[Node]) -> dict[int, int]:
    """Return the classes that constructors make, each with its constructor.

    A class without a constructor of its own is made by that of its base.
    """
    constructors = [node for node in nodes if is_constructor(node)]
    made = {node.parent: node.id for node in constructors}
    for node in constructors:
        if node.parent == node_id(node.path):  # defined apart from its class, as in C++
            holder = node.qualified.rpartition(".")[0]
            named = graph.with_name(holder.rpartition(".")[2]) if holder else ()
            made |= {each.id: node.id for each in named if each.kind in CLASSES and each.qualified == holder}
    outer = dict(made)
    while outer:
        derived = graph.edges(outer, (Relation.INHERITS,), into=True)
        below = {edge.source: made[edge.target] for edge in derived if edge.source not in made}
        own = {node.parent for node in graph.children(below) if is_constructor(node)} if below else set()
        outer = {number: constructor for number, constructor in below.items() if number not in own}
        made |= outer
    return made


def order(met: Met) -> tuple[int, int, Tier, str, int]:
    """Nearest first, product code before tests and documents, the surest first."""
    node, edge, steps, _, tier = met
    kind = file_kind(node.path)
    return steps, (kind is FileKind.TEST) + 2 * (kind is FileKind.DOC), tier, node.path, edge.line


def nearest(found: Iterable[Met], own: Collection[int]) -> list[Met]:
    """Return each node once, as first met, without the start."""
    met: dict[int, Met] = {}
    for each in sorted(found, key=order):
        if each[0].id not in own:
            met.setdefault(each[0].id, each)
    return list(met.values())


def shortest_way(
    graph: Graph, starts: Sequence[Node], ends: Sequence[Node], depth: int, relations: Sequence[Relation]
) -> list[tuple[Node, Edge]]:
    """Return the nodes and edges of a shortest way, [] for none.

    The first node is left out.
    """
    from_start = graph.reach([node.id for node in starts], relations, depth)
    to_end = graph.reach([node.id for node in ends], relations, depth, into=True)
    meeting = min((n for n in from_start if n in to_end), key=lambda n: (from_start[n] + to_end[n], n), default=None)
    if meeting is None:
        return []
    edges = _steps(graph, meeting, from_start, relations, into=True)[::-1]
    edges += _steps(graph, meeting, to_end, relations, into=False)
    nodes = graph.nodes(edge.target for edge in edges)
    return [(nodes[edge.target], edge) for edge in edges]


def _steps(graph: Graph, here: int, steps: dict[int, int], relations: Sequence[Relation], *, into: bool) -> list[Edge]:
    """Return the edges from a node back to the start, nearest first."""
    way = []
    while steps[here]:
        edges = graph.edges([here], relations, into=into)
        edge = next(e for e in edges if steps.get(e.source if into else e.target) == steps[here] - 1)
        way.append(edge)
        here = edge.source if into else edge.target
    return way
