"""Dependencies between a plan's calls, and their order in layers.

Links are taken from three sources, in this order, and one that would close a circle is left out:

    needed     who provides the inputs of a call, by the shortest hyperpath (`relations`); it may add calls to the plan
    provided   an earlier call gives an input of a later one by schema, and no trace has the two
    learned    log-odds that b uses what a gave = w . (1, rate, next to it, provides, far apart)

with rate how often traces that have both link them. Two calls share a layer only if that is known to be safe: traces
with recorded links have both, and neither led to the other, or both schemas say that neither takes what the other gives.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np

from vademecum.tools.chains import Chain, right_on_average
from vademecum.tools.features import LINKING
from vademecum.tools.fields import inputs_of
from vademecum.tools.records import Task, Trace
from vademecum.tools.regression import Weights
from vademecum.tools.relations import Ways
from vademecum.tools.texts import Floats
from vademecum.tools.view import View

Link = tuple[int, int]
_BACKING = 0.5  # pairs that the prior is worth
_PRIOR = 0.5  # of a link between tools never seen together
_NEAR = 40  # calls before one that it may have used


def links_of(trace: Trace) -> tuple[Link, ...]:
    """Return a trace's links: as recorded, else to the previous call."""
    return trace.links or tuple((n, n + 1) for n in range(len(trace.calls) - 1))


class Pairs:
    """Pairs of tools in a view, with the traces of both."""

    def __init__(self, view: View, ways: Ways) -> None:
        self._tools, self._ways = view.tools, ways
        self._traces: dict[Link, list[tuple[int, bool]]] = defaultdict(list)  # (trace, whether linked)
        self._apart: Counter[Link] = Counter()  # of recorded links: unconnected less connected calls
        for number, (trace, chain) in enumerate(zip(view.traces, view.chains, strict=True)):
            known = {(chain[a], chain[b]) for a, b in links_of(trace)}
            if trace.links:
                self._apart.update(_unconnected(chain, trace.links))
            for pair in dict.fromkeys((chain[a], chain[b]) for a, b in _near(chain)):
                self._traces[pair].append((number, pair in known))

    def seen(self, a: int, b: int) -> bool:
        """Return whether a trace calls one tool and later the other."""
        return (a, b) in self._traces

    def apart(self, a: int, b: int) -> bool | None:
        """Return whether recorded links leave two tools unconnected; None: no trace tells."""
        told = self._apart.get((min(a, b), max(a, b)))
        return None if told is None else told > 0

    def rate(self, a: int, b: int, weight: Floats) -> float:
        """Return the smoothed share of linked pairs."""
        owner, linked = np.array(self._traces.get((a, b), ()), np.int64).reshape(-1, 2).T
        given = weight.take(owner)
        return (float(given @ linked) + _BACKING * _PRIOR) / (float(np.add.reduce(given)) + _BACKING)

    def features(self, chain: Sequence[int], weight: Floats) -> dict[Link, Floats]:
        """Return each pair's features, float32 (len(LINKING),)."""
        found = {}
        for earlier, later in ((a, b) for b in range(len(chain)) for a in range(b)):
            a, b, apart = chain[earlier], chain[later], later - earlier
            share = min(max(self.rate(a, b, weight), 1e-3), 1 - 1e-3)
            row = [
                1,
                math.log(share / (1 - share)),
                apart == 1,
                self._ways.provides(self._tools[a].id, self._tools[b].id),
                math.log(apart),
            ]
            found[earlier, later] = np.array(row, np.float32)
        return found


def chosen_links(features: dict[Link, Floats], weights: Weights, tasks: int) -> set[Link]:
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


def expected_links(features: dict[Link, Floats], weights: Weights, taken: Sequence[float]) -> set[Link]:
    """Return the links with the best expected overlap, given uncertain calls."""
    if not features:
        return set()
    pairs = list(features)
    odds = np.array([*features.values()], np.float32) @ weights
    both = np.array([taken[a] * taken[b] for a, b in pairs])
    return {pairs[n] for n in right_on_average((both / (1 + np.exp(-odds))).astype(np.float32), len(pairs))}


def _unconnected(chain: Sequence[int], links: Sequence[Link]) -> dict[Link, int]:
    """Return 1 for each unconnected pair of tools, else -1."""
    behind = [0] * len(chain)  # the calls that lead to each, as bits
    for a, b in sorted(links, key=lambda link: link[1]):
        behind[b] |= behind[a] | 1 << a
    found: dict[Link, int] = {}
    for earlier, later in _near(chain):
        pair = min(chain[earlier], chain[later]), max(chain[earlier], chain[later])
        joined = behind[later] >> earlier & 1 or found.get(pair) == -1
        found[pair] = -1 if joined else 1
    return found


