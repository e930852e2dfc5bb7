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
from vademecum.retrieval.lexical import Lexical, bm25f, term_keys
from vademecum.retrieval.query import Plan
from vademecum.retrieval.view import View
from vademecum.types import FileKind

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts. Chosen by search on questions about repositories that no benchmark reports."""

    dense: float = 0.45  # share of meaning beside words, for a question in prose
    dense_symbol: float = 0.2  # the same for a bare name
    path: float = 0.6
    definition: float = 1.5  # a bare name's definition
    definition_in_prose: float = 0.75  # that of a name spelled out in a sentence
    coherence: float = 0.2  # a file with many matching chunks lifts its best one
    decay: float = 0.5  # each further chunk of a file
    candidates: int = 200  # rows that are looked at beyond words and meaning


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


@dataclass(frozen=True, slots=True)
class Signals:
    """Every signal for every row, float32 (R,), and the file of each row, int32 (R,)."""

    lexical: Floats
    dense: Floats
    path: Floats
    definition: Floats
    prior: Floats
    coverage: Floats
    files: NDArray[np.int32]


def signals_of(view: View, plan: Plan, vector: Floats | None, kinds: frozenset[FileKind]) -> tuple[Signals, set[str]]:
    """Compute the signals of every row, and the terms that no row holds.

    `vector` is the question's unit vector, or None to go without meaning.
    """
    keys = term_keys(plan.terms)
    words: Lexical = bm25f(view.segments, view.copies, view.norms, keys)
    rows, files = view.row_chunk, view.row_file
    path = path_share(view.files, keys, words.idf)[files]
    dense = np.zeros(len(view), np.float32) if vector is None else cosine(view, vector)[rows]
    defined = definitions(view, plan.names)[rows] if plan.names else np.zeros(len(view), np.float32)
    signals = Signals(
        words.score[rows], dense, path, defined, kind_priors(view.files, plan.text, kinds)[files],
        np.minimum(words.coverage[rows] + path, 1), files,
    )  # fmt: skip
    return signals, {term for term, idf in zip(plan.terms, words.idf, strict=True) if not idf}


def laid_end_to_end(several: Sequence[Signals]) -> Signals:
    """Join the signals of several repositories, so that they are weighed against each other."""
    if len(several) == 1:
        return several[0]
    bases = np.cumsum([0, *(int(s.files.max(initial=-1)) + 1 for s in several)])
    shifted = [replace(s, files=s.files + np.int32(base)) for s, base in zip(several, bases, strict=False)]
    return Signals(*(np.concatenate([getattr(s, f.name) for s in shifted]) for f in fields(Signals)))


def rank(
    signals: Signals, plan: Plan, mask: NDArray[np.bool_], k: int, ranker: str = "default", weights: Weights = WEIGHTS
) -> Ranked:
    """Return the best `k` rows among those the mask, bool (R,), lets through."""
    allowed = np.flatnonzero(mask)
    chosen = {name: getattr(signals, name)[allowed] for name in ("lexical", "dense", "path", "definition", "prior")}
    if ranker == "default":
        picked, scores = _joined(signals.files[allowed], plan, chosen, k, weights)
    else:
        picked, scores = _baseline(chosen, ranker, k)
    rows = allowed[picked]
    taken = {name: values[picked] for name, values in chosen.items()}
    return Ranked(rows, scores, taken, signals.coverage[rows], len(allowed))


def _baseline(chosen: Mapping[str, Floats], ranker: str, k: int) -> tuple[NDArray[np.int64], Floats]:
    """Rank by words, by meaning, or by both through RRF, and by nothing else."""
    if ranker == "rrf":
        score = reciprocal_rank([chosen["lexical"], chosen["dense"]], depth=max(100, 5 * k))
    else:
        score = chosen["lexical" if ranker == "bm25f" else "dense"]
    picked = top(score, k)
    picked = picked[score[picked] > 0]
    return picked, score[picked]


def _joined(
    files: NDArray[np.int32], plan: Plan, chosen: Mapping[str, Floats], k: int, w: Weights
) -> tuple[NDArray[np.int64], Floats]:
    share = w.dense_symbol if plan.is_symbol else w.dense
    base = convex([chosen["lexical"], chosen["dense"]], [1 - share, share])
    base += w.path * chosen["path"] + (w.definition if plan.is_symbol else w.definition_in_prose) * chosen["definition"]
    base *= chosen["prior"]
    pool = top(base, max(w.candidates, 5 * k))
    pool = pool[base[pool] > 0]
    score = base[pool].copy()
    if not len(score):
        return pool, score
    _add_coherence(score, files[pool], w.coherence)
    order = np.argsort(-score, kind="stable")
    return _pick(pool[order], score[order], files[pool[order]], k, w.decay)


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
