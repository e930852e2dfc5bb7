"""Traces as a hypergraph, a hyperedge for each trace.

Levels, as in an n-SuperHyperGraph (Smarandache; Fujita, engrXiv 10.31224/4994): tools (0) lie in capabilities (1), the chains
that traces called, each of which is kept with its traces; capabilities lie in meta-capabilities (2, `metas`). Beside them the
traces of one session lie in that session. An incidence is stored as flat arrays, one entry for each member, sorted so that a
tool's or a trace's entries are a slice.

Every count asked of it is a sum of weights over traces, so that leaving some out, as fitting does, is a weight of 0,
and a new trace is a few more entries.

    >>> graph = Hypergraph.of([Chain((0, 1)), Chain((0, 1)), Chain((2, 1))], tools=3)
    >>> graph.after(0, graph.weight)[:3].tolist()
    [0.0, 2.0, 0.0]
    >>> graph.capabilities[graph.capability[0]]
    (0, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
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
        length: int64 (m,), calls of each.
        member_tool, member_trace: int64 (M,), each tool of each trace once, by trace; `trace_start` int64 (m + 1,) cuts them.
        tool_trace: int64 (M,), the traces of the entries above by tool; `tool_start` int64 (n + 1,) cuts them.
        before, here, then, owner: int64 (S,), each step: the tool two before, the one before, the tool, the trace; by
            `here`, and `here_start` int64 (n + 2,) cuts them.
        capability: int64 (m,), each trace's capability; `capabilities` are their chains.
        session: int64 (m,), each trace's session, -1 for none.
    """

    tools: int
    weight: Weights
    length: Integers
    member_tool: Integers
    member_trace: Integers
    trace_start: Integers
    tool_trace: Integers
    tool_start: Integers
    before: Integers
    here: Integers
    then: Integers
    owner: Integers
    here_start: Integers
    capability: Integers
    capabilities: tuple[tuple[int, ...], ...]
    session: Integers

    @classmethod
    def of(cls, chains: Sequence[Chain], tools: int) -> Self:
        """Build the incidences of traces."""
        length = np.array([len(chain.tools) for chain in chains], np.int64)
        flat = np.array([tool for chain in chains for tool in chain.tools], np.int64)
        owner = np.repeat(np.arange(len(chains)), length)
        member = np.unique(owner * (tools + 1) + flat)
        member_trace, member_tool = np.divmod(member, tools + 1)
        by_tool = np.argsort(member_tool, kind="stable")
        steps = _steps(length, flat, tools)
        known: dict[tuple[int, ...], int] = {}
        capability = [known.setdefault(chain.tools, len(known)) for chain in chains]
        sessions: dict[str, int] = {}
        session = [sessions.setdefault(chain.session, len(sessions)) if chain.session else -1 for chain in chains]
        return cls(
            tools,
            np.array([1.0 if chain.ok else FAILED for chain in chains], np.float32),
            length,
            member_tool,
            member_trace,
            np.searchsorted(member_trace, np.arange(len(chains) + 1)),
            member_trace[by_tool],
            np.searchsorted(member_tool[by_tool], np.arange(tools + 1)),
            *steps,
            np.searchsorted(steps[1], np.arange(tools + 2)),
            np.array(capability, np.int64),
            tuple(known),
            np.array(session, np.int64),
        )

    def __len__(self) -> int:
        """Return the number of traces."""
        return len(self.weight)

    def traces_with(self, tool: int) -> Integers:
        """Return the traces that called a tool."""
        return self.tool_trace[self.tool_start[tool] : self.tool_start[tool + 1]]

    @cached_property
    def numbers(self) -> dict[tuple[int, ...], int]:
        """Each capability's number by its chain."""
        return {chain: number for number, chain in enumerate(self.capabilities)}

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
        return self.member_tool[self.trace_start[trace] : self.trace_start[trace + 1]]

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
        rows = slice(self.here_start[tool], self.here_start[tool + 1])
        then, given = self.then[rows], weight[self.owner[rows]]
        if before is not None:
            given = given * (self.before[rows] == before)
        return sums(then, given, self.tools + 1)


def _steps(length: Integers, flat: Integers, tools: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Return (two before, before, tool, trace) of every step, by previous tool."""
    count = length + 1
    owner = np.repeat(np.arange(len(length)), count)
    first = np.zeros(len(owner), bool)
    first[np.cumsum(count) - count] = True
    then = np.full(len(owner), tools)
    then[np.setdiff1d(np.arange(len(owner)), np.cumsum(count) - 1)] = flat
    here = np.where(first, tools, np.roll(then, 1))
    before = np.where(first, -1, np.roll(here, 1))
    order = np.argsort(here, kind="stable")
    return before[order], here[order], then[order], owner[order]


def sums(place: Integers, weight: Weights, size: int) -> Weights:
    """Return float32 (size,): weights, float (k,), summed by place, int64 (k,)."""
    return np.bincount(place, weight, size).astype(np.float32)
