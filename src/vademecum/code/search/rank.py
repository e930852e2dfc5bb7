"""Ranking: candidates by every signal, then the fitted ranker.

    fused(row) = prior(kind of file) * ( (1 - a) lexical + a dense + path + definition )

Here lexical and dense are each divided by their maximum. The constants were chosen on questions about public
repositories. The best rows are candidates, which `model` weighs. Without a model for the embedder, constants decide: a
file with many candidates lifts its best one, and each further piece of a file counts DECAY times the one before.
`docs/ranking.md` lists the questions, and the worth of each signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.model import NOVELTY_OF_LONG, Model, judge, pool_of
from vademecum.code.search.signals import DEFINING, PER_FILE, Floats, Rows, Signals
from vademecum.index.fusion import convex, reciprocal_rank, top
from vademecum.index.query import Plan


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

    >>> ranked = Ranked(np.array([7, 4]), ("lexical", "worth"), np.array([[3, 2], [0.75, 0.25]], np.float32))
    >>> ranked.worth.tolist(), ranked.first(1).rows.tolist(), list(ranked.signals)
    ([0.75, 0.25], [7], ['lexical'])
    """

    rows: NDArray[np.int64]
    names: tuple[str, ...]
    told: Floats = field(repr=False)
    searched: int = 0

    def __getitem__(self, name: str) -> Floats:
        """Return one value of each row by name, float32 (m,)."""
        told: Floats = self.told[self.names.index(name)]
        return told

    @property
    def signals(self) -> dict[str, Floats]:
        """Signals by name, each float32 (m,)."""
        return dict(zip(self.names[: self.names.index("worth")], self.told, strict=False))

    @property
    def scores(self) -> Floats:
        """The score of each row, float32 (m,)."""
        return self["score"]

    @property
    def coverage(self) -> Floats:
        """The question's idf share in row or path, float32 (m,)."""
        return self["coverage"]

    @property
    def worth(self) -> Floats:
        """The expected share of the answer per row, float32 (m,).

        The sum is at most 1.
        """
        return self["worth"]

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


def weighed_together(rankings: Sequence[Ranked], weights: Sequence[float]) -> Ranked:
    """Join rankings by the weighted mean of their scores.

    A row missing in a ranking counts 0 there. Signals and coverage of a row are those of the first ranking that has the
    row.
    """
    rows, first, number = np.unique(
        np.concatenate([each.rows for each in rankings]), return_index=True, return_inverse=True
    )
    names = tuple(name for name in rankings[0].names if all(name in each.names for each in rankings))
    told = np.concatenate([[each[name] for name in names] for each in rankings], axis=1)
    shares = np.concatenate(
        [np.full(len(e.rows), w / sum(weights), np.float32) for e, w in zip(rankings, weights, strict=True)]
    )
    best = told[:, first]
    for name in {"score", "worth", "gain"}.intersection(names):
        which = names.index(name)
        best[which] = np.bincount(number, told[which] * shares)
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
    both = weighed_together([Ranked(rows, WEIGHED, told), ranked], [1, 1])
    both["gain"][:] *= 2
    return both


def meant_first(ranked: Ranked) -> Ranked:
    """Return the rows that declare the name, then the others.

    Each row gets the score of its new place.
    """
    order = np.argsort(ranked["definition"] < DEFINING["declares"], kind="stable")
    told = ranked.told[:, order]
    told[ranked.names.index("score")] = ranked.scores
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
    return _numbered(picked, allowed), score[picked]


def _numbered(picked: NDArray[np.int64], allowed: Rows) -> NDArray[np.int64]:
    return picked if allowed is None else allowed[picked]


def find_candidates(
    signals: Signals, allowed: Rows, plan: Plan, k: int, w: Weights
) -> tuple[NDArray[np.int64], Floats]:
    """Return the rows with the highest fused scores, best first."""
    fused = fuse(signals, plan, allowed, w)
    pool = top(fused, max(w.candidates, 5 * k))
    pool = pool[fused[pool] > 0]
    return _numbered(pool, allowed), fused[pool]


def fuse(signals: Signals, plan: Plan, rows: Rows, w: Weights) -> Floats:
    """Return the fused scores of rows, float32 (m,); `rows` None means all."""
    share = w.dense_symbol if plan.is_bare else w.dense
    score = convex([signals.lexical, signals.dense], [1 - share, share])
    if plan.names:
        score += np.float32(w.definition if plan.is_bare else w.definition_in_prose) * signals.definition
    chunks, files = (of if rows is None else of.take(rows) for of in (signals.rows, signals.files))
    fused: Floats = (score.take(chunks) + np.float32(w.path) * signals.path.take(files)) * signals.prior.take(files)
    return fused


def relevance(signals: Signals, plan: Plan, weights: Weights = WEIGHTS) -> Floats:
    """Return each row's relevance relative to the best, float32 (R,).

    Values are 0..1, by the constants of the first step.
    """
    fused = np.maximum(fuse(signals, plan, None, weights), 0)
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
