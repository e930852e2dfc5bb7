"""What follows each tool whatever the intent: the same for every question, so each tool's is worked out once.

>>> from vademecum.tools.hypergraph import Chain
>>> graph, usage = Hypergraph.of([Chain((0, 1))], 2), np.array([0.5, 0.5, 0.0], np.float32)
>>> follows = Followers(graph, np.ones(1, np.float32), usage).after(0)
>>> follows.share.astype(float).round(2).tolist(), round(follows.believed, 1)
([0.17, 0.83, 0.0], 1.5)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vademecum.tools.attention import SMOOTHING
from vademecum.tools.hypergraph import Hypergraph
from vademecum.tools.texts import Floats
from vademecum.tools.usage import EPSILON

_MOST = 512  # tools of which it is kept


class Following(NamedTuple):
    """What follows one tool.

    Attributes:
        share: float32 (n + 1,), of each tool, the end last; backed by how much tools are called anyhow.
        log: float32 (n,), the logarithm of it, without the end.
        believed: the weight of all steps from there and of that backing.
        end, log_end: the share of the end, and its logarithm.
    """

    share: Floats
    log: Floats
    believed: float
    end: float
    log_end: float


class Followers:
    """What follows each tool.

    Args:
        graph: n tools and the traces that called them.
        weight: float32 (m,), what each trace counts for.
        usual: float32 (n + 1,), how much tools are called anyhow, as shares.
    """

    def __init__(self, graph: Hypergraph, weight: Floats, usual: Floats) -> None:
        self._graph, self._weight, self._usual = graph, weight, usual
        self._known: dict[int, Following] = {}

    def after(self, tool: int) -> Following:
        """Return what follows a tool, or (n) what traces begin with."""
        if (known := self._known.get(tool)) is not None:
            return known
        if len(self._known) >= _MOST:
            self._known.clear()
        counted = self._graph.after(tool, self._weight)
        believed = np.add.reduce(counted) + np.float32(SMOOTHING)
        share = counted / believed + np.float32(SMOOTHING) / believed * self._usual
        log, end = np.log(share[:-1] + np.float32(EPSILON)), share.item(-1)
        found = self._known[tool] = Following(share, log, float(believed), end, math.log(end + EPSILON))
        return found
