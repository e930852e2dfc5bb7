"""Attention over the hypergraph: which past traces speak for this intent and this context, and what they say.

Two phases, as in hypergraph attention (SHGAT: Fujita, engrXiv 10.31224/4994; here in closed form, without learned
projections). Up: every trace is weighed against the question, a softmax over the traces,

    alpha_e = weight_e exp((k(q, e) - 1) / t + beta (|C and e| / |C| - 1)) / sum over traces of the same

with k a kernel between the intent asked and the intent of the trace, and C the tools called so far. Down: each trace
gives its weight to the tools it called (`gather`), or to those it called right after the last one (`voted`). A head
is one kernel: the words of the intent, its meaning, or what its tools say of themselves; the level above the traces,
their sessions, is a head that asks what was called beside the context whatever the intent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.hypergraph import Hypergraph, sums, sums_by_row
from vademecum.tools.texts import Floats

WORDS = 0.12  # temperature of the kernel of words
MEANING = 0.06  # of the kernel of meanings, whose cosines lie closer together
CONTEXT = 2.0  # beta: how much a trace gains by having called what was called
SESSION = 4.0  # the same for sessions
BACKING = 0.15  # weight of the prior in votes: what is enough attention to be believed
SMOOTHING = 0.5  # weight of the prior in transition counts
_NONE = np.exp(np.float32(-CONTEXT))  # what is left to a trace that shares nothing with the context


def attend(kernel: Floats, weight: Floats, temperature: float | Floats) -> Floats:
    """Return float32 (..., m): the attention that each trace gets by each kernel; all 0 where there is none to give.

    >>> attend(np.array([1.0, 0.0], np.float32), np.ones(2, np.float32), 0.5).round(2).tolist()
    [0.8799999952316284, 0.11999999731779099]
    """
    if not kernel.size:
        return kernel
    near = kernel - np.maximum.reduce(kernel, axis=-1, keepdims=True)
    near /= np.asarray(temperature, np.float32)
    np.exp(near, out=near)
    near *= weight
    return _share(near)


def attended(
    merged: Hypergraph,
    capability: NDArray[np.int64] | None,
    kernels: tuple[Floats, ...],
    weight: Floats,
    temperatures: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return what `attend` returns, float32 (k, m), what it gives to capabilities, (k, c), and to tools, (k, n).

    Args:
        merged: the capabilities.
        capability: int64 (m,), that of each trace; None where the traces are the capabilities.
        kernels: float32 (m,) each.
        weight: float32 (m,), what each trace counts for.
        temperatures: float32 (k,).
    """
    attention = attend(np.stack(kernels), weight, temperatures[:, None])
    up = attention
    if capability is not None:
        up = np.stack([sums(capability, each, len(merged)) for each in attention])
    return attention, up, np.stack([merged.gather(each) for each in up])


def in_context(attention: Floats, shared: Floats) -> Floats:
    """Return the attention moved towards traces that called what was called; `shared` is `Hypergraph.shared`."""
    return _share(attention * np.exp(np.float32(CONTEXT) * (shared - 1)))


def voted(count: Floats, prior: Floats, weight: float) -> Floats:
    """Return float32 (..., n): counts of what came next as shares, backed by a prior of so much weight.

    >>> voted(np.array([[3.0, 0.0]], np.float32), np.array([0.5, 0.5], np.float32), 1.0).tolist()
    [[0.875, 0.125]]
    """
    believed = np.float32(weight)
    total = np.add.reduce(count, axis=-1, keepdims=True)
    total += believed
    share = believed * prior + count
    share /= total
    return share


@lru_cache(maxsize=64)
def _kept(most: int) -> tuple[Floats, Floats]:
    """Return what is kept of the attention of a trace that shares so many of so many tools, by tools * most + shared.

    Then what of it is above that of a trace that shares none, for each of the tools it shares. Both float32 (most * most,).
    """
    shared, tools = np.arange(most), np.arange(most)[:, None]
    kept = np.exp(CONTEXT * (shared / np.maximum(tools, 1) - 1)).astype(np.float32)
    return kept.ravel(), ((kept - _NONE) / np.maximum(shared, 1)).astype(np.float32).ravel()


def unmoved(attention: Floats) -> Floats:
    """Return float32 (k, 1): what is left of all attention, float32 (k, m), in a context with which no trace shares anything."""
    return np.asarray(_NONE * np.add.reduce(attention, axis=1, keepdims=True), np.float32)


