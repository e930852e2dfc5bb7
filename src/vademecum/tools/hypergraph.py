"""Traces as a hypergraph, a hyperedge for each trace.

Levels, as in an n-SuperHyperGraph (Smarandache; Fujita, engrXiv 10.31224/4994): tools (0) lie in capabilities (1), the chains
that traces called, each of which is kept with its traces; capabilities lie in meta-capabilities (2, `metas`). Beside them the
traces of one session lie in that session. An incidence is stored as flat arrays, one entry for each member, sorted so that a
tool's entries are a slice.

Every count asked of it is a sum of weights over traces, so that leaving some out, as fitting does, is a weight of 0,
and a new trace is a few more entries.

    >>> graph = Hypergraph.of([Chain((0, 1)), Chain((0, 1)), Chain((2, 1))], tools=3)
    >>> graph.after(0, graph.weight)[:3].tolist()
    [0.0, 2.0, 0.0]
    >>> graph.capabilities[graph.capability[0]]
    (0, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Weights = NDArray[np.float32]

FAILED = 1 / 3  # what a trace that failed counts for: its order is still informative (measured: dropping it is worse)


class Chain(NamedTuple):
    """A trace by the numbers of its tools."""

    tools: tuple[int, ...]
    ok: bool = True
    session: str = ""


@dataclass(frozen=True)
class Hypergraph:
    """n tools and m traces.

    `n` stands for the beginning of a trace where a tool before is asked for, and for its end where one after is.

    Attributes:
        tools: n.
        weight: float32 (m,), what each trace counts for.
        member_tool, member_trace: int64 (M,), each tool of each trace once, by tool.
        before, here, then, owner: int64 (S,), each step: the tool two before, the one before, the tool, the trace; by `here`.
        capability: int64 (m,), each trace's capability; `capabilities` are their chains.
        session: int64 (m,), each trace's session, -1 for none.
    """

    tools: int
    weight: Weights
    member_tool: Integers
    member_trace: Integers
    before: Integers
    here: Integers
    then: Integers
    owner: Integers
    capability: Integers
    capabilities: tuple[tuple[int, ...], ...]
    session: Integers

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
        known: dict[tuple[int, ...], int] = {}
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

    def traces_with(self, tool: int) -> Integers:
        """Return the traces that called a tool."""
        return self.member_trace[_equal(self.member_tool, tool)]

    @cached_property
    def numbers(self) -> dict[tuple[int, ...], int]:
        """Each capability's number by its chain."""
        return {chain: number for number, chain in enumerate(self.capabilities)}

    @cached_property
    def firsts(self) -> Integers:
        """The tool that each trace began with, int64 (m,)."""
        return np.array([self.capabilities[number][0] for number in self.capability], np.int64)

    @cached_property
    def merged(self) -> Hypergraph:
        """The capabilities, each as if it were one trace.

        The weights of traces, and whatever is to be summed over them, go with `merge`.
        """
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
        distinct = set(context)
        for tool in distinct:
            count[self.traces_with(tool)] += 1
        return count / np.float32(max(len(distinct), 1))

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


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> Iterable[Integers]:
    return np.ascontiguousarray(np.array(rows, np.int64).reshape(-1, width).T)


def sums(place: Integers, weight: Weights, size: int) -> Weights:
    """Return float32 (size,): weights, float (k,), summed by place, int64 (k,)."""
    return np.bincount(place, weight, size).astype(np.float32)
