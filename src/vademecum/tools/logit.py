"""The conditional logit over candidates.

    P(v | choice) = exp(w . x_v) / sum over candidates u of exp(w . x_u)

McFadden 1974; read as contrastive learning it is the InfoNCE loss with the whole catalogue as negatives. Fitted by
Newton's method on the penalised likelihood

    -sum over choices of log P(chosen) + strength/2 * |scale * (w - prior)|^2

whose prior is what holds elsewhere: with few choices the weights stay near it, with many they follow the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Weights = NDArray[np.float64]

_ROUNDS = 25
_ENOUGH = 1e-7  # of the loss, relative: further steps change nothing


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
    scale = _scale(choices)
    loss, gradient, curvature = _expand(choices, weights, prior, strength * scale**2)
    for _ in range(_ROUNDS):
        step = np.linalg.solve(curvature, gradient)
        share = 1.0
        while True:
            moved = weights - share * step
            found = _expand(choices, moved, prior, strength * scale**2)
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


def _scale(choices: Sequence[Choice]) -> Weights:
    """The spread of each feature among the candidates of a choice."""
    spread = np.mean([choice.features.astype(np.float64).var(0) for choice in choices], axis=0)
    return np.asarray(np.sqrt(np.maximum(spread, 1e-4)), np.float64)


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
