"""Estimate the probability that memory holds the answer, and a verdict.

    log-odds = bias + missing * m + meaning * c + alone * a + rare * r + lonely * l

- m: the share of the question's idf in words that occur in no event. Few events make it weak evidence.
- c: the highest cosine among the first three events.
- a: the relative drop in score from the first to the tenth event. A topic mentioned once has one event far above the rest;
  a discussed topic has several.
- r: the rarity of the question's rarest word, 1 where it occurs in no event. A question about a missing detail has a word
  that is hardly used.
- l: as a, but by cosine and among people's words alone, down to the twentieth event. A long text by an assistant on a topic
  does not hide that a person only touched on it.

The height of a BM25 score says nothing (measured area under the ROC curve: 0.4-0.5). The weights were fitted by logistic
regression on questions to a conversation, questions to other conversations, and questions about details that were never
mentioned, with each conversation left out in turn; those of `r` and `l` were fitted on top (decisions 0047, 0051). Cosines of
different embedders do not compare, so an embedder without fitted weights is judged by words alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.scoring import Weighed
from vademecum.types import Verdict

RESOLVED_FROM, LIKELY_FROM, FOUND_FROM = 0.9, 0.5, 0.1  # as for code
LITTLE = 50  # events; with this many, m, r and l count half
RARE = 0.76  # mean of r, used where there are no events
LONELY = 0.39  # mean of l, likewise
_HEAD, _TENTH, _TWENTIETH = 3, 9, 19


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants of the model above.

    `share` weighs the words of the best event, for embedders without a fitted cosine.
    """

    bias: float
    missing: float
    meaning: float
    share: float
    alone: float
    rare: float = 0.0
    lonely: float = 0.0


CALIBRATIONS = {"static:static-2": Calibration(2.96, -3.2, 4.56, 0.0, -1.87, -2.4, -2.2)}
BY_WORDS = Calibration(0.36, -3.0, 0.0, 2.4, -2.34)


@dataclass(frozen=True)
class Found:
    """Candidates that recall found, to be judged."""

    weighed: Weighed
    best: NDArray[np.int64]  # the places of the best candidates, best first
    shares: NDArray[np.float32]  # share of the question's words in each
    events: int  # number of events
    searched: int  # number of events that passed the filters
    by_meaning: bool = False  # the search used meaning alone


def probability(found: Found, embedder: str) -> float:
    """Return the probability, 0..1, that the candidates hold the answer.

    `embedder` names the embedder of the cosines; it selects the weights.
    """
    weighed, best = found.weighed, found.best
    if not len(best):
        return 0.0
    c = CALIBRATIONS.get(embedder, BY_WORDS)
    scores = weighed.score[best]
    alone = _fallen(scores, _TENTH)
    meaning, share = float(weighed.meaning[best[:_HEAD]].max()), float(found.shares[:_HEAD].max())
    written = found.events / (found.events + LITTLE)
    missing = weighed.missing * written
    unwritten = math.log1p(2 * found.events + 1)  # idf of a word that occurs in no event
    rarest = RARE + (float(weighed.idf.max(initial=0.0)) / unwritten - RARE) * written
    lonely = LONELY + (_fallen(_first_and(weighed.meaning[weighed.by_people], _TWENTIETH), 1) - LONELY) * written
    odds = c.bias + c.missing * missing + c.meaning * meaning + c.share * share
    odds += c.alone * alone + c.rare * rarest + c.lonely * lonely
    return 1 / (1 + math.exp(-odds))


def _fallen(values: NDArray[np.float32], place: int) -> float:
    """Return the relative drop from the first, highest value to another.

    The other is the one at `place`, or the last.

    >>> _fallen(np.array([2, 1, 0.5], np.float32), 1), _fallen(np.zeros(0, np.float32), 1)
    (0.5, 0.0)
    """
    if not len(values) or values[0] <= 0:
        return 0.0
    return 1 - float(values[min(place, len(values) - 1)]) / float(values[0])


def _first_and(values: NDArray[np.float32], place: int) -> NDArray[np.float32]:
    """Return the highest value and the one `place` ranks below.

    If there are fewer values, the second is the lowest. The values between are not sorted.

    >>> _first_and(np.array([1, 4, 2, 3], np.float32), 2).tolist(), _first_and(np.array([1], np.float32), 9).tolist()
    ([4.0, 2.0], [1.0, 1.0])
    """
    if not len(values):
        return values
    cut = max(len(values) - 1 - place, 0)
    return np.array([values.max(), np.partition(values, cut)[cut]], np.float32)


def judge(found: Found, embedder: str) -> tuple[Verdict, float, str]:
    """Return verdict and probability, and the reason if not resolved."""
    if not found.searched:
        return Verdict.NOT_FOUND, 0.0, "the filters leave nothing" if found.events else "nothing is recorded yet"
    if not len(found.best) or not (found.by_meaning or found.weighed.words[found.best].any()):
        return Verdict.NOT_FOUND, 0.0, "nothing in memory shares a word with it"
    probable = probability(found, embedder)
    if probable < FOUND_FROM:
        return Verdict.NOT_FOUND, probable, "memory hardly speaks of this"
    if probable >= RESOLVED_FROM:
        return Verdict.RESOLVED, probable, ""
    if probable >= LIKELY_FROM:
        return Verdict.LIKELY, probable, ""
    return Verdict.AMBIGUOUS, probable, "memory speaks of it in part, or of something near"
