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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import FITTED
from vademecum.code.search.signals import Floats, Signals
from vademecum.code.snapshot.files import FILE_KINDS
from vademecum.index.bm25 import Schema, saturated
from vademecum.index.query import Plan
from vademecum.index.segment import FIELDS, KIND_CODES
from vademecum.types import ChunkKind, FileKind

Numbers = NDArray[np.int64]
Values = NDArray[Any]  # numbers of any type

_BODY, _NAME, _SIGNATURE, _DOCS = range(len(FIELDS))
_KINDS = (
    ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CLASS, ChunkKind.CONSTANT, ChunkKind.MODULE, ChunkKind.TYPE,
    ChunkKind.INTERFACE,
)  # fmt: skip
_UNASKED = (FileKind.TEST, FileKind.DOC, FileKind.CONFIG, FileKind.EXAMPLE, FileKind.VENDORED)
_OF_THE_BEST = ("fused", "coverage", "in_signature", "dense", "definition", "definition_of_name")
PIECE_FEATURES = (
    "dense", "coverage", "in_name", "definition", "definition_of_name", "length", *(f"is_{kind}" for kind in _KINDS),
)  # fmt: skip
FILE_FEATURES = (
    *_OF_THE_BEST, "coherence", "bm25", "path_dense", "history", *(f"unasked_{kind}" for kind in _UNASKED),
)  # fmt: skip
WHOLE_FILE = Schema(("text",), (1.0,), (0.75,))
NAME_COUNTS = 2  # how much more an occurrence in a chunk's name counts for its file
NOVELTY = 0.85
# A long question (an issue's title, an error) is about certain lines; a short one names a topic, which a file answers.
NOVELTY_OF_LONG = 0.6
LONG = 8  # a question with more terms is long
_COVERAGE = PIECE_FEATURES.index("coverage")


def _one_hot(wanted: Sequence[StrEnum], every: Sequence[StrEnum]) -> Floats:
    """Return the kinds as one-hot rows, float32 (len(wanted), len(every)).

    Column `code` marks the wanted kind with that code.
    """
    return np.equal.outer([every.index(kind) for kind in wanted], np.arange(len(every))).astype(np.float32)


IS_KIND, IS_UNASKED = _one_hot(_KINDS, KIND_CODES), _one_hot(_UNASKED, FILE_KINDS)


@dataclass(frozen=True, slots=True)
class Pool:
    """C candidates in G files, grouped by file.

    Within a file, candidates keep their order.

    Attributes:
        rows, chunks: int64 (C,). fused: float32 (C,), the score that made them candidates, above 0.
        files: int64 (G,), ascending. slot: int64 (C,), the place of each candidate's file in `files`. starts: int64 (G,),
            the start of each file's candidates.
    """

    rows: Numbers
    chunks: Numbers
    fused: Floats
    files: Numbers
    slot: Numbers
    starts: Numbers


def pool_of(signals: Signals, rows: Numbers, fused: Floats) -> Pool:
    """Return candidates grouped by file."""
    files: Numbers = signals.files.take(rows).astype(np.int64)
    by_file = np.argsort(files, kind="stable")
    rows, files = rows.take(by_file), files.take(by_file)
    is_first = np.ones(len(files), bool)
    is_first[1:] = files[1:] != files[:-1]
    starts = np.flatnonzero(is_first)
    return Pool(rows, signals.rows.take(rows), fused.take(by_file), files.take(starts), np.cumsum(is_first) - 1, starts)


