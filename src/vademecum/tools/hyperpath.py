"""Shortest hyperpaths: what has to be done, and in which order, before a target can be had.

Two readings of a tail (`semantics`):

- `all`: the head follows once *every* node of the tail is there. This is a *B-hyperpath* (Gallo, Longo, Pallottino,
  Nguyen 1993), an acyclic AND-OR derivation: a tool runs when all its inputs are there.
- `any`: one node of the tail is enough. This is a path in a plain graph; `reduction` says which one (Gao et al.).

Two costs of several tail nodes (`cost`), F in

    W(source) = 0,      W(v) = min over e in BS(v) of  w(e) + F({W(u) : u in T(e)})

- `sum`: everything is done one after the other; what two inputs share counts for each of them (counting it once is
  NP-hard).
- `max`: everything that can is done at the same time; W is the makespan.

Both are *superior functions* (never below an argument), so labels can be set for good in ascending order, as in
Dijkstra's algorithm (Knuth, "A generalization of Dijkstra's algorithm", 1977). Gallo et al. call it SBT: each arc has a
counter k(e) = |T(e)|, and is looked at once, when its last tail node gets its label. O(size + |E| log |V|) with a heap.

Labels here are pairs (W, arcs on the costliest way), compared in this order. The second part is there for weights of
zero: every arc makes a label strictly larger, so the equations above have exactly one solution, nothing can support itself
in a circle, and among equal costs the shorter way wins.

After changes the labels are mended, not computed again: Ramalingam and Reps, "An incremental algorithm for a generalization
of the shortest-path problem" (Journal of Algorithms 21, 1996), DynamicSWSF-FP. rhs(v) is what the right side of the
equation gives for v with the present labels. Where it differs from the label, v waits in a heap by the smaller of the two.
A label too high is lowered for good; one too low is given up (raised to infinity) and waits anew. It is one algorithm for
cheaper, dearer, new and removed arcs and for sources that come and go, one or many at once, and it costs what the change
changes.

A worked example. `book` needs a flight and a date; the date costs 2, the flight 3 and needs a city:

    >>> graph = DirectedHypergraph()
    >>> _ = graph.add(("city",), "flight", 3)
    >>> date = graph.add((), "date", 2)
    >>> _ = graph.add(("flight", "date"), "book", 1)
    >>> paths = Hyperpaths(graph, ["city"])
    >>> paths.cost("book")  # 1 + (3 + 2)
    6.0
    >>> Hyperpaths(graph, ["city"], cost="max").cost("book")  # 1 + max(3, 2)
    4.0
    >>> [arc.head for arc in paths.path("book").arcs], paths.path("book").layers
    (['date', 'flight', 'book'], (('date', 'flight'), ('book',)))
    >>> graph.reweigh(date, 7.5)
    >>> paths.cost("book")
    11.5
    >>> paths.move([])  # without the city
    >>> paths.cost("book"), paths.missing("book")
    (inf, ('city',))
    >>> Hyperpaths(graph, [], semantics="any").cost("book")  # the date alone is enough
    8.5
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Literal

from vademecum.errors import UsageError
from vademecum.tools.directed import DirectedHypergraph, Hyperarc
from vademecum.tools.reduction import Reduction

Semantics = Literal["all", "any"]
Cost = Literal["sum", "max"]
Label = tuple[float, int]  # (W, arcs on the costliest way)

NOTHING: Label = (0.0, 0)  # the label of a source
NEVER: Label = (math.inf, 0)  # the label of what cannot be had
NO_ARC = -1
_REPAIR_SHARE = 4  # more changed heads than a quarter of the nodes: starting anew is cheaper


@dataclass(frozen=True, slots=True)
class Hyperpath:
    """A way to some targets.

    Attributes:
        arcs: The hyperarcs to go along, one for each node but the sources, each after those that it needs.
        cost: What it costs; infinite where something is missing.
        missing: The nodes that would make the targets reachable, were they there; () where they are.
    """

    arcs: tuple[Hyperarc, ...]
    cost: float
    missing: tuple[str, ...] = ()

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Who waits for whom: (tail node, head), in order of the arcs."""
        return tuple((node, arc.head) for arc in self.arcs for node in arc.tail)

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The heads in layers: each waits for earlier layers only, so a layer's nodes may be done at the same time."""
        layer: dict[str, int] = {}
        for arc in self.arcs:
            layer[arc.head] = 1 + max((layer.get(node, -1) for node in arc.tail), default=-1)
        count = 1 + max(layer.values(), default=-1)
        return tuple(tuple(name for name, number in layer.items() if number == level) for level in range(count))


