"""Ranking: candidates by every signal, then the fitted ranker.

    fused(row) = prior(kind of file) * ( (1 - a) lexical + a dense + path + definition )

Here lexical and dense are each divided by their maximum. The constants were chosen on questions about public
repositories. The best rows are candidates, which a model weighs. Without a model for the embedder, constants decide: a
file with many candidates lifts its best one, and each further piece of a file counts DECAY times the one before.
`docs/ranking.md` lists the questions, and the worth of each signal.

The model is linear, in features of a candidate's file and piece:

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
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import FITTED
from vademecum.code.search.signals import DEFINING, PER_FILE, Floats, Rows, Signals
from vademecum.code.snapshot.view import FILE_KINDS
from vademecum.index.bm25 import Schema, saturated
from vademecum.index.fusion import convex, reciprocal_rank, top
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


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each signal.

    Chosen on the tuning set of `benchmarks/`; see docs/ranking.md.
    """

    dense: float = 0.6  # the share of meaning, against words, for a question in prose
    dense_symbol: float = 0.1  # the same for a bare name
    path: float = 0.6
    definition: float = 1.5  # a bare name's definition
    definition_in_prose: float = 0.5  # the definition of a name in a sentence
    coherence: float = 0.3  # a file with many matching chunks lifts its best one
    decay: float = 0.5  # each further chunk of a file
    candidates: int = 200  # rows for the second step


