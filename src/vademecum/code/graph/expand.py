"""The neighbours of evidence in the graph, labelled, most relevant first.

Source: CodeRAG §4 (labels, two steps, ten at most). Ranked by relevance to the question, not by distance alone:

    score = worth of the label * 0.5 ** (steps - 1) * (0.2 + relevance of its chunk to the question, 0..1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.graph import Graph, check_depth
from vademecum.code.graph.terms import Edge, Node, Relation, Tier
from vademecum.code.search.rank import relevance
from vademecum.code.search.signals import signals_of
from vademecum.code.snapshot.repository import Opened
from vademecum.index.query import plan_query
from vademecum.matching import passes
from vademecum.result import Ok
from vademecum.types import KINDS, Evidence, FileKind, Neighbour, Passage

DEPTH, MOST = 2, 10
LABELS = (
    "imports", "imported_by", "calls", "called_by", "references", "referenced_by", "test_for", "interface_of", "sibling",
)  # fmt: skip
_WORTH = {
    "calls": 1.0, "called_by": 0.9, "references": 1.0, "referenced_by": 0.9, "test_for": 0.8, "interface_of": 0.9, "imports": 0.5, "imported_by": 0.4, "sibling": 0.3,
}  # fmt: skip
_FLOOR = 0.2  # what a neighbour is worth that has nothing of the question
_FANNED = 400  # edges looked at around one node: a hub leads everywhere
Relevance = Callable[[Node], float]


def expand(
    graph: Graph,
    evidence: Sequence[Evidence],
    question: str,
    *,
    depth: int = DEPTH,
    limit: int = MOST,
    relevant: Relevance | None = None,
    exclude: Sequence[str] = (),
) -> list[Neighbour]:
    """Return the best `limit` neighbours of evidence, themselves no evidence.

    Args:
        graph: the graph of the repository that the evidence is from (`graph_of`).
        evidence: what a search found there; what is from elsewhere is passed over.
        question: what was asked; "" ranks by label and distance alone.
        depth: steps along edges, 1 to 3.
        limit: how many.
        exclude: globs of paths; what lies there is passed over.
        relevant: tells how relevant a node is, 0..1; the search's own signals unless given.

    Raises:
        UsageError: `depth` is not 1, 2 or 3.
    """  # fmt: skip
    own = [item for item in evidence if item.repo == graph.opened.repo.name]
    seeds = [node for item in own for node in graph.at(item.path, item.start_line, item.end_line)]
    relevant = relevant or (relevance_to(graph.opened, question) if question else lambda _: 0.0)
    shown = {(item.path, item.start_line, item.end_line) for item in own}
    best: dict[int, Neighbour] = {}
    for node, label, tier, steps, via, edge in neighbours(graph, seeds, depth):
        if (node.path, node.start_line, node.end_line) in shown or any(_inside(node, item) for item in own):
            continue
        if passes(exclude, node.path):
            continue
        score = _worth(label, node) * 0.5 ** (steps - 1) * (_FLOOR + relevant(node))
        if node.id not in best or score > best[node.id].score:
            best[node.id] = replace(
                neighbour_of(graph, node, label, tier, steps, via=via, edge=edge), score=round(score, 4)
            )
    return sorted(best.values(), key=lambda each: (-each.score, each.distance, each.path, each.start_line))[:limit]


def _worth(label: str, node: Node) -> float:
    """Return the weight of a neighbour's label.

    A file that only names something weighs as little as one that imports it.
    """
    return _WORTH["imported_by" if label == "referenced_by" and not node.qualified else label]


Step = tuple[Node, str, Tier, int, str, Edge | None]


def neighbours(graph: Graph, seeds: Sequence[Node], depth: int) -> list[Step]:
    """Return the nodes within `depth` steps, breadth first.

    Each way to a node has the label of its first step.

    Siblings are met in one step, and nothing is met through them.
    """
    check_depth(depth)
    start = {node.id for node in seeds}
    files = {node.path for node in seeds}
    start |= {
        node.id
        for node in graph.in_files(sorted(files))
        if not node.qualified and not any(s.qualified for s in seeds if s.path == node.path)
    }
    met: dict[int, Step] = {}
    frontier: dict[int, tuple[str, Tier, str]] = dict.fromkeys(sorted(start), ("", Tier.EXACT, ""))
    found: list[Step] = []
    for steps in range(1, depth + 1):
        ways = _ways(graph, frontier)
        nodes = graph.nodes(there for _, there, *_ in ways)
        following: dict[int, tuple[str, Tier, str]] = {}
        for here, there, label, edge in ways:
            node = nodes.get(there)
            if node is None or there in start or there in met:
                continue
            first, tier, via = frontier[here]
            shown, tier = first or label, max(tier, edge.tier)
            step: Step = (node, shown, tier, steps, via, edge)
            met[there] = step
            found.append(step)
            following[there] = (shown, tier, f"{via} > {node.label}" if via else node.label)
        frontier = following
    return found + [step for step in _around(graph, seeds, start) if step[0].id not in met]


def _ways(graph: Graph, frontier: dict[int, tuple[str, Tier, str]]) -> list[tuple[int, int, str, Edge]]:
    """Return (from, to, label, edge) of the frontier's edges, surest first."""
    found = []
    count: dict[int, int] = {}
    for into in (False, True):
        edges = graph.edges(frontier.keys(), into=into)
        sources = graph.nodes(edge.source for edge in edges)
        for edge in edges:
            here, there = (edge.target, edge.source) if into else (edge.source, edge.target)
            count[here] = count.get(here, 0) + 1
            if count[here] <= _FANNED and edge.source in sources:
                found.append((here, there, _label(graph, edge, sources[edge.source], into=into), edge))
    return found