def describe(signals: Signals, pool: Pool, *, is_bare: bool) -> tuple[Floats, Floats]:
    """Return features of candidates and of their files.

    Candidates: float32 (C, len(PIECE_FEATURES)). Files: float32 (G, len(FILE_FEATURES)). `is_bare` says whether the
    question is one name: the definition is then the answer, not a hint.
    """
    files, chunks = pool.files, pool.chunks
    held, bm25 = _matches(signals, pool)
    definition = signals.definition.take(chunks)
    piece: dict[str, Values] = {
        "fused": _relative(pool.fused),
        "dense": signals.dense.take(chunks),
        "definition": definition,
        "definition_of_name": definition * np.float32(is_bare),
        "length": np.log1p(signals.lengths[chunks, _BODY]),
        **held,
    }
    best = np.maximum.reduceat(_rows(piece, _OF_THE_BEST), pool.starts, axis=1)
    whole: dict[str, Values] = {
        **dict(zip(_OF_THE_BEST, best, strict=True)),
        "coherence": _relative(np.add.reduceat(pool.fused, pool.starts)),
        "bm25": _relative(bm25),
        "path_dense": signals.path_dense[files],
        "history": _relative(signals.history[files]),
    }
    return (
        _rows(piece, PIECE_FEATURES, IS_KIND.take(signals.kinds.take(chunks), axis=1)).T,
        _rows(whole, FILE_FEATURES, IS_UNASKED.take(signals.unasked.take(files), axis=1)).T,
    )


def _rows(known: Mapping[str, Values], names: tuple[str, ...], last: Floats | None = None) -> Floats:
    """Return named values as rows, float32 (len(names), n).

    `last` holds the rows of the last names.
    """
    named = names if last is None else names[: -len(last)]
    table = np.empty((len(names), len(known[names[0]])), np.float32)
    for place, name in enumerate(named):
        table[place] = known[name]
    if last is not None:
        table[len(named) :] = last
    return table


def _relative(values: Values) -> Values:
    """Divide by the highest value, if that is above 0."""
    highest = float(values.max(initial=0.0))
    return values / highest if highest > 0 else values


def _matches(signals: Signals, pool: Pool) -> tuple[dict[str, Values], Values]:
    """Return each candidate's matched shares, and each file's BM25.

    Shares are (C,) each: of the whole text and by field. BM25 is (G,), of all the file's chunks together, so that an
    answer spread over several functions counts.
    """
    contents = signals.file_content.take(pool.files)
    slot_of = np.full(int(signals.contents[-1]) + 1, -1, np.int32)
    slot_of[contents] = np.arange(len(contents))  # content at two paths is counted once, for both
    matches = signals.matches
    slot = slot_of.take(signals.contents.take(matches.docs))
    inside = np.flatnonzero(slot >= 0)
    slot, term, tf = slot.take(inside), matches.terms.take(inside), matches.tf.take(inside, axis=0)
    held = _held(signals, pool, matches.docs.take(inside), matches.share.take(inside), tf)
    return held, _bm25(signals, pool, slot, term, tf).take(slot_of.take(contents))


def _held(signals: Signals, pool: Pool, chunks: Values, share: Values, tf: Values) -> dict[str, Values]:
    """Return the share of the question in text, name and signature."""
    number = np.zeros(len(signals.lexical), np.int32)
    number[pool.chunks] = np.arange(1, len(pool.chunks) + 1)
    place, at = number.take(pool.chunks), number.take(chunks)

    def summed(weight: Values) -> Values:
        return np.bincount(at, weight, len(place) + 1).take(place)

    return {
        "coverage": summed(share),
        "in_name": summed(share * (tf[:, _NAME] > 0)),
        "in_signature": summed(share * (tf[:, _SIGNATURE] > 0)),
    }


def _bm25(signals: Signals, pool: Pool, slot: Values, term: Values, tf: Values) -> Values:
    """Return the BM25 of each file's chunks together."""
    count, terms = len(pool.files), len(signals.term_share)
    occurrences = tf[:, _BODY] + NAME_COUNTS * (tf[:, _NAME] > 0)
    found = np.bincount(slot * np.int64(terms) + term, occurrences, count * terms).reshape(count, terms)
    length = signals.file_lengths.take(pool.files)
    weighed: Values = saturated(WHOLE_FILE, found, length) @ signals.term_share[:, 0]
    return weighed


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
    of_file = files @ model.file
    of_file = np.exp(of_file - of_file.max())
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