class Moved:
    """What `in_context` makes of attention in several contexts at once, without looking at traces that share nothing.

    A trace that called none of what was called keeps exp(-beta) of its attention, in every context; so what all of
    them give to tools is known, and only those that called some of it are looked at.

    Args:
        graph: the traces.
        attention: float32 (k, m), by k kernels.
        gathered: float32 (k, n), what each gives to tools.
        contexts: c of them, the tools called.
        least: float32 (k, 1), what `unmoved` returns for the attention.
    """

    def __init__(
        self,
        graph: Hypergraph,
        attention: Floats,
        gathered: Floats,
        contexts: Sequence[Sequence[int]],
        least: Floats,
    ) -> None:
        self._graph, self._attention, self._given, self._contexts = graph, attention, gathered, len(contexts)
        distinct = [set(context) for context in contexts]
        self._touches = any(distinct)
        if not self._touches:
            return
        # Each trace once for each of the tools it shares: what it gets is cut into as many parts.
        rows = [row for row, tools in enumerate(distinct) for _ in tools]
        self._row, self._trace = graph.traces_with_each([tool for tools in distinct for tool in tools], rows)
        cell = self._row * len(graph)
        cell += self._trace
        shared = np.bincount(cell, minlength=len(contexts) * len(graph))
        most = max(map(len, distinct)) + 1
        sizes = [len(tools) * most for tools in distinct]
        if sizes.count(sizes[0]) == len(sizes):
            kept, part = (table[sizes[0] :] for table in _kept(most))
        else:
            kept, part = _kept(most)
            shared += np.array(sizes, np.int64).repeat(len(graph))
        self._shared, self._kept = shared, kept
        self._more = attention.take(self._trace, axis=1)
        self._more *= part.take(shared.take(cell))
        total = sums_by_row(self._row, self._more, len(contexts))
        total += least
        self._total = np.maximum(total, np.float32(1e-9), out=total)

    def gathered(self) -> Floats:
        """Return float32 (k, c, n): what the attention gives to tools once it is moved."""
        if not self._touches:
            return np.repeat(self._given[:, None], self._contexts, axis=1)
        size, tool = self._graph.members_of(self._trace)
        tool += (self._row * self._graph.tools).repeat(size)
        more = self._more / self._total.take(self._row, axis=1)
        found = sums_by_row(tool, more.repeat(size, axis=1), self._contexts * self._graph.tools)
        found = found.reshape(len(found), self._contexts, -1)
        found += (_NONE / self._total)[:, :, None] * self._given[:, None]
        return found

    def of(self, row: NDArray[np.int64], trace: NDArray[np.int64]) -> Floats:
        """Return float32 (k, len(row)): the attention of traces, each in a context."""
        found = self._attention.take(trace, axis=1)
        if self._touches:  # else nothing was called: as it was
            found *= self._kept.take(self._shared.take(row * len(self._graph) + trace))
            found /= self._total.take(row, axis=1)
        return found


class Beside:
    """What was called beside the same: attention by sessions, those that called what a context did, spread over their traces.

    Args:
        graph: the traces.
        weight: float32 (m,), what each counts for.
    """

    def __init__(self, graph: Hypergraph, weight: Floats) -> None:
        self._graph = graph
        inside = (graph.session >= 0) & (weight > 0)
        self._sessions = int(graph.session.max(initial=-1)) + 1
        self._size = np.bincount(graph.session[inside], minlength=self._sessions)
        kept = np.flatnonzero(inside[graph.member_trace])
        cell = graph.session[graph.member_trace[kept]] * graph.tools + graph.member_tool[kept]
        cells, self._count = np.unique(cell, return_counts=True)
        self._session, self._tool = np.divmod(cells, max(graph.tools, 1))

    def __bool__(self) -> bool:
        """Return whether any trace has a session."""
        return len(self._tool) > 0

    def gathered(self, contexts: Sequence[Sequence[int]]) -> Floats:
        """Return float32 (c, n): what that attention gives to tools; 0 for an empty context."""
        called = np.zeros((len(contexts), self._sessions + 1), np.float32)  # what has no session writes to the last one
        for row, context in enumerate(contexts):
            for tool in context:
                sessions = np.unique(self._graph.session[self._graph.traces_with(tool)])
                called[row, sessions] += np.float32(1 / len(context))
        share = np.exp(np.float32(SESSION) * (called[:, :-1] - 1)) * (self._size > 0)
        share[[not context for context in contexts]] = 0
        each = _share(share) / np.maximum(self._size, 1)
        return sums_by_row(self._tool, each.take(self._session, axis=1) * self._count, self._graph.tools)


def _share(value: Floats) -> Floats:
    total = np.add.reduce(value, axis=-1, keepdims=True)
    return np.asarray(value / np.maximum(total, np.float32(1e-9), out=total), np.float32)
