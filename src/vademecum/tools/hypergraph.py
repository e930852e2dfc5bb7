"""Traces as a hypergraph of tools, capabilities and meta-capabilities, and attention.

Tools lie in capabilities, the chains that traces called, and these in meta-capabilities, as in an n-SuperHyperGraph
(docs/tools.md, "Chains of chains"); the *witnesses* of one are the traces that show it.

Every count is a sum of weights over traces: one that is left out weighs 0. Attention has two phases, as in hypergraph
attention (SHGAT; here in closed form). Up: every trace is weighed against the question,

    alpha_e = weight_e exp((k(q, e) - 1) / t + beta (|C and e| / |C| - 1)) / sum over traces of the same

with k a kernel between two intents, of words or of meaning, and C the tools called so far. Down: each trace gives its
weight to the tools it called (`gather`), or to those it called right after the last one (`after`).

    >>> graph = Hypergraph.of([Chain((0, 1)), Chain((0, 1)), Chain((2, 1))], tools=3)
    >>> graph.after(0, graph.weight)[:3].tolist(), graph.capabilities[graph.capability[0]]
    ([0.0, 2.0, 0.0], (0, 1))
    >>> twice = [Chain((0, 1), session="s"), Chain((2,), session="s"), Chain((0, 1), session="t"), Chain((2,), session="t")]
    >>> metas = Metas.of(Hypergraph.of(twice, 3))
    >>> [[metas.chains[n] for n in members] for members in metas.members], metas.witnesses
    ([[(0, 1), (2,)]], ((1, 3),))
    >>> split((4, 0, 1, 2, 3), {(0, 1), (2, 3), (0, 1, 2)})
    ((4,), (0, 1), (2, 3))
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as joined
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Weights = NDArray[np.float32]
Numbers = tuple[int, ...]

WORDS = 0.12  # temperature of the kernel of words
MEANING = 0.06  # of the kernel of meanings, whose cosines lie closer together
CONTEXT = 2.0  # beta: how much a trace gains by having called the tools that were called
BACKING = 0.15  # weight of the prior in votes: how much attention is enough to be believed
SMOOTHING = 0.5  # weight of the prior in transition counts
FAILED = 1 / 3  # what a trace that failed counts for: its order is still informative (measured: dropping it is worse)
WIDEST = 3  # capabilities of a session in one meta-capability
LONGEST = 8  # tools of a capability that is looked for in a longer chain, or before a question
RECURS = 2  # witnesses from which one is shown to people


class Chain(NamedTuple):
    """A trace by the numbers of its tools."""

    tools: Numbers
    ok: bool = True
    session: str = ""


@dataclass(frozen=True)
class Hypergraph:
    """n tools and m traces.

    `n` stands for the beginning of a trace where a tool before is asked for, and for its end where one after is.
    """

    tools: int  # n
    weight: Weights  # (m,), what each trace counts for
    member_tool: Integers  # (M,), each tool of each trace once, by tool
    member_trace: Integers
    before: Integers  # (S,), of each step the tool two before, by `here`
    here: Integers  # the tool before
    then: Integers  # the tool
    owner: Integers  # the trace
    capability: Integers  # (m,), each trace's capability
    capabilities: tuple[Numbers, ...]  # their chains
    session: Integers  # (m,), each trace's session, -1 for none

    @classmethod
    def of(cls, chains: Sequence[Chain], tools: int) -> Self:
        """Build the incidences of traces."""
        members = sorted({(tool, owner) for owner, chain in enumerate(chains) for tool in chain.tools})
        steps = [
            (*step, owner)
            for owner, chain in enumerate(chains)
            for step in zip((-1, tools, *chain.tools), (tools, *chain.tools), (*chain.tools, tools), strict=False)
        ]
        steps.sort(key=lambda step: step[1])
        known: dict[Numbers, int] = {}
        capability = [known.setdefault(chain.tools, len(known)) for chain in chains]
        sessions: dict[str, int] = {}
        session = [sessions.setdefault(chain.session, len(sessions)) if chain.session else -1 for chain in chains]
        weight = np.array([1.0 if chain.ok else FAILED for chain in chains], np.float32)
        (tool, trace), (before, here, then, owner) = _columns(members, 2), _columns(steps, 4)
        numbers = np.array(capability, np.int64), tuple(known), np.array(session, np.int64)
        return cls(tools, weight, tool, trace, before, here, then, owner, *numbers)

    def __len__(self) -> int:
        """Return the number of traces."""
        return len(self.weight)

    @cached_property
    def numbers(self) -> dict[Numbers, int]:
        """Each capability's number by its chain."""
        return {chain: number for number, chain in enumerate(self.capabilities)}

    @cached_property
    def made(self) -> dict[Numbers, list[int]]:
        """The traces that called each chain."""
        found: dict[Numbers, list[int]] = {chain: [] for chain in self.capabilities}
        for trace, number in enumerate(self.capability.tolist()):
            found[self.capabilities[number]].append(trace)
        return found

    @cached_property
    def firsts(self) -> Integers:
        """The tool that each trace began with, int64 (m,)."""
        return np.array([self.capabilities[number][0] for number in self.capability], np.int64)

    @cached_property
    def merged(self) -> Hypergraph:
        """The capabilities, each as if it were one trace."""
        return Hypergraph.of([Chain(tools) for tools in self.capabilities], self.tools)

    def merge(self, value: Weights) -> Weights:
        """Return sums over the traces of each capability, float32 (c,)."""
        return sums(self.capability, value, len(self.capabilities))

    def gather(self, weight: Weights) -> Weights:
        """Return each tool's sum of its traces' weights, float32 (n,)."""
        return sums(self.member_tool, weight.take(self.member_trace), self.tools)

    def tools_of(self, trace: int) -> Integers:
        """Return the distinct tools of a trace."""
        return np.unique(self.capabilities[self.capability[trace]])

    def shared(self, context: Sequence[int]) -> Weights:
        """Return each trace's share of the context's tools, float32 (m,)."""
        count = np.zeros(len(self), np.float32)
        for tool in set(context):
            count[self.member_trace[_equal(self.member_tool, tool)]] += 1
        return count / np.float32(max(len(set(context)), 1))

    def after(self, tool: int, weight: Weights, before: int | None = None) -> Weights:
        """Return the weights of a tool's next steps, float32 (n + 1,).

        `before` asks only for those steps that came from there.
        """
        rows = _equal(self.here, tool)
        then, given = self.then[rows], weight[self.owner[rows]]
        if before is not None:
            given = given * (self.before[rows] == before)
        return sums(then, given, self.tools + 1)


