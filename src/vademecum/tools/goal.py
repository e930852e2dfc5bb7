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
from vademecum.tools.view import View

TARGETS = 8  # goals that are looked at, the likeliest


def toward_goals(view: View, way: Callable[[str], Sequence[str]], taken: Floats, after: Sequence[int]) -> Floats:
    """Return each tool's probability as the next step, float32 (n,).

    Args:
        view: the tools.
        way: from a tool to the tools on the way there, see `Ways.starting`; where none is known, the goal is the step.
        taken: float32 (n,), the probability of each tool that the intent takes it.
        after: the numbers of the tools called so far; they are no goal any more, and no step.
    """
    wanted = np.where(view.offered, taken, 0).astype(np.float32)
    wanted[list(after)] = 0
    steps = np.zeros_like(wanted)
    for goal in top(wanted, TARGETS).tolist():
        ahead = [view.number[step] for step in way(view.tools[goal].id) if view.number[step] not in after]
        steps[ahead[0] if ahead else goal] += wanted[goal]
    return np.asarray(steps / np.float32(max(float(steps.sum()), 1e-9)))
