"""The declarations of a repository by centrality, for a map."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vademecum.code.checkout.classify import is_news
from vademecum.code.graph.centrality import mainstays, ranked
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node, node_id
from vademecum.code.languages.declarations import LEAVES
from vademecum.code.search.filters import below, matching
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import FILE_KINDS
from vademecum.types import Evidence, FileKind

MOST = 4_000  # declarations of a map: nobody reads a longer one
FURTHER = (
    0.85  # of its rank that each further declaration of a file counts: a map shows where things are, not one file whole
)
PRIVATE = 0.3  # of the rank of what is for its own file alone
ASIDE = 0.05  # of the rank of what is no product code: a test that everything stands in says little of what there is


@dataclass(frozen=True, slots=True)
class Entry:
    """A declaration, or a file (`qualified` is ""), as a map shows it."""

    repo: str
    path: str
    line: int
    end_line: int
    qualified: str
    kind: str
    signature: str
    rank: float  # not negative, higher is more central


Ranked = tuple[float, Node]  # a node by its rank


def outline(
    graph: Graph, found: Sequence[Evidence] = (), paths: Sequence[str] = (), within: Sequence[str] = ()
) -> list[Entry]:
    """Return a repository's MOST central declarations, and those of `paths`.

    With opened prefixes, return only declarations below them.

    Args:
        graph: of that repository.
        found: evidence that the map is drawn around; what is near to it is central.
        paths: files that it is drawn around, likewise.
        within: globs and directories that it is of; none for everything.
    """
    weight, around = _weights(graph.opened, within), set(paths)
    seeds = seeds_of(graph, found, paths)
    ranking = ranked(graph, seeds) if seeds else mainstays(graph)
    weights = np.fromiter((weight.get(path, 0.0) for path in ranking.paths), np.float64, len(ranking.paths))
    highest = ranking.ranks * weights[ranking.file]  # an entry's rank is this at most
    named = np.isin(ranking.file, [number for number, path in enumerate(ranking.paths) if path in around])
    order = np.argsort(np.where(named, -np.inf, -highest), kind="stable")
    shown: list[Ranked] = []
    spaced: list[Ranked] = []
    done = 0
    while done < len(order) and not (len(spaced) >= MOST and highest[order[done]] <= spaced[MOST - 1][0]):
        part = order[done : done + max(MOST, done)]
        nodes = graph.nodes(ranking.ids[part].tolist())
        ranks = dict(zip(ranking.ids[part].tolist(), highest[part].tolist(), strict=True))
        shown += [
            (ranks[node.id] * (PRIVATE if node.name.startswith("_") else 1), node)
            for node in nodes.values()
            if node.path in weight and _is_shown(node)
        ]
        spaced = spread(shown)
        done += len(part)
    return _entries(
        graph.opened,
        [(rank, node) for number, (rank, node) in enumerate(spaced) if number < MOST or node.path in around],
    )


def _is_shown(node: Node) -> bool:
    """Return whether a map shows a node.

    Shown are files, and declarations at most two levels deep in one.
    """
    is_outer = node.parent == node_id(node.path) or node.qualified.count(".") <= 1
    return not node.qualified or (node.kind not in LEAVES and is_outer)


def spread(nodes: Sequence[Ranked]) -> list[Ranked]:
    """Return nodes by rank, later ones of a file for less.

    The n-th declaration of a file counts FURTHER ** n of its own rank.

    >>> a, b, c = (Node(0, path, name, name, "function", 1, 1, 0, 0) for path, name in (("x", "a"), ("x", "b"), ("y", "c")))
    >>> [node.name for _, node in spread([(0.8, c), (0.9, b), (1, a)])]
    ['a', 'c', 'b']
    """
    seen: Counter[str] = Counter()
    weighed = []
    for rank, node in sorted(nodes, key=_order):
        weighed.append((rank * FURTHER ** seen[node.path], node))
        seen[node.path] += 1
    return sorted(weighed, key=_order)


def _order(each: Ranked) -> tuple[float, str, int]:
    rank, node = each
    return -rank, node.path, node.start_line


def seeds_of(graph: Graph, found: Sequence[Evidence], paths: Sequence[str]) -> dict[int, float]:
    """Return the seeds of a map: search results and named files.

    Results count by score, declarations of named files alike.
    """
    seeds: defaultdict[int, float] = defaultdict(float)
    total = sum(item.score for item in found) or 1.0
    for item in found:
        nodes = graph.at(item.path, item.start_line, item.end_line)
        for node in nodes:
            seeds[node.id] += item.score / total / len(nodes)
    own = graph.in_files(paths) if paths else []
    for node in own:
        seeds[node.id] += 1 / len(own)
    return dict(seeds)


def _weights(opened: Opened, within: Sequence[str]) -> dict[str, float]:
    """Return the weight of each mapped file's ranks, by path."""
    files, kinds = opened.view.files, opened.view.file_kinds
    mask = below(files, opened.prefixes) if opened.prefixes else np.ones(len(files), bool)
    if within:
        mask &= matching(files.paths, within)
    return {files.paths[n]: _worth(files.paths[n], FILE_KINDS[kinds[n]]) for n in np.flatnonzero(mask).tolist()}


def _worth(path: str, kind: FileKind) -> float:
    if kind is FileKind.PRODUCT:
        return 1.0
    return 0.0 if kind is FileKind.DOC and is_news(path) else ASIDE


def _entries(opened: Opened, ranked: Sequence[Ranked]) -> list[Entry]:
    """Return nodes as entries, with their signatures."""
    files, wanted = opened.view.files, {node.path for _, node in ranked}
    at: dict[int, list[str]] = {}
    for path, blob in zip(files.paths, files.blobs.tolist(), strict=True):
        if path in wanted:
            at.setdefault(blob, []).append(path)
    rows = opened.repo.catalogue.symbols([("blob", "in", sorted(at))], ("blob", "qualified", "signature"))
    said = {(path, qualified): signature for blob, qualified, signature in rows if signature for path in at[blob]}
    return [
        Entry(
            opened.repo.name, node.path, node.start_line, node.end_line, node.qualified, node.kind,
            said.get((node.path, node.qualified), ""), rank,
        )
        for rank, node in ranked
    ]  # fmt: skip
