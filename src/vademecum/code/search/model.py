"""The fitted ranker: a linear model for files, another for chunks.

    P(file)          = softmax over files of       w . file features
    P(piece | file)  = softmax over its pieces of  v . piece features
    score(piece)     = P(file) * ( NOVELTY [best piece of its file] + (1 - NOVELTY) P(piece | file) )

which is the expected gain of showing a piece next, when NOVELTY of a file's worth is in being pointed at (less for a long
question) and the rest in the lines themselves. A second piece of a likely file can so stand before the first of an
unlikely one. The weights are in a table beside this module, fitted by `training/ranking` on repositories that no
evaluation uses; its card says how.
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
# A long question (an issue's title, an error) is about certain lines; a short one names a topic, and a file answers it.
NOVELTY_OF_LONG = 0.6
LONG = 8  # terms, beyond which a question is long
_COVERAGE = PIECE_FEATURES.index("coverage")


@dataclass(frozen=True)
class Model:
    """Weights in the order of FILE_FEATURES and PIECE_FEATURES."""

    file: Floats
    piece: Floats


@dataclass(frozen=True, slots=True)
class Judged:
    """Candidates' scores, float32 (C,), what they are made of, and the share of the question that each holds.

    `gain` is the score in the unit of `file * piece`: what a row's lines are worth counts 1 in it.
    """

    score: Floats
    gain: Floats
    file: Floats
    piece: Floats
    coverage: Floats


def fitted_for(embedder: str) -> Model | None:
    """Return the model that was fitted on an embedder's vectors, if there is one."""
    return _load(FITTED[embedder]) if embedder in FITTED else None


@cache
def _load(name: str) -> Model:
    table = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return Model(
        np.array([table["file"][feature] for feature in FILE_FEATURES], np.float32),
        np.array([table["piece"][feature] for feature in PIECE_FEATURES], np.float32),
    )


def judge(model: Model, signals: Signals, pool: Pool, plan: Plan) -> Judged:
    """Return how likely each candidate is what the question asks for."""
    pieces, files = describe(signals, pool, is_bare=plan.is_bare)
    return weigh(model, pieces, files, pool.slot, novelty_of(plan))


def weigh(model: Model, pieces: Floats, files: Floats, slot: NDArray[np.int64], novelty: float) -> Judged:
    """Return the scores of described candidates.

    Args:
        model: what each feature counts.
        pieces: float32 (C, len(PIECE_FEATURES)).
        files: float32 (G, len(FILE_FEATURES)).
        slot: int64 (C,), the file of each piece, ascending; every file has one.
        novelty: 0..1.
    """
    of_file = np.exp(_from_highest(files @ model.file))
    of_file /= of_file.sum()
    logits = pieces @ model.piece
    starts = np.searchsorted(slot, np.arange(len(files)))
    highest = np.maximum.reduceat(logits, starts).take(slot)
    at_top = np.flatnonzero(logits == highest)
    best = at_top[np.searchsorted(at_top, starts)]  # of equals the earlier
    share = np.exp(logits - highest)
    share /= np.add.reduceat(share, starts).take(slot)
    shown = of_file.take(slot)
    score = shown * (1 - novelty) * share
    score[best] += novelty * of_file
    gain = score / max(1 - novelty, 1e-3)
    return Judged(score.astype(np.float32), gain.astype(np.float32), shown, share, pieces[:, _COVERAGE])


def novelty_of(plan: Plan) -> float:
    """Return which part of a file's worth is in being pointed at, 0..1."""
    return NOVELTY if len(plan.terms) <= LONG else NOVELTY_OF_LONG


def _from_highest(values: Floats) -> Floats:
    return np.asarray(values - values.max(initial=-np.inf), np.float32)
