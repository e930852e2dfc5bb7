"""What each tool looks like as the next call: one number from each head, for every tool at once.

Heads of text compare the intent with what tools say of themselves, so they work from the first minute. Heads of memory
read past traces, by attention (`attention`) and by regression (`ridge`). Heads of use say how a tool fares in general.
A few say that a tool was never used, so that those can be weighed by their text alone: whatever memory says of them is
the same small number, a floor.

Most of it depends on the intent alone (`asked`). The rest depends on what was called so far, and is worked out for many chains of
calls side by side (`After`), as a plan follows several at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.fusion import top
from vademecum.tools.asked import Asked
from vademecum.tools.attention import BACKING, SMOOTHING, Moved, voted
from vademecum.tools.hypergraph import sums_by_row
from vademecum.tools.texts import Floats
from vademecum.tools.usage import EPSILON

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
_BELIEVED = np.array([SMOOTHING, BACKING, BACKING, BACKING], np.float32).reshape(-1, 1, 1)  # weights of their priors
_MOVING = ("left", "order", "session", "by_words", "by_meaning", *_TRANSITIONS, "next_by_meta")
_COLUMN = {name: column for column, name in enumerate(HEADS)}
_MOVING_COLUMNS = [_COLUMN[name] for name in _MOVING]


def heads(asked: Asked, after: Sequence[int]) -> Floats:
    """Return float32 (n, len(HEADS)): every tool as the call that follows `after`, the calls for this intent."""
    return After(asked, [tuple(after)]).heads(still(asked))


def still(asked: Asked) -> Floats:
    """Return float32 (n, len(HEADS)): what depends on the intent alone; 0 in the columns of the other heads."""
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
        self._probability: list[float] = probability.tolist()
        likeliest = top(probability, longest + 1).tolist()  # one at least is in none of the chains
        self._log_odds = {tool: _log_odds(self._probability[tool]) for tool in likeliest}
        self._all = float(np.add.reduce(probability))

    def open(self, chain: Sequence[int]) -> tuple[float, float]:
        """Return the logarithm of how many tools are still to be called, to expect, and the log-odds of the likeliest of them."""
        left = self._all - sum([self._probability[tool] for tool in set(chain)])
        for tool, odds in self._log_odds.items():
            if tool not in chain:
                return math.log(max(left, 0) + 0.05), odds
        return math.log(max(left, 0) + 0.05), _log_odds(0.0)


def _log_odds(probability: float) -> float:
    sure = min(max(probability, 1e-3), 1 - 1e-3)
    return math.log(sure / (1 - sure))


class After:
    """Chains of calls for one intent, side by side: what depends on the calls so far.

    Args:
        asked: the intent.
        chains: c of them, the numbers of their tools in order.
    """

    def __init__(self, asked: Asked, chains: Sequence[tuple[int, ...]]) -> None:
        self.asked = asked
        self.chains = chains
        self._graph = asked.view.graph.merged
        longest = max(map(len, chains), default=0)
        none = self._graph.tools  # stands in the place of calls that a shorter chain does not have
        called = [(none,) * (max(longest, 1) - len(chain)) + chain for chain in chains]
        self._called = np.array(called, np.int64).reshape(len(chains), -1)  # (c, l), the last call last
        # (c, T): 1 for each term of the question that no tool of a chain says
        self._open: Floats = np.minimum.reduce(asked.unsaid.take(self._called, axis=0), axis=1)
        self._moved = Moved(self._graph, asked.merged, asked.gathered, chains)
        # The steps that traces made from where each chain ends: its row, and (3, S) before, then, owner.
        self._steps = self._graph.steps_from([chain[-1] if chain else none for chain in chains])
        self._counted = self._followed()
        self._believed = np.add.reduce(self._counted, axis=2, keepdims=True) + _BELIEVED

    def heads(self, unmoved: Floats, row: int = 0) -> Floats:
        """Return float32 (n, len(HEADS)): every tool after one of the chains; `unmoved` is what `still` returns."""
        found, chain = unmoved.copy(), self.chains[row]
        found[:, _MOVING_COLUMNS] = self._columns[:, row].T
        for name, tools in (("used", list(chain)), ("last", list(chain[-1:])), ("before", self._before(chain))):
            found[tools, _COLUMN[name]] = 1
        return found

    def scores(self, unmoved: Floats, weights: Floats) -> Floats:
        """Return float32 (c, n): every tool's score after each chain.

        Args:
            unmoved: float32 (n,), what `still` adds to it.
            weights: float32 (len(HEADS),).
        """
        columns = self._columns
        total: Floats = np.asarray(weights.take(_MOVING_COLUMNS) @ columns.reshape(len(columns), -1), np.float32)
        total.reshape(columns.shape[1:])[...] += unmoved
        total[self.used] += weights[_COLUMN["used"]]
        tools = self._graph.tools
        last = [row * tools + chain[-1] for row, chain in enumerate(self.chains) if chain]
        if last:
            total[last] += weights[_COLUMN["last"]]
        found = total.reshape(columns.shape[1:])
        for row, chain in enumerate(self.chains if self.asked.earlier else ()):
            found[row, self._before(chain)] += weights[_COLUMN["before"]]
        return found

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """int64 (k,): every tool of every chain, once, as row * tools + tool."""
        tools = self._graph.tools
        return np.array([row * tools + tool for row, chain in enumerate(self.chains) for tool in set(chain)], np.int64)

    def _before(self, chain: Sequence[int]) -> list[int]:
        """What was called earlier in the session, but not now."""
        return [tool for tool in self.asked.earlier if tool not in chain]

    @cached_property
    def _columns(self) -> Floats:
        """float32 (len(_MOVING), c, n)."""
        asked, shape = self.asked, (len(self.chains), self._graph.tools)
        found = np.empty((len(_MOVING), *shape), np.float32)
        np.matmul(self._open, asked.mentioned, out=found[0])  # BM25 for what is left of the question
        found[2] = self._session()
        self._order(found[1])
        found[3:5] = self._moved.gathered()
        self._shares(found[5:-1])
        if self._by_meta is not None:
            found[-1] = self._by_meta[:, :-1]
        logs = found[3:-1] if self._by_meta is None else found[3:]
        logs += np.float32(EPSILON)
        np.log(logs, out=logs)
        if self._by_meta is None:  # nothing is due: what follows anyhow
            found[-1] = found[5]
        if asked.hidden is not None:
            found[3:5] = asked.seen(found[3:5], float(np.log(EPSILON)))
            found[5:] = asked.seen(found[5:], np.log(self._floors() + EPSILON))
        return found

    def stopping(self, taken: Taken) -> list[tuple[float, ...]]:
        """Return what it looks like to stop after each chain, in the order of `STOPPING`.

        The end's shares are as those of `_shares`, worked out by themselves: it has no share of what is called anyhow.
        """
        found, log = list[tuple[float, ...]](), math.log
        ends, all_ = self._counted[:, :, -1].tolist(), self._believed[:, :, 0].tolist()
        due = None if self._by_meta is None else self._by_meta[:, -1].tolist()
        for row, (chain, unmet) in enumerate(zip(self.chains, self.unmet.tolist(), strict=True)):
            plain = ends[0][row] / all_[0][row]
            words = (ends[1][row] + BACKING * plain) / all_[1][row]
            meaning = (ends[2][row] + BACKING * plain) / all_[2][row]
            path = (ends[3][row] + BACKING * words) / all_[3][row] if chain else words
            begun, long, by_meta = float(bool(chain)), math.log1p(len(chain)), plain if due is None else due[row]
            logs = log(words + EPSILON), log(meaning + EPSILON), log(path + EPSILON), log(plain + EPSILON)
            found.append((1.0, *logs, log(by_meta + EPSILON), unmet, begun, long, *taken.open(chain)))
        return found

    @cached_property
    def unmet(self) -> Floats:
        """float32 (c,): how much of the question's words that any tool says is still open."""
        return np.asarray(self._open @ self.asked.said, np.float32)

    def _order(self, found: Floats) -> None:
        """How near to the last tool's mention each tool's own is, for those that are mentioned: into float32 (c, n)."""
        places, clear = self.asked.places, self.asked.unclear
        np.subtract(places[:-1], (places.take(self._called[:, -1]) + np.float32(_STEP))[:, None], out=found)
        np.abs(found, out=found)
        found *= clear

    def _session(self) -> Floats:
        """What was called beside the same, in other sessions."""
        asked = self.asked
        if not asked.beside:
            return asked.usual
        found = asked.beside.gathered([list(dict.fromkeys((*asked.earlier, *chain))) for chain in self.chains])
        return np.where(found.any(1, keepdims=True), asked.log_share(found), asked.usual)

    def _followed(self) -> Floats:
        """Return float32 (len(_TRANSITIONS), c, n + 1): how much each tool came next, the end last, by each head of transitions."""
        (row, (before, then, owner)), ends, rows = self._steps, self._graph.tools, len(self.chains)
        behind = np.array([(chain[-2] if len(chain) > 1 else ends) if chain else -1 for chain in self.chains], np.int64)
        weights = np.empty((len(_TRANSITIONS), len(row)), np.float32)
        weights[0], weights[1:3] = self.asked.merged_weight.take(owner), self._moved.of(row, owner)
        np.multiply(weights[1], before == behind.take(row), out=weights[3])
        place = row * (ends + 1) + then
        return sums_by_row(place, weights, rows * (ends + 1)).reshape(len(_TRANSITIONS), rows, ends + 1)

    def _shares(self, found: Floats) -> None:
        """How likely each tool comes next, by each head of transitions: into float32 (len(_TRANSITIONS), c, n).

        As `voted`: the plain one is the prior of both kernels, that of words the prior of the path.
        """
        np.divide(self._counted[:, :, :-1], self._believed, out=found)
        believed = _BELIEVED / self._believed
        found[0] += believed[0] * self.asked.usage.share[:-1]
        found[1:3] += believed[1:3] * found[0]
        found[3] += believed[3] * found[1]
        begins = [row for row, chain in enumerate(self.chains) if not chain]
        if begins:
            found[3, begins] = found[1, begins]  # nothing lies behind

    @cached_property
    def _by_meta(self) -> Floats | None:
        """float32 (c, n + 1): what comes next by the meta-capabilities that are due; None where none is."""
        levels = self.asked.levels
        if not len(levels.coming):
            return None
        anyhow = (self._counted[0] + SMOOTHING * self.asked.usage.share) / self._believed[0]
        return voted(levels.next(self.chains), anyhow, DUE)

    def _floors(self) -> Floats:
        """float32 (len(_TRANSITIONS) + 1, c, 1): what a tool never seen would get: the prior, thinned by what was counted."""
        row, (_, _, owner) = self._steps
        counted = np.bincount(row, self.asked.merged_weight[owner], len(self.chains))
        floor = float(self.asked.usage.share[:-1].min(initial=1.0)) * SMOOTHING / (counted + SMOOTHING)
        thin = BACKING / (1 + BACKING)
        due = self.asked.levels.next(self.chains).sum(1) if self._by_meta is not None else np.zeros(len(self.chains))
        floors = [floor, floor * thin, floor * thin, floor * thin, floor * DUE / (due + DUE)]
        return np.stack(floors)[:, :, None].astype(np.float32)
