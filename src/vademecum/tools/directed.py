"""A directed hypergraph: hyperarcs from several nodes to one, which may change while answers about it are kept.

A *B-arc* e = (T(e), h(e)) leads from a set of nodes, its tail, to one node, its head (Gallo, Longo, Pallottino, Nguyen,
"Directed hypergraphs and applications", Discrete Applied Mathematics 42, 1993). "`send` needs a draft and an address" is
({draft, address}, send). A tail may be empty: its head can be had from nothing.

The *forward star* FS(v) holds the arcs with v in their tail, the *backward star* BS(v) those with v as head. The size of
the graph is that of all tails together.

Changes are written into a journal. Who keeps something computed from the graph (`hyperpath`, `reduction`) reads there which
arcs changed since it looked last, and so need not be told of each change.

    >>> graph = DirectedHypergraph()
    >>> send = graph.add(("draft", "address"), "send", 1.0)
    >>> look_up = graph.add((), "address", 0.5)
    >>> graph.arc(send)
    Hyperarc(tail=('draft', 'address'), head='send', weight=1.0, kind='sequence', evidence=())
    >>> [graph.arc(number).head for number in graph.into("send")]
    ['send']
    >>> graph.reweigh(send, 2.0)
    >>> graph.remove(look_up)
    >>> len(graph), graph.into("address")
    (1, ())
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Self

from vademecum.errors import UsageError

Kind = Literal["contains", "sequence", "provides", "needs"]
_JOURNAL_LEAST = 1024  # changes remembered even for a small graph; beyond, starting anew costs no more than catching up


@dataclass(frozen=True, slots=True)
class Hyperarc:
    """One hyperarc as its maker named it.

    Attributes:
        tail: The nodes it leads from, each once.
        head: The node it leads to.
        weight: What going along it costs: finite, 0 or more.
        kind: Why it is there (see `relations`).
        evidence: Ids of what shows it, such as traces.
    """

    tail: tuple[str, ...]
    head: str
    weight: float
    kind: Kind = "sequence"
    evidence: tuple[str, ...] = ()


class DirectedHypergraph:
    """Nodes by name, hyperarcs by number. A number is never used twice, so an arc can be named for good.

    Attributes:
        names: Node number to name.
        numbers: Node name to number.
        tails: Arc number to its tail's nodes, ascending.
        heads: Arc number to its head.
        weights: Arc number to its weight; infinite once it is removed.
        forward: Node number to FS.
        backward: Node number to BS.
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
        self._there = 0
        self._journal: list[int] = []
        self._journal_start = 0

    def __len__(self) -> int:
        """Return how many hyperarcs there are."""
        return self._there

    def __iter__(self) -> Iterator[int]:
        """Go through the numbers of the hyperarcs that are there."""
        return (number for number, weight in enumerate(self.weights) if weight < math.inf)

    @property
    def size(self) -> int:
        """The size of all tails together, plus one for each arc: what a pass over the graph costs."""
        return sum(len(self.tails[number]) + 1 for number in self)

    def node(self, name: str) -> int:
        """Return the number of a node, which is there from now on."""
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.names)
            self.names.append(name)
            self.forward.append([])
            self.backward.append([])
        return number

    def add(
        self, tail: Iterable[str], head: str, weight: float, kind: Kind = "sequence", evidence: Iterable[str] = ()
    ) -> int:
        """Add a hyperarc and return its number. Nodes appear as they are named.

        Raises:
            UsageError: The weight is negative, infinite or no number.
        """
        _check(weight, head)
        nodes = tuple(sorted({self.node(name) for name in tail}))
        return self.link(nodes, self.node(head), weight, kind, tuple(evidence))

    @classmethod
    def plain(cls, names: Iterable[str], weights: Mapping[tuple[int, int], float]) -> Self:
        """Return a plain graph: an arc from one node for each pair (tail, head); with tail -1, from nothing."""
        graph = cls()
        graph.names = list(names)
        graph.numbers = {name: number for number, name in enumerate(graph.names)}
        graph.forward, graph.backward = [[] for _ in graph.names], [[] for _ in graph.names]
        stars = [*graph.forward, graph.free]  # -1 is the last
        for number, (tail, head) in enumerate(weights):
            stars[tail].append(number)
            graph.backward[head].append(number)
        graph.tails = [(tail,) if tail >= 0 else () for tail, _ in weights]
        graph.heads = [head for _, head in weights]
        graph.weights = list(weights.values())
        graph._marks = [("sequence", ())] * len(weights)
        graph._there = graph._journal_start = len(weights)
        return graph

    def link(
        self, tail: tuple[int, ...], head: int, weight: float, kind: Kind = "sequence", evidence: tuple[str, ...] = ()
    ) -> int:
        """Add a hyperarc between nodes by number, as `add` does by name; the tail ascends and nothing is checked."""
        number = len(self.tails)
        self.tails.append(tail)
        self.heads.append(head)
        self.weights.append(weight)
        self._marks.append((kind, evidence))
        self.backward[head].append(number)
        for node in tail:
            self.forward[node].append(number)
        if not tail:
            self.free.append(number)
        self._there += 1
        self._changed(number)
        return number

    def reweigh(self, number: int, weight: float) -> None:
        """Give an arc another weight.

        Raises:
            UsageError: There is no such arc, or the weight is negative, infinite or no number.
        """
        self._known(number)
        _check(weight, self.names[self.heads[number]])
        if weight != self.weights[number]:
            self.weights[number] = weight
            self._changed(number)

    def remove(self, number: int) -> None:
        """Take an arc away; its nodes stay.

        Raises:
            UsageError: There is no such arc.
        """
        self._known(number)
        self.weights[number] = math.inf
        tail = self.tails[number]
        for star in (self.backward[self.heads[number]], *([self.forward[node] for node in tail] or [self.free])):
            star.remove(number)
        self._there -= 1
        self._changed(number)

    def arc(self, number: int) -> Hyperarc:
        """Return an arc by its number, also one that was removed (its weight is infinite then)."""
        names, (kind, evidence) = self.names, self._marks[number]
        tail = tuple(names[node] for node in self.tails[number])
        return Hyperarc(tail, names[self.heads[number]], self.weights[number], kind, evidence)

    def into(self, name: str) -> tuple[int, ...]:
        """Return BS of a node by name: the arcs that lead to it; () for a node that is not there."""
        number = self.numbers.get(name)
        return () if number is None else tuple(self.backward[number])

    @property
    def clock(self) -> int:
        """How many changes there have been."""
        return self._journal_start + len(self._journal)

    def changed_since(self, clock: int) -> list[int] | None:
        """Return the arcs that changed since, in order; None where that is too long ago to say."""
        return None if clock < self._journal_start else self._journal[clock - self._journal_start :]

    def _changed(self, number: int) -> None:
        self._journal.append(number)
        if len(self._journal) > 2 * max(_JOURNAL_LEAST, self._there):
            half = len(self._journal) // 2
            del self._journal[:half]
            self._journal_start += half

    def _known(self, number: int) -> None:
        if not (0 <= number < len(self.weights) and self.weights[number] < math.inf):
            raise UsageError(f"there is no hyperarc {number}: it was never added, or was removed")


def _check(weight: float, head: str) -> None:
    if not 0 <= weight < math.inf:  # written so that NaN fails too
        raise UsageError(f"the weight of a hyperarc to {head!r} is {weight}: it must be finite and 0 or more")
