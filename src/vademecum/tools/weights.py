"""Weights of the model, those without traces, and probabilities.

`benchmarks/tools_prior.py` fits the weights to begin with on the 3,027 training tasks of UltraTool as published with
GNN4TaskPlan (MIT). Set by hand is what these tasks know nothing of: `before`, the session's part in stopping, links,
whole chains (small, as people differ in order), and unseen tools, so that without any trace `match` alone ranks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.features import HEADS, LINKING, RANKING, STOPPING
from vademecum.tools.texts import Floats

Weights = NDArray[np.float64]

PHASES = 3  # first call, second call, later calls
_FITS = ("next", "stop", "search", "certain", "links", "chains")
_FORM = [3, *map(list, (HEADS, STOPPING, LINKING, RANKING))]  # of what is kept: another form is fitted anew
# head: (as the next call, in a search)
_HEADS: Mapping[str, tuple[float, float]] = {
    "match": (1.0, 2.1),
    "left": (31.0, 0.0),
    "order": (15.0, 0.0),
    "terms": (0.85, 0.81),
    "attention": (0.79, 1.2),
    "ridge": (1.1, 5.3),
    "ridge_first": (1.8, 0.0),
    "transition": (0.4, 0.0),
    "session": (0.18, 0.0),
    "popular": (-1.3, -1.4),
    "used": (-3.6, 0.0),
    "before": (-2.5, 0.0),
    "unseen": (0.5, -1.2),
    "unseen_match": (5.0, 2.9),
}
_STOPPING: Mapping[str, float] = {
    "bias": -2.4, "transition": 0.46, "session": 0.0, "unmet": -2.4, "long": 4.4, "open": 0.42, "surest": -0.76,
}  # fmt: skip
_LINKING: Mapping[str, float] = {"bias": -1.0, "rate": 1.6, "adjacent": 2.5, "provides": 3.0, "distance": -2.0}
_RANKING: Mapping[str, float] = {"likely": 0.8, "taken": 0.15, "unmet": -2.0, "in_order": 5.0, "known": 0.3}
_CERTAIN = (2.9, 1.1)


@dataclass(frozen=True, slots=True)
class Model:
    """Fitted weights, float64."""

    next: Weights  # (PHASES, len(HEADS))
    stop: Weights  # (len(STOPPING),)
    search: Weights  # (len(HEADS),)
    certain: Weights  # bias and slope: log-odds that a tool is taken, from its log-probability in a search
    links: Weights  # (len(LINKING),)
    chains: Weights  # (len(RANKING),)
    traces: int = 0  # how many it was fitted on

    def write(self) -> str:
        """Return it as JSON."""
        body: dict[str, Any] = {name: getattr(self, name).tolist() for name in _FITS}
        return json.dumps({"form": _FORM, "traces": self.traces} | body)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the values that `write` wrote; None for another format."""
        try:
            body = json.loads(text)
            if body["form"] != _FORM:
                return None
            return cls(**{name: np.array(body[name], np.float64) for name in _FITS}, traces=int(body["traces"]))
        except (ValueError, LookupError, TypeError):
            return None


@cache
def prior() -> Model:
    """Return the weights that hold without traces."""
    next_, search = np.array([_HEADS[head] for head in HEADS]).T
    stop = np.array([_STOPPING[name] for name in STOPPING])
    links = np.array([_LINKING[name] for name in LINKING])
    chains = np.array([_RANKING[name] for name in RANKING])
    return Model(np.stack([next_] * PHASES), stop, search, np.array(_CERTAIN), links, chains)


def taken_from(logs: Floats, certain: Weights) -> Floats:
    """Return each tool's probability for an intent, float32 (n,)."""
    return np.asarray(1 / (1 + np.exp(-certain[0] - certain[1] * logs)), np.float32)


def log_probabilities(features: Floats, weights: Weights) -> Floats:
    """Return float32 (n,): the logarithm of each tool's probability among all."""
    with np.errstate(invalid="ignore"):  # some BLAS leave the mark of an invalid number beside finite results
        return log_shares(features @ weights.astype(np.float32))


def log_shares(score: Floats) -> Floats:
    """Return float32 (n,): the same by its score, the log-odds."""
    if not len(score):
        return score
    score = score - score.max()
    return np.asarray(score - np.log(np.exp(score).sum()), np.float32)


def probabilities(features: Floats, weights: Weights) -> Floats:
    """Return float32 (n,): the probability of each candidate."""
    return np.exp(log_probabilities(features, weights))
