"""Attention over the hypergraph: which past traces speak for this intent and this context, and what they say.

Two phases, as in hypergraph attention (SHGAT: Fujita, engrXiv 10.31224/4994; here in closed form, without learned
projections). Up: every trace is weighed against the question, a softmax over the traces,

    alpha_e = weight_e exp((k(q, e) - 1) / t + beta (|C and e| / |C| - 1)) / sum over traces of the same

with k a kernel between the intent asked and the intent of the trace, and C the tools called so far. Down: each trace
gives its weight to the tools it called (`gather`), or to those it called right after the last one (`votes`). A head
is one kernel: the words of the intent, its meaning, or what its tools say of themselves; the level above the traces,
their sessions, is a head that asks what was called beside the context whatever the intent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vademecum.tools.hypergraph import Hypergraph
from vademecum.tools.texts import Floats

WORDS = 0.12  # temperature of the kernel of words
MEANING = 0.06  # of the kernel of meanings, whose cosines lie closer together
CONTEXT = 2.0  # beta: how much a trace gains by having called what was called
SESSION = 4.0  # the same for sessions
BACKING = 0.15  # weight of the prior in votes: what is enough attention to be believed
SMOOTHING = 0.5  # weight of the prior in transition counts


def attend(kernel: Floats, weight: Floats, temperature: float) -> Floats:
    """Return float32 (m,): the attention that each trace gets; all 0 where there is none to give.

    >>> attend(np.array([1.0, 0.0], np.float32), np.ones(2, np.float32), 0.5).round(2).tolist()
    [0.8799999952316284, 0.11999999731779099]
    """
    if not kernel.size:
        return kernel
    return _share(np.exp((kernel - kernel.max()) / np.float32(temperature)) * weight)


def in_context(attention: Floats, shared: Floats) -> Floats:
    """Return the attention moved towards traces that called what was called; `shared` is `Hypergraph.shared`."""
    return _share(attention * np.exp(np.float32(CONTEXT) * (shared - 1)))


def transitions(graph: Hypergraph, here: int, weight: Floats, popular: Floats) -> Floats:
    """Return float32 (n + 1,): how likely each tool, or the end, comes after `here`, whatever the intent.

    Args:
        graph: the traces.
        here: the tool just called; n at the beginning.
        weight: float32 (m,), what each trace counts for.
        popular: float32 (n + 1,), the share of each tool in all calls: what is believed without a count.
    """
    count = graph.after(here, weight)
    return np.asarray((count + np.float32(SMOOTHING) * popular) / (count.sum() + SMOOTHING), np.float32)


def votes(graph: Hypergraph, here: int, attention: Floats, prior: Floats, before: int | None = None) -> Floats:
    """Return float32 (n + 1,): what the traces attended to did after `here`, backed by a prior of the same shape.

    `before` asks only for those that came to `here` from there.
    """
    count = graph.after(here, attention, before)
    return np.asarray((count + np.float32(BACKING) * prior) / (count.sum() + BACKING), np.float32)


def beside(graph: Hypergraph, context: Sequence[int], weight: Floats) -> Floats:
    """Return float32 (m,): attention by sessions: those that called what this one did, each spread over its traces."""
    inside = np.flatnonzero((graph.session >= 0) & (weight > 0))
    if not context or not len(inside):
        return np.zeros(len(graph), np.float32)
    sessions = int(graph.session.max()) + 1
    called = np.zeros((sessions, len(context)), np.float32)
    for column, tool in enumerate(context):
        called[graph.session[graph.traces_with(tool)], column] = 1  # a trace without a session writes to the last row
    size = np.bincount(graph.session[inside], minlength=sessions)
    share = np.exp(np.float32(SESSION) * (called.mean(1) - 1)) * (size > 0)
    each = share / np.maximum(size, 1)
    attention = np.zeros(len(graph), np.float32)
    attention[inside] = each[graph.session[inside]]
    return _share(attention)


def _share(value: Floats) -> Floats:
    return value / np.float32(max(float(value.sum()), 1e-9))
