"""Reliability of a tool as a factor on its score.

`step` is that of PML's ADR-050, by its thresholds. It judges one failed call out of one like a hundred out of a
hundred, so the default is `smoothed`: the mean of a Beta posterior whose prior is what tools do in general, relative to
that prior,

    factor = (1 - SWING) + SWING * ((s + STRENGTH * p) / (n + STRENGTH)) / p

with s good calls of n and p the share of good calls over all tools. A tool nobody has used has factor 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]

CAP = 0.95  # of a score: certainty is not to be had (ADR-050)
STRENGTH = 4.0  # calls that the prior is worth
SWING = 0.5  # how much of a score depends on reliability
MOST = 1.2  # what reliability may add, as in the steps


def step(good: Counts, calls: Counts) -> Counts:
    """Return ADR-050's factor of each tool; 1 for one without calls.

    >>> step(np.array([1.0, 8, 10, 0]), np.array([4.0, 10, 10, 0])).tolist()
    [0.1, 1.0, 1.2, 1.0]
    """
    rate = good / np.maximum(calls, 1)
    return np.where(calls == 0, 1.0, np.where(rate < 0.5, 0.1, np.where(rate > 0.9, 1.2, 1.0)))


def smoothed(good: Counts, calls: Counts) -> Counts:
    """Return each tool's smoothed factor, 1 - SWING..MOST.

    >>> smoothed(np.array([0.0, 0, 9, 0]), np.array([1.0, 20, 9, 0])).round(2).tolist()
    [0.9, 0.58, 1.2, 1.0]
    """
    prior = (float(good.sum()) + 1) / (float(calls.sum()) + 2)
    mean = (good + STRENGTH * prior) / (calls + STRENGTH)
    return np.asarray(np.minimum(1 - SWING + SWING * mean / prior, MOST))


RELIABILITIES: Mapping[str, Callable[[Counts, Counts], Counts]] = {"smoothed": smoothed, "step": step}
