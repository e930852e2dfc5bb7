"""Two regressions: the conditional logit, and ridge from intents to tools.

The logit (McFadden 1974) is P(v | choice) = exp(w . x_v) / sum over candidates u of exp(w . x_u), fitted by Newton's
method on the penalised likelihood

    -sum over choices of log P(chosen) + strength/2 * |spread * (w - prior)|^2

With few choices the weights stay near the prior, with many they follow the data. Ridge is W = (X'X + strength I)^-1 X'Y
with a row of X for each trace: the vector of its intent, and its words hashed into signed buckets (Weinberger et al.
2009); Y its tools. Leaving a trace out needs no second fit: its residual is divided by 1 minus its leverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.hypergraph import Hypergraph
from vademecum.tools.texts import Floats, Matches, Question, Texts

Weights = NDArray[np.float64]

_ROUNDS = 25
_ENOUGH = 1e-7  # of the loss, relative: further steps change nothing
STRENGTH = 1.0
BUCKETS = 512
_COPIES = 4  # buckets a term is hashed into


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: the candidates' features, float32 (n, d), and the taken ones."""

    features: Floats
    chosen: int


def probabilities(features: Floats, weights: Weights) -> Floats:
    """Return float32 (n,): the probability of each candidate.

    >>> probabilities(np.array([[1.0], [1.0]], np.float32), np.array([2.0])).tolist()
    [0.5, 0.5]
    """
    with np.errstate(invalid="ignore"):  # some BLAS leave the mark of an invalid number beside finite results
        score = features @ weights.astype(np.float32)
    score = np.exp(score - score.max())
    return np.asarray(score / score.sum(), np.float32)


def fit(choices: Sequence[Choice], prior: Weights, strength: float | Weights = 1.0) -> Weights:
    """Return the best weights for the choices, float64 (d,).

    >>> yes = Choice(np.array([[1.0, 0.3], [0.0, 0.7]], np.float32), 0)
    >>> no = Choice(np.array([[1.0, 0.7], [0.0, 0.3]], np.float32), 1)
    >>> fit([yes, yes, no], np.zeros(2), 0.1).round(2).tolist()
    [0.28, -8.65]
    """
    weights = prior.copy()
    if not choices:
        return weights
    spread = np.mean([choice.features.astype(np.float64).var(0) for choice in choices], axis=0)
    penalty = np.asarray(strength * np.maximum(spread, 1e-4), np.float64)
    loss, gradient, curvature = _expand(choices, weights, prior, penalty)
    for _ in range(_ROUNDS):
        step = np.linalg.solve(curvature, gradient)
        share = 1.0
        while True:
            moved = weights - share * step
            found = _expand(choices, moved, prior, penalty)
            if found[0] <= loss or share < 1e-3:
                break
            share /= 2
        improved = loss - found[0]
        if improved <= 0:
            break
        weights, (loss, gradient, curvature) = moved, found
        if improved < _ENOUGH * abs(loss):
            break
    return weights


def _expand(
    choices: Sequence[Choice], weights: Weights, prior: Weights, penalty: Weights
) -> tuple[float, Weights, NDArray[np.float64]]:
    """The loss at some weights, its gradient, and its curvature."""
    away = weights - prior
    loss, gradient, curvature = 0.5 * float(penalty @ away**2), penalty * away, np.diag(penalty)
    for choice in choices:
        x = choice.features
        p = probabilities(x, weights)
        mean = p @ x
        loss -= float(np.log(max(float(p[choice.chosen]), 1e-30)))
        gradient = gradient + (mean - x[choice.chosen])
        curvature = curvature + ((x * p[:, None]).T @ x - np.outer(mean, mean))
    return loss, gradient, curvature


