"""A directed hypergraph: hyperarcs from several nodes to one.

A *B-arc* leads from a set of nodes, its tail, to one node, its head (Gallo, Longo, Pallottino, Nguyen, "Directed hypergraphs
and applications", Discrete Applied Mathematics 42, 1993). "`send` needs a draft and an address" is ({draft, address}, send).
An empty tail says that the head needs nothing.

    >>> graph = DirectedHypergraph()
    >>> send = graph.add(("draft", "address"), "send", 1.0)
    >>> graph.arc(send)
    Hyperarc(tail=('draft', 'address'), head='send', weight=1.0, kind='sequence', evidence=())
    >>> [graph.arc(number).head for number in graph.into("send")], len(graph)
    (['send'], 1)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from vademecum.errors import UsageError

Kind = Literal["contains", "sequence", "provides", "needs"]


@dataclass(frozen=True, slots=True)
class Hyperarc:
    """One hyperarc by the names of its nodes.

    Attributes:
        tail: The nodes it leads from, each once.
        head: The node it leads to.
        weight: The cost of going along it: finite, 0 or more.
        kind: Why it is there (see `relations`).
        evidence: Ids of traces, or of other things, that show it.
    """

    tail: tuple[str, ...]
    head: str
    weight: float
    kind: Kind = "sequence"
    evidence: tuple[str, ...] = ()


class DirectedHypergraph:
    """Nodes by name, hyperarcs by number.

    Attributes:
        names: Node number to name.
        numbers: Node name to number.
        tails: Arc number to the nodes of its tail, ascending.
        heads: Arc number to its head.
        weights: Arc number to its weight.
        forward: Node number to its forward star, the arcs with the node in their tail.
        backward: Node number to its backward star, the arcs with the node as head.
        free: The arcs with an empty tail.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.tails: list[tuple[int, ...]] = []
        self.heads: list[int] = []
        self.weights: list[float] = []
        self.forward: list[list[int]] = []
        self.backward: list[list[int]] = []
        self.free: list[int] = []
        self._marks: list[tuple[Kind, tuple[str, ...]]] = []

    def __len__(self) -> int:
        """Return the number of hyperarcs."""
        return len(self.heads)

    def __iter__(self) -> Iterator[int]:
        """Go through the numbers of the hyperarcs."""
        return iter(range(len(self)))

    def add(
        self, tail: Iterable[str], head: str, weight: float, kind: Kind = "sequence", evidence: Iterable[str] = ()
    ) -> int:
        """Add a hyperarc with its nodes; return the arc's number.

        Raises:
            UsageError: The weight is negative, infinite or no number.
        """
        if not 0 <= weight < math.inf:  # written so that NaN fails too
            raise UsageError(f"the weight of a hyperarc to {head!r} is {weight}: it must be finite and 0 or more")
        number, nodes, target = len(self), tuple(sorted({self._node(name) for name in tail})), self._node(head)
        self.tails.append(nodes)
        self.heads.append(target)
        self.weights.append(weight)
        self._marks.append((kind, tuple(evidence)))
        self.backward[target].append(number)
        for star in [self.forward[node] for node in nodes] or [self.free]:
            star.append(number)
        return number

    def arc(self, number: int) -> Hyperarc:
        """Return an arc by its number."""
        names, (kind, evidence) = self.names, self._marks[number]
        tail = tuple(names[node] for node in self.tails[number])
        return Hyperarc(tail, names[self.heads[number]], self.weights[number], kind, evidence)

    def into(self, name: str) -> tuple[int, ...]:
        """Return the arcs into a node; () for an unknown node."""
        number = self.numbers.get(name)
        return () if number is None else tuple(self.backward[number])

    def _node(self, name: str) -> int:
        number = self.numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
            self.forward.append([])
            self.backward.append([])
        return number
