"""Shortest hyperpaths: which steps lead to a target, and in which order.

A *B-arc* leads from a set of nodes, its tail, to one node, its head (Gallo, Longo, Pallottino, Nguyen, "Directed
hypergraphs and applications", 1993): "`send` needs a draft and an address". With `all` the head follows once *every*
node of the tail is there (a B-hyperpath), with `any` once one is (dimension reduction: Gao et al., arXiv:1202.0082,
theorem 3). The costs of several tail nodes are added, as if steps ran one after the other:

    W(source) = 0,      W(v) = min over e into v of  w(e) + sum of W(u) over u in the tail of e

Labels are set for good in ascending order, as in Dijkstra's algorithm (Knuth, "A generalization of Dijkstra's
algorithm", 1977). They are pairs (W, arcs on the costliest way): every arc makes a label strictly larger, so nothing
supports itself in a circle, and the shorter of equals wins. `book` needs a flight and a date:

    >>> graph = DirectedHypergraph()
    >>> graph.add(["city"], "flight", 3.0)
    >>> graph.add([], "date", 2.0)
    >>> graph.add(["flight", "date"], "book", 1.0)
    >>> paths = Hyperpaths(graph, ["city"])
    >>> paths.cost("book"), [arc.head for arc in paths.path("book").arcs], Hyperpaths(graph, []).missing("book")
    (6.0, ['date', 'flight', 'book'], ('city',))
    >>> Hyperpaths(graph, [], semantics="any").cost("book")  # the date alone is enough
    3.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Literal, NamedTuple

from vademecum.errors import UsageError

Kind = Literal["contains", "sequence", "provides", "needs"]
Semantics = Literal["all", "any"]
Label = tuple[float, int]  # (W, arcs on the costliest way)

NOTHING: Label = (0.0, 0)  # the label of a source
NEVER: Label = (math.inf, 0)  # the label of an unreachable node


@dataclass(frozen=True, slots=True)
class Hyperarc:
    """One hyperarc."""

    tail: tuple[str, ...]  # each node once, in order of their names
    head: str
    weight: float  # finite, 0 or more
    kind: Kind = "sequence"  # see `relations`
    seen: int = 0  # traces that show it


class DirectedHypergraph:
    """Hyperarcs by number."""

    def __init__(self) -> None:
        self.arcs: list[Hyperarc] = []
        self.out: dict[str, list[int]] = {}  # each node with the arcs that have it in their tail
        self.into: dict[str, list[int]] = {}  # and those that have it as head

    def add(self, tail: Iterable[str], head: str, weight: float, kind: Kind = "sequence", seen: int = 0) -> None:
        """Add a hyperarc with its nodes.

        Raises:
            UsageError: The weight is negative, infinite or no number.
        """
        if not 0 <= weight < math.inf:  # written so that NaN fails too
            raise UsageError(f"the weight of a hyperarc to {head!r} is {weight}: it must be finite and 0 or more")
        arc = Hyperarc(tuple(sorted(set(tail))), head, weight, kind, seen)
        for node in (*arc.tail, head):
            self.into.setdefault(node, [])
        for node in arc.tail:
            self.out.setdefault(node, []).append(len(self.arcs))
        self.into[head].append(len(self.arcs))
        self.arcs.append(arc)


@dataclass(frozen=True, slots=True)
class Hyperpath:
    """A way to some targets."""

    arcs: tuple[Hyperarc, ...]  # one for each node but the sources, each after those that it needs
    cost: float  # infinite where a node is missing
    missing: tuple[str, ...] = ()  # nodes that would make the targets reachable


class _Labelled(NamedTuple):
    """The reachable nodes with labels, and the arc to each."""

    labels: Mapping[str, Label]
    arcs: Mapping[str, Hyperarc]

    def way(self, goals: Iterable[str]) -> list[Hyperarc]:
        """Return the arcs that the goals need, each after its own needs."""
        found, todo = dict[str, Hyperarc](), list(goals)
        while todo:
            node = todo.pop()
            if node not in found and (arc := self.arcs.get(node)):
                found[node] = arc
                todo += arc.tail
        return [found[node] for node in sorted(found, key=lambda node: (self.labels[node], node))]


class Hyperpaths:
    """Shortest hyperpaths from a set of sources to every node.

    Args:
        graph: The graph as it is now; a later change needs new hyperpaths.
        sources: Nodes that are there at no cost.
        semantics: How many nodes of a tail are needed.
        weights: The costs of the arcs by number, 0 or more, in place of their own.
    """

    def __init__(
        self, graph: DirectedHypergraph, sources: Iterable[str], *, semantics: Semantics = "all",
        weights: Sequence[float] = (),
    ) -> None:  # fmt: skip
        self._graph = graph
        self._weights = weights or [arc.weight for arc in graph.arcs]
        self._needs_one = semantics == "any"
        self._sources = dict.fromkeys(sources, NOTHING)
        self._found = self._labelled(self._sources)

    def cost(self, node: str) -> float:
        """Return W of a node: infinite where the node is unreachable."""
        return self._found.labels.get(node, NEVER)[0]

    def path(self, *targets: str) -> Hyperpath:
        """Return the cheapest way to all targets; else the missing nodes."""
        if missing := self.missing(*targets):
            return Hyperpath((), math.inf, missing)
        return Hyperpath(tuple(self._found.way(targets)), sum(map(self.cost, targets)))

    def missing(self, *targets: str) -> tuple[str, ...]:
        """Return nodes that make the targets reachable as sources; () if reachable.

        None of them can be left out. Nodes that no arc leads to are preferred, then those of the cheapest derivation.
        """
        if self._found.labels.keys() >= set(targets):
            return ()
        kept = self._assumed(targets)
        for node in sorted(kept):
            others = dict.fromkeys(kept - {node}, NOTHING)
            if self._labelled(self._sources | others).labels.keys() >= set(targets):
                kept.remove(node)
        return tuple(sorted(kept))

    def _labelled(self, offers: Mapping[str, Label]) -> _Labelled:
        """Label all nodes, from sources with costs."""
        arcs, out = self._graph.arcs, self._graph.out
        labels, steps, done = dict(offers), dict[str, Hyperarc](), set[str]()
        waiting = [min(len(arc.tail), 1) if self._needs_one else len(arc.tail) for arc in arcs]
        heap = [(*label, node) for node, label in labels.items()]

        def reach(number: int, tail: tuple[str, ...], longest: int) -> None:
            arc = arcs[number]
            label = self._weights[number] + sum([labels[node][0] for node in tail]), longest + 1
            if label < labels.get(arc.head, NEVER):
                labels[arc.head], steps[arc.head] = label, arc if tail == arc.tail else replace(arc, tail=tail)
                heappush(heap, (*label, arc.head))

        heapify(heap)
        for number in [number for number, needed in enumerate(waiting) if not needed]:
            reach(number, (), 0)
        while heap:
            _, longest, node = heappop(heap)
            if node in done:
                continue
            done.add(node)
            for number in out.get(node, ()):
                waiting[number] -= 1
                if not waiting[number]:  # `node` is the last of the tail, so the one with the longest way
                    reach(number, (node,) if self._needs_one else arcs[number].tail, longest)
        return _Labelled(labels, steps)

    def _assumed(self, targets: Sequence[str]) -> set[str]:
        """Return the nodes that the targets' cheapest derivation assumes."""
        into = self._graph.into
        nodes, price = {*into, *targets}, 1.0 + sum(self._weights)  # few nodes come before going cheaply
        barren = {node: (price, 0) for node in nodes if not into.get(node)}
        # A circle has no such node: there anything may be assumed, the targets themselves last.
        anything = dict.fromkeys(nodes, (price * len(nodes), 0)) | dict.fromkeys(targets, (price * len(nodes) ** 2, 0))
        found = self._labelled(barren | self._sources)
        if not found.labels.keys() >= set(targets):
            found = self._labelled(anything | barren | self._sources)
        used = {node for arc in found.way(targets) for node in arc.tail}.union(targets)
        return used - found.arcs.keys() - self._sources.keys()
