"""Attention over past traces, by intent and by tools called.

Two phases, as in hypergraph attention (SHGAT: Fujita, engrXiv 10.31224/4994; here in closed form, without learned projections).
Up: every trace is weighed against the question, a softmax over the traces,

    alpha_e = weight_e exp((k(q, e) - 1) / t + beta (|C and e| / |C| - 1)) / sum over traces of the same

with k a kernel between the intent asked and the intent of the trace, and C the tools called so far. Down: each trace gives its
weight to the tools it called (`Hypergraph.gather`), or to those it called right after the last one (`Hypergraph.after`). There are
two kernels, the words of intents and their meaning; their mean is the attention.
"""

from __future__ import annotations

import numpy as np

from vademecum.tools.texts import Floats

WORDS = 0.12  # temperature of the kernel of words
MEANING = 0.06  # of the kernel of meanings, whose cosines lie closer together
CONTEXT = 2.0  # beta: how much a trace gains by having called the tools that were called
BACKING = 0.15  # weight of the prior in votes: how much attention is enough to be believed
SMOOTHING = 0.5  # weight of the prior in transition counts


def attend(kernel: Floats, weight: Floats, temperature: float | Floats) -> Floats:
    """Return each trace's attention by kernel, float32 (..., m); 0 for none.

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


def in_context(attention: Floats, shared: Floats) -> Floats:
    """Return the attention moved towards traces that called the same tools."""
    return _share(attention * np.exp(np.float32(CONTEXT) * (shared - 1)))


def voted(count: Floats, prior: Floats, weight: float) -> Floats:
    """Return the smoothed shares of next calls, float32 (..., n).

    >>> voted(np.array([[3.0, 0.0]], np.float32), np.array([0.5, 0.5], np.float32), 1.0).tolist()
    [[0.875, 0.125]]
    """
    believed = np.float32(weight)
    total = np.add.reduce(count, axis=-1, keepdims=True)
    return np.asarray((believed * prior + count) / (total + believed), np.float32)


def _share(value: Floats) -> Floats:
    total = np.add.reduce(value, axis=-1, keepdims=True)
    return np.asarray(value / np.maximum(total, np.float32(1e-9), out=total), np.float32)
