"""How far to trust that memory holds the answer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.question import Question
from vademecum.memory.view import View
from vademecum.memory.weigh import Weighed
from vademecum.types import Verdict

RESOLVED_FROM, LIKELY_FROM, FOUND_FROM = 0.9, 0.5, 0.1


def judge(
    question: Question, view: View, weighed: Weighed, rows: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[Verdict, float, str]:
    """Return verdict, probability 0..1, and the reason where it is not resolved."""
    if not mask.any():
        return Verdict.NOT_FOUND, 0.0, "nothing is recorded" if not len(view) else "the filters leave nothing"
    if not len(rows):
        return Verdict.NOT_FOUND, 0.0, "nothing in memory has a word of this"
    probability = 1 / (1 + math.exp(-4 * (float(weighed.share[rows[:3]].max()) - 0.5)))
    if probability < FOUND_FROM:
        return Verdict.NOT_FOUND, probability, "memory has hardly a word of this"
    if probability >= RESOLVED_FROM:
        return Verdict.RESOLVED, probability, ""
    verdict = Verdict.LIKELY if probability >= LIKELY_FROM else Verdict.AMBIGUOUS
    return verdict, probability, "what was found speaks of a part of the question only"