def _label(graph: Graph, edge: Edge, source: Node, *, into: bool) -> str:
    if into and file_kind(source.path) is FileKind.TEST:
        return "test_for"
    if edge.relation in {Relation.INHERITS, Relation.IMPLEMENTS}:
        return "called_by" if into else "interface_of"
    if edge.relation is Relation.TESTS:
        return "test_for"
    if graph.is_import(edge, source):
        return "imported_by" if into else "imports"
    if edge.relation is Relation.REFERENCES:
        return "referenced_by" if into else "references"
    return "called_by" if into else "calls"


def _around(graph: Graph, seeds: Sequence[Node], start: set[int]) -> list[Step]:
    """Return the siblings of declarations in the same class or file."""
    around = {node.parent for node in seeds if node.parent}
    return [
        (node, "sibling", Tier.EXACT, 1, "", None)
        for node in graph.children(around)
        if node.id not in start and node.kind not in {"field", "constant", "property"}
    ]


def _inside(node: Node, item: Evidence) -> bool:
    return node.path == item.path and item.start_line <= node.start_line and node.end_line <= item.end_line


def neighbour_of(
    graph: Graph, node: Node, relation: str, tier: Tier, distance: int, *, via: str = "", edge: Edge | None = None
) -> Neighbour:
    """Return a node as a neighbour, without signature and line's text.

    The face that shows the neighbour adds these.
    """
    source = graph.nodes([edge.source]).get(edge.source) if edge else None
    return Neighbour(
        graph.opened.repo.name, node.path, node.start_line, node.end_line, node.qualified, node.kind, relation, str(tier),
        distance, edge.line if edge else 0, source.path if source else "", via,
        is_test=file_kind(node.path) is FileKind.TEST, chunk=node.chunk,
    )  # fmt: skip


def relevance_to(opened: Opened, question: str) -> Relevance:
    """Return a function that rates how relevant a node is.

    The rate is 0..1, from the signals that search ranks with.
    """
    view, plan = opened.view, plan_query(question)
    match opened.repo.embedder().embed([Passage(plan.text)], "query"):
        case Ok(vectors):
            vector = vectors[0]
        case _:
            vector = None
    signals, _ = signals_of(view, plan, vector, KINDS["all"])
    scores = relevance(signals, plan)
    place = {path: number for number, path in enumerate(view.files.paths)}

    def of(node: Node) -> float:
        file = place.get(node.path)
        if file is None:
            return 0.0
        first, last = np.searchsorted(view.row_file, [file, file + 1])
        if first == last:
            return 0.0
        return float(scores[first + max(node.chunk, 0)]) if node.chunk < last - first else 0.0

    return of
