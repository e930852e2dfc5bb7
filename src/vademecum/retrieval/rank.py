"""One question against one view: candidates by every signal of every row, then the fitted ranker over the candidates.

    fused(row) = prior(kind of file) * ( (1 - a) lexical + a dense + path + definition )

with lexical and dense each divided by their maximum: constants, chosen on questions about public repositories. The best
rows by it are candidates, and `model` weighs these. Where no model was fitted for the embedder in use, constants do it:
a file with many candidates lifts its best one, and each further piece of a file counts DECAY times the one before.
`docs/ranking.md` says on which questions, and what each signal is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vademecum.arrays import ranges
from vademecum.retrieval.candidates import pool_of
from vademecum.retrieval.features import DEFINING
from vademecum.retrieval.fusion import convex, reciprocal_rank, top
from vademecum.retrieval.model import Model, judge
from vademecum.retrieval.query import Plan
from vademecum.retrieval.signals import PER_FILE, Floats, Rows, Signals


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts. Chosen on the questions that `benchmarks/` calls the tuning set; see docs/ranking.md."""

    dense: float = 0.6  # share of meaning beside words, for a question in prose
    dense_symbol: float = 0.1  # the same for a bare name
    path: float = 0.6
    definition: float = 1.5  # a bare name's definition
    definition_in_prose: float = 0.5  # that of a name spelled out in a sentence
    coherence: float = 0.3  # a file with many matching chunks lifts its best one
    decay: float = 0.5  # each further chunk of a file
    candidates: int = 200  # rows that are looked at closely


WEIGHTS = Weights()
WARMTH = 0.15  # of the softmax that makes shares of the first step's scores: the likeliest on the questions the model learnt from
# default: the fitted model, or constants; constants; fused: the first step alone; and the baselines
RANKERS = ("default", "constants", "fused", "rrf", "bm25f", "dense")
MANY = 30_000  # rows, from which on most of them are not looked at
_TIMES = 5  # as many chunks as candidates are looked at to learn what it takes to be one
SLACK = 0.9999  # more than what rounding does to a score
_SAMPLED = 64  # every how many chunks are looked at to guess where these begin
SHOWN = ("lexical", "dense", "path", "definition", "prior")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows in order, with what confidence and evidence need to know.

    Attributes:
        rows: int64 (m,), best first.
        scores: float32 (m,).
        signals: per name, float32 (m,).
        coverage: float32 (m,), share of the question's idf found in each row or its path.
        worth: float32 (m,), the share of all that is asked for that each row is expected to hold; at most 1 in sum.
        gain: float32 (m,), the same and what it is worth to be pointed at the row's file; None where no model says it.
        searched: rows that passed the filters.
    """

    rows: NDArray[np.int64]
    scores: Floats
    signals: Mapping[str, Floats] = field(repr=False)
    coverage: Floats = field(repr=False)
    worth: Floats = field(repr=False)
    gain: Floats | None = field(repr=False)
    searched: int = 0

    def first(self, k: int) -> Ranked:
        """Return the best `k` of these rows."""
        signals = {name: values[:k] for name, values in self.signals.items()}
        gain = None if self.gain is None else self.gain[:k]
        return Ranked(self.rows[:k], self.scores[:k], signals, self.coverage[:k], self.worth[:k], gain, self.searched)


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
    """Return candidates among the rows that are allowed, best first: the best `k`, and more where others were looked at.

    `allowed` is ascending; None allows all.
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
    pool = pool_of(signals, rows, fused)
    judged = judge(model, signals, pool, plan)
    order = np.argsort(-judged.score, kind="stable")
    rows, file, piece = pool.rows.take(order), judged.file.take(order), judged.piece.take(order)
    shown, covered = _shown(signals, rows), judged.coverage.take(order)
    return Ranked(
        rows, judged.score.take(order), shown | {"file": file, "piece": piece}, np.minimum(covered + shown["path"], 1),
        file * piece, judged.gain.take(order), searched,
    )  # fmt: skip


