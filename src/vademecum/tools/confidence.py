"""Calibrated confidence of a search and a plan; reliability of tools.

A search compares tools with one another, so that one of them always fits best. Whether any fits is in how near the
nearest one is, on scales that do not depend on the others:

    log-odds = -5.14 + (7.47 - 0.47 ln N) c + 6.64 t + 3.71 m   by text, of N tools
             + 15 n / (n + 25) * (a - 0.2)                      by memory, of n traces; below 0, times u

    c   the highest cosine of meaning between a tool and the intent or one of its clauses: of many, one by chance
    t   the highest tf-idf cosine
    m   the mean cosine of meaning over all tools: how far the catalogue is about such things at all
    a   the highest tf-idf cosine with a past intent, or the cosine of words as they stand, less 0.2
    u   the share of tools that a trace called: what few traces do not know may still be there

A next call is as likely as among all tools, times that, until weights are fitted. A plan is as sure as its calls, in
the geometric mean. Where traces do not tell, a call is, with s the logistic function and m its tool's cosine as in c:

    P(right) = s(-2.95 + 0.43 logit P(call) + 3.67 m)     no trace called the tool
               s(-2.88 + 0.35 logit P(call) + 4.45 m)     weights are not fitted yet

`benchmarks/tools_found.py` fitted the first weights; docs/tools.md says how the others were. A tool's *reliability* is
a factor on its score: `step` is that of PML's ADR-050, `smoothed` the mean of a Beta posterior relative to its prior,

    factor = (1 - SWING) + SWING * ((s + STRENGTH * p) / (n + STRENGTH)) / p

with s good calls of n and p the share of good calls over all tools.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.chains import Chain
from vademecum.tools.features import Asked, same_intent
from vademecum.tools.texts import Floats

Counts = NDArray[np.float64]

CAP = 0.95  # of a score: certainty is not to be had (ADR-050)
STRENGTH = 4.0  # calls that the prior is worth
SWING = 0.5  # how much of a score depends on reliability
MOST = 1.2  # what reliability may add, as in the steps
DEPRECATED = 0.5  # what reliability leaves of a tool that says it is deprecated
FOUND_FROM = 0.05  # below, no tool fits: docs/tools.md says how often that is right
_TEXT = np.array([-5.14, 7.47, 6.64, 3.71, -0.47])  # bias, then c, t, m and c ln N
_WORDS = np.array([-2.5, 11.9])  # bias, tf-idf
_MEMORY, _TRACES, _ALIKE, _PLAIN = 15.0, 25.0, 0.2, 0.2
_UNUSED, _UNFITTED = (-2.95, 0.43, 3.67), (-2.88, 0.35, 4.45)  # bias, log-odds by the model, cosine of meaning
_LEAST, _NONE = 1e-3, 1e-6  # probabilities nearer to 0 or 1 say no more


def probability(asked: Asked, allowed: NDArray[np.bool_]) -> float:
    """Return the probability that a shown tool is right, 0..`CAP`.

    Args:
        asked: the intent.
        allowed: bool (n,), the tools that may be shown.
    """
    if not allowed.any():
        return 0.0
    if same_intent(asked) is not None:
        return CAP
    signals = text_signals(asked, allowed)
    documents = asked.view.documents
    meant = asked.question.vector is not None and documents.vectors is not None
    odds = float(_TEXT @ (1, *signals) if meant else _WORDS @ (1, signals[1]))
    speaks = asked.weight > 0
    alike = float(np.maximum(asked.alike, asked.plain - _PLAIN)[speaks].max(initial=0.0))
    traces = int(speaks.sum())
    by_memory = _MEMORY * traces / (traces + _TRACES) * (alike - _ALIKE)
    used = 1 - float(asked.unseen[allowed].mean())
    return min(_logistic(odds + (by_memory if by_memory > 0 else by_memory * used)), CAP)


def text_signals(asked: Asked, allowed: NDArray[np.bool_]) -> Floats:
    """Return c, t, m and c ln N, float32 (4,)."""
    near, mean = asked.meaning[allowed].max(), asked.view.documents.dense(asked.question)[allowed].mean()
    return np.array([near, asked.tfidf[allowed].max(), mean, near * math.log(allowed.sum())], np.float32)


def of_plan(asked: Asked, chain: Chain, *, fitted: bool) -> float:
    """Return how sure a chain is, 0..1, by weights `fitted` or not."""
    sure = []
    for tool, likely in zip(chain.tools, chain.probabilities, strict=True):
        bias, by_likely, by_meaning = _UNUSED if asked.unseen[tool] else _UNFITTED
        odds = math.log(max(likely, _LEAST) / max(1 - likely, _LEAST))
        right = _logistic(bias + by_likely * odds + by_meaning * asked.meaning.item(tool))
        sure.append(likely if fitted and not asked.unseen[tool] else right)
    return math.exp(fmean(math.log(max(each, _NONE)) for each in sure))


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def step(good: Counts, calls: Counts) -> Counts:
    """Return ADR-050's factor of each tool; 1 for one without calls.

    >>> step(np.array([1.0, 8, 10, 0]), np.array([4.0, 10, 10, 0])).tolist()
    [0.1, 1.0, 1.2, 1.0]
    """
    rate = good / np.maximum(calls, 1)
    return np.where(calls == 0, 1.0, np.where(rate < 0.5, 0.1, np.where(rate > 0.9, 1.2, 1.0)))


def smoothed(good: Counts, calls: Counts) -> Counts:
    """Return each tool's smoothed factor, 1 - SWING..MOST.

    >>> smoothed(np.array([0.0, 0, 9, 0]), np.array([1.0, 20, 9, 0])).round(2).tolist()
    [0.9, 0.58, 1.2, 1.0]
    """
    prior = (float(good.sum()) + 1) / (float(calls.sum()) + 2)
    mean = (good + STRENGTH * prior) / (calls + STRENGTH)
    return np.asarray(np.minimum(1 - SWING + SWING * mean / prior, MOST))


RELIABILITIES: Mapping[str, Callable[[Counts, Counts], Counts]] = {"smoothed": smoothed, "step": step}
