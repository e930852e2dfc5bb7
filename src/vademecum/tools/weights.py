"""Fitted weights, and the probabilities of a search."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from vademecum.tools.dependencies import LINKING
from vademecum.tools.features import HEADS, RANKING, STOPPING
from vademecum.tools.logit import Weights
from vademecum.tools.texts import Floats

PHASES = 3  # first call, second call, later calls
_FITS = ("next", "stop", "search", "certain", "links", "chains")
_FORM = [2, *map(list, (HEADS, STOPPING, LINKING, RANKING))]  # of what is kept: another form is fitted anew


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


def taken_probabilities(features: Floats, search: Weights, certain: Weights) -> Floats:
    """Return each tool's probability for an intent, float32 (n,)."""
    return taken_from(log_probabilities(features, search), certain)


def taken_from(logs: Floats, certain: Weights) -> Floats:
    """Return that probability from each tool's logarithm among all, float32 (n,)."""
    odds = certain[0] + certain[1] * logs
    return np.asarray(1 / (1 + np.exp(-odds)), np.float32)


def log_probabilities(features: Floats, weights: Weights) -> Floats:
    """Return float32 (n,): the logarithm of each tool's probability among all."""
    return log_shares(features @ weights.astype(np.float32))


def log_shares(score: Floats) -> Floats:
    """Return float32 (n,): the same by its score, the log-odds."""
    if not len(score):
        return score
    score = score - score.max()
    return np.asarray(score - np.log(np.exp(score).sum()), np.float32)
