"""Weights fitted on other people's traces, to begin with.

`benchmarks/tools_prior.py` fits them on the 3,027 training tasks of UltraTool as published with GNN4TaskPlan (MIT); here they stand
with two digits. Set by hand are `before` and the session's part in stopping, of which these tasks know nothing; the other weights
of stopping, kept near those that also hold where there is no trace; the weights of links,
which are all chains there; those of whole chains, kept small as people differ in the order in which they ask; and those of unseen
tools, so that without any trace `match` alone ranks a search. With traces of one's own the weights move on from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from vademecum.tools.dependencies import LINKING
from vademecum.tools.features import HEADS, RANKING, STOPPING
from vademecum.tools.weights import PHASES, Model

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


@cache
def prior() -> Model:
    """Return the weights that hold without traces."""
    next_, search = np.array([_HEADS[head] for head in HEADS]).T
    stop = np.array([_STOPPING[name] for name in STOPPING])
    links = np.array([_LINKING[name] for name in LINKING])
    chains = np.array([_RANKING[name] for name in RANKING])
    return Model(np.stack([next_] * PHASES), stop, search, np.array(_CERTAIN), links, chains)