def _near(chain: Sequence[int]) -> Iterator[Link]:
    """Yield the places of pairs of calls, not too far apart."""
    return ((earlier, later) for later in range(len(chain)) for earlier in range(max(0, later - _NEAR), later))


def ordered(
    view: View, ways: Ways, pairs: Pairs, chain: Chain, learned: Collection[Link]
) -> tuple[tuple[Task, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Return tasks with missing prerequisites, layers by their ids, and missing inputs.

    `learned` are pairs of places in the chain, the earlier first.
    """
    calls = [view.tools[tool].id for tool in chain.tools]
    waiting = {chain.tools[b] for _, b in learned}  # a trace explains what these wait for
    told = [n for n in chain.tools if view.calls[n] and (n in waiting or ways.starts(view.tools[n].id))]
    links, missing = ways.needs(dict.fromkeys(calls), {view.tools[n].id for n in chain.tools if n not in told})
    calls += dict.fromkeys(call for link in links for call in link if call not in calls)
    place = {call: number for number, call in reversed([*enumerate(calls)])}
    tools = [view.number[call] for call in calls]
    waits = Waits(len(calls))
    waits.add((place[giver], place[taker]) for giver, taker in links)
    waits.add(
        (a, b) for b, taker in enumerate(calls) for a, giver in enumerate(calls[:b])
        if ways.provides(giver, taker) and not pairs.seen(tools[a], tools[b])
    )  # fmt: skip
    # but for links that schemas contradict and no trace has
    waits.add(
        (a, b) for a, b in sorted(learned) if pairs.seen(tools[a], tools[b]) or not ways.apart(calls[a], calls[b])
    )
    order = waits.order(len(chain.tools))
    called = {number: f"t{at}" for at, number in enumerate(order, 1)}
    likely = dict(enumerate(chain.probabilities))
    tasks = tuple(
        Task(
            called[number], calls[number], "tool", tuple(called[one] for one in order if one in waits.before[number]),
            tuple(field.name for field in inputs_of(view.tools[tools[number]].input_schema)), likely.get(number, 0.0),
        )
        for number in order
    )  # fmt: skip

    def together(one: Task, other: Task) -> bool:
        said = pairs.apart(view.number[one.call], view.number[other.call])
        return ways.apart(one.call, other.call) if said is None else said

    return tasks, layers(tasks, together), missing


class Waits:
    """Dependencies between calls, without circles.

    >>> waits = Waits(3)
    >>> waits.add([(2, 0), (0, 1), (1, 2)])
    >>> waits.before, waits.order(3)
    ([{2}, {0}, set()], [2, 0, 1])
    """

    def __init__(self, calls: int) -> None:
        self.before: list[set[int]] = [set() for _ in range(calls)]

    def add(self, links: Iterable[Link]) -> None:
        """Add links (earlier, later), without those that close a circle."""
        for earlier, later in links:
            if later not in self._inside_out([earlier]):
                self.before[later].add(earlier)

    def order(self, wanted: int) -> list[int]:
        """Return the first calls, each after those it waits for."""
        return list(self._inside_out(range(wanted)))

    def _inside_out(self, calls: Iterable[int], found: dict[int, None] | None = None) -> dict[int, None]:
        found = {} if found is None else found
        for call in calls:
            if call not in found:
                self._inside_out(sorted(self.before[call]), found)
                found[call] = None
        return found


def layers(
    tasks: Sequence[Task], together: Callable[[Task, Task], bool] = lambda _one, _other: True
) -> tuple[tuple[str, ...], ...]:
    """Return the tasks' ids in layers; each waits for earlier layers only.

    `together` says whether two tasks, neither of which waits for the other, may run at the same time.

    >>> plan = [Task("a", "x", "tool"), Task("b", "y", "tool"), Task("c", "z", "tool", ("a", "b"))]
    >>> layers(plan), layers(plan, lambda one, other: False)
    ((('a', 'b'), ('c',)), (('a',), ('b',), ('c',)))
    """
    depth: dict[str, int] = {}
    for number, task in enumerate(tasks):
        later = [depth[one.id] for one in tasks[:number] if one.id in task.depends_on or not together(one, task)]
        depth[task.id] = 1 + max(later, default=-1)
    count = 1 + max(depth.values(), default=-1)
    return tuple(tuple(id_ for id_, level in depth.items() if level == number) for number in range(count))
