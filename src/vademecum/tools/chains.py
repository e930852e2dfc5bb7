"""Plans: the chain or the set of calls that agrees best.

A beam cannot know how a chain ends, so each finished chain is seen again as a whole, as a conditional logit with the
features

    likely      its log-probability, call by call and stop
    taken       the log-odds of its tools that the intent takes them, summed
    unmet       how much of the intent no tool of it says
    in_order    whether what is called later is said later
    known       the attention that past traces of this very chain get

The plan is the chain whose tools and neighbours the others have too, weighed by their probabilities (minimum Bayes
risk, Kumar and Byrne 2004). Where the likely chains hold next to none of the probability, as for a short title, it is
the set of tools that is right on average, in the likeliest order. docs/tools.md tells how calls wait for one another.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vademecum.index.fusion import top
from vademecum.tools.features import EPSILON, LINKING, RANKING, After, Asked, still
from vademecum.tools.hypergraph import RECURS, Numbers
from vademecum.tools.records import Group, Kind, Task, Trace
from vademecum.tools.relations import Ways
from vademecum.tools.texts import Floats, inputs_of
from vademecum.tools.tool_arrays import View
from vademecum.tools.weights import PHASES, Model, Weights, log_shares, probabilities, taken_from

WIDTH = 8  # chains that are followed at once
LONGEST = 12  # calls of a plan
_ALIKE = 1e-6  # chains whose agreement with the others differs by less agree alike
_FAR = 700.0  # log-odds beyond which a probability is 0 and its exponential too large
KNOWN = 0.1  # of the probability: where all likely chains hold less, none of them is known
_LOST = 4.0  # nats below the best finished chain: what comes of a chain there changes nothing


class Chain(NamedTuple):
    """Calls in order, each with its probability, and their joint logarithm.

    `unmet` is the share of the intent's words that no tool of it says.
    """

    tools: tuple[int, ...]
    probabilities: tuple[float, ...]
    likely: float = 0.0
    unmet: float = 1.0


def decoded(asked: Asked, model: Model, pairs: Pairs) -> tuple[Chain, set[Link]]:
    """Return an intent's calls, and the links between them."""
    chains, taken = likely_chains(asked, model) if asked.view.tools else ([], np.zeros(0, np.float32))
    if sum(math.exp(chain.likely) for chain in chains) < KNOWN:
        order = _ordered(asked, model, right_on_average(taken * asked.view.offered, LONGEST)) if chains else ()
        chain = Chain(order, tuple(taken.take(order).tolist()))
        return chain, expected_links(pairs.features(order, asked.weight), model.links, chain.probabilities)
    weight = probabilities(chain_features(asked, chains, taken), model.chains)
    chain = chains[agreeing([chain.tools for chain in chains], weight)]
    return chain, chosen_links(pairs.features(chain.tools, asked.weight), model.links, len(chain.tools))


def likely_chains(asked: Asked, model: Model) -> tuple[list[Chain], Floats]:
    """Return a beam search's finished chains and the tools' probabilities.

    The second, float32 (n,), is that the intent takes the tool at all.
    """
    after, unmoved = After(asked, [()]), still(asked)
    search, weights = model.search.astype(np.float32), model.next.astype(np.float32)
    taken = taken_from(log_shares(after.scores(unmoved @ search, search)[0]), model.certain)
    still_scores = weights @ unmoved.T
    beam, finished = [Chain((), ())], list[Chain]()
    for length in range(LONGEST):
        stop = stops(after, model, taken)
        if length:
            finished += [
                Chain(chain.tools, chain.probabilities, chain.likely + math.log(max(end, 1e-9)), unmet)
                for chain, end, unmet in zip(beam, stop, after.unmet.tolist(), strict=True)
            ]
        least = max((chain.likely for chain in finished), default=-math.inf) - _LOST
        going_on = [chain.likely + math.log(max(1 - end, 1e-9)) for chain, end in zip(beam, stop, strict=True)]
        if max(going_on) <= least:
            break
        phase = min(length, PHASES - 1)
        beam = grown(beam, after, after.scores(still_scores[phase], weights[phase]), going_on, least)
        if not beam:
            break
        after = After(asked, [chain.tools for chain in beam])
    return finished, taken


def _ordered(asked: Asked, model: Model, members: Sequence[int]) -> tuple[int, ...]:
    """Return tools in their likeliest order, by a beam search."""
    weights, unmoved = model.next.astype(np.float32), still(asked)
    still_scores = weights @ unmoved.T
    others = np.ones(len(unmoved), np.bool_)
    others[list(members)] = False
    beam, after = [Chain((), ())], After(asked, [()])
    for length in range(len(members)):
        phase = min(length, PHASES - 1)
        scores = after.scores(still_scores[phase], weights[phase])
        scores[:, others] = -np.inf
        for row, chain in enumerate(after.chains):
            scores[row, list(chain)] = -np.inf  # each once
        beam = grown(beam, after, scores, [chain.likely for chain in beam], -math.inf)
        after = After(asked, [chain.tools for chain in beam])
    return max(beam, key=lambda chain: chain.likely).tools


