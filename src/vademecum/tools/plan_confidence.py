"""Confidence of a plan: the geometric mean of its calls' probabilities.

Where weights were fitted on one's own traces, and traces called a tool, the probability of its call is that of the fitted model.
Otherwise that says too much. It compares tools with one another: one that nobody has used is likely as soon as the others there
fit worse, and of three registered tools one nearly always is, whether or not any does what is asked. And weights that hold where there are
thousands of traces take the nearest of five for as near as the nearest of thousands. So such a call is as sure as
such calls turned out to be, with s the logistic function and m the cosine of what the tool says of itself and the intent, or its nearest clause:

    P(right) = s(-2.3 + 0.17 logit P(call) + 5.6 m)     no trace called the tool
               s(-1.3 + 0.24 logit P(call) + 2.9 m)     weights are not fitted yet

The first was fitted on plans without any trace for 120 training tasks of UltraTool, BFCL and RestBench (TMDB), asked among 3, 10, 30
and all tools, as often without any tool that the task takes as with all of them; the second on 704 plans for training tasks of the same
with 3, 8 and 16 traces of others, one near to what was asked. Over ten bins a plan's share of right calls is off by 0.06 in the first (each set
by the weights of the two others), where the probabilities of the model alone are off by 0.27.
"""

from __future__ import annotations

import math
from statistics import fmean

from vademecum.tools.chains import Chain
from vademecum.tools.intent_features import Asked

_UNUSED, _UNFITTED = (-2.3, 0.17, 5.6), (-1.3, 0.24, 2.9)  # bias, log-odds by the model, cosine of meaning
_LEAST = 1e-3  # probabilities nearer to 0 or 1 say no more
_NONE = 1e-6


def confidence(asked: Asked, chain: Chain, *, fitted: bool) -> float:
    """Return how sure the calls of a chain are, 0..1.

    Args:
        asked: the question they answer.
        chain: one call at least, each with its probability.
        fitted: whether the weights it was found with were fitted on these traces.
    """
    meaning, new = asked.meaning, asked.unseen
    sure = [
        likely if fitted and not new[tool] else right(likely, meaning.item(tool), used=not new[tool])
        for tool, likely in zip(chain.tools, chain.probabilities, strict=True)
    ]
    return math.exp(fmean(math.log(max(each, _NONE)) for each in sure))


def right(likely: float, meaning: float, *, used: bool) -> float:
    """Return the probability of a call with few observations, 0..1.

    Args:
        likely: the model's, among the tools there are.
        meaning: the cosine of what is asked and what the tool says of itself.
        used: whether any trace called the tool.

    >>> [round(right(0.99, meaning, used=False), 2) for meaning in (0.0, 0.3, 0.6)]
    [0.18, 0.54, 0.86]
    """
    bias, by_likely, by_meaning = _UNFITTED if used else _UNUSED
    likely = min(max(likely, _LEAST), 1 - _LEAST)
    return 1 / (1 + math.exp(-(bias + by_likely * math.log(likely / (1 - likely)) + by_meaning * meaning)))
