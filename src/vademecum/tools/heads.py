"""What each tool looks like as the next call: one number from each head, for every tool at once.

Heads of text compare the intent with what tools say of themselves, so they work from the first minute. Heads of memory
read past traces, by attention (`attention`) and by regression (`ridge`). Heads of use say how a tool fares in general.
A few say that a tool was never used, so that those can be weighed by their text alone: whatever memory says of them is
the same small number, a floor.

Most of it hangs on the intent alone (`asked`). The rest hangs on what was called so far, and is worked out for many chains of
calls side by side (`After`), as a plan follows several at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.fusion import top
from vademecum.tools.asked import EPSILON, Asked
from vademecum.tools.attention import BACKING, SMOOTHING, Moved, voted
from vademecum.tools.hypergraph import spans, sums_by_row
from vademecum.tools.logit import Weights
from vademecum.tools.texts import Floats

TEXT = ("bm25", "tfidf", "meaning", "server", "match", "left", "order")
MEMORY = ("terms", "by_words", "by_meaning", "by_members", "by_meta", "session", "next_by_words", "next_by_meaning",
          "next_by_path", "next", "next_by_meta", "ridge", "ridge_first")  # fmt: skip
USE = ("popular", "used", "last", "before")
UNSEEN = ("unseen", "unseen_bm25", "unseen_tfidf", "unseen_meaning", "unseen_match")
HEADS = (*TEXT, *MEMORY, *USE, *UNSEEN)
STOPPING = (
    "bias",
    "next_by_words",
    "next_by_meaning",
    "next_by_path",
    "next",
    "next_by_meta",
    "left",
    "begun",
    "long",
    "open",
    "surest",
)
RANKING = ("likely", "taken", "unmet", "in_order", "known")

DUE = 0.5  # weight of the prior in votes of meta-capabilities
_STEP = 0.2  # how far apart two needs are said, as a share of the intent
_TRANSITIONS = ("next", "next_by_words", "next_by_meaning", "next_by_path")
_MOVING = ("left", "order", "session", "by_words", "by_meaning", *_TRANSITIONS, "next_by_meta")
_COLUMN = {name: column for column, name in enumerate(HEADS)}
_MOVING_COLUMNS = [_COLUMN[name] for name in _MOVING]


def heads(asked: Asked, after: Sequence[int]) -> Floats:
    """Return float32 (n, len(HEADS)): every tool as the call that follows `after`, the calls for this intent."""
    return After(asked, [tuple(after)]).heads(still(asked))


def still(asked: Asked) -> Floats:
    """Return float32 (n, len(HEADS)): what hangs on the intent alone; 0 in the columns of the other heads."""
    text, unseen = asked.text, asked.unseen
    columns = text | asked.memory | {"unseen": unseen}
    columns |= {f"unseen_{name}": unseen * text[name] for name in ("bm25", "tfidf", "meaning", "match")}
    found = np.zeros((len(HEADS), len(unseen)), np.float32)
    for name, column in columns.items():
        found[_COLUMN[name]] = column
    return found.T


class Taken:
    """How likely an intent takes each tool at all, sooner or later, in view of what was called.

    Args:
        probability: float32 (n,).
        longest: calls of the longest chain that is asked about.
    """

    def __init__(self, probability: Floats, longest: int) -> None:
        likeliest = top(probability, longest + 1)  # one at least is in none of the chains
        self._probability: list[float] = probability.tolist()
        self._likeliest: list[tuple[int, float]] = list(
            zip(likeliest.tolist(), probability[likeliest].tolist(), strict=True)
        )
        self._all = float(probability.sum())

    def open(self, chain: Sequence[int]) -> tuple[float, float]:
        """Return the logarithm of how many tools are still to be called, to expect, and the log-odds of the likeliest of them."""
        left = self._all - sum([self._probability[tool] for tool in set(chain)])
        surest = next((probability for tool, probability in self._likeliest if tool not in chain), 0.0)
        sure = min(max(surest, 1e-3), 1 - 1e-3)
        return math.log(max(left, 0) + 0.05), math.log(sure / (1 - sure))


class After:
    """Chains of calls for one intent, side by side: what hangs on what was called so far.

    Args:
        asked: the intent.
        chains: c of them, the numbers of their tools in order.
    """

    def __init__(self, asked: Asked, chains: Sequence[tuple[int, ...]]) -> None:
        self.asked = asked
        self.chains = chains
        self._graph = asked.view.graph
        longest = max(map(len, chains), default=0)
        none = self._graph.tools  # stands in the place of calls that a shorter chain does not have
        called = [(none,) * (max(longest, 1) - len(chain)) + chain for chain in chains]
        self._called = np.array(called, np.int64).reshape(len(chains), -1)  # (c, l), the last call last

    def heads(self, unmoved: Floats) -> Floats:
        """Return float32 (n, len(HEADS)): every tool after the first of the chains; `unmoved` is what `still` returns."""
        found, chain = unmoved.copy(), self.chains[0]
        found[:, _MOVING_COLUMNS] = self._columns[:, 0].T
        for name, tools in (("used", list(chain)), ("last", list(chain[-1:])), ("before", self._before(chain))):
            found[tools, _COLUMN[name]] = 1
        return found

    def scores(self, unmoved: Floats, weights: Weights) -> Floats:
        """Return float32 (c, n): every tool's score after each chain.

        Args:
            unmoved: float32 (n,), what `still` adds to it.
            weights: float32 (len(HEADS),).
        """
        columns = self._columns
        moving = weights[_MOVING_COLUMNS] @ columns.reshape(len(columns), -1)
        total: Floats = np.asarray(moving, np.float32).reshape(columns.shape[1:])
        total += unmoved
        row, tool = self.used
        total[row, tool] += weights[_COLUMN["used"]]  # twice called is used once
        last = [(number, chain[-1]) for number, chain in enumerate(self.chains) if chain]
        if last:
            total[tuple(zip(*last, strict=True))] += weights[_COLUMN["last"]]
        for number, chain in enumerate(self.chains if self.asked.earlier else ()):
            total[number, self._before(chain)] += weights[_COLUMN["before"]]
        return total

    @cached_property
    def used(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(chain, tool), int64 each: every call of every chain."""
        row, place = (self._called < self._graph.tools).nonzero()
        return row, self._called[row, place]

    def _before(self, chain: Sequence[int]) -> list[int]:
        """What was called earlier in the session, but not now."""
        return [tool for tool in self.asked.earlier if tool not in chain]

    @cached_property
    def _columns(self) -> Floats:
        """float32 (len(_MOVING), c, n)."""
        asked, shape = self.asked, (len(self.chains), self._graph.tools)
        found = np.empty((len(_MOVING), *shape), np.float32)
        found[0], found[1], found[2] = self._left(), self._order(), self._session()
        found[3:5] = asked.log_share(self._moved.gathered)
        np.log(self._next[:, :, :-1] + np.float32(EPSILON), out=found[5:-1])
        if self._by_meta is None:  # nothing is due: what follows anyhow
            found[-1] = found[5]
        else:
            np.log(self._by_meta[:, :-1] + np.float32(EPSILON), out=found[-1])
        if asked.hidden is not None:
            found[5:] = asked.seen(found[5:], np.log(self._floors() + EPSILON))
        return found

    def stopping(self, taken: Taken) -> Floats:
        """Return float32 (c, len(STOPPING)): what it looks like to stop here."""
        by_meta = self._next[0] if self._by_meta is None else self._by_meta
        ends = np.log(np.concatenate([self._next[:, :, -1], by_meta[None, :, -1]]) + EPSILON).T.tolist()
        return np.array(
            [
                [1.0, *told[1:4], told[0], told[4], unmet, bool(chain), math.log1p(len(chain)), *taken.open(chain)]
                for chain, unmet, told in zip(self.chains, self.unmet.tolist(), ends, strict=True)
            ],
            np.float32,
        )  # in the order of STOPPING

    @cached_property
    def unmet(self) -> Floats:
        """float32 (c,): how much of the question's words that any tool says is still open."""
        return np.asarray(self._open @ self.asked.said, np.float32)

    @cached_property
    def _open(self) -> Floats:
        """float32 (c, T): 1 for each term of the question that no tool of a chain says."""
        said: Floats = self.asked.terms.take(self._called, axis=0)
        return np.asarray(np.maximum.reduce(said, axis=1) <= 0, np.float32)

    def _left(self) -> Floats:
        """BM25 for what is left of the question."""
        return np.asarray(self._open @ self.asked.terms[:-1].T, np.float32)

    def _order(self) -> Floats:
        """How near to the last tool's mention each tool's own is, for those that are mentioned."""
        places = self.asked.places
        apart = places[:-1] - (places.take(self._called[:, -1]) + np.float32(_STEP))[:, None]
        return np.asarray(-np.abs(apart) * self.asked.clear, np.float32)

    @cached_property
    def _moved(self) -> Moved:
        return Moved(self._graph, self.asked.attention, self.asked.gathered, self.chains)

    def _session(self) -> Floats:
        """What was called beside the same, in other sessions."""
        asked = self.asked
        if not asked.beside:
            return asked.usual
        found = asked.beside.gathered([list(dict.fromkeys((*asked.earlier, *chain))) for chain in self.chains])
        return np.where(found.any(1, keepdims=True), asked.log_share(found), asked.usual)

    @cached_property
    def _steps(self) -> tuple[NDArray[np.int64], NDArray[np.int64] | slice]:
        """The steps that traces made from where each chain ends: its row, and the step's place in the graph."""
        here = self._called[:, -1]
        begin, end = self._graph.here_start[here], self._graph.here_start[here + 1]
        if len(here) == 1:  # at the beginning these are all traces: not to be copied
            return np.zeros(int(end[0] - begin[0]), np.int64), slice(int(begin[0]), int(end[0]))
        return spans(begin, end)

    @cached_property
    def _next(self) -> Floats:
        """float32 (len(_TRANSITIONS), c, n + 1): how likely each tool comes next, the end last, by each head of transitions."""
        (row, step), graph, ends = self._steps, self._graph, self._graph.tools
        owner, rows = graph.owner[step], len(self.chains)
        behind = np.array([(chain[-2] if len(chain) > 1 else ends) if chain else -1 for chain in self.chains], np.int64)
        weights = np.empty((len(_TRANSITIONS), len(row)), np.float32)
        weights[0], weights[1:3] = self.asked.weight.take(owner), self._moved.of(row, owner)
        np.multiply(weights[1], graph.before[step] == behind.take(row), out=weights[3])
        place = row * (ends + 1) + graph.then[step]
        count = sums_by_row(place, weights, rows * (ends + 1)).reshape(len(_TRANSITIONS), rows, ends + 1)
        found = np.empty_like(count)
        found[0] = voted(count[0], self.asked.share, SMOOTHING)
        found[1:3] = voted(count[1:3], found[0], BACKING)
        found[3] = voted(count[3], found[1], BACKING)
        begins = [row for row, chain in enumerate(self.chains) if not chain]
        if begins:
            found[3, begins] = found[1, begins]  # nothing lies behind
        return found

    @cached_property
    def _by_meta(self) -> Floats | None:
        """float32 (c, n + 1): how likely each tool comes next by the meta-capabilities that are due; None where none is."""
        levels = self.asked.levels
        return voted(levels.next(self.chains), self._next[0], DUE) if len(levels.coming) else None

    def _floors(self) -> Floats:
        """float32 (len(_TRANSITIONS) + 1, c, 1): what a tool never seen would get: the prior, thinned by what was counted."""
        row, step = self._steps
        counted = np.bincount(row, self.asked.weight[self._graph.owner[step]], len(self.chains))
        floor = float(self.asked.share[:-1].min(initial=1.0)) * SMOOTHING / (counted + SMOOTHING)
        thin = BACKING / (1 + BACKING)
        due = self.asked.levels.next(self.chains).sum(1) if self._by_meta is not None else np.zeros(len(self.chains))
        floors = [floor, floor * thin, floor * thin, floor * thin, floor * DUE / (due + DUE)]
        return np.stack(floors)[:, :, None].astype(np.float32)