def stops(after: After, model: Model, taken: Floats) -> list[float]:
    """Return the probability that each chain is complete."""
    odds = (after.stopping(taken) @ model.stop).clip(-_FAR, _FAR)
    return [1 / (1 + math.exp(-one)) if chain else 0.0 for chain, one in zip(after.chains, odds.tolist(), strict=True)]


def grown(beam: Sequence[Chain], after: After, scores: Floats, going_on: Sequence[float], least: float) -> list[Chain]:
    """Return the chains of one call more that are likelier than `least`.

    `scores`, float32 (c, n), are those of what comes next, and are written over.
    """
    most = max(going_on)
    scores -= np.maximum.reduce(scores, axis=1, keepdims=True)
    odds = np.exp(scores, out=scores)
    odds *= after.asked.view.offered
    total = np.maximum(np.add.reduce(odds, axis=1), np.float32(1e-9)).tolist()
    for row, chain in enumerate(beam):  # nothing is called twice that never was: it may be a payment
        odds[row, [tool for tool in chain.tools if after.asked.once[tool]]] = 0
    kept = [[math.exp(on - most) / all_] for on, all_ in zip(going_on, total, strict=True)]
    likely = (odds * np.array(kept, np.float32)).ravel()
    found = []
    for cell in top(likely, WIDTH).tolist():
        row, tool = divmod(cell, scores.shape[1])
        share = odds.item(row, tool) / total[row]
        sum_ = going_on[row] + math.log(max(share, 1e-9))
        if sum_ > least:
            found.append(Chain((*beam[row].tools, tool), (*beam[row].probabilities, share), sum_))
    return found


def chain_features(asked: Asked, chains: Sequence[Chain], taken: Floats) -> Floats:
    """Return float32 (chains, len(RANKING)); `taken` is as in `likely_chains`."""
    likely = np.clip(taken, 1e-4, 1 - 1e-4)
    odds, number, attention = np.log(likely / (1 - likely)), asked.view.graph.numbers, asked.attention_by_chain
    rows = []
    for chain in chains:
        known = attention[number[chain.tools]] if chain.tools in number else 0.0
        taken_by = odds.take([*set(chain.tools)]).sum()
        tools, place, clear = np.array(chain.tools), asked.places.take(chain.tools), asked.clear.take(chain.tools)
        pairs = np.triu(tools[:, None] != tools, 1)
        in_order = ((place - place[:, None]) * np.minimum(clear, clear[:, None]))[pairs].sum() / max(pairs.sum(), 1)
        rows.append((chain.likely, taken_by, chain.unmet, in_order, math.log(known + EPSILON)))
    return np.array(rows, np.float32).reshape(-1, len(RANKING))


def agreeing(chains: Sequence[tuple[int, ...]], probability: Floats) -> int:
    """Return the chain with the highest mean F1 against all chains.

    Chains that differ in how often a tool follows itself have the same in common with all. Then it is the first, which
    has the fewest calls: rounding must not decide whether something is called once more.

    >>> agreeing([(1, 2, 3), (1, 2), (1, 2, 4)], np.array([0.34, 0.33, 0.33], np.float32))
    1
    """
    alike = _shared([set(chain) for chain in chains])
    alike += _shared([set(pairwise(chain)) or {chain} for chain in chains])
    common = alike @ probability
    return int((common >= common.max() - _ALIKE).argmax())


def _shared(members: Sequence[Collection[Any]]) -> NDArray[np.float64]:
    """Return (sets, sets): the F1 of each with each."""
    number: dict[Any, int] = {}
    column = [number.setdefault(one, len(number)) for each in members for one in each]
    size = np.array([len(each) for each in members])
    inside = np.zeros((len(members), len(number)))
    inside[np.arange(len(members)).repeat(size), column] = 1
    return np.asarray(2 * (inside @ inside.T) / (size[:, None] + size), np.float64)


