"""Which chain of calls an intent takes: the likely ones by a beam, each seen as a whole, and the one that agrees best with all.

The beam goes call by call and cannot know how a chain ends. So each finished chain is seen again as a whole, as a
conditional logit (`logit`) whose features `Asked.ranking` gives:

    likely      its log-probability, call by call and stop
    taken       the log-odds of its tools that the intent takes them, summed
    unmet       how much of the intent no tool of it says
    in_order    whether what is called later is said later
    known       the attention that past traces of this very chain get

The likeliest chain is not the best plan: of six calls five may be sure and one a guess. What is right on average is the chain
whose tools and neighbours the others have too, weighed by their probabilities (minimum Bayes risk, Kumar and Byrne 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.fusion import top
from vademecum.tools.heads import RANKING, Asked
from vademecum.tools.logit import probabilities
from vademecum.tools.model import Model, taken_probabilities
from vademecum.tools.predict import done, next_probabilities
from vademecum.tools.texts import Floats

WIDTH = 8  # chains that are followed at once
BRANCHES = 6  # next calls tried for each
LONGEST = 12  # calls of a plan
_LOST = 5.0  # nats below the best finished chain: what comes of a chain there changes nothing


@dataclass(frozen=True, slots=True)
class Chain:
    """Calls in order, with the probability of each, and the logarithm of the probability of them all."""

    tools: tuple[int, ...]
    probabilities: tuple[float, ...]
    likely: float = 0.0


def decoded(asked: Asked, model: Model) -> Chain:
    """Return the chain that agrees best with all likely ones; an empty one where nothing is likely."""
    chains = likely_chains(asked, model)
    if not chains:
        return Chain((), ())
    return chains[
        agreeing([c.tools for c in chains], probabilities(chain_features(asked, model, chains), model.chains))
    ]


def likely_chains(asked: Asked, model: Model) -> list[Chain]:
    """Return the finished chains of a beam search."""
    taken = taken_probabilities(asked.heads(()), model.search, model.certain)
    beam, finished = [Chain((), ())], list[Chain]()
    for _ in range(LONGEST):
        grown: list[Chain] = []
        for chain in beam:
            stop = done(asked, model, chain.tools, taken)
            if chain.tools:
                finished.append(replace(chain, likely=chain.likely + float(np.log(max(stop, 1e-9)))))
            grown += _grown(asked, model, chain, stop)
        least = max((chain.likely for chain in finished), default=-np.inf) - _LOST
        beam = sorted((chain for chain in grown if chain.likely > least), key=lambda chain: -chain.likely)[:WIDTH]
    return finished


def chain_features(asked: Asked, model: Model, chains: Sequence[Chain]) -> Floats:
    """Return float32 (chains, len(RANKING))."""
    taken = np.clip(taken_probabilities(asked.heads(()), model.search, model.certain), 1e-4, 1 - 1e-4)
    odds = np.asarray(np.log(taken / (1 - taken)), np.float32)
    rows = [asked.ranking(chain.likely, chain.tools, odds) for chain in chains]
    return np.array(rows, np.float32).reshape(-1, len(RANKING))


def agreeing(chains: Sequence[tuple[int, ...]], probability: Floats) -> int:
    """Return which chain has most in common with all of them: the mean F1 of tools and of neighbours, weighed by probability.

    >>> agreeing([(1, 2, 3), (1, 2), (1, 2, 4)], np.array([0.34, 0.33, 0.33], np.float32))
    1
    """
    tools = _shared([set(chain) for chain in chains])
    neighbours = _shared([set(pairwise(chain)) or {chain} for chain in chains])
    return int(((tools + neighbours) @ probability).argmax())


def _shared(members: Sequence[set[Any]]) -> NDArray[np.float64]:
    """Return (sets, sets): the F1 of each with each."""
    number = {one: place for place, one in enumerate(dict.fromkeys(one for each in members for one in each))}
    inside = np.zeros((len(members), len(number)))
    for row, each in enumerate(members):
        inside[row, [number[one] for one in each]] = 1
    size = inside.sum(1)
    return np.asarray(2 * (inside @ inside.T) / (size[:, None] + size[None, :]), np.float64)


def _grown(asked: Asked, model: Model, chain: Chain, stop: float) -> list[Chain]:
    """The chain with each of its likeliest next calls."""
    probability = next_probabilities(asked.view, asked.heads(chain.tools), model, len(chain.tools))
    going_on = float(np.log(max(1 - stop, 1e-9)))
    return [
        Chain(
            (*chain.tools, int(tool)),
            (*chain.probabilities, float(probability[tool])),
            chain.likely + going_on + float(np.log(max(probability[tool], 1e-9))),
        )
        for tool in top(probability, BRANCHES)
        if probability[tool] > 0
    ]