@dataclass(frozen=True)
class Ridge:
    """Two fits on the same intents: all tools, and the first tool."""

    called: Floats  # (n, d), each tool's weights
    first: Floats
    leverage: Floats  # (m,), how far each trace's own outcome decides what is predicted for it

    @classmethod
    def of(cls, intents: Texts, graph: Hypergraph) -> Self:
        """Fit on all traces."""
        meanings = [] if intents.vectors is None else [intents.vectors]
        x = np.concatenate([*meanings, hashed_rows(intents)], axis=1)
        fitted = _fitted(x)
        begins = np.arange(len(graph)), graph.firsts
        return cls(
            _grouped(fitted, graph.member_trace, graph.member_tool, graph.tools),
            _grouped(fitted, *begins, graph.tools),
            np.einsum("ij,ij->i", x, fitted),
        )

    def predict(self, intents: Texts, question: Question, matches: Matches) -> tuple[Floats, Floats]:
        """Return each tool's score to be called, and first, float32 (n,) each."""
        words = hashed(question.keys, _worth(intents.size, matches.held))
        meaning = np.zeros(self.called.shape[1] - BUCKETS, np.float32)
        if len(meaning) and question.vector is not None:
            meaning = question.vector
        row = np.concatenate([meaning, words])
        return self.called @ row, self.first @ row

    def without(self, predicted: Floats, trace: int, called: NDArray[np.int64]) -> Floats:
        """Return the prediction for a trace's own intent without that trace."""
        outcome = np.zeros(len(predicted), np.float32)
        outcome[called] = 1
        leverage = self.leverage[trace]
        return np.asarray((predicted - leverage * outcome) / max(1 - leverage, np.float32(1e-3)), np.float32)


def hashed_rows(texts: Texts) -> Floats:
    """Return each text's words as a unit vector, float32 (n, BUCKETS)."""
    postings = texts.postings
    held = np.diff(postings.offsets)
    keys, weight = np.repeat(postings.keys, held), np.repeat(_worth(texts.size, held), held)
    flat = np.zeros(texts.size * BUCKETS)
    for copy in range(_COPIES):
        bucket, sign = _bucket(keys, np.uint64(copy))
        flat += np.bincount(postings.docs * BUCKETS + bucket, weight * sign, len(flat))
    return _unit(flat.reshape(-1, BUCKETS))


def hashed(keys: NDArray[np.uint64], worth: NDArray[np.float64]) -> Floats:
    """Return words of some worth as a unit vector, float32 (BUCKETS,)."""
    bucket, sign = _bucket(keys, np.arange(_COPIES, dtype=np.uint64)[:, None])
    total = np.bincount(bucket.ravel(), (sign * worth).ravel(), BUCKETS).astype(np.float64)
    return np.asarray(_unit(total[None])[0], np.float32)


def _worth(texts: int, held: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each term's weight: its idf, 0 for fewer than two texts."""
    return np.asarray(np.log1p((texts - held + 0.5) / (held + 0.5)) * (held > 1), np.float64)


def _bucket(
    keys: NDArray[np.uint64], copy: NDArray[np.uint64] | np.uint64
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    part = ((keys >> (np.uint64(16) * copy)) & np.uint64(0xFFFF)).astype(np.int64)
    return part % BUCKETS, np.where(part >> 15, 1, -1)


def _unit(rows: NDArray[np.float64]) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def _fitted(x: Floats) -> Floats:
    """Return x (x'x + s)⁻¹, float32 (m, d).

    It is (xx' + s)⁻¹ x as well: the smaller system is solved.
    """
    wide = x.T if len(x) < x.shape[1] else x
    gram = wide.T @ wide + np.float32(STRENGTH) * np.eye(wide.shape[1], dtype=np.float32)
    solved = np.linalg.solve(gram.astype(np.float64), wide.T).astype(np.float32)
    return solved if wide is not x else solved.T


def _grouped(x: Floats, rows: NDArray[np.int64], groups: NDArray[np.int64], size: int) -> Floats:
    """Return float32 (size, d): the sum of the rows of each group."""
    total = np.zeros((size, x.shape[1]), np.float32)
    np.add.at(total, groups, x[rows])
    return total
