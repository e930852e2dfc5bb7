"""Counts of each tool's use, for any intent.

>>> usage = Usage.of(np.array([3.0, 0.0], np.float32), np.ones(3, np.float32))
>>> usage.share.astype(float).round(2).tolist(), usage.unseen.tolist()
([0.97, 0.03, 0.0], [False, True])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

EPSILON = 1e-3  # of a share of attention: below, nothing is known
_POPULAR = 0.1  # calls that every tool is believed to have had


@dataclass(frozen=True)
class Usage:
    """Calls of tools.

    Attributes:
        counted: float32 (n,), the weight of the traces that called each tool.
        calls: the weight of all traces, and one more.
    """

    counted: Floats
    calls: np.float32

    @classmethod
    def of(cls, counted: Floats, weight: Floats) -> Self:
        """Take the weights of tools' traces, and of traces, float32 (m,)."""
        return cls(counted, np.float32(weight.sum() + 1))

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """True for tools that no trace called, bool (n,)."""
        return self.counted <= 0

    @cached_property
    def share(self) -> Floats:
        """Each tool's share of all calls, float32 (n + 1,)."""
        count = np.append(self.counted + np.float32(_POPULAR), np.float32(0))
        return np.asarray(count / max(float(count.sum()), 1e-9), np.float32)

    @cached_property
    def popular(self) -> Floats:
        """The logarithm of each tool's calls, float32 (n,)."""
        return np.asarray(np.log((self.counted + 0.5) / self.calls), np.float32)

    @property
    def least(self) -> float:
        """The value of `popular` for a tool that no trace called."""
        return float(np.log(0.5 / self.calls))
