"""How far to trust that memory holds the answer: a probability, and a verdict from it.

    log-odds = bias + missing * m + meaning * c + alone * a + rare * r + lonely * l

with m the share of the question's idf in words that nobody ever wrote (it says little where little was written), c the highest cosine among the first three events,
and a how far the tenth stands below the first, as a share: a topic that was only touched has one event, far above the
rest; one that was spoken of has several; and r how rare the rarest word of the question is, 1 where nobody ever wrote it: a detail that was never told
is asked for by a word that was hardly used; and l the same as a, by meaning alone and counted over what people said, to the twentieth: what an assistant
said at length of a topic does not hide that a person only touched it. The height of a BM25 score says nothing of it (area under the ROC curve 0.4-0.5
measured). Fitted by logistic regression on questions to conversations and to other conversations than their own, and to
questions about details that were never told; each conversation left out in turn; the weights of `r` and `l` beside these (decisions 0047, 0051). Cosines of different embedders do not
compare: one that was never fitted is judged by words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.scoring import Weighed
from vademecum.types import Verdict

RESOLVED_FROM, LIKELY_FROM, FOUND_FROM = 0.9, 0.5, 0.1  # as for code
LITTLE = 50  # events: from so many on it counts half which words are missing or rare, and how many are near
RARE = 0.76  # the mean of r, which stands for it where nothing was written
LONELY = 0.39  # the same of l
_HEAD, _TENTH, _TWENTIETH = 3, 9, 19


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of the model above; `share` weighs the words of the best event, where there is no cosine."""

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
    """What recall found, to be judged."""

    weighed: Weighed
    best: NDArray[np.int64]  # the places of the best candidates, best first
    shares: NDArray[np.float32]  # how much of the question each of them holds
    events: int  # how many there are
    searched: int  # how many passed the filters
    by_meaning: bool = False  # words were not asked for


def probability(found: Found, embedder: str) -> float:
    """Return the probability, 0..1, that what was found holds the answer; `embedder` made the cosines."""
    weighed, best = found.weighed, found.best
    if not len(best):
        return 0.0
    c = CALIBRATIONS.get(embedder, BY_WORDS)
    scores = weighed.score[best]
    alone = _fallen(scores, _TENTH)
    meaning, share = float(weighed.meaning[best[:_HEAD]].max()), float(found.shares[:_HEAD].max())
    written = found.events / (found.events + LITTLE)
    missing = weighed.missing * written
    unwritten = math.log1p(2 * found.events + 1)  # the idf of a word that nobody wrote
    rarest = RARE + (float(weighed.idf.max(initial=0.0)) / unwritten - RARE) * written
    lonely = LONELY + (_fallen(_first_and(weighed.meaning[weighed.by_people], _TWENTIETH), 1) - LONELY) * written
    odds = c.bias + c.missing * missing + c.meaning * meaning + c.share * share
    odds += c.alone * alone + c.rare * rarest + c.lonely * lonely
    return 1 / (1 + math.exp(-odds))


def _fallen(values: NDArray[np.float32], place: int) -> float:
    """Return how far the value at a place, or the last, stands below the first, the highest, as a share of it.

    >>> _fallen(np.array([2, 1, 0.5], np.float32), 1), _fallen(np.zeros(0, np.float32), 1)
    (0.5, 0.0)
    """
    if not len(values) or values[0] <= 0:
        return 0.0
    return 1 - float(values[min(place, len(values) - 1)]) / float(values[0])


def _first_and(values: NDArray[np.float32], place: int) -> NDArray[np.float32]:
    """Return the highest value and the one at a place from it, or the last, without putting all that lies between in order.

    >>> _first_and(np.array([1, 4, 2, 3], np.float32), 2).tolist(), _first_and(np.array([1], np.float32), 9).tolist()
    ([4.0, 2.0], [1.0, 1.0])
    """
    if not len(values):
        return values
    cut = max(len(values) - 1 - place, 0)
    return np.array([values.max(), np.partition(values, cut)[cut]], np.float32)


def judge(found: Found, embedder: str) -> tuple[Verdict, float, str]:
    """Return verdict, probability, and the reason where it is not resolved."""
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
