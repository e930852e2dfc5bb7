"""Predict dependencies between a plan's calls, by a logistic model.

    log-odds that b uses what a gave = w . (1, rate, next to it, provides, far apart)

with rate how often traces that have both link them, and provides whether a's output schema has what b's input schema wants. Where a trace does not say who used what, each call
is taken to use the one before it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vademecum.tools.expected import right_on_average
from vademecum.tools.logit import Choice, Weights
from vademecum.tools.records import Trace
from vademecum.tools.texts import Floats
from vademecum.tools.view import View

LINKING = ("bias", "rate", "adjacent", "provides", "distance")
_BACKING = 0.5  # pairs that the prior is worth
_PRIOR = 0.5  # of a link between tools never seen together
_NEAR = 40  # calls before one that it may have used


def links_of(trace: Trace) -> tuple[tuple[int, int], ...]:
    """Return a trace's links: as recorded, else to the previous call."""
    return trace.links or tuple((n, n + 1) for n in range(len(trace.calls) - 1))


class Pairs:
    """Pairs of tools in a view, with the traces of both."""

    def __init__(self, view: View) -> None:
        self._traces: dict[tuple[int, int], list[tuple[int, bool]]] = defaultdict(list)  # (trace, whether linked)
        self._apart: Counter[tuple[int, int]] = Counter()  # of recorded links: unconnected less connected calls
        for number, (trace, chain) in enumerate(zip(view.traces, view.chains, strict=True)):
            known = {(chain[a], chain[b]) for a, b in links_of(trace)}
            if trace.links:
                self._apart.update(_unconnected(chain, trace.links))
            for pair in _ordered(chain):
                self._traces[pair].append((number, pair in known))

    def seen(self, a: int, b: int) -> bool:
        """Return whether a trace calls one tool and later the other."""
        return (a, b) in self._traces

    def apart(self, a: int, b: int) -> bool | None:
        """Return whether recorded links leave two tools unconnected.

        None stands for no trace that tells.
        """
        told = self._apart.get((min(a, b), max(a, b)))
        return None if told is None else told > 0

    def rate(self, a: int, b: int, weight: Floats) -> float:
        """Return the smoothed share of linked pairs."""
        owner, linked = np.array(self._traces.get((a, b), ()), np.int64).reshape(-1, 2).T
        given = weight.take(owner)
        return (float(given @ linked) + _BACKING * _PRIOR) / (float(np.add.reduce(given)) + _BACKING)

    def features(
        self, chain: Sequence[int], weight: Floats, provides: Callable[[int, int], bool]
    ) -> dict[tuple[int, int], Floats]:
        """Return each pair's features, float32 (len(LINKING),)."""
        found = {}
        for later in range(len(chain)):
            for earlier in range(later):
                a, b = chain[earlier], chain[later]
                rate, apart = _odds(self.rate(a, b, weight)), later - earlier
                row = [1, rate, apart == 1, provides(a, b), math.log(apart)]
                found[earlier, later] = np.array(row, np.float32)
        return found


def link_choices(features: dict[tuple[int, int], Floats], links: Sequence[tuple[int, int]]) -> Iterator[Choice]:
    """Yield for each pair of calls whether it was linked."""
    for pair, row in features.items():
        yield Choice(np.stack([row, np.zeros_like(row)]), 0 if pair in links else 1)


def chosen_links(features: dict[tuple[int, int], Floats], weights: Weights, tasks: int) -> set[tuple[int, int]]:
    """Return a plan's likely links, one a task at least.

    All lead from an earlier place to a later one, so they cannot form a circle.
    """
    odds = (np.array([*features.values()], np.float32).reshape(-1, len(LINKING)) @ weights).tolist()
    likely = dict(zip(features, odds, strict=True))
    kept = {pair for pair, odd in likely.items() if odd >= 0}
    for place in range(1, tasks):
        if not any(place in pair for pair in kept):
            kept.add(max((pair for pair in likely if place in pair), key=lambda pair: (likely[pair], pair)))
    return kept


def expected_links(
    features: dict[tuple[int, int], Floats], weights: Weights, taken: Sequence[float]
) -> set[tuple[int, int]]:
    """Return the links with the best expected overlap, given uncertain calls."""
    if not features:
        return set()
    pairs = list(features)
    odds = np.array([*features.values()], np.float32) @ weights
    both = np.array([taken[a] * taken[b] for a, b in pairs])
    return {pairs[n] for n in right_on_average((both / (1 + np.exp(-odds))).astype(np.float32), len(pairs))}


def _unconnected(chain: Sequence[int], links: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return 1 for each unconnected pair of tools, else -1."""
    behind = [0] * len(chain)  # the calls that lead to each, as bits
    for a, b in sorted(links, key=lambda link: link[1]):
        behind[b] |= behind[a] | 1 << a
    found: dict[tuple[int, int], int] = {}
    for later in range(len(chain)):
        for earlier in range(max(0, later - _NEAR), later):
            pair = min(chain[earlier], chain[later]), max(chain[earlier], chain[later])
            joined = behind[later] >> earlier & 1 or found.get(pair) == -1
            found[pair] = -1 if joined else 1
    return found


def _ordered(chain: Sequence[int]) -> Iterator[tuple[int, int]]:
    seen: dict[tuple[int, int], None] = {}
    for later in range(len(chain)):
        for earlier in range(max(0, later - _NEAR), later):
            seen[chain[earlier], chain[later]] = None
    return iter(seen)


def _odds(share: float) -> float:
    share = min(max(share, 1e-3), 1 - 1e-3)
    return math.log(share / (1 - share))
