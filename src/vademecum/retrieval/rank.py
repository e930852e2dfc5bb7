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

    `rows` is int64 (R,), the chunk of each row, and `files` int32 (R,), the file of each row.
    """

    lexical: Floats
    dense: Floats
    definition: Floats
    coverage: Floats
    path: Floats
    prior: Floats
    rows: NDArray[np.int64]
    files: NDArray[np.int32]

    def of(self, name: str, rows: Rows) -> Floats:
        """Return one signal for some rows; None stands for all of them."""
        where = self.files if name in ("path", "prior") else self.rows
        values: Floats = getattr(self, name)[where if rows is None else where[rows]]
        return values


SHOWN = ("lexical", "dense", "path", "definition", "prior")


def signals_of(view: View, plan: Plan, vector: Floats | None, kinds: frozenset[FileKind]) -> tuple[Signals, set[str]]:
    """Compute the signals of a view, and the terms that no row of it holds.

    `vector` is the question's unit vector, or None to go without meaning.
    """
    keys = term_keys(plan.terms + plan.joined)
    words = bm25f(view.segments, view.copies, view.norms, keys, len(plan.terms))
    size = len(words.score)
    signals = Signals(
        lexical=words.score * view.alive,
        dense=np.zeros(size, np.float32) if vector is None else cosine(view, vector) * view.alive,
        definition=definitions(view, plan.names) if plan.names else np.zeros(size, np.float32),
        coverage=words.coverage,
        path=path_share(view.files, keys, np.where(words.known, words.idf, 0.0)),
        prior=kind_priors(view.files, plan.text, kinds),
        rows=view.row_chunk,
        files=view.row_file,
    )
    return signals, {term for term, known in zip(plan.terms, words.known, strict=False) if not known}


def laid_end_to_end(several: Sequence[Signals]) -> Signals:
    """Join the signals of several repositories, so that they are weighed against each other."""
    if len(several) == 1:
        return several[0]
    chunks = np.cumsum([0, *(len(s.lexical) for s in several)])
    files = np.cumsum([0, *(len(s.path) for s in several)])
    shifted = [
        replace(s, rows=s.rows + chunk, files=s.files + np.int32(file))
        for s, chunk, file in zip(several, chunks, files, strict=False)
    ]
    return Signals(*(np.concatenate([getattr(s, f.name) for s in shifted]) for f in fields(Signals)))


def rank(
    signals: Signals, plan: Plan, mask: NDArray[np.bool_], k: int, ranker: str = "default", weights: Weights = WEIGHTS
) -> Ranked:
    """Return the best `k` rows among those the mask, bool (R,), lets through."""
    allowed = None if mask.all() else np.flatnonzero(mask)
    if ranker == "default":
        rows, scores = _joined(signals, allowed, plan, k, weights)
    else:
        rows, scores = _baseline(signals, allowed, k, ranker)
    coverage = np.minimum(signals.of("coverage", rows) + signals.of("path", rows), 1)
    return Ranked(rows, scores, {name: signals.of(name, rows) for name in SHOWN}, coverage, int(mask.sum()))


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
    if allowed is None:  # weigh each chunk once, then see where it stands
        base = convex([signals.lexical, signals.dense], [1 - share, share])[signals.rows]
    else:
        base = convex([signals.of("lexical", allowed), signals.of("dense", allowed)], [1 - share, share])
    base += np.float32(w.path) * signals.of("path", allowed)
    if plan.names:
        worth = w.definition if plan.is_bare else w.definition_in_prose
        base += np.float32(worth) * signals.of("definition", allowed)
    base *= signals.of("prior", allowed)
    pool = top(base, max(w.candidates, 5 * k))
    pool = pool[base[pool] > 0]
    score = base[pool].copy()
    rows = _numbered(pool, allowed)
    if not len(rows):
        return rows, score
    files = signals.files[rows]
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
    seen: dict[int, int] = {}
    damped = np.empty_like(scores)
    for i, file in enumerate(files.tolist()):
        n = seen.get(file, 0)
        damped[i] = scores[i] * decay**n
        seen[file] = n + 1
    order = np.argsort(-damped, kind="stable")[:k]
    return rows[order], damped[order]