def _equal(ascending: Integers, value: int) -> slice:
    return slice(*np.searchsorted(ascending, (value, value + 1)))


def _columns(rows: Sequence[Numbers], width: int) -> Iterable[Integers]:
    return np.ascontiguousarray(np.array(rows, np.int64).reshape(-1, width).T)


def sums(place: Integers, weight: Weights, size: int) -> Weights:
    """Return float32 (size,): weights, float (k,), summed by place, int64 (k,)."""
    return np.bincount(place, weight, size).astype(np.float32)


def attend(kernel: Weights, weight: Weights, temperature: float | Weights) -> Weights:
    """Return each trace's attention by kernel, float32 (..., m); 0 for none.

    >>> attend(np.array([1.0, 0.0], np.float32), np.ones(2, np.float32), 0.5).round(2).tolist()
    [0.8799999952316284, 0.11999999731779099]
    """
    if not kernel.size:
        return kernel
    near = (kernel - np.maximum.reduce(kernel, axis=-1, keepdims=True)) / np.asarray(temperature, np.float32)
    return _share(np.exp(near) * weight)


def in_context(attention: Weights, shared: Weights) -> Weights:
    """Return the attention moved towards traces that called the same tools."""
    return _share(attention * np.exp(np.float32(CONTEXT) * (shared - 1)))


def voted(count: Weights, prior: Weights, weight: float) -> Weights:
    """Return the smoothed shares of next calls, float32 (..., n).

    >>> voted(np.array([[3.0, 0.0]], np.float32), np.array([0.5, 0.5], np.float32), 1.0).tolist()
    [[0.875, 0.125]]
    """
    believed = np.float32(weight)
    return np.asarray(
        (believed * prior + count) / (np.add.reduce(count, axis=-1, keepdims=True) + believed), np.float32
    )


def _share(value: Weights) -> Weights:
    return np.asarray(value / np.maximum(np.add.reduce(value, axis=-1, keepdims=True), np.float32(1e-9)), np.float32)


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
        known = {chain for chain in graph.capabilities if len(chain) > 1}
        for chain, traces in graph.made.items():
            parts = split(chain, known)
            if any(len(part) > 1 for part in parts) and len(parts) > 1:
                found[tuple(number.setdefault(part, len(number)) for part in parts)] += traces
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
    def recurring(self) -> Numbers:
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