def weighed_together(rankings: Sequence[Ranked], weights: Sequence[float]) -> Ranked:
    """Return what any of several rankings holds, by the weighted mean of its scores there; 0 where it is missing.

    Signals and coverage of a row are those of the first ranking that has it.
    """
    rows, first, number = np.unique(
        np.concatenate([each.rows for each in rankings]), return_index=True, return_inverse=True
    )

    def mean(values: Sequence[Floats]) -> Floats:
        counted = [each * np.float32(weight / sum(weights)) for each, weight in zip(values, weights, strict=True)]
        return np.bincount(number, np.concatenate(counted)).astype(np.float32)

    scores = mean([each.scores for each in rankings])
    order = np.argsort(-scores, kind="stable")
    chosen = first[order]
    names = [name for name in rankings[0].signals if all(name in each.signals for each in rankings)]
    signals = {name: np.concatenate([each.signals[name] for each in rankings])[chosen] for name in names}
    coverage = np.concatenate([each.coverage for each in rankings])[chosen]
    searched = max(each.searched for each in rankings)
    worth = mean([each.worth for each in rankings])[order]
    gains = [each.gain for each in rankings if each.gain is not None]
    gain = mean(gains)[order] if len(gains) == len(rankings) else None
    return Ranked(rows[order], scores[order], signals, coverage, worth, gain, searched)


def meant_first(ranked: Ranked) -> Ranked:
    """Return the rows that are what a name stands for, then the others, each with the score of the place it takes."""
    order = np.argsort(ranked.signals["definition"] < DEFINING["declares"], kind="stable")
    signals = {name: values[order] for name, values in ranked.signals.items()}
    gain = None if ranked.gain is None else ranked.gain[order]
    coverage, worth = ranked.coverage[order], ranked.worth[order]
    return Ranked(ranked.rows[order], ranked.scores, signals, coverage, worth, gain, ranked.searched)


def ranked_of(signals: Signals, rows: NDArray[np.int64], scores: Floats, fused: Floats, searched: int) -> Ranked:
    """Return ranked rows with their signals. `fused` is what their worth is told from."""
    shown, worth = _shown(signals, rows), worth_of(fused)
    return Ranked(rows, scores, shown, np.minimum(signals.coverage(rows) + shown["path"], 1), worth, None, searched)


