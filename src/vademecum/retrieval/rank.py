"""One question against one view: every signal for every row, joined, then cut.

    score(row) = prior(kind of file) * ( (1 - a) lexical + a dense + path + definition + coherence )

with lexical and dense each divided by their maximum. Results are then picked one by one, each further chunk of a file
counting DECAY times the one before, so that one long file does not fill the page. The weights are constants chosen on
questions about public repositories; `docs/ranking.md` says on which, and what each signal is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.dense import cosine
from vademecum.retrieval.features import definitions, kind_priors, path_share
from vademecum.retrieval.fusion import convex, reciprocal_rank, top
from vademecum.retrieval.lexical import bm25f, term_keys
from vademecum.retrieval.query import Plan
from vademecum.retrieval.view import View
from vademecum.types import FileKind

Floats = NDArray[np.float32]
Rows = NDArray[np.int64] | None


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
    candidates: int = 100  # rows that are looked at beyond words and meaning


WEIGHTS = Weights()
RANKERS = ("default", "rrf", "bm25f", "dense")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows in order, with what confidence and evidence need to know.

    Attributes:
        rows: int64 (m,), best first.
        scores: float32 (m,).
        signals: per name, float32 (m,).
        coverage: float32 (m,), share of the question's idf found in each row or its path.
        searched: rows that passed the filters.
    """

    rows: NDArray[np.int64]
    scores: Floats
    signals: Mapping[str, Floats] = field(repr=False)
    coverage: Floats = field(repr=False)
    searched: int = 0

    def first(self, k: int) -> Ranked:
        """Return the best `k` of these rows."""
        signals = {name: values[:k] for name, values in self.signals.items()}
        return Ranked(self.rows[:k], self.scores[:k], signals, self.coverage[:k], self.searched)


@dataclass(frozen=True, slots=True)
class Signals:
    """Every signal of one view, where it is first known: per chunk, float32 (N,), or per file, float32 (F,).

    `rows` is int64 (R,), the chunk of each row, and `files` int32 (R,), the file of each row. `matched` and `share` say,
    for each match of a term, int32 and float32 (P,), in which chunk it is and how much of the question the term is.
    """

    lexical: Floats
    dense: Floats
    definition: Floats
    path: Floats
    prior: Floats
    rows: NDArray[np.int64]
    files: NDArray[np.int32]
    matched: NDArray[np.int32]
    share: Floats

    def of(self, name: str, rows: Rows) -> Floats:
        """Return one signal for some rows; None stands for all of them."""
        where = self.files if name in PER_FILE else self.rows
        values: Floats = np.take(getattr(self, name), where if rows is None else where[rows])
        return values

    def coverage(self, rows: NDArray[np.int64]) -> Floats:
        """Return float32 (m,): the share of the question's idf that is found in each of `rows`, or in its path."""
        chunks, place = np.unique(self.rows[rows], return_inverse=True)
        number = np.zeros(len(self.lexical), np.int32)
        number[chunks] = np.arange(1, len(chunks) + 1)
        found = np.bincount(number[self.matched], self.share, len(chunks) + 1)[1:]
        covered: Floats = np.minimum(found[place].astype(np.float32) + self.of("path", rows), 1)
        return covered


SHOWN = ("lexical", "dense", "path", "definition", "prior")
PER_FILE = frozenset({"path", "prior"})


def signals_of(view: View, plan: Plan, vector: Floats | None, kinds: frozenset[FileKind]) -> tuple[Signals, set[str]]:
    """Compute the signals of a view, and the terms that no row of it holds.

    `vector` is the question's unit vector, or None to go without meaning.
    """
    keys = term_keys(plan.terms + plan.joined)
    words = bm25f(view.segments, view.copies, view.norms, keys, len(plan.terms))
    nothing = np.zeros(len(words.score), np.float32)
    signals = Signals(
        lexical=_living(view, words.score),
        dense=nothing if vector is None else _living(view, cosine(view, vector)),
        definition=definitions(view, plan.names) if plan.names else nothing,
        path=path_share(view.files, keys, np.where(words.known, words.idf, 0.0)),
        prior=kind_priors(view.files, plan.text, kinds),
        rows=view.row_chunk,
        files=view.row_file,
        matched=words.matched,
        share=words.share,
    )
    return signals, {term for term, known in zip(plan.terms, words.known, strict=False) if not known}


