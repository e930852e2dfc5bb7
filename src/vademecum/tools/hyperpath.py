"""Shortest hyperpaths: which steps lead to a target, and in which order.

Two readings of a tail (`semantics`):

- `all`: the head follows once *every* node of the tail is there. This is a *B-hyperpath* (Gallo, Longo, Pallottino, Nguyen
  1993), an acyclic AND-OR derivation: a tool runs when all its inputs are there.
- `any`: one node of the tail is enough. This is *dimension reduction* (Gao, Zhao, Ren, Swami, Ramanathan, Bar-Noy, "Dynamic
  shortest path algorithms for hypergraphs", arXiv:1202.0082, theorem 3): a shortest path through hyperarcs is one in the plain
  graph in which a pair (u, v) costs as much as the cheapest hyperarc with u in its tail and v as its head.

The costs of several tail nodes are added, as if steps ran one after the other:

    W(source) = 0,      W(v) = min over e in BS(v) of  w(e) + sum of W(u) over u in T(e)

A step that two inputs share counts for each of them (counting it once is NP-hard). The sum is a *superior function* (never below an
argument), so labels are set for good in ascending order, as in Dijkstra's
algorithm (Knuth, "A generalization of Dijkstra's algorithm", 1977). Gallo et al. call it SBT: each arc has a counter k(e) and is
looked at once, when k(e) of its tail nodes have their labels. k(e) = |T(e)| reads a tail as `all`, k(e) = 1 as `any`.
O(size + |E| log |V|) with a heap.

Labels are pairs (W, arcs on the costliest way), compared in this order. The second part is there for weights of zero: every
arc makes a label strictly larger, so nothing supports itself in a circle, and among equal costs the shorter way wins.

A worked example. `book` needs a flight and a date; the date costs 2, the flight 3 and needs a city:

    >>> graph = DirectedHypergraph()
    >>> _ = graph.add(("city",), "flight", 3.0)
    >>> _ = graph.add((), "date", 2.0)
    >>> _ = graph.add(("flight", "date"), "book", 1.0)
    >>> paths = Hyperpaths(graph, ["city"])
    >>> paths.cost("book")  # 1 + (3 + 2)
    6.0
    >>> [arc.head for arc in paths.path("book").arcs], paths.path("book").layers
    (['date', 'flight', 'book'], (('date', 'flight'), ('book',)))
    >>> without_city = Hyperpaths(graph, [])
    >>> without_city.cost("book"), without_city.missing("book")
    (inf, ('city',))
    >>> Hyperpaths(graph, [], semantics="any").cost("book")  # the date alone is enough
    3.0
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Literal

from vademecum.tools.directed import DirectedHypergraph, Hyperarc

Semantics = Literal["all", "any"]
Label = tuple[float, int]  # (W, arcs on the costliest way)
Step = tuple[int, tuple[int, ...]]  # (arc, the nodes of its tail that are meant)

NOTHING: Label = (0.0, 0)  # the label of a source
NEVER: Label = (math.inf, 0)  # the label of an unreachable node


@dataclass(frozen=True, slots=True)
class Hyperpath:
    """A way to some targets.

    Attributes:
        arcs: The hyperarcs to go along, one for each node but the sources, each after those that it needs.
        cost: The cost of the way; infinite where a node is missing.
        missing: The nodes that would make the targets reachable, were they there; () where the targets are reachable.
    """

    arcs: tuple[Hyperarc, ...]
    cost: float
    missing: tuple[str, ...] = ()

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Dependencies as (tail node, head), in the order of the arcs."""
        return tuple((node, arc.head) for arc in self.arcs for node in arc.tail)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The heads in layers; nodes of one layer can run together."""
        layer: dict[str, int] = {}
        for arc in self.arcs:
            layer[arc.head] = 1 + max((layer.get(node, -1) for node in arc.tail), default=-1)
        count = 1 + max(layer.values(), default=-1)
        return tuple(tuple(name for name, number in layer.items() if number == level) for level in range(count))


class Hyperpaths:
    """Shortest hyperpaths from a set of sources to every node.

    Args:
        graph: The graph as it is now; a later change needs new hyperpaths.
        sources: Nodes that are there at no cost.
        semantics: How many nodes of a tail are needed.
        weights: The costs of the arcs by number, 0 or more, in place of their own.
    """

    def __init__(
        self,
        graph: DirectedHypergraph,
        sources: Iterable[str],
        *,
        semantics: Semantics = "all",
        weights: Sequence[float] = (),
    ) -> None:
        self._graph = graph
        self._weights = weights or graph.weights
        self._needs_one = semantics == "any"
        self._given = frozenset(sources)
        self._sources = frozenset(graph.numbers[name] for name in self._given if name in graph.numbers)
        self._labels, self._steps = self._solved(dict.fromkeys(self._sources, NOTHING))

    def cost(self, name: str) -> float:
        """Return W of a node: infinite where the node is unreachable."""
        if name in self._given:
            return 0.0
        number = self._graph.numbers.get(name)
        return math.inf if number is None else self._labels[number][0]

    def path(self, *targets: str) -> Hyperpath:
        """Return the cheapest way to all targets; else the missing nodes."""
        if missing := self.missing(*targets):
            return Hyperpath((), math.inf, missing)
        goals = [self._graph.numbers[name] for name in targets if name in self._graph.numbers]
        arcs = tuple(self._arc(step) for step in self._derivation(goals, self._labels, self._steps))
        return Hyperpath(arcs, sum(self._labels[goal][0] for goal in goals))

    def missing(self, *targets: str) -> tuple[str, ...]:
        """Return nodes that make the targets reachable as sources; () if reachable.

        None of them can be left out. Nodes that no arc leads to are preferred, for nothing in the graph can ever give them;
        among those, the ones that the cheapest derivation needs.
        """
        numbers = self._graph.numbers
        unknown = {name for name in targets if name not in numbers} - self._given
        goals = [numbers[name] for name in targets if name in numbers]
        wanted = self._needed(self._assumed(goals), goals)
        return tuple(sorted(unknown.union(self._graph.names[node] for node in wanted)))

    def _solved(self, offers: Mapping[int, Label]) -> tuple[list[Label], list[Step | None]]:
        """Return each node's label and its step, from sources with costs."""
        graph = self._graph
        heads, tails, weights = graph.heads, graph.tails, self._weights
        labels, steps = [NEVER] * len(graph.names), list[Step | None]([None]) * len(graph.names)
        waiting = (
            [1] * len(tails) if self._needs_one else list(map(len, tails))
        )  # k(e): tail nodes still to get a label
        done = [False] * len(graph.names)
        for node, label in offers.items():
            labels[node] = label
        for arc in graph.free:
            if (weights[arc], 1) < labels[heads[arc]]:
                labels[heads[arc]], steps[heads[arc]] = (weights[arc], 1), (arc, ())
        heap = [(*label, node) for node, label in enumerate(labels) if label < NEVER]
        heapify(heap)
        while heap:
            cost, length, node = heappop(heap)
            if done[node]:
                continue
            done[node] = True
            for arc in graph.forward[node]:
                waiting[arc] -= 1
                if waiting[arc]:
                    continue
                # `node` is the last of the tail, so the one with the largest label: the longest way.
                tail = (node,) if self._needs_one else tails[arc]
                reached = weights[arc] + (sum([labels[u][0] for u in tail]) if len(tail) > 1 else cost)
                if (reached, length + 1) < labels[heads[arc]]:
                    labels[heads[arc]], steps[heads[arc]] = (reached, length + 1), (arc, tail)
                    heappush(heap, (reached, length + 1, heads[arc]))
        return labels, steps

    def _derivation(self, goals: Sequence[int], labels: Sequence[Label], steps: Sequence[Step | None]) -> list[Step]:
        """The steps that the goals need, each after its own needs."""
        found: dict[int, Step] = {}
        todo = list(goals)
        while todo:
            node = todo.pop()
            if (step := steps[node]) and node not in found:
                found[node] = step
                todo += step[1]
        return [found[node] for node in sorted(found, key=lambda node: (labels[node], node))]

    def _arc(self, step: Step) -> Hyperarc:
        number, tail = step
        return replace(self._graph.arc(number), tail=tuple(self._graph.names[node] for node in tail))

    def _needed(self, wanted: Collection[int], goals: Sequence[int]) -> set[int]:
        """Drop each node that the goals do not need, one by one."""
        kept = set(wanted)
        for node in sorted(wanted):
            sources = self._sources | kept - {node}
            labels, _ = self._solved(dict.fromkeys(sources, NOTHING))
            if all(labels[goal] < NEVER for goal in goals):
                kept.remove(node)
        return kept

    def _assumed(self, goals: Sequence[int]) -> set[int]:
        """The nodes that the goals' cheapest derivation assumes."""
        if all(self._labels[goal] < NEVER for goal in goals):
            return set()
        graph, count = self._graph, len(self._graph.names)
        price = 1.0 + sum(graph.weights)  # so that assuming few nodes comes before going cheaply
        barren = {node: (price, 0) for node, arcs in enumerate(graph.backward) if not arcs}
        # A circle has no such node: there anything may be assumed, the goals themselves last.
        anything = dict.fromkeys(range(count), (price * count, 0)) | dict.fromkeys(goals, (price * count * count, 0))
        for offers in (barren, anything | barren):
            labels, steps = self._solved({**offers, **dict.fromkeys(self._sources, NOTHING)})
            if all(labels[goal] < NEVER for goal in goals):
                break
        used = {node for _, tail in self._derivation(goals, labels, steps) for node in tail}.union(goals)
        return {node for node in used if steps[node] is None and node not in self._sources}