def worth_of(fused: Floats) -> Floats:
    """Return the share of all that is asked for that each candidate is expected to hold, where no model says it.

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
    """Rank by words, by meaning, or by both through RRF, and by nothing else."""
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
    """Return the rows that every signal taken together puts first, best first, with their scores."""
    count = max(w.candidates, 5 * k)
    score = of_chunks(signals, plan, w)
    rows = contenders(signals, score, count, w) if allowed is None and len(signals.rows) > MANY else allowed
    fused = _of_rows(signals, score, rows, w)
    pool = top(fused, count)
    pool = pool[fused[pool] > 0]
    return _numbered(pool, rows), fused[pool]


def fuse(signals: Signals, plan: Plan, w: Weights) -> Floats:
    """Return float32 (R,): every signal of each row taken together."""
    return _of_rows(signals, of_chunks(signals, plan, w), None, w)


def of_chunks(signals: Signals, plan: Plan, w: Weights) -> Floats:
    """Return float32 (N,), 0 or more: what is known of each chunk taken together, wherever it stands."""
    share = w.dense_symbol if plan.is_bare else w.dense
    score = convex([signals.lexical, signals.dense], [1 - share, share])
    if plan.names:
        score += np.float32(w.definition if plan.is_bare else w.definition_in_prose) * signals.definition
    return score


def _of_rows(signals: Signals, score: Floats, rows: Rows, w: Weights) -> Floats:
    """Return float32 (m,): the scores of chunks, with what is known of the file of each row; None stands for all rows."""
    if rows is None:  # a file's rows follow each other: repeating its value is quicker than looking it up for each
        fused: Floats = score.take(signals.rows)
        fused += np.repeat(np.float32(w.path) * signals.path, signals.file_rows)
        fused *= np.repeat(signals.prior, signals.file_rows)
        return fused
    files = signals.files.take(rows)
    fused = score.take(signals.rows.take(rows))
    fused += np.float32(w.path) * signals.path.take(files)
    fused *= signals.prior.take(files)
    return fused


def contenders(signals: Signals, score: Floats, count: int, w: Weights) -> NDArray[np.int64]:
    """Return rows, ascending, among which are the `count` best of all that have a score, and whatever equals the last of them.

    A row has at most what its chunk has, and its path's share where words of the question are in the path: priors only take
    away. So where `count` rows are known to have some score, a row must have as good a chunk, or such a path, to be among the
    best. The few that do are looked at, not all.

    Args:
        signals: of all rows.
        score: float32 (N,), 0 or more, what is known of each chunk.
        count: 1 or more.
        w: what a path counts.
    """
    first = _promising(score, count)
    rows = signals.rows_of(first)
    reached = _of_rows(signals, score, rows, w)
    least = float(np.partition(reached, len(reached) - count)[len(reached) - count]) if len(reached) >= count else 0.0
    if not least > 0:
        rows = signals.rows_of(np.flatnonzero(score))
    elif least < score.take(first).min():
        rows = signals.rows_of(np.flatnonzero(score >= least))
    else:
        rows = rows[reached >= least]
    named = _named_rows(signals, score, least, w)
    return np.sort(np.concatenate([named, rows[signals.path.take(signals.files.take(rows)) == 0]]))


def _promising(score: Floats, count: int) -> NDArray[np.int64]:
    """Return chunks, ascending, of as good a score as any other: some times `count`, as a sample tells, or all that have a score."""
    sample = np.sort(score[::_SAMPLED])
    place = len(sample) - _TIMES * count // _SAMPLED - 1
    cut = sample[place] if place > 0 else 0
    return np.flatnonzero(score >= cut) if cut > 0 else np.flatnonzero(score)


def _named_rows(signals: Signals, score: Floats, least: float, w: Weights) -> NDArray[np.int64]:
    """Return the rows of files in whose path a word of the question is, of those that may reach the least that it takes."""
    files = np.flatnonzero(signals.path)
    # What a chunk of each must have by itself; a little less, since it is told by other sums than the score.
    wanted = np.float32(least * SLACK) / signals.prior.take(files) - np.float32(w.path) * signals.path.take(files)
    near = np.flatnonzero(wanted <= score.max(initial=0))
    files, wanted = files.take(near), wanted.take(near)
    counts = signals.file_rows.take(files)
    begins = np.searchsorted(signals.files, files.astype(np.int32))  # of one type: else all it looks through is copied
    rows = ranges(begins, counts)
    return rows[score.take(signals.rows.take(rows)) >= np.repeat(wanted, counts)]


def relevance(signals: Signals, plan: Plan, weights: Weights = WEIGHTS) -> Floats:
    """Return float32 (R,), 0..1: how relevant each row is beside the most relevant one, by the first step's constants."""
    fused = np.maximum(fuse(signals, plan, weights), 0)
    most = fused.max(initial=0)
    return fused / most if most > 0 else fused


def _by_constants(
    signals: Signals, rows: NDArray[np.int64], fused: Floats, w: Weights
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Order candidates by named constants. Returns rows, scores, and what they were fused to."""
    score, files = fused.copy(), signals.files[rows]
    _add_coherence(score, files, w.coherence)
    order = np.argsort(-score, kind="stable")
    picked, damped = _pick(score[order], files[order], w.decay)
    order = order[picked]
    return rows[order], damped, fused[order]


def _add_coherence(score: Floats, files: NDArray[np.int32], weight: float) -> None:
    """Lift each file's best row by its file's share of what the best file has in all."""
    _, first, number = np.unique(files, return_index=True, return_inverse=True)
    total = np.bincount(number, weights=score)
    score[first] += (weight * score.max() * total / total.max()).astype(np.float32)


def _pick(scores: Floats, files: NDArray[np.int32], decay: float) -> tuple[NDArray[np.int64], Floats]:
    """Take places greedily, the n-th of a file at decay**n of its score. Scores fall."""
    grouped = np.argsort(files, kind="stable")  # each file's rows together, still best first
    same = files[grouped]
    begins = np.zeros(len(files), np.int64)  # where each row's file begins
    begins[1:] = np.where(same[1:] != same[:-1], np.arange(1, len(files)), 0)
    place = np.empty(len(files), np.int64)  # of each row among its file's
    place[grouped] = np.arange(len(files)) - np.maximum.accumulate(begins)
    damped = (scores * decay**place).astype(np.float32)
    order = np.argsort(-damped, kind="stable")
    return order, damped[order]