def right_on_average(likely: Floats, most: int) -> list[int]:
    """Return the members of the set with the highest expected F1.

    Of members that are taken independently, the k likeliest have the expected F1 `2 (p1 + ... + pk) / (k + the sum of
    all p)`, by the means of numerator and denominator (Lewis 1995, "Evaluating and optimizing autonomous text
    classification systems"). `likely` is float32 (n,), `most` the members at most.

    >>> right_on_average(np.array([0.5, 0.02, 0.4, 0.3, 0.04], np.float32), 12)
    [0, 2, 3]
    """
    best = top(likely, most)
    if not len(best):
        return []
    expected = 2 * np.cumsum(likely[best]) / (np.arange(1, len(best) + 1) + likely.sum())
    return [int(each) for each in best[: int(expected.argmax()) + 1]]


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
            gives = self._ways.provides(self._tools[a].id, self._tools[b].id)
            row = [1, math.log(share / (1 - share)), apart == 1, gives, math.log(apart)]
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
    waits: list[set[int]] = [set() for _ in calls]
    wait(waits, [(place[giver], place[taker]) for giver, taker in links])
    given = [(a, b) for b in range(len(calls)) for a in range(b) if ways.provides(calls[a], calls[b])]
    wait(waits, [(a, b) for a, b in given if not pairs.seen(tools[a], tools[b])])
    # but for links that schemas contradict and no trace has
    known = [(a, b) for a, b in sorted(learned) if pairs.seen(tools[a], tools[b]) or not ways.apart(calls[a], calls[b])]
    wait(waits, known)
    order = inside_out(waits, range(len(chain.tools)))
    called = {number: f"t{at}" for at, number in enumerate(order, 1)}
    likely = dict(enumerate(chain.probabilities))
    tasks = tuple(
        Task(
            called[number], calls[number], "tool", tuple(called[one] for one in order if one in waits[number]),
            tuple(field.name for field in inputs_of(view.tools[tools[number]].input_schema)), likely.get(number, 0.0),
        )
        for number in order
    )  # fmt: skip

    def together(one: Task, other: Task) -> bool:
        said = pairs.apart(view.number[one.call], view.number[other.call])
        return ways.apart(one.call, other.call) if said is None else said

    return tasks, layers(tasks, together), missing


def wait(before: Sequence[set[int]], links: Iterable[Link]) -> None:
    """Add links (earlier, later), without those that close a circle.

    >>> before = [set(), set(), set()]
    >>> wait(before, [(2, 0), (0, 1), (1, 2)])
    >>> before, list(inside_out(before, range(3)))
    ([{2}, {0}, set()], [2, 0, 1])
    """
    for earlier, later in links:
        if later not in inside_out(before, [earlier]):
            before[later].add(earlier)


def inside_out(
    before: Sequence[set[int]], calls: Iterable[int], found: dict[int, None] | None = None
) -> dict[int, None]:
    """Return calls, each after those that it waits for."""
    found = {} if found is None else found
    for call in calls:
        if call not in found:
            inside_out(before, sorted(before[call]), found)
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


class Learned(NamedTuple):
    """A group with the numbers of its chains and its traces."""

    group: Group
    chains: Numbers
    traces: Numbers


@dataclass(frozen=True)
class Groups:
    """Recurring chains in a view, computed when first needed."""

    view: View

    @cached_property
    def known(self) -> Mapping[str, Group]:
        """Every group by id, after the groups that it contains."""
        return {id_: each.group for id_, each in self.learned.items()}

    @cached_property
    def learned(self) -> Mapping[str, Learned]:
        """The same with chains and traces."""
        graph, metas, found = self.view.graph, self.view.metas, dict[str, Learned]()
        count = np.bincount(graph.capability, minlength=len(graph.capabilities))
        for number in np.argsort(-count, kind="stable").tolist():
            chain = graph.capabilities[number]
            if count[number] >= RECURS and len(set(chain)) > 1 and self.view.live[list(chain)].all():
                self._add(found, number)
        for meta in metas.recurring:
            chains = metas.members[meta]
            if all(self.view.live[list(metas.chains[number])].all() for number in chains):
                members = tuple(self._add(found, number) for number in chains)
                tools = tuple(self.view.tools[tool].id for number in chains for tool in metas.chains[number])
                group = Group(_id("meta", members), "meta", members, tools, len(metas.witnesses[meta]))
                found[group.id] = Learned(group, chains, metas.witnesses[meta])
        return found

    def _add(self, found: dict[str, Learned], number: int) -> str:
        """Add a capability; return its id, or that of its only tool."""
        chain = self.view.metas.chains[number]
        tools = tuple(self.view.tools[tool].id for tool in chain)
        if len(chain) == 1:
            return tools[0]
        made = tuple(self.view.graph.made.get(chain, ()))
        linked = Counter(link for trace in made for link in set(links_of(self.view.traces[trace])))
        often = tuple(sorted(link for link, times in linked.items() if 2 * times > len(made)))
        group = Group(_id("capability", tools), "capability", tools, tools, len(made), often)
        found.setdefault(group.id, Learned(group, (number,), made))
        return group.id

    def containing(self, called: Collection[str]) -> list[Group]:
        """Return the largest groups within some calls, after their parts."""
        whole = set(called)
        there = {id_: frozenset(group.tools) for id_, group in self.known.items() if whole.issuperset(group.tools)}
        largest = [id_ for id_, tools in there.items() if not any(tools < others for others in there.values())]
        shown = {*largest, *(member for id_ in largest for member in self.known[id_].members)}
        found = [self.known[id_] for id_ in there if id_ in shown]
        return sorted(found, key=lambda group: group.kind == "meta")


def _id(kind: Kind, members: tuple[str, ...]) -> str:
    """The id of a group, made from its members alone."""
    return f"{kind}/{blake2b(chr(0).join(members).encode(), digest_size=6).hexdigest()}"
