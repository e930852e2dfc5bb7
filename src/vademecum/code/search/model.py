"""The fitted ranker: linear models of a candidate's file and piece.

    P(file)          = softmax over files of       w . file features
    P(piece | file)  = softmax over its pieces of  v . piece features
    score(piece)     = P(file) * ( NOVELTY [best piece of its file] + (1 - NOVELTY) P(piece | file) )

The score is the expected gain of showing a piece next. NOVELTY is the share of a file's worth that lies in naming the
file (less for a long question); the rest lies in the lines. So a second piece of a likely file can come before the
first piece of an unlikely file. The weights are in a table beside this module, fitted by `training/ranking` on
repositories that no evaluation uses. The table's card describes the fit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.paths import FITTED
from vademecum.code.search.candidates import FILE_FEATURES, PIECE_FEATURES, Pool, describe
from vademecum.code.search.signals import Floats, Signals
from vademecum.index.query import Plan

NOVELTY = 0.85
# A long question (an issue's title, an error) is about certain lines; a short one names a topic, which a file answers.
NOVELTY_OF_LONG = 0.6
LONG = 8  # a question with more terms is long
_COVERAGE = PIECE_FEATURES.index("coverage")


@dataclass(frozen=True)
class Model:
    """Weights in the order of FILE_FEATURES and PIECE_FEATURES."""

    file: Floats
    piece: Floats


@dataclass(frozen=True, slots=True)
class Judged:
    """Candidates' scores, float32 (C,), their parts, and coverage.

    `gain` is the score in units of `file * piece`: a row's own lines count 1. `coverage` is the share of the question
    in each candidate.
    """

    score: Floats
    gain: Floats
    file: Floats
    piece: Floats
    coverage: Floats


def fitted_for(embedder: str) -> Model | None:
    """Return the model fitted on an embedder's vectors, or None."""
    return _load(FITTED[embedder]) if embedder in FITTED else None


@cache
def _load(name: str) -> Model:
    table = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return Model(
        np.array([table["file"][feature] for feature in FILE_FEATURES], np.float32),
        np.array([table["piece"][feature] for feature in PIECE_FEATURES], np.float32),
    )


def judge(model: Model, signals: Signals, pool: Pool, plan: Plan) -> Judged:
    """Return each candidate's probability of being the answer."""
    pieces, files = describe(signals, pool, is_bare=plan.is_bare)
    return weigh(model, pieces, files, pool.slot, novelty_of(plan))


def weigh(model: Model, pieces: Floats, files: Floats, slot: NDArray[np.int64], novelty: float) -> Judged:
    """Return the scores of candidates, given their features.

    Args:
        model: the weight of each feature.
        pieces: float32 (C, len(PIECE_FEATURES)).
        files: float32 (G, len(FILE_FEATURES)).
        slot: int64 (C,), the file of each piece, ascending; every file has a piece.
        novelty: 0..1.
    """
    of_file = np.exp(_from_highest(files @ model.file))
    of_file /= of_file.sum()
    logits = pieces @ model.piece
    starts = np.searchsorted(slot, np.arange(len(files)))
    highest = np.maximum.reduceat(logits, starts).take(slot)
    at_top = np.flatnonzero(logits == highest)
    best = at_top[np.searchsorted(at_top, starts)]  # the earlier of equals
    share = np.exp(logits - highest)
    share /= np.add.reduceat(share, starts).take(slot)
    shown = of_file.take(slot)
    score = shown * (1 - novelty) * share
    score[best] += novelty * of_file
    gain = score / max(1 - novelty, 1e-3)
    return Judged(score.astype(np.float32), gain.astype(np.float32), shown, share, pieces[:, _COVERAGE])


def novelty_of(plan: Plan) -> float:
    """Return the share of a file's worth in naming it, 0..1."""
    return NOVELTY if len(plan.terms) <= LONG else NOVELTY_OF_LONG


def _from_highest(values: Floats) -> Floats:
    return np.asarray(values - values.max(initial=-np.inf), np.float32)
