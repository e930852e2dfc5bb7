"""Confidence in an answer: a probability and a verdict.

    log-odds that the results hold the answer = bias + coverage * c + dense * d + definition * s + certainty * m

Here c is the highest share of the question's idf that one of the first three results matches, d the highest cosine
among them, and s how surely one of them defines a requested name. m is how much the ranking prefers its first result:
that result's file probability under the fitted ranker, else how far its score stands above the last, as a share. The
constants were fitted by logistic regression (`training/ranking/verdicts.py`) on questions about public repositories
that no evaluation uses. Each question was asked of its own repository and of two others, which have no answer. The bias
is set for even odds between the two. Cosines of different embedders do not compare, so each embedder has its own
constants; an embedder without a fit is judged by words alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from vademecum.code.search.rank import Ranked
from vademecum.code.search.signals import DEFINING
from vademecum.index.query import Plan, names_to_make
from vademecum.index.tokenize import run_terms
from vademecum.types import Verdict


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of the model above."""

    bias: float
    coverage: float
    dense: float
    definition: float
    certainty: float


# Area under the ROC curve on repositories outside the fit: 0.936 and 0.903. `benchmarks/verdicts.py` measures others.
CALIBRATIONS = {"static:static-2": Calibration(-5.04, 4.15, 6.28, 1.17, 1.33)}
BY_WORDS = Calibration(-3.9, 6.14, 0.0, 1.6, 1.37)

RESOLVED_FROM = 0.9
LIKELY_FROM = 0.5
FOUND_FROM = 0.1  # below, the verdict is not found
_HEAD = 3


def probability(ranked: Ranked, embedder: str) -> float:
    """Return the probability, 0..1, that the results hold the answer.

    `embedder` made the dense signal.
    """
    if not len(ranked.rows):
        return 0.0
    by = CALIBRATIONS.get(embedder, BY_WORDS)
    coverage, dense, definition, certainty = indications(ranked)
    odds = by.bias + by.coverage * coverage + by.dense * dense + by.definition * definition + by.certainty * certainty
    return 1 / (1 + math.exp(-odds))


def indications(ranked: Ranked) -> tuple[float, float, float, float]:
    """Return the model's inputs: coverage, dense, definition, certainty.

    `ranked` is not empty.
    """
    first, last = float(ranked.scores[0]), float(ranked.scores[-1])
    return (
        max(ranked.coverage[:_HEAD].tolist()),
        max(ranked["dense"][:_HEAD].tolist()),
        max(ranked["definition"][:_HEAD].tolist()),
        float(ranked["file"][0]) if "file" in ranked.names else 1 - last / max(first, 1e-9),
    )


def verdict(plan: Plan, ranked: Ranked, probable: float, unknown: Collection[str] = ()) -> Verdict:
    """Return the verdict on ranked results.

    A bare name with one definition is `resolved`, with several `ambiguous`; the verdict is never a guess. `unknown` are
    the terms that occur nowhere. A name with an unknown part is not found, whatever its other parts match. An unsure
    answer to a question is not found when every name in the question has an unknown part. A name that the question asks
    to make does not count: nothing has it yet.
    """
    if not len(ranked.rows):
        return Verdict.NOT_FOUND
    defining = int((ranked["definition"] >= 1).sum())  # a name's definitions, and what the question points at
    if plan.is_symbol:
        if defining:
            return Verdict.RESOLVED if defining == 1 else Verdict.AMBIGUOUS
        has = bool((ranked["definition"] >= DEFINING["has"]).any())  # a member of the name, or a file
        # every part of the name, and the name as a whole
        mentioned = bool((ranked.coverage > 0.99).any()) and not unknown
        return Verdict.LIKELY if has or mentioned else Verdict.NOT_FOUND
    if probable < FOUND_FROM or (probable < LIKELY_FROM and not defining and _names_nothing(plan, unknown)):
        return Verdict.NOT_FOUND
    if probable >= RESOLVED_FROM:
        return Verdict.RESOLVED
    return Verdict.LIKELY if probable >= LIKELY_FROM else Verdict.AMBIGUOUS


def _names_nothing(plan: Plan, unknown: Collection[str]) -> bool:
    """Return whether a question has names, each with an unknown part."""
    if not plan.names or not unknown:
        return False
    names = set(plan.names) - names_to_make(plan.text)
    return bool(names) and all(not set(run_terms(name)).isdisjoint(unknown) for name in names)
