"""Decode a plan: the chain of calls that agrees best.

What people draw and give a short title to ("sale → sheet") can go on in a hundred ways. A beam finds some short chains of it that
hold next to none of the probability, and the best of them names few of the tools. There each tool's own probability says more:
the plan is the set that is right on average (`expected`), in the likeliest order.

Measured on 808 titles of workflows that people made (five folds, of which one was looked at before the rule was set, two more before that of links): node-F1 0.34 and
link-F1 0.09 by the chain, 0.44 and 0.12 by the set; where tasks are written out, next to no plan is unsure, and the quality is the
same to the third digit (`tools-plan` in the results).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vademecum.tools.chains import LONGEST, Chain, agreeing, chain_features, grown, likely_chains
from vademecum.tools.expected import right_on_average
from vademecum.tools.features import After, still
from vademecum.tools.intent_features import Asked
from vademecum.tools.logit import probabilities
from vademecum.tools.texts import Floats
from vademecum.tools.weights import PHASES, Model

KNOWN = 0.1  # of the probability: where all likely chains hold less, none of them is known


def decoded(asked: Asked, model: Model) -> tuple[Chain, bool]:
    """Return an intent's calls, and whether they are a chain.

    Else they are a set. There are none where nothing is likely.
    """
    chains, taken = likely_chains(asked, model) if asked.view.tools else ([], None)
    if not chains or taken is None:
        return Chain((), ()), True
    if sum(math.exp(chain.likely) for chain in chains) < KNOWN:
        return _likely_set(asked, model, taken), False
    weight = probabilities(chain_features(asked, chains, taken), model.chains)
    return chains[agreeing([chain.tools for chain in chains], weight)], True


def _likely_set(asked: Asked, model: Model, taken: Floats) -> Chain:
    """Return the set of tools with the best expected overlap."""
    members = right_on_average(taken * asked.view.offered, LONGEST)
    order = _ordered(asked, model, members)
    return Chain(order, tuple(taken.take(order).tolist()))


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
