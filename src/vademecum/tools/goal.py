"""Predict the next call by its goal, as PML's ADR-050 orders.

    P(next = n) = sum over targets t of  P(t | intent) [n is the first step, not yet taken, of the shortest hyperpath to t]

The target is scored by the intent alone; what was called so far is only where the way starts. Measured (`benchmarks/`
and research before), this loses to attention that sees the context, so it is not the default: it is there by its name,
`goal`, for who wants the decision as it was written, and as an ablation of the one that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vademecum.index.fusion import top
from vademecum.tools.texts import Floats

TARGETS = 8  # goals that are looked at, the likeliest


def first_steps(likely: Floats, called: Sequence[int], way: Callable[[int], Sequence[int]]) -> Floats:
    """Return each tool's probability as first step, float32 (n,).

    Args:
        likely: float32 (n,), how likely each tool is wanted at all, whatever was called.
        called: what was called; it is no goal any more, and no step.
        way: the shortest hyperpath to a tool, that tool last; empty where none is known, and then the goal is the step.

    >>> ways = {0: [1, 0], 1: [1], 2: [2]}
    >>> first_steps(np.array([0.6, 0.1, 0.3], np.float32), (), ways.__getitem__).round(2).tolist()
    [0.0, 0.699999988079071, 0.30000001192092896]
    """
    wanted = likely.copy()
    wanted[list(called)] = 0
    steps = np.zeros_like(wanted)
    for goal in top(wanted, TARGETS).tolist():
        ahead = [step for step in way(goal) if step not in called]
        steps[ahead[0] if ahead else goal] += wanted[goal]
    return np.asarray(steps / np.float32(max(float(steps.sum()), 1e-9)))
