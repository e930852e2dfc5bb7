"""The centrality of nodes: personalised PageRank over trusted edges.

    rank = (1 - d) start + d (W' rank + lost start)        d = 0.85, W rows of sum 1 at most, `lost` the rank they leave

Page, Brin, Motwani, Winograd (1999), *The PageRank Citation Ranking*; personalised by Haveliwala (2002). A reference
counts less than a call, a test's less than the product's, and what nearly every file names (an alias, a logger, a type
variable) is damped by how many files do, so that it does not stand for the repository. Edges that are worth less than
one call together lead on only so much: else a file of many declarations that nothing uses is central to itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Relation
from vademecum.code.languages.declarations import LEAVES
from vademecum.code.snapshot.view import FILE_KINDS
from vademecum.protocols import Row
from vademecum.types import FileKind

DAMPING = 0.85
USED = 0.6  # the weight of being used, beside that of using, in a map
ROUNDS = 60
_CLOSE_ENOUGH = 1e-5  # of all rank, moved in a round; 1e-9 finds the same 400 of 2.4 million nodes in twice the time
_WORTH = {
    Relation.CALLS: 1.0, Relation.INHERITS: 1.0, Relation.IMPLEMENTS: 1.0, Relation.IMPORTS: 0.5, Relation.REFERENCES: 0.5,
    Relation.TESTS: 0.0,
}  # fmt: skip
_LEAF = 0.1  # of a reference to a constant, a field or an alias
_ASIDE = 0.2  # of a reference from a test, an example or vendored code
MOST_KEPT = 4  # states whose edges are kept as arrays: a server is asked about the same one again and again
_BACK = 0.1  # of an edge, to give some rank back to what uses it

Numbers = NDArray[np.int64]
Marks = NDArray[np.bool_]
Links = tuple[Numbers, Numbers, Numbers]  # of each edge the start, the relation and the end
Edges = tuple[Numbers, Numbers, NDArray[np.float64]]  # of each edge the start, the end and the worth


@dataclass(frozen=True)
class _Laid:
    """A graph as arrays, its n nodes in order of their ids."""

    ids: Numbers  # (n,)
    file: Numbers  # (n,), of which of the paths
    paths: tuple[str, ...]
    edges: Edges

    @cached_property
    def mainstays(self) -> NDArray[np.float64]:
        """The rank of each node by use in both directions."""
        source, target, worth = self.edges
        anywhere = np.ones(len(self.ids))
        used, using = pagerank(source, target, worth, anywhere), pagerank(target, source, worth, anywhere)
        ranks = used**USED * using ** (1 - USED)
        return np.asarray(ranks / max(ranks.sum(), 1e-12))


_KEPT: OrderedDict[tuple[str, int, str, str], _Laid] = OrderedDict()
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The centrality of n nodes, in order of their ids."""

    ids: Numbers  # (n,)
    file: Numbers  # (n,), of which of the paths
    paths: tuple[str, ...]
    ranks: NDArray[np.float64]  # (n,), not negative, 1 in sum


def ranked(graph: Graph, seeds: Mapping[int, float] | None = None, damping: float = DAMPING) -> Ranking:
    """Return the centrality of all nodes.

    Args:
        graph: the graph.
        seeds: where the random reader starts, by node id, and how often; anywhere unless given. What is near to seeds
            is central to them.
        damping: how often the reader follows an edge rather than start again, 0..1.
    """
    laid = _laid_out(graph)
    return Ranking(laid.ids, laid.file, laid.paths, _ranks(laid, seeds, damping))


def mainstays(graph: Graph) -> Ranking:
    """Return how much all nodes both are used and use others.

    The rank is the weighted geometric mean of the centrality and of that along the edges backwards. Small helpers that
    everything calls have little of the second, and where a program begins there is much.
    """
    laid = _laid_out(graph)
    return Ranking(laid.ids, laid.file, laid.paths, laid.mainstays)


def centrality(graph: Graph, seeds: Mapping[int, float] | None = None, damping: float = DAMPING) -> dict[int, float]:
    """Return the same by node id."""
    ranking = ranked(graph, seeds, damping)
    return dict(zip(ranking.ids.tolist(), ranking.ranks.tolist(), strict=True))


def file_centrality(graph: Graph, seeds: Mapping[int, float] | None = None) -> dict[str, float]:
    """Return the centrality of each file by path, 1 in sum.

    A file has the centrality of its node and of its declarations together.
    """
    ranking = ranked(graph, seeds)
    return dict(zip(ranking.paths, np.bincount(ranking.file, ranking.ranks, len(ranking.paths)).tolist(), strict=True))


def _ranks(laid: _Laid, seeds: Mapping[int, float] | None, damping: float) -> NDArray[np.float64]:
    """Return the rank of each node: float64 (n,)."""
    start = np.zeros(len(laid.ids))
    for place, share in zip(
        _found(laid.ids, np.array(list(seeds or ()), np.int64)), (seeds or {}).values(), strict=True
    ):
        if place >= 0:
            start[place] = share
    return pagerank(*laid.edges, start if start.sum() > 0 else np.ones(len(start)), damping)


