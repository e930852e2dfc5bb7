"""The declarations of a repository by centrality, for a map."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vademecum.code.graph.centrality import centrality
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node, node_id
from vademecum.code.languages.declarations import LEAVES
from vademecum.code.search.filters import below, matching
from vademecum.code.snapshot.files import FILE_KINDS
from vademecum.code.snapshot.repository import Opened
from vademecum.types import Evidence, FileKind

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


def outline(
    graph: Graph, found: Sequence[Evidence] = (), paths: Sequence[str] = (), within: Sequence[str] = ()
) -> list[Entry]:
    """Return a repository's declarations, most central first.

    With opened prefixes, return only declarations below them.

    Args:
        graph: of that repository.
        found: evidence that the map is drawn around; what is near to it is central.
        paths: files that it is drawn around, likewise.
        within: globs and directories that it is of; none for everything.
    """
    opened = graph.opened
    ranks = centrality(graph, seeds_of(graph, found, paths))
    weight = _weights(opened, within)
    signatures = _signatures(opened)
    entries = [
        Entry(opened.repo.name, node.path, node.start_line, node.end_line, node.qualified, node.kind,
              signatures.get((node.path, node.qualified), ""), ranks[node.id] * weight[node.path] * (PRIVATE if _is_private(node) else 1))
        for node in graph.every()
        if node.path in weight and (not node.qualified or (node.kind not in LEAVES and _is_outer(node)))
    ]  # fmt: skip
    return spread(entries)


def spread(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries by rank, later ones of a file for less.

    The n-th declaration of a file counts FURTHER ** n of its own rank.

    >>> a, b, c = (Entry("r", path, 1, 1, name, "function", "", rank) for path, name, rank in (("x", "a", 1), ("x", "b", 0.9), ("y", "c", 0.8)))
    >>> [entry.qualified for entry in spread([c, b, a])]
    ['a', 'c', 'b']
    """
    seen: Counter[str] = Counter()
    weighed = []
    for entry in sorted(entries, key=lambda entry: (-entry.rank, entry.path, entry.line)):
        weighed.append(replace(entry, rank=entry.rank * FURTHER ** seen[entry.path]))
        seen[entry.path] += 1
    return sorted(weighed, key=lambda entry: (-entry.rank, entry.path, entry.line))


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


def _is_outer(node: Node) -> bool:
    """Return whether a declaration is at most two levels deep."""
    return node.parent == node_id(node.path) or node.qualified.count(".") <= 1


def _is_private(node: Node) -> bool:
    return node.name.startswith("_")


def _weights(opened: Opened, within: Sequence[str]) -> dict[str, float]:
    """Return the weight of each mapped file's ranks, by path."""
    files = opened.view.files
    mask = below(files, opened.prefixes) if opened.prefixes else np.ones(len(files), bool)
    if within:
        mask &= matching(files.paths, within)
    product = [kind is FileKind.PRODUCT for kind in FILE_KINDS]
    return {
        files.paths[number]: 1.0 if product[files.kinds[number]] else ASIDE for number in np.flatnonzero(mask).tolist()
    }


def _signatures(opened: Opened) -> Mapping[tuple[str, str], str]:
    """Return the signature of every declaration, by path and qualified name."""
    files = opened.view.files
    at: dict[int, list[str]] = {}
    for path, blob in zip(files.paths, files.blobs.tolist(), strict=True):
        at.setdefault(blob, []).append(path)
    rows = opened.repo.catalogue.symbols([("blob", "in", sorted(at))], ("blob", "qualified", "signature"))
    return {(path, qualified): signature for blob, qualified, signature in rows if signature for path in at[blob]}
