"""Estimate the probability that memory holds the answer, and a verdict.

    log-odds = bias + missing * m + meaning * c + first * f + ten * t + lonely * l

- m: the share of the question's idf in words that occur in no event. Few events make it weak evidence.
- c: the highest cosine among the first three events.
- f: the share of the question's idf in the first event. An answer says most of the question; words that are scattered over
  several events answer nothing.
- t: the highest such share among the first ten events, which takes back what `f` owes to words that are everywhere.
- l: the relative drop in cosine from the first to the twentieth event, among people's words alone. A topic mentioned once
  has one event far above the rest; a discussed topic has several.

The height of a BM25 score says nothing (measured area under the ROC curve: 0.4-0.5). `training/memory_verdicts.py` fits the
weights on questions to a conversation, questions to other conversations, and near misses: questions about what somebody else
said, or about details never mentioned. A question is answered when one of ten events holds its evidence. The answer is called
resolved only if the first event says most of the question and is by whom the question names. Cosines of different embedders do
not compare, so an embedder without fitted weights is judged by words alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.scoring import Weighed
from vademecum.types import Verdict

RESOLVED_FROM, LIKELY_FROM, FOUND_FROM = 0.85, 0.6, 0.15
UNDECIDED = 0.5  # the most that a commit without a decision can be worth to a question for one
SAID = 0.7  # the share of the question's idf in the first event, from which an answer may be resolved
LITTLE = 50  # events; with this many, m and l count half
LONELY = 0.39  # mean of l, used where there are no events
_HEAD, _TEN, _TWENTY = 3, 10, 20


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants of the model above."""

    bias: float
    missing: float
    meaning: float
    first: float
    ten: float
    lonely: float


CALIBRATIONS = {"static:static-2": Calibration(-0.86, -3.81, 5.06, 2.42, -1.3, -2.17)}
BY_WORDS = Calibration(-0.43, -4.24, 0.0, 2.71, -1.0, 0.0)


@dataclass(frozen=True)
class Found:
    """Candidates that recall found, to be judged."""

    weighed: Weighed
    best: NDArray[np.int64]  # the places of the best candidates, best first
    shares: NDArray[np.float32]  # share of the question's words in each
    events: int  # number of events
    searched: int  # number of events that passed the filters
    by_meaning: bool = False  # the search used meaning alone
    undecided: bool = False  # the question asks for a choice, and the first event is a commit that states none
    by_another: bool = False  # the question names a speaker, and the first event is another's


def signals(found: Found) -> tuple[float, float, float, float, float]:
    """Return the five signals of the model above, each 0..1.

    There is at least one candidate.
    """
    weighed, best = found.weighed, found.best
    written = found.events / (found.events + LITTLE)
    lonely = LONELY + (_fallen(weighed.meaning[weighed.by_people]) - LONELY) * written
    meaning = float(weighed.meaning[best[:_HEAD]].max())
    return weighed.missing * written, meaning, float(found.shares[0]), float(found.shares[:_TEN].max()), lonely


def probability(found: Found, embedder: str) -> float:
    """Return the probability, 0..1, that the candidates hold the answer.

    `embedder` names the embedder of the cosines; it selects the weights.
    """
    if not len(found.best):
        return 0.0
    c = CALIBRATIONS.get(embedder, BY_WORDS)
    weights = (c.missing, c.meaning, c.first, c.ten, c.lonely)
    odds = c.bias + sum(weight * each for weight, each in zip(weights, signals(found), strict=True))
    return 1 / (1 + math.exp(-odds))


def _fallen(values: NDArray[np.float32]) -> float:
    """Return the relative drop from the highest value to the twentieth.

    Of fewer values the last one counts.

    >>> _fallen(np.array([0.5, 2, 1], np.float32)), _fallen(np.zeros(0, np.float32))
    (0.75, 0.0)
    """
    if not values.any():
        return 0.0
    highest = np.partition(values, max(len(values) - _TWENTY, 0))[-_TWENTY:]
    return 1 - float(highest.min()) / float(highest.max())


def judge(found: Found, embedder: str) -> tuple[Verdict, float, str]:
    """Return verdict and probability, and the reason if not resolved."""
    if not found.searched:
        return Verdict.NOT_FOUND, 0.0, "the filters leave nothing" if found.events else "nothing is recorded yet"
    if not len(found.best) or not (found.by_meaning or found.weighed.words[found.best].any()):
        return Verdict.NOT_FOUND, 0.0, "nothing in memory shares a word with it"
    return _stated(found, probability(found, embedder))


def _stated(found: Found, probable: float) -> tuple[Verdict, float, str]:
    if probable < FOUND_FROM:
        return Verdict.NOT_FOUND, probable, "memory hardly speaks of this"
    if found.undecided and probable >= LIKELY_FROM:
        return Verdict.AMBIGUOUS, UNDECIDED, "commits touch on it, and nobody said a decision"
    if probable < LIKELY_FROM:
        return Verdict.AMBIGUOUS, probable, "memory speaks of it in part, or of something near"
    says_most = float(found.shares[0]) >= SAID and not found.by_another
    return (Verdict.RESOLVED if probable >= RESOLVED_FROM and says_most else Verdict.LIKELY), probable, ""
