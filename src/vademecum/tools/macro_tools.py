"""Meta-capabilities: capabilities that follow one another.

A *capability* is a chain of tools that traces called as a whole. A *meta-capability* is a sequence of them, learned
from sessions, whose traces follow one another, and from longer plans, whose chain is put together of capabilities that
were called by themselves, too. Its *witnesses* are the traces that show it. After the earlier calls of a session they
say which capability is due.

    >>> from vademecum.tools.hypergraph import Chain
    >>> twice = [Chain((0, 1), session="s"), Chain((2,), session="s"), Chain((0, 1), session="t"), Chain((2,), session="t")]
    >>> metas = Metas.of(Hypergraph.of(twice, 3))
    >>> [[metas.chains[n] for n in members] for members in metas.members], metas.witnesses
    ([[(0, 1), (2,)]], ((1, 3),))
    >>> split((4, 0, 1, 2, 3), {(0, 1), (2, 3), (0, 1, 2)})
    ((4,), (0, 1), (2, 3))
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as joined
from typing import Self

import numpy as np

from vademecum.tools.hypergraph import Hypergraph, Weights

WIDEST = 3  # capabilities of a session in one meta-capability
LONGEST = 8  # tools of a capability that is looked for in a longer chain, or before a question
RECURS = 2  # witnesses from which one is shown to people
Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Metas:
    """s meta-capabilities over c capabilities."""

    graph: Hypergraph
    chains: tuple[Numbers, ...]  # the tools of each capability: those of the graph, then single tools between them
    members: tuple[Numbers, ...]  # the capabilities of each meta-capability, in order
    witnesses: tuple[Numbers, ...]  # the traces that show each: those it ended with in a session, or those that are it

    @classmethod
    def of(cls, graph: Hypergraph) -> Self:
        """Learn them from all traces: always the same from the same traces."""
        number = dict(graph.numbers)
        found: dict[Numbers, list[int]] = defaultdict(list)
        for run, trace in _runs(graph):
            found[run].append(trace)
        for chain, traces in _composed(graph):
            found[tuple(number.setdefault(part, len(number)) for part in chain)] += traces
        return cls(graph, tuple(number), tuple(found), tuple(map(tuple, found.values())))

    @cached_property
    def after(self) -> dict[Numbers, list[int]]:
        """Meta-capabilities by the tools of all their capabilities but the last."""
        found: dict[Numbers, list[int]] = defaultdict(list)
        for meta, members in enumerate(self.members):
            done = tuple(joined.from_iterable(self.chains[one] for one in members[:-1]))
            if len(done) <= LONGEST:
                found[done].append(meta)
        return dict(found)

    def due(self, earlier: Sequence[int], weight: Weights) -> dict[Numbers, float]:
        """Return the capabilities that complete a meta-capability, with their weights."""
        latest, found = tuple(earlier[-LONGEST:]), defaultdict[Numbers, float](float)
        for begin in range(len(latest)):
            for meta in self.after.get(latest[begin:], ()):
                if (counted := self.weight(meta, weight)) > 0:
                    found[self.chains[self.members[meta][-1]]] += counted
        return dict(found)

    def weight(self, meta: int, weight: Weights) -> float:
        """Return the weight of witnesses; 0 for a capability without traces."""
        alone = self.graph.merge(weight)
        if any(len(self.chains[one]) > 1 and not alone[one] for one in self.members[meta]):
            return 0.0
        return float(weight[list(self.witnesses[meta])].sum())

    @cached_property
    def recurring(self) -> tuple[int, ...]:
        """Sequences that several traces show, the commonest first."""
        often = [meta for meta in range(len(self.members)) if len(self.witnesses[meta]) >= RECURS]
        part: dict[Numbers, int] = defaultdict(int)
        for meta in often:
            members, count = self.members[meta], len(self.witnesses[meta])
            parts = {members[a:b] for a in range(len(members)) for b in range(a + 2, len(members) + 1)}
            part |= {shorter: max(part[shorter], count) for shorter in parts - {members}}
        kept = [meta for meta in often if len(self.witnesses[meta]) > part[self.members[meta]]]
        return tuple(sorted(kept, key=lambda meta: (-len(self.witnesses[meta]), meta)))


def next_due(due: Mapping[Numbers, float], chain: Numbers, places: int) -> Weights:
    """Return the weights of the due chains' next calls, float32 (places,).

    >>> next_due({(2, 3): 3.0}, (2,), 5).tolist(), next_due({(2, 3): 3.0}, (2, 3), 5).tolist()
    ([0.0, 0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0, 3.0])
    """
    found, begun = np.zeros(places, np.float32), len(chain)
    for tools, weight in due.items():
        if tools[:begun] == chain:
            found[tools[begun] if len(tools) > begun else -1] += weight
    return found


def _runs(graph: Hypergraph) -> Iterator[tuple[Numbers, int]]:
    """Yield sequences of capabilities in sessions, each with its last trace."""
    sessions: dict[int, list[int]] = defaultdict(list)
    for trace, session in enumerate(graph.session.tolist()):
        sessions[session].append(trace)
    capability = graph.capability.tolist()
    for session, traces in sessions.items():
        for end in range(1, len(traces)) if session >= 0 else ():
            for begin in range(max(0, end + 1 - WIDEST), end):
                yield tuple(capability[trace] for trace in traces[begin : end + 1]), traces[end]


def _composed(graph: Hypergraph) -> Iterator[tuple[tuple[Numbers, ...], list[int]]]:
    """Yield each chain that consists of others, as parts, with its traces."""
    known = {chain for chain in graph.capabilities if len(chain) > 1}
    for chain, traces in graph.made.items():
        parts = split(chain, known)
        if any(len(part) > 1 for part in parts) and len(parts) > 1:
            yield parts, traces


def split(chain: Numbers, known: Collection[Numbers]) -> tuple[Numbers, ...]:
    """Return a chain as the fewest known parts that cover most."""
    best: list[tuple[int, int, tuple[Numbers, ...]]] = [(0, 0, ())]  # covered, -parts, parts
    for end in range(1, len(chain) + 1):
        covered, count, parts = best[end - 1]
        options = [(covered, count - 1, (*parts, chain[end - 1 : end]))]
        for begin in range(max(0, end - LONGEST), end - 1):
            part = chain[begin:end]
            if part in known and len(part) < len(chain):
                covered, count, parts = best[begin]
                options.append((covered + len(part), count - 1, (*parts, part)))
        best.append(max(options, key=lambda option: option[:2]))
    return best[-1][2]