def pagerank(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.float64],
    start: NDArray[np.float64],
    damping: float = DAMPING,
) -> NDArray[np.float64]:
    """Return the rank of each node.

    The ranks are float64 (n,), not negative, and 1 in sum.

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
    share = weight / np.maximum(out[source], 1)
    stuck = 1 - np.minimum(out, 1)
    rank, flowing = start, np.empty(len(source))  # one array for all rounds: there may be many millions of edges
    for _ in range(ROUNDS):
        np.take(rank, source, out=flowing, mode="clip")
        flowing *= share
        arriving = np.bincount(target, flowing, len(start))
        new = (1 - damping) * start + damping * (arriving + rank @ stuck * start)
        moved = np.abs(new - rank).sum()
        rank = new
        if moved < _CLOSE_ENOUGH:
            break
    return np.asarray(rank / rank.sum())


def _laid_out(graph: Graph) -> _Laid:
    """Return a graph as arrays, kept for the latest states."""
    snapshot = graph.opened.snapshot
    key = (str(graph.opened.repo.catalogue.directory), snapshot.id, snapshot.tree_hash, snapshot.table_file)
    with _LOCK:
        if key in _KEPT:
            _KEPT.move_to_end(key)
            return _KEPT[key]
    laid = _as_arrays(graph)
    with _LOCK:
        _KEPT[key] = laid
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    return laid


def _as_arrays(graph: Graph) -> _Laid:
    """Read a graph as columns.

    It may have millions of nodes and edges, so it is read in parts.
    """
    number: defaultdict[str, int] = defaultdict(count().__next__)
    ids, file, leaf, parent = map(np.concatenate, zip(*(_places(rows, number) for rows in graph.places()), strict=True))
    around = _found(ids, parent)
    view = graph.opened.view
    kinds = dict(zip(view.files.paths, view.file_kinds.tolist(), strict=True))
    apart = np.array([FILE_KINDS[kinds[path]] not in {FileKind.PRODUCT, FileKind.CONFIG} for path in number], bool)
    source, target, worth = _links(graph, ids, file, leaf, apart)
    inside = (around >= 0).nonzero()[0]  # a declaration lends rank to what it is in, and that to it
    lent = np.where(leaf[inside], 0.0, 0.1)
    both_ways = (
        np.concatenate([source, target, inside, around[inside]]),
        np.concatenate([target, source, around[inside], inside]),
        np.concatenate([worth, _BACK * worth, lent, lent]),
    )
    return _Laid(ids, file, tuple(number), both_ways)


def _places(rows: list[Row], number: defaultdict[str, int]) -> tuple[Numbers, Numbers, Marks, Numbers]:
    """Return nodes as columns: id, file, leaf or not, parent.

    Files that are new to `number` are numbered on.
    """
    rows.sort()
    ids, paths, kinds, parents = zip(*rows, strict=True) if rows else ((), (), (), ())
    return (
        np.array(ids, np.int64),
        np.fromiter(map(number.__getitem__, paths), np.int64, len(rows)),
        np.fromiter(map(LEAVES.__contains__, kinds), bool, len(rows)),
        np.array(parents, np.int64),
    )


def _links(graph: Graph, ids: Numbers, file: Numbers, leaf: Marks, apart: Marks) -> Edges:
    """Return the edges between known nodes that are worth anything, by target."""
    parts = [_known(ids, rows) for rows in graph.links()]
    source, kind, target = (np.concatenate(column) for column in zip(*parts, strict=True))
    worth = _worth((source, kind, target), file, leaf, apart)
    counts = worth > 0
    return source[counts], target[counts], worth[counts]


def _known(ids: Numbers, rows: list[Row]) -> Links:
    """Return edges between known nodes as columns, with places for ids."""
    source, kind, target = np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows)).reshape(-1, 3).T
    source, target = _found(ids, source), _found(ids, target)
    known = (source >= 0) & (target >= 0)
    return source[known], kind[known], target[known]


def _found(ids: Numbers, wanted: Numbers) -> Numbers:
    """Return the place of each id among all, else -1.

    All ids ascend. Millions of ids in no order take a third of the time where they are sorted first.
    """
    order = np.argsort(wanted)
    place = np.empty(len(wanted), np.int64)
    place[order] = np.searchsorted(ids, wanted[order])
    there = place < len(ids)
    there[there] = ids[place[there]] == wanted[there]
    return np.where(there, place, -1)


def _worth(links: Links, file: Numbers, leaf: Marks, apart: Marks) -> NDArray[np.float64]:
    """Return the weights of edges, by relation, target and source's file."""
    source, kind, target = links
    of_kind = np.zeros(max(_WORTH) + 1)
    of_kind[list(_WORTH)] = list(_WORTH.values())
    often = 0.1 * len(apart)  # what more files than these name counts less
    into = (np.bincount(target, minlength=len(file)) > often)[target].nonzero()[0]
    used = np.unique(target[into] * len(apart) + file[source[into]]) // max(len(apart), 1)  # once for each file
    common = 1 / (1 + np.maximum(np.bincount(used, minlength=len(file)) - often, 0))
    aside = apart[file]
    worth = of_kind[kind] * common[target] * np.where(leaf[target], _LEAF, 1)
    return np.asarray(worth * np.where(aside[source] & ~aside[target], _ASIDE, 1))
