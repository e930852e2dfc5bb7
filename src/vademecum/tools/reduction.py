"""Dimension reduction: shortest paths through hyperarcs of which one tail node is enough, as paths in a plain graph.

Gao, Zhao, Ren, Swami, Ramanathan and Bar-Noy ("Dynamic shortest path algorithms for hypergraphs", arXiv:1202.0082, their
DR-DSP) show that a shortest path through hyperedges is one in the underlying graph, in which a pair of nodes costs as
much as the cheapest hyperedge that holds both (theorem 3). For hyperarcs a pair (u, v) has u in the tail and v as head:

    w(u, v) = min { w(e) : u in T(e), v = h(e) }

Each pair keeps a priority queue M(u, v) of its hyperarcs' weights, so that a change of e touches the pairs of e alone, and
those only where the top of their queue changes. The plain graph's labels are then mended as `hyperpath` does it.

The queues are binary heaps in which what is out of date is thrown away when it comes to the top.

    >>> graph = DirectedHypergraph()
    >>> cheap, dear = graph.add(("a", "b"), "t", 1.0), graph.add(("a",), "t", 4.0)
    >>> reduced = Reduction(graph)
    >>> sorted((arc.tail[0], arc.weight) for arc in map(reduced.graph.arc, reduced.graph))
    [('a', 1.0), ('b', 1.0)]
    >>> graph.reweigh(cheap, 9.0)
    >>> reduced.refresh()
    >>> sorted((arc.tail[0], arc.weight) for arc in map(reduced.graph.arc, reduced.graph))
    [('a', 4.0), ('b', 9.0)]
"""

from __future__ import annotations

import math
from dataclasses import replace
from heapq import heappop, heappush

from vademecum.tools.directed import DirectedHypergraph, Hyperarc

NO_NODE = -1  # stands for the tail of an arc from nothing
_SLACK = 8  # entries that may be out of date in a queue before it is cleared, beside as many as there are good ones
Pair = tuple[int, int]  # (tail node or NO_NODE, head), numbers of the hypergraph
Entry = tuple[float, int]  # (weight, arc)


class Reduction:
    """The plain graph of a directed hypergraph, kept up with it.

    Args:
        original: The hypergraph; it may change.
        backward: Turn every pair around. What can be had from nothing then leads nowhere.

    Attributes:
        graph: The plain graph, with the same nodes under the same numbers: an arc for each pair, with one tail node
            (or none).
    """

    def __init__(self, original: DirectedHypergraph, *, backward: bool = False) -> None:
        self._original = original
        self._backward = backward
        self._weights = list(original.weights)  # of the hyperarcs, as far as they are known here
        self._clock = original.clock
        self._queues: dict[Pair, list[Entry]] = {}  # M(u, v), made when the pair first changes
        self._room: dict[Pair, int] = {}  # how long each may become before it is cleared
        self._pairs: list[Pair] = []  # arc of the plain graph to its pair
        least: dict[Pair, float] = {}
        for arc in original:
            weight = self._weights[arc]
            for pair in self._pairs_of(arc):
                if weight < least.get(pair, math.inf):
                    least[pair] = weight
        self._pairs += least
        self._arcs = dict(zip(least, range(len(least)), strict=True))  # pair to its arc in the plain graph
        turned = {(head, tail): weight for (tail, head), weight in least.items()} if backward else least
        self.graph = DirectedHypergraph.plain(original.names, turned)

    def refresh(self) -> None:
        """Hand the hypergraph's changes on to the plain graph."""
        original = self._original
        for name in original.names[len(self.graph.names) :]:
            self.graph.node(name)
        self._weights += [math.inf] * (len(original.weights) - len(self._weights))
        changed = original.changed_since(self._clock)
        for arc in range(len(self._weights)) if changed is None else changed:
            if self._weights[arc] != original.weights[arc]:
                self._weights[arc] = original.weights[arc]
                for pair in self._pairs_of(arc):
                    self._enter(pair, arc)
        self._clock = original.clock

    def arc(self, number: int) -> Hyperarc:
        """Return the hyperarc that gives an arc of the plain graph its weight, with the one tail node that is meant."""
        pair = self._pairs[number]
        _, meant = min(self._entries(pair))
        return replace(self._original.arc(meant), tail=self._tail(pair[0]))

    def _pairs_of(self, arc: int) -> list[Pair]:
        tail, head = self._original.tails[arc], self._original.heads[arc]
        if not tail:
            return [] if self._backward else [(NO_NODE, head)]
        return [(node, head) for node in tail]

    def _tail(self, node: int) -> tuple[str, ...]:
        return () if node == NO_NODE else (self._original.names[node],)

    def _entries(self, pair: Pair) -> list[Entry]:
        """What a pair's queue has to hold: the hyperarcs into its head with its tail node in their tail."""
        node, head = pair
        arcs, tails = self._original.backward[head], self._original.tails
        return [(self._weights[arc], arc) for arc in arcs if (node in tails[arc] if tails[arc] else node == NO_NODE)]

    def _enter(self, pair: Pair, arc: int) -> None:
        """Put an arc's new weight into a pair's queue, and hand on what is now the least."""
        queue = self._queues.setdefault(pair, [])
        if len(queue) >= self._room.get(pair, 0):
            queue[:] = sorted(self._entries(pair))  # sorted, it is a heap
            self._room[pair] = 2 * len(queue) + _SLACK
        elif self._weights[arc] < math.inf:
            heappush(queue, (self._weights[arc], arc))
        while queue and self._weights[queue[0][1]] != queue[0][0]:
            heappop(queue)  # the arc has weighed something else since
        self._hand_on(pair, queue[0][0] if queue else math.inf)

    def _hand_on(self, pair: Pair, weight: float) -> None:
        """Let a pair's arc in the plain graph weigh this; infinite is none."""
        number = self._arcs.get(pair)
        if number is None and weight < math.inf:
            tail, head = reversed(pair) if self._backward else pair
            self._arcs[pair] = self.graph.link((tail,) if tail != NO_NODE else (), head, weight)
            self._pairs.append(pair)
        elif number is not None and weight < math.inf:
            self.graph.reweigh(number, weight)
        elif number is not None:
            self.graph.remove(self._arcs.pop(pair))