class Hyperpaths:
    """Shortest hyperpaths from a set of sources to every node, kept while the graph changes.

    Args:
        graph: May be changed at any time; answers are always about its present state.
        sources: Nodes that are there at no cost.
        semantics: How many nodes of a tail are needed.
        cost: What several of them cost together; with `any` there is only ever one.
        backward: Start from goals and go against the arcs (`any` only): the costs are those of the ways *to* them.

    Raises:
        UsageError: `backward` with `all`: there, what a target rests on is `path(target)`.
    """

    def __init__(
        self,
        graph: DirectedHypergraph,
        sources: Iterable[str],
        *,
        semantics: Semantics = "all",
        cost: Cost = "sum",
        backward: bool = False,
    ) -> None:
        if backward and semantics == "all":
            raise UsageError("where all of a tail are needed there is no way back from one goal: take path(target)")
        self._original = graph
        self._reduction = Reduction(graph, backward=backward) if semantics == "any" else None
        self._graph = self._reduction.graph if self._reduction else graph
        self._backward = backward
        self._total = cost == "sum"
        self._sources: frozenset[int] = frozenset()
        self._labels: list[Label] = []
        self._rhs: list[Label] = []
        self._via: list[int] = []  # the arc that gives each node's right side
        self._clock = -1  # before any change: the first look computes everything
        self._moved: set[int] = set()
        self.move(sources)

    def move(self, sources: Iterable[str]) -> None:
        """Start from other sources from now on."""
        self._move(frozenset(self._original.node(name) for name in sources))

    def cost(self, name: str) -> float:
        """Return W of a node: infinite where it cannot be had."""
        self._refresh()
        number = self._graph.numbers.get(name)
        return math.inf if number is None else self._labels[number][0]

    def costs(self) -> dict[str, float]:
        """Return W of every node that can be had."""
        self._refresh()
        return {name: label[0] for name, label in zip(self._graph.names, self._labels, strict=True) if label < NEVER}

    def path(self, *targets: str) -> Hyperpath:
        """Return the cheapest way to all of the targets; empty, with what is missing, where there is none.

        It is found backward from them, along the arc that gave each node its label. With `backward` it leads from the
        target to the nearest goal.
        """
        if missing := self.missing(*targets):
            return Hyperpath((), math.inf, missing)
        goals = [self._graph.numbers[name] for name in targets]
        costs = [self._labels[goal][0] for goal in goals]
        arcs = [self._arc(number) for number in self._derivation(goals, self._labels, self._via)]
        return Hyperpath(
            tuple(reversed(arcs) if self._backward else arcs), sum(costs) if self._total else max(costs, default=0.0)
        )

    def missing(self, *targets: str) -> tuple[str, ...]:
        """Return nodes that would make the targets reachable, were they sources; () where they are reachable.

        None of them can be left out. Nodes that no arc leads to are preferred, for nothing in the graph can ever give
        them; among those, what the cheapest derivation needs.
        """
        self._refresh()
        unknown = {name for name in targets if name not in self._graph.numbers}
        goals = [self._graph.numbers[name] for name in targets if name not in unknown]
        wanted = self._assumed(goals)
        if wanted:
            wanted = self._needed(wanted, goals)
        return tuple(sorted(unknown.union(self._graph.names[node] for node in wanted)))

    # Labels from nothing: SBT.

    def _compute(self, offered: Mapping[int, Label], *, total: bool) -> tuple[list[Label], list[int]]:
        """Return every node's label and the arc that gives it, from nodes that are there at some cost."""
        graph = self._graph
        heads, tails, weights, forward = graph.heads, graph.tails, graph.weights, graph.forward
        labels, via = [NEVER] * len(graph.names), [NO_ARC] * len(graph.names)
        waiting = list(map(len, tails))  # k(e): tail nodes without a label yet
        done = [False] * len(graph.names)
        for node, label in offered.items():
            labels[node] = label
        for arc in graph.free:
            if (weights[arc], 1) < labels[heads[arc]]:
                labels[heads[arc]], via[heads[arc]] = (weights[arc], 1), arc
        heap = [(*label, node) for node, label in enumerate(labels) if label < NEVER]
        heapify(heap)
        while heap:
            cost, length, node = heappop(heap)
            if done[node]:
                continue
            done[node] = True
            for arc in forward[node]:
                waiting[arc] -= 1
                if waiting[arc]:
                    continue
                # `node` is the last of its tail, so the one with the largest label: the maximum, and the longest way.
                tail = tails[arc]
                reached = weights[arc] + (sum([labels[u][0] for u in tail]) if total and len(tail) > 1 else cost)
                if (reached, length + 1) < labels[heads[arc]]:
                    labels[heads[arc]], via[heads[arc]] = (reached, length + 1), arc
                    heappush(heap, (reached, length + 1, heads[arc]))
        return labels, via

    # Labels after changes: DynamicSWSF-FP.

    def _move(self, sources: frozenset[int]) -> None:
        self._moved |= self._sources ^ sources
        self._sources = sources

    def _refresh(self) -> None:
        """Bring the labels up to the graph's present state."""
        if self._reduction:
            self._reduction.refresh()
        graph = self._graph
        arcs = graph.changed_since(self._clock)
        heads = self._moved.union(graph.heads[arc] for arc in arcs or ())
        if arcs is None or _REPAIR_SHARE * len(heads) > len(graph.names):
            self._labels, self._via = self._compute(dict.fromkeys(self._sources, NOTHING), total=self._total)
            self._rhs = list(self._labels)
        else:
            new = len(graph.names) - len(self._labels)
            self._labels += [NEVER] * new
            self._rhs += [NEVER] * new
            self._via += [NO_ARC] * new
            self._repair(heads)
        self._clock, self._moved = graph.clock, set()

    def _repair(self, changed: Collection[int]) -> None:
        """Mend the labels, given every node whose own equation changed."""
        labels, rhs, graph = self._labels, self._rhs, self._graph
        heap: list[tuple[Label, int]] = []
        for node in changed:
            self._look(node, heap)
        while heap:
            key, node = heappop(heap)
            if rhs[node] == labels[node] or key != min(rhs[node], labels[node]):
                continue  # mended since, or waits under another key
            if rhs[node] < labels[node]:
                labels[node] = rhs[node]
                for arc in graph.forward[node]:
                    self._lower(arc, heap)
            else:
                labels[node] = NEVER
                self._wait(node, heap)
                for arc in graph.forward[node]:
                    if self._via[graph.heads[arc]] == arc:  # no other head got its value from here
                        self._look(graph.heads[arc], heap)

    def _look(self, node: int, heap: list[tuple[Label, int]]) -> None:
        """Work out the right side of a node's equation with the present labels."""
        if node in self._sources:
            best, by = NOTHING, NO_ARC
        else:
            best, by = min(((self._value(arc), arc) for arc in self._graph.backward[node]), default=(NEVER, NO_ARC))
        self._rhs[node], self._via[node] = best, by if best < NEVER else NO_ARC
        self._wait(node, heap)

    def _lower(self, arc: int, heap: list[tuple[Label, int]]) -> None:
        """Let an arc offer its head what it is now worth; nothing is below the zero of a source."""
        head, value = self._graph.heads[arc], self._value(arc)
        if value < self._rhs[head]:
            self._rhs[head], self._via[head] = value, arc
            self._wait(head, heap)

    def _wait(self, node: int, heap: list[tuple[Label, int]]) -> None:
        if self._rhs[node] != self._labels[node]:
            heappush(heap, (min(self._rhs[node], self._labels[node]), node))

    def _value(self, arc: int) -> Label:
        """The label that an arc offers its head: exactly what SBT computes, to the last bit."""
        weight, found = self._graph.weights[arc], [self._labels[node] for node in self._graph.tails[arc]]
        largest = max(found, default=NOTHING)
        if largest >= NEVER:
            return NEVER
        joined = sum([label[0] for label in found]) if self._total and len(found) > 1 else largest[0]
        return weight + joined, largest[1] + 1

    # Backward from the targets.

    def _derivation(self, goals: Sequence[int], labels: Sequence[Label], via: Sequence[int]) -> list[int]:
        """The arcs that the goals rest on, each after those it needs: every tail's label is below its head's."""
        found: set[int] = set()
        todo = list(goals)
        while todo:
            node = todo.pop()
            if via[node] != NO_ARC and node not in found:
                found.add(node)
                todo += self._graph.tails[via[node]]
        return [via[node] for node in sorted(found, key=lambda node: (labels[node], node))]

    def _arc(self, number: int) -> Hyperarc:
        return self._reduction.arc(number) if self._reduction else self._graph.arc(number)

    def _has(self, goals: Sequence[int]) -> bool:
        self._refresh()
        return all(self._labels[goal] < NEVER for goal in goals)

    def _needed(self, wanted: frozenset[int], goals: Sequence[int]) -> frozenset[int]:
        """Leave out what the goals can do without, one after the other; the labels are mended each time, and back."""
        before = self._sources
        self._move(before | wanted)
        for node in sorted(wanted):
            self._move(self._sources - {node})
            if not self._has(goals):
                self._move(self._sources | {node})
        wanted = self._sources - before
        self._move(before)
        self._refresh()
        return wanted

    def _assumed(self, goals: Sequence[int]) -> frozenset[int]:
        """What the goals' cheapest derivation has to assume: nodes without arcs into them if these are enough."""
        if self._has(goals):
            return frozenset()
        graph, count = self._graph, len(self._graph.names)
        price = 1.0 + sum(graph.weights[arc] for arc in graph)  # so that assuming little comes before going cheaply
        barren = {node: (price, 0) for node, arcs in enumerate(graph.backward) if not arcs}
        # A circle has no such node: there anything may be assumed, the goals themselves last.
        anything = dict.fromkeys(range(count), (price * count, 0)) | dict.fromkeys(goals, (price * count * count, 0))
        for offers in (barren, anything | barren):
            labels, via = self._compute({**offers, **dict.fromkeys(self._sources, NOTHING)}, total=True)
            if all(labels[goal] < NEVER for goal in goals):
                break
        arcs = self._derivation(goals, labels, via)
        used = {node for arc in arcs for node in graph.tails[arc]}.union(goals)
        return frozenset(node for node in used if via[node] == NO_ARC and node not in self._sources)