WEIGHTS = Weights()
WARMTH = 0.15  # softmax temperature for the first step's scores: the likeliest on the model's training questions
HEAD = 3  # the first results, by which an answer is judged
NEWS = 0.1  # the worth of a changelog, where nobody asks for one
# default: the fitted model, or constants; constants; fused: the first step alone; and the baselines
RANKERS = ("default", "constants", "fused", "rrf", "bm25f", "dense")
SHOWN = ("lexical", "dense", "path", "definition", "history", "prior")
TOLD = (*SHOWN, "worth", "score", "coverage")  # values of a row
WEIGHED = (*SHOWN, "file", "piece", "worth", "score", "coverage", "gain")  # values of a row that a model weighed


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows in order, with the values that confidence and evidence need.

    Attributes:
        rows: int64 (m,), best first.
        names: names of the values: the signals, then "worth" and the other values.
        told: float32 (len(names), m), the values of each row.
        searched: the number of rows that passed the filters.
        translation: the row of a translation that was set aside from the first three, -1 for none.

    >>> ranked = Ranked(np.array([7, 4]), ("lexical", "worth"), np.array([[3, 2], [0.75, 0.25]], np.float32))
    >>> ranked["worth"].tolist(), ranked.first(1).rows.tolist(), list(ranked.signals)
    ([0.75, 0.25], [7], ['lexical'])
    """

    rows: NDArray[np.int64]
    names: tuple[str, ...]
    told: Floats = field(repr=False)
    searched: int = 0
    translation: int = -1

    def __getitem__(self, name: str) -> Floats:
        """Return one value of each row by name, float32 (m,)."""
        told: Floats = self.told[self.names.index(name)]
        return told

    @property
    def signals(self) -> dict[str, Floats]:
        """Signals by name, each float32 (m,)."""
        return dict(zip(self.names[: self.names.index("worth")], self.told, strict=False))

    @property
    def gain(self) -> Floats | None:
        """The worth plus the gain of naming the file, float32 (m,).

        None without a fitted model.
        """
        return self["gain"] if "gain" in self.names else None

    def first(self, k: int) -> Ranked:
        """Return the best `k` of these rows."""
        return Ranked(self.rows[:k], self.names, self.told[:, :k], self.searched)


def rank(
    signals: Signals,
    plan: Plan,
    allowed: Rows,
    k: int,
    ranker: str = "default",
    *,
    model: Model | None = None,
    weights: Weights = WEIGHTS,
) -> Ranked:
    """Return candidates among the allowed rows, best first.

    More than `k` are returned where more were looked at. `allowed` is ascending; None allows all.
    """
    searched = len(signals.rows) if allowed is None else len(allowed)
    if ranker in {"rrf", "bm25f", "dense"}:
        rows, scores = _baseline(signals, allowed, k, ranker)
        return ranked_of(signals, rows, scores, scores, searched)
    rows, fused = find_candidates(signals, allowed, plan, k, weights)
    if ranker == "fused" or not len(rows):
        return ranked_of(signals, rows, fused, fused, searched)
    if ranker == "constants" or model is None:
        return ranked_of(signals, *_by_constants(signals, rows, fused, weights), searched)
    rows, told = _weighed(model, signals, rows, fused, plan)
    return Ranked(rows, WEIGHED, told, searched)


def _weighed(
    model: Model, signals: Signals, rows: NDArray[np.int64], fused: Floats, plan: Plan
) -> tuple[NDArray[np.int64], Floats]:
    """Return candidates in a model's order, with the values of WEIGHED.

    The values are float32 (12, C).
    """
    pool = pool_of(signals, rows, fused)
    judged = judge(model, signals, pool, plan)
    order = np.argsort(-judged.score, kind="stable")
    rows = pool.rows.take(order)
    shown, coverage = _shown(signals, rows), judged.coverage.take(order)
    file, piece, score, gain = (of.take(order) for of in (judged.file, judged.piece, judged.score, judged.gain))
    coverage = np.minimum(coverage + shown["path"], 1)
    return rows, np.stack([*shown.values(), file, piece, file * piece, score, coverage, gain])


def weighed_together(rankings: Sequence[Ranked]) -> Ranked:
    """Join rankings by the mean of their scores.

    A row missing in a ranking counts 0 there. Signals and coverage of a row are those of the first ranking that has the
    row.
    """
    rows, first, number = np.unique(
        np.concatenate([each.rows for each in rankings]), return_index=True, return_inverse=True
    )
    names = tuple(name for name in rankings[0].names if all(name in each.names for each in rankings))
    told = np.concatenate([[each[name] for name in names] for each in rankings], axis=1)
    best = told[:, first]
    for name in {"score", "worth", "gain"}.intersection(names):
        which = names.index(name)
        best[which] = np.bincount(number, told[which]) / len(rankings)
    order = np.argsort(-best[names.index("score")], kind="stable")
    return Ranked(rows[order], names, best[:, order], max(each.searched for each in rankings))


def with_places(ranked: Ranked, signals: Signals, rows: NDArray[np.int64], weights: Floats) -> Ranked:
    """Join a ranking with the rows that the question's places mean.

    What a text points at is worth as much as all that its words find: a row its weight, times the prior of its file's
    kind. Gains add up, so that what the words find begins a result as it does without places.
    """
    share = weights * signals.of("prior", rows)
    share /= share.sum()
    shown = _shown(signals, rows) | {"definition": np.full(len(rows), DEFINING["declares"], np.float32)}
    coverage = np.minimum(signals.coverage(rows) + shown["path"], 1)
    gain = share / np.float32(1 - NOVELTY_OF_LONG)
    told = np.stack([*shown.values(), share, np.ones_like(share), share, share, coverage, gain])
    both = weighed_together([Ranked(rows, WEIGHED, told), ranked])
    both["gain"][:] *= 2
    return both


def set_aside(ranked: Ranked, translations: NDArray[np.bool_], news: NDArray[np.bool_]) -> Ranked:
    """Return a ranking without translations, and with news far down.

    Both say a question's words without being what it asks for. Where nothing else is found, they stay.
    """
    if translations.all() or news.all():
        return ranked
    told = ranked.told.copy()
    for name in {"score", "worth", "gain"}.intersection(ranked.names):
        told[ranked.names.index(name), news] *= NEWS
    order = np.argsort(-told[ranked.names.index("score")], kind="stable")
    order = order[~translations.take(order)]
    first = np.flatnonzero(translations[:HEAD])[:1]
    best = int(ranked.rows[first[0]]) if len(first) else -1
    return replace(ranked, rows=ranked.rows.take(order), told=told.take(order, axis=1), translation=best)


def meant_first(ranked: Ranked) -> Ranked:
    """Return the rows that declare the name, then the others.

    Each row gets the score of its new place.
    """
    meant = ranked["definition"] * ranked["prior"]
    order = np.argsort(np.where(ranked["definition"] < DEFINING["declares"], 0, -meant), kind="stable")
    told = ranked.told[:, order]
    told[ranked.names.index("score")] = ranked["score"]
    return replace(ranked, rows=ranked.rows[order], told=told)


def ranked_of(signals: Signals, rows: NDArray[np.int64], scores: Floats, fused: Floats, searched: int) -> Ranked:
    """Return ranked rows with their signals.

    The worth is computed from `fused`.
    """
    shown = _shown(signals, rows)
    coverage = np.minimum(signals.coverage(rows) + shown["path"], 1)
    return Ranked(rows, TOLD, np.stack([*shown.values(), worth_of(fused), scores, coverage]), searched)


def worth_of(fused: Floats) -> Floats:
    """Return each candidate's expected share of the answer, without a model.

    >>> [round(float(share), 2) for share in worth_of(np.array([1.0, 0.9, 0.1], np.float32))]
    [0.66, 0.34, 0.0]
    """
    share = np.exp((fused - fused.max(initial=-np.inf)) / np.float32(WARMTH))
    worth: Floats = share / share.sum()
    return worth


def _shown(signals: Signals, rows: NDArray[np.int64]) -> dict[str, Floats]:
    chunks, files = signals.rows.take(rows), signals.files.take(rows)
    return {name: getattr(signals, name).take(files if name in PER_FILE else chunks) for name in SHOWN}


def _baseline(signals: Signals, allowed: Rows, k: int, ranker: str) -> tuple[NDArray[np.int64], Floats]:
    """Rank by words, by meaning, or by both through RRF alone."""
    if ranker == "rrf":
        both = [signals.of("lexical", allowed), signals.of("dense", allowed)]
        score = reciprocal_rank(both, depth=max(100, 5 * k))
    else:
        score = signals.of("lexical" if ranker == "bm25f" else "dense", allowed)
    picked = top(score, k)
    picked = picked[score[picked] > 0]
    return (picked if allowed is None else allowed[picked]), score[picked]


def find_candidates(
    signals: Signals, allowed: Rows, plan: Plan, k: int, w: Weights
) -> tuple[NDArray[np.int64], Floats]:
    """Return the rows with the highest fused scores, best first."""
    fused = fuse(signals, plan, allowed, w)
    pool = top(fused, max(w.candidates, 5 * k))
    pool = pool[fused[pool] > 0]
    return (pool if allowed is None else allowed[pool]), fused[pool]


def fuse(signals: Signals, plan: Plan, rows: Rows, w: Weights) -> Floats:
    """Return the fused scores of rows, float32 (m,); `rows` None means all."""
    share = w.dense_symbol if plan.is_bare else w.dense
    score = convex([signals.lexical, signals.dense], [1 - share, share])
    if plan.names:
        score += np.float32(w.definition if plan.is_bare else w.definition_in_prose) * signals.definition
    chunks, files = (of if rows is None else of.take(rows) for of in (signals.rows, signals.files))
    fused: Floats = score.take(chunks)
    fused += (np.float32(w.path) * signals.path).take(files)
    fused *= signals.prior.take(files)
    return fused


def relevance(signals: Signals, plan: Plan) -> Floats:
    """Return each row's relevance relative to the best, float32 (R,).

    Values are 0..1, by the constants of the first step.
    """
    fused = np.maximum(fuse(signals, plan, None, WEIGHTS), 0)
    most = fused.max(initial=0)
    return fused / most if most > 0 else fused


def _by_constants(
    signals: Signals, rows: NDArray[np.int64], fused: Floats, w: Weights
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Order candidates by constants.

    Returns rows, scores and fused scores.
    """
    score, files = fused.copy(), signals.files[rows]
    _add_coherence(score, files, w.coherence)
    order = np.argsort(-score, kind="stable")
    picked, damped = _pick(score[order], files[order], w.decay)
    order = order[picked]
    return rows[order], damped, fused[order]


def _add_coherence(score: Floats, files: NDArray[np.int32], weight: float) -> None:
    """Lift each file's best row by its file's total.

    The total is relative to the best file's total.
    """
    _, first, number = np.unique(files, return_index=True, return_inverse=True)
    total = np.bincount(number, weights=score)
    score[first] += (weight * score.max() * total / total.max()).astype(np.float32)


def _pick(scores: Floats, files: NDArray[np.int32], decay: float) -> tuple[NDArray[np.int64], Floats]:
    """Damp each file's further rows by `decay` and sort.

    A file's n-th row counts decay**n of its score, from n = 0.
    """
    grouped = np.argsort(files, kind="stable")  # each file's rows together, still best first
    same = files[grouped]
    begins = np.zeros(len(files), np.int64)  # the start of each row's file
    begins[1:] = np.where(same[1:] != same[:-1], np.arange(1, len(files)), 0)
    place = np.empty(len(files), np.int64)  # each row's place in its file
    place[grouped] = np.arange(len(files)) - np.maximum.accumulate(begins)
    damped = (scores * decay**place).astype(np.float32)
    order = np.argsort(-damped, kind="stable")
    return order, damped[order]
