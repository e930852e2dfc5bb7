"""Weights to begin with, before there are traces of one's own: what held on other people's.

Fitted by `fit` on the 3,027 training tasks of UltraTool as published with GNN4TaskPlan (MIT), rounded to two digits;
those of `server`, `session`, `before` and `next_by_meta`, of which these tasks know nothing, those of links, which are all chains there,
those of whole chains, kept small as people differ in how they order what they ask for, and those of unseen tools, so that without any trace `match` alone ranks a search, were set by hand. With traces of one's own the weights move from here to what these say.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from vademecum.tools.features import HEADS, RANKING, STOPPING
from vademecum.tools.links import LINKING
from vademecum.tools.model import PHASES, Model

# head: (as the next call, in a search)
_HEADS: Mapping[str, tuple[float, float]] = {
    "bm25": (12.0, 34.0),
    "tfidf": (0.65, 1.4),
    "meaning": (0.013, -0.45),
    "server": (1.0, 0.0),
    "match": (0.0, 0.0),
    "left": (31.0, 0.0),
    "order": (17.0, 0.0),
    "terms": (0.73, 0.77),
    "by_words": (0.02, -0.091),
    "by_meaning": (0.64, 0.97),
    "by_members": (0.31, 0.046),
    "by_meta": (0.0, 0.0),
    "session": (0.7, 0.0),
    "next_by_words": (-0.36, 0.0),
    "next_by_meaning": (0.39, 0.0),
    "next_by_path": (0.12, 0.0),
    "next": (0.44, 0.0),
    "next_by_meta": (0.0, 0.0),
    "ridge": (0.9, 5.3),
    "ridge_first": (1.9, 0.0),
    "popular": (-0.74, -1.2),
    "used": (-5.2, 0.0),
    "last": (2.4, 0.0),
    "before": (-2.5, 0.0),
    "unseen": (1.8, -1.2),
    "unseen_bm25": (15.0, -34.0),
    "unseen_tfidf": (10.0, -1.4),
    "unseen_meaning": (2.0, 0.45),
    "unseen_match": (2.0, 5.0),
}
_STOPPING: Mapping[str, float] = {
    "bias": -1.2,
    "next_by_words": -1.4,
    "next_by_meaning": 0.64,
    "next_by_path": 1.7,
    "next": -0.55,
    "next_by_meta": 0.0,
    "left": -2.4,
    "begun": -1.2,
    "long": 4.3,
    "open": 0.46,
    "surest": -0.73,
}
_LINKING: Mapping[str, float] = {
    "bias": -1.0,
    "rate": 0.8,
    "attended": 0.8,
    "adjacent": 2.5,
    "provides": 3.0,
    "distance": -2.0,
}
_RANKING: Mapping[str, float] = {"likely": 0.8, "taken": 0.15, "unmet": -2.0, "in_order": 5.0, "known": 0.3}
_CERTAIN = (2.8, 1.1)


@cache
def prior() -> Model:
    """Return the weights that hold without traces."""
    next_, search = np.array([_HEADS[head] for head in HEADS]).T
    stop = np.array([_STOPPING[name] for name in STOPPING])
    links = np.array([_LINKING[name] for name in LINKING])
    chains = np.array([_RANKING[name] for name in RANKING])
    return Model(np.stack([next_] * PHASES), stop, search, np.array(_CERTAIN), links, chains)
