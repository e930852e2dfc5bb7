"""Messages through all levels: up from traces to capabilities to meta-capabilities, and down again to tools.

The attention that an intent gives to traces (`attention`) goes up two incidences and down two:

    up      c_i = sum of the attention of the traces that are capability i        traces -> capabilities
            b_j = w_j mean of c_i over the capabilities i of j                    capabilities -> meta-capabilities
    down    d_i = sum of b_j over the meta-capabilities j of i                    meta-capabilities -> capabilities
            h_v = sum of d_i over the capabilities i that call v, as a share      capabilities -> tools

with w_j what the witnesses of j count for. What was called before in the session narrows it: where that ends with all
capabilities of some meta-capabilities but the last, those alone are gone through, up from their last one and down to it. Then
it is also known what comes next: each votes for the tool of its last capability that follows what was called of it already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vademecum.tools.hypergraph import Integers, Weights
from vademecum.tools.macro_tools import Metas


@dataclass(frozen=True)
class Levels:
    """The third level as one question sees it.

    Args:
        metas: What was learned.
        weight: float32 (s,), what each counts for.
        earlier: The tools called before in the session, in order.
    """

    metas: Metas
    weight: Weights
    earlier: tuple[int, ...] = ()

    @cached_property
    def coming(self) -> Integers:
        """The meta-capabilities whose last capability is due, by what was called before."""
        found = self.metas.following(self.earlier) if self.earlier else np.zeros(0, np.int64)
        return found[self.weight.take(found) > 0]

    def gathered(self, attention: Weights) -> Weights:
        """Return float32 (n,): what attention gives to tools by way of the third level; 0 where there is none.

        Args:
            attention: float32 (c,), that the capabilities of the graph get, each from all its traces (`Hypergraph.merge`).
        """
        metas, graph = self.metas, self.metas.graph
        if not len(metas):
            return np.zeros(graph.tools, np.float32)
        up = metas.over_chains(attention)
        if len(self.coming):
            due = metas.last.take(self.coming)
            down = np.bincount(due, self.weight.take(self.coming) * up.take(due), len(metas.chains))
        else:
            member, meta = metas.inside
            message = np.multiply(self.weight, metas.mean(up))
            down = np.bincount(member, message.take(meta), len(metas.chains))
        tool, capability = metas.called
        given = np.bincount(tool, down.take(capability), graph.tools)
        return (given / max(float(down.sum()), 1e-9)).astype(np.float32)

    def next(self, chains: Sequence[tuple[int, ...]]) -> Weights:
        """Return float32 (c, n + 1): how much weight goes to each tool after each chain of calls, or (n) to the end."""
        ends = self.metas.graph.tools
        found = np.zeros((len(chains), ends + 1), np.float32)
        for row, chain in enumerate(chains):
            begun = len(chain)
            for due, weight in self._due.items():
                if due[:begun] == chain:
                    found[row, due[begun] if len(due) > begun else ends] += weight
        return found

    @cached_property
    def _due(self) -> dict[tuple[int, ...], float]:
        """The capabilities that are due, by their tools, with the weight of the meta-capabilities that say so."""
        weight = np.bincount(self.metas.last.take(self.coming), self.weight.take(self.coming), len(self.metas.chains))
        return {self.metas.chains[n]: float(weight[n]) for n in np.flatnonzero(weight).tolist()}
