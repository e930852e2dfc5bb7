"""How central each node of a graph is: personalised PageRank over the trusted edges.

    rank = (1 - d) start + d (W' rank + lost start)        d = 0.85, W rows of sum 1, `lost` the rank of nodes without a way out

Page, Brin, Motwani, Winograd (1999), *The PageRank Citation Ranking*; personalised by Haveliwala (2002). A reference
counts less than a call, a test's less than the product's, and what nearly every file names (an alias, a logger, a type
variable) is damped by how many files do, so that it does not stand for the repository.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vademecum.codebase.classify import file_kind
from vademecum.codebase.declarations import LEAVES
from vademecum.codebase.graph.graph import Graph
from vademecum.codebase.graph.terms import Edge, Node, Relation
from vademecum.types import FileKind

DAMPING = 0.85
ROUNDS = 60
_CLOSE_ENOUGH = 1e-9
_WORTH = {
    Relation.CALLS: 1.0, Relation.INHERITS: 1.0, Relation.IMPLEMENTS: 1.0, Relation.IMPORTS: 0.5, Relation.REFERENCES: 0.5,
    Relation.TESTS: 0.0,
}  # fmt: skip
_LEAF = 0.1  # of a reference to a constant, a field or an alias
_ASIDE = 0.2  # of a reference from a test, an example or vendored code
MOST_KEPT = 4  # states whose edges are kept as arrays: a server is asked about the same one again and again
_BACK = 0.1  # of an edge, to give some rank back to what uses it

Laid = tuple[list[Node], dict[int, int], tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]
_KEPT: OrderedDict[tuple[str, int, str, str], Laid] = OrderedDict()
_LOCK = threading.Lock()


def centrality(graph: Graph, seeds: Mapping[int, float] | None = None, damping: float = DAMPING) -> dict[int, float]:
    """Return how central each node is: not negative, 1 in sum.

    Args:
        graph: the graph.
        seeds: where the random reader starts, by node id, and how often; anywhere unless given. What is near to seeds
            is central to them.
        damping: how often the reader follows an edge rather than start again, 0..1.
    """
    nodes, number, (source, target, weight) = _laid_out(graph)
    start = np.zeros(len(nodes))
    for node, share in (seeds or {}).items():
        if node in number:
            start[number[node]] = share
    ranks = pagerank(source, target, weight, start if start.sum() > 0 else np.ones(len(nodes)), damping)
    return {node.id: float(rank) for node, rank in zip(nodes, ranks, strict=True)}


def file_centrality(graph: Graph, seeds: Mapping[int, float] | None = None) -> dict[str, float]:
    """Return how central each file is: what its node and its declarations have together, by path; 1 in sum."""
    ranks = centrality(graph, seeds)
    found: dict[str, float] = {}
    for node in graph.every():
        found[node.path] = found.get(node.path, 0.0) + ranks[node.id]
    return found


def pagerank(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.float64],
    start: NDArray[np.float64],
    damping: float = DAMPING,
) -> NDArray[np.float64]:
    """Return float64 (n,), the rank of each node: not negative, 1 in sum.

    Args:
        source: (m,), where each edge starts.
        target: (m,), where it leads.
        weight: (m,), how often it is chosen, beside others that start there.
        start: (n,), how often the reader starts at each node; not all zero.
        damping: 0..1.

        >>> edges = np.array([0, 1, 2]), np.array([2, 2, 0])
        >>> pagerank(*edges, np.ones(3), np.ones(3)).round(3).tolist()
        [0.464, 0.05, 0.486]
    """  # fmt: skip
    if not len(start):
        return np.zeros(0)
    start = start / start.sum()
    out = np.bincount(source, weight, len(start))
    share = weight / np.where(out[source] > 0, out[source], 1)
    stuck = out <= 0
    rank = start
    for _ in range(ROUNDS):
        flowing = np.bincount(target, rank[source] * share, len(start))
        new = (1 - damping) * start + damping * (flowing + rank[stuck].sum() * start)
        moved = np.abs(new - rank).sum()
        rank = new
        if moved < _CLOSE_ENOUGH:
            break
    return np.asarray(rank / rank.sum())


def _laid_out(graph: Graph) -> Laid:
    """Return a graph's nodes and its edges as arrays; those of the states asked about last are kept."""
    snapshot = graph.opened.snapshot
    key = (str(graph.opened.repo.catalogue.directory), snapshot.id, snapshot.tree_hash, snapshot.table_file)
    with _LOCK:
        if key in _KEPT:
            _KEPT.move_to_end(key)
            return _KEPT[key]
    nodes = graph.every()
    number = {node.id: place for place, node in enumerate(nodes)}
    laid = nodes, number, _arrays(graph.every_edge(), nodes, number)
    with _LOCK:
        _KEPT[key] = laid
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    return laid


def _arrays(
    edges: Sequence[Edge], nodes: Sequence[Node], number: Mapping[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return edges as arrays, each there and, for little, back; a declaration lends rank to its file, and the file to it."""
    known = [edge for edge in edges if edge.source in number and edge.target in number]
    source = np.fromiter((number[edge.source] for edge in known), np.int64, len(known))
    target = np.fromiter((number[edge.target] for edge in known), np.int64, len(known))
    worth = np.fromiter((_WORTH[edge.relation] for edge in known), np.float64, len(known))
    aside = np.array([file_kind(node.path) not in {FileKind.PRODUCT, FileKind.CONFIG} for node in nodes], bool)
    leaf = np.array([node.kind in LEAVES for node in nodes], bool)
    file = np.unique([node.path for node in nodes], return_inverse=True)[1]
    users = (
        np.bincount(np.unique(np.stack([target, file[source]]), axis=1)[0], minlength=len(nodes))
        if known
        else np.zeros(len(nodes))
    )
    common = 1 / (1 + np.maximum(users - 0.1 * (file.max(initial=0) + 1), 0))  # named by more than a tenth of all files
    worth = (
        worth * common[target] * np.where(leaf[target], _LEAF, 1) * np.where(aside[source] & ~aside[target], _ASIDE, 1)
    )
    held = np.array(
        [(place, number[node.parent]) for place, node in enumerate(nodes) if node.parent in number], np.int64
    ).reshape(-1, 2)
    inside = np.where(leaf[held[:, 0]], 0.0, 0.1) if len(held) else np.zeros(0)
    return (
        np.concatenate([source, target, held[:, 0], held[:, 1]]),
        np.concatenate([target, source, held[:, 1], held[:, 0]]),
        np.concatenate([worth, _BACK * worth, inside, inside]),
    )