def _living(view: View, score: Floats) -> Floats:
    """Return the scores with those of dead chunks, which belong to no row, set to 0."""
    return score if view.alive.all() else score * view.alive


def laid_end_to_end(several: Sequence[Signals]) -> Signals:
    """Join the signals of several repositories, so that they are weighed against each other."""
    if len(several) == 1:
        return several[0]
    chunks = np.cumsum([0, *(len(s.lexical) for s in several)])
    files = np.cumsum([0, *(len(s.path) for s in several)])
    shifted = [
        replace(s, rows=s.rows + chunk, files=s.files + np.int32(file), matched=s.matched + np.int32(chunk))
        for s, chunk, file in zip(several, chunks, files, strict=False)
    ]
    return Signals(*(np.concatenate([getattr(s, f.name) for s in shifted]) for f in fields(Signals)))


def rank(
    signals: Signals, plan: Plan, allowed: Rows, k: int, ranker: str = "default", weights: Weights = WEIGHTS
) -> Ranked:
    """Return the best `k` rows among those that are allowed, ascending; None allows all."""
    if ranker == "default":
        rows, scores = _joined(signals, allowed, plan, k, weights)
    else:
        rows, scores = _baseline(signals, allowed, k, ranker)
    searched = len(signals.rows) if allowed is None else len(allowed)
    return Ranked(rows, scores, {name: signals.of(name, rows) for name in SHOWN}, signals.coverage(rows), searched)


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


def _joined(signals: Signals, allowed: Rows, plan: Plan, k: int, w: Weights) -> tuple[NDArray[np.int64], Floats]:
    """Rank by every signal."""
    share = w.dense_symbol if plan.is_bare else w.dense
    score = convex([signals.lexical, signals.dense], [1 - share, share])
    if plan.names:
        score += np.float32(w.definition if plan.is_bare else w.definition_in_prose) * signals.definition
    chunks, files = (
        (signals.rows, signals.files) if allowed is None else (signals.rows[allowed], signals.files[allowed])
    )
    base = np.take(score, chunks)
    base += np.take(np.float32(w.path) * signals.path, files)
    base *= np.take(signals.prior, files)
    pool = top(base, max(w.candidates, 5 * k))
    pool = pool[base[pool] > 0]
    score, files, rows = base[pool], files[pool], _numbered(pool, allowed)
    if not len(rows):
        return rows, score
    _add_coherence(score, files, w.coherence)
    order = np.argsort(-score, kind="stable")
    return _pick(rows[order], score[order], files[order], k, w.decay)


def _add_coherence(score: Floats, files: NDArray[np.int32], weight: float) -> None:
    """Lift each file's best row by its file's share of what the best file has in all."""
    _, first, number = np.unique(files, return_index=True, return_inverse=True)
    total = np.bincount(number, weights=score)
    score[first] += (weight * score.max() * total / total.max()).astype(np.float32)


def _pick(
    rows: NDArray[np.int64], scores: Floats, files: NDArray[np.int32], k: int, decay: float
) -> tuple[NDArray[np.int64], Floats]:
    """Take rows greedily, the n-th of a file at decay**n of its score. `rows` come best first."""
    grouped = np.argsort(files, kind="stable")  # each file's rows together, still best first
    same = files[grouped]
    begins = np.zeros(len(files), np.int64)  # where each row's file begins
    begins[1:] = np.where(same[1:] != same[:-1], np.arange(1, len(files)), 0)
    place = np.empty(len(files), np.int64)  # of each row among its file's
    place[grouped] = np.arange(len(files)) - np.maximum.accumulate(begins)
    damped = (scores * decay**place).astype(np.float32)
    order = np.argsort(-damped, kind="stable")[:k]
    return rows[order], damped[order]
