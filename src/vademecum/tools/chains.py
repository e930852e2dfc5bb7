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
the set of tools that is right on average, in the likeliest order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vademecum.index.fusion import top
from vademecum.tools.features import EPSILON, RANKING, After, Asked, still
from vademecum.tools.regression import probabilities
from vademecum.tools.texts import Floats
from vademecum.tools.weights import PHASES, Model, log_shares, taken_from

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


def decoded(asked: Asked, model: Model) -> tuple[Chain, bool]:
    """Return an intent's calls; true if a chain, not a set."""
    chains, taken = likely_chains(asked, model) if asked.view.tools else ([], np.zeros(0, np.float32))
    if not chains:
        return Chain((), ()), True
    if sum(math.exp(chain.likely) for chain in chains) < KNOWN:
        order = _ordered(asked, model, right_on_average(taken * asked.view.offered, LONGEST))
        return Chain(order, tuple(taken.take(order).tolist())), False
    weight = probabilities(chain_features(asked, chains, taken), model.chains)
    return chains[agreeing([chain.tools for chain in chains], weight)], True


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
