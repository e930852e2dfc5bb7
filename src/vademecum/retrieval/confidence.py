"""How far to trust an answer: a probability from what the best results matched, and a verdict from the probability.

The constants are a first setting; the shape is a logistic model so that a fit can replace them.
"""

from __future__ import annotations

import math

from vademecum.retrieval.query import Plan
from vademecum.retrieval.rank import Ranked
from vademecum.types import Verdict

# log-odds that the results hold the answer = BIAS + COVERAGE * c + DENSE * d + DEFINITION * s + MARGIN * m, with
# c the share of the question's idf the best result matches, d its cosine, s whether it defines a name asked for, and
# m how far the best score stands above the tenth.
BIAS, COVERAGE, DENSE, DEFINITION, MARGIN = -3.2, 3.6, 3.0, 2.5, 0.8
RESOLVED_FROM = 0.9
LIKELY_FROM = 0.55
FOUND_FROM = 0.12  # below, nothing is shown as an answer


def probability(ranked: Ranked) -> float:
    """Return the probability, 0..1, that the results hold the answer."""
    if not len(ranked.rows):
        return 0.0
    head = slice(0, 3)
    odds = (
        BIAS
        + COVERAGE * float(ranked.coverage[head].max())
        + DENSE * float(ranked.signals["dense"][head].max())
        + DEFINITION * float(ranked.signals["definition"][head].max())
        + MARGIN * float(1 - ranked.scores[-1] / max(float(ranked.scores[0]), 1e-9))
    )
    return 1 / (1 + math.exp(-odds))


def verdict(plan: Plan, ranked: Ranked, probable: float) -> Verdict:
    """Return the verdict. A bare name is `resolved` by one definition, `ambiguous` by several, never guessed."""
    if not len(ranked.rows) or probable < FOUND_FROM:
        return Verdict.NOT_FOUND
    if plan.is_symbol:
        defining = int((ranked.signals["definition"] >= 1).sum())
        if defining:
            return Verdict.RESOLVED if defining == 1 else Verdict.AMBIGUOUS
        mentioned = bool((ranked.coverage > 0.99).any())
        return Verdict.LIKELY if mentioned else Verdict.NOT_FOUND
    if probable >= RESOLVED_FROM:
        return Verdict.RESOLVED
    return Verdict.LIKELY if probable >= LIKELY_FROM else Verdict.AMBIGUOUS
