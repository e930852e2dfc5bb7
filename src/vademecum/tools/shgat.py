"""Predict the next call by goal or by SHGAT, as in ADR-050.

Both score a target by the intent alone; what was called so far is only where the way to it starts. By `goal`:

    P(next = n) = sum over targets t of  P(t | intent) [n is the first step, not yet taken, of the shortest hyperpath to t]

By `shgat` a target is a capability, a chain that traces called, and the next call is its first one not made yet:

    score = sigmoid(mean of (semantic, semantic, structure, temporal) * reliability)

    semantic     the cosine of the intent and the nearest intent that a capability was called for
    structure    0.4 page rank + 0.3 / (1 + cluster) + 0.3 Adamic-Adar, of capabilities joined by the tools they share
    temporal     0.4 called in a session with others + 0.4 recency + 0.2 heat
    reliability  the ADR's steps (`confidence.step`), of the capability's traces

Each is 0..1. The ADR leaves the weights of the heads to learning; they are equal here, as its code begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vademecum.index.fusion import top
from vademecum.tools.confidence import step
from vademecum.tools.features import Asked
from vademecum.tools.texts import Floats
from vademecum.tools.tool_arrays import View

DAMPING, ROUNDS = 0.85, 30  # of page rank
HALF_LIFE_S = 30 * 86_400.0  # of recency
TARGETS = 8  # that are looked at, the best


def toward_goals(view: View, way: Callable[[str], Sequence[str]], taken: Floats, after: Sequence[int]) -> Floats:
    """Return each tool's probability as the next step, float32 (n,).

    `way` leads from a tool to those on the way there; where none is known, the goal is the step. `taken` is the
    probability that the intent takes each tool.
    """
    wanted = np.where(view.offered, taken, 0).astype(np.float32)
    wanted[list(after)] = 0
    steps = np.zeros_like(wanted)
    for goal in top(wanted, TARGETS).tolist():
        ahead = [view.number[step] for step in way(view.tools[goal].id) if view.number[step] not in after]
        steps[ahead[0] if ahead else goal] += wanted[goal]
    return np.asarray(steps / np.float32(max(float(steps.sum()), 1e-9)))


@dataclass(frozen=True)
class Shgat:
    """The capabilities of a view, scored as ADR-050 does."""

    view: View

    def scores(self, asked: Asked) -> Floats:
        """Return each capability's score, float32 (c,), 0..1."""
        graph, near = self.view.graph, np.zeros(len(self.view.graph.capabilities), np.float32)
        np.maximum.at(near, graph.capability, np.clip(self.view.intents.dense(asked.question), 0, 1))
        heads = (2 * near + self._structure + self._temporal) / 4
        calls = np.bincount(graph.capability, minlength=len(near)).astype(np.float64)
        good = np.bincount(graph.capability, [trace.ok for trace in self.view.traces], len(near)).astype(np.float64)
        return np.asarray(1 / (1 + np.exp(-heads * step(good, calls))), np.float32)

    def first_steps(self, asked: Asked, after: Sequence[int]) -> Floats:
        """Return each tool's share as the next step, float32 (n,)."""
        found, score = np.zeros(len(self.view.tools), np.float32), self.scores(asked)
        for rank, number in enumerate(np.argsort(-score, kind="stable")[:TARGETS].tolist()):
            ahead = [tool for tool in self.view.graph.capabilities[number] if tool not in after]
            if ahead and self.view.offered[ahead[0]]:
                found[ahead[0]] += score[number] / 2**rank  # the best decides, the others order the rest
        return found / np.float32(max(float(found.sum()), 1e-9))

    @cached_property
    def _shared(self) -> Floats:
        """Shared tools by Adamic and Adar (2003), float32 (c, c)."""
        merged = self.view.graph.merged
        held = np.zeros((len(merged), merged.tools), np.float32)
        held[merged.member_trace, merged.member_tool] = 1
        joint = (held / np.log(np.maximum(held.sum(0), 2))) @ held.T
        np.fill_diagonal(joint, 0)
        return np.asarray(joint, np.float32)

    @cached_property
    def _structure(self) -> Floats:
        """Each capability's place among the others, float32 (c,)."""
        joint = self._shared
        if not len(joint):
            return np.zeros(0, np.float32)
        spread = joint / np.maximum(joint.sum(0), 1e-9)
        rank = np.full(len(joint), 1 / len(joint), np.float32)
        for _ in range(ROUNDS):
            rank = (1 - DAMPING) / len(joint) + DAMPING * spread @ rank
        laplacian = np.diag(joint.sum(0)) - joint
        cluster = np.linalg.eigh(laplacian)[1][:, min(1, len(joint) - 1)] > 0  # two, by Fiedler's vector
        return np.asarray(0.4 * _unit(rank) + 0.3 / (1 + cluster) + 0.3 * _unit(joint.sum(0)), np.float32)

    @cached_property
    def _temporal(self) -> Floats:
        """Each capability's use, float32 (c,)."""
        graph, size = self.view.graph, len(self.view.graph.capabilities)
        count = np.bincount(graph.capability, minlength=size).astype(np.float32)
        together = np.bincount(graph.capability, graph.session >= 0, size).astype(np.float32)
        at = np.array([trace.at for trace in self.view.traces])
        last = np.zeros(size)
        np.maximum.at(last, graph.capability, at)
        recency = 0.5 ** ((at.max(initial=0) - last) / HALF_LIFE_S)
        heat = count + self._shared @ count / np.maximum(self._shared.sum(1), 1e-9)  # one step of diffusion
        return np.asarray(0.4 * _unit(together) + 0.4 * recency + 0.2 * _unit(heat), np.float32)


def _unit(value: Floats) -> Floats:
    return value / max(float(value.max(initial=0)), 1e-9)
