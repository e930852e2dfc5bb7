"""Features of each tool as the next call, one per head.

`docs/tools.md` has a table of them. What memory says of a tool that was never used is the same small number, a floor,
so such tools are weighed by their text. Most heads depend on the intent alone (`Asked`). The others depend on the calls
so far, for many chains of calls side by side (`After`), as a plan follows several at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.hypergraph import BACKING, SMOOTHING, in_context, voted
from vademecum.tools.intent_features import EPSILON, Asked
from vademecum.tools.macro_tools import next_due
from vademecum.tools.texts import Floats

TEXT = ("match", "left", "order")
MEMORY = ("terms", "attention", "ridge", "ridge_first", "transition", "session")
USE = ("popular", "used", "before")
UNSEEN = ("unseen", "unseen_match")
HEADS = (*TEXT, *MEMORY, *USE, *UNSEEN)
STOPPING = ("bias", "transition", "session", "unmet", "long", "open", "surest")
LINKING = ("bias", "rate", "adjacent", "provides", "distance")
RANKING = ("likely", "taken", "unmet", "in_order", "known")

DUE = 0.5  # weight of the prior in votes of meta-capabilities
_STEP = 0.2  # how far apart two needs are said, as a share of the intent
_COLUMN = {name: column for column, name in enumerate(HEADS)}
_MOVING = [_COLUMN[name] for name in ("left", "order", "transition", "session")]


def heads(asked: Asked, after: Sequence[int]) -> Floats:
    """Return every tool's features after `after`, float32 (n, len(HEADS))."""
    found, chain = still(asked), tuple(after)
    here = After(asked, [chain])
    found[:, _MOVING] = here.columns[0].T
    found[list(chain), _COLUMN["used"]] = 1
    found[here.before(chain), _COLUMN["before"]] = 1
    return found


def still(asked: Asked) -> Floats:
    """Return the features of the intent alone, float32 (n, len(HEADS))."""
    found = np.zeros((len(HEADS), len(asked.unseen)), np.float32)
    for name, column in asked.columns.items():
        found[_COLUMN[name]] = column
    return found.T


class After:
    """Features of c chains of calls for one intent."""

    def __init__(self, asked: Asked, chains: Sequence[tuple[int, ...]]) -> None:
        self.asked = asked
        self.chains = chains

    def scores(self, unmoved: Floats, weights: Floats) -> Floats:
        """Return float32 (c, n): every tool's score after each chain.

        `unmoved`, float32 (n,), is the score by the heads that depend on the intent alone.
        """
        found: Floats = weights.take(_MOVING) @ self.columns
        found += unmoved
        for row, chain in enumerate(self.chains):
            found[row, list(set(chain))] += weights[_COLUMN["used"]]
            found[row, self.before(chain)] += weights[_COLUMN["before"]]
        return found

    def stopping(self, taken: Floats) -> NDArray[np.float64]:
        """Return float64 (c, len(STOPPING)): the reasons to stop after each chain.

        `taken`, float32 (n,), is each tool's probability to be called for the intent at all.
        """
        ends = np.log(self._shares[:, :, -1] + np.float32(EPSILON)).tolist()
        rows = zip(ends, self.unmet.tolist(), self.chains, strict=True)
        found = [(1.0, *end, unmet, math.log1p(len(chain)), *_left(taken, chain)) for end, unmet, chain in rows]
        return np.array(found, np.float64).reshape(-1, len(STOPPING))

    @cached_property
    def unmet(self) -> Floats:
        """The share of the question's words left uncovered, float32 (c,)."""
        return np.asarray(np.add.reduce(self._open * self.asked.said, axis=1), np.float32)

    @cached_property
    def _open(self) -> Floats:
        """1 for terms that no tool says, float32 (c, T)."""
        unsaid = self.asked.unsaid
        return np.array(
            [np.minimum.reduce(unsaid[list(chain)], axis=0, initial=1) for chain in self.chains], np.float32
        )

    def before(self, chain: Sequence[int]) -> list[int]:
        """The tools called earlier in the session, but not now."""
        return [tool for tool in dict.fromkeys(self.asked.earlier) if tool not in chain]

    @cached_property
    def columns(self) -> Floats:
        """Features that move with the calls, float32 (c, len(_MOVING), n)."""
        found = np.empty((len(self.chains), len(_MOVING), len(self.asked.unseen)), np.float32)
        found[:, 0] = self._open @ self.asked.mentioned
        found[:, 1] = [self._order(chain) for chain in self.chains]
        found[:, 2:] = self.asked.log_share(self._shares[:, :, :-1])
        return found

    @cached_property
    def _shares(self) -> Floats:
        """Next-tool probabilities by traces and session, float32 (c, 2, n + 1)."""
        found = np.empty((len(self.chains), 2, len(self.asked.unseen) + 1), np.float32)
        for row, chain in enumerate(self.chains):
            anyhow = self._anyhow(chain)
            found[row] = self._transition(chain, anyhow), anyhow
            if self.asked.due:
                found[row, 1] = voted(next_due(self.asked.due, chain, len(anyhow)), anyhow, DUE)
        return found

    def _anyhow(self, chain: tuple[int, ...]) -> Floats:
        """Next-tool probabilities after the last call alone, float32 (n + 1,)."""
        asked, graph = self.asked, self.asked.view.graph.merged
        last = chain[-1] if chain else graph.tools
        return voted(graph.after(last, asked.merged_weight), asked.use, SMOOTHING)

    def _transition(self, chain: tuple[int, ...], anyhow: Floats) -> Floats:
        """Next-tool probabilities for this intent and context, float32 (n + 1,)."""
        asked, graph = self.asked, self.asked.view.graph.merged
        if not chain:
            return voted(graph.after(graph.tools, asked.attention_by_chain), anyhow, BACKING)
        attention = in_context(asked.attention_by_chain, graph.shared(chain))
        by_last = voted(graph.after(chain[-1], attention), anyhow, BACKING)
        before = chain[-2] if len(chain) > 1 else graph.tools
        return voted(graph.after(chain[-1], attention, before), by_last, BACKING)

    def _order(self, chain: tuple[int, ...]) -> Floats:
        """Each mention's distance from the due place, float32 (n,); 0 is best."""
        due = (self.asked.places[chain[-1]] if chain else np.float32(0)) + np.float32(_STEP)
        return np.asarray(-np.abs(self.asked.places - due) * self.asked.clear, np.float32)


def _left(taken: Floats, chain: Sequence[int]) -> tuple[float, float]:
    """Return the logarithm of the calls left, and the best log-odds."""
    left = taken.copy()
    left[list(chain)] = 0
    surest = min(max(float(left.max(initial=0)), 1e-3), 1 - 1e-3)
    return math.log(float(left.sum()) + 0.05), math.log(surest / (1 - surest))
