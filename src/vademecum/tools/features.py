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

from vademecum.index.fusion import top
from vademecum.tools.attention import BACKING, SMOOTHING, Moved, voted
from vademecum.tools.hypergraph import sums_by_row
from vademecum.tools.intent_features import Asked
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
_TRANSITIONS = ("next_by_words", "next_by_meaning", "next_by_path")  # by attention; "next" is anyhow (`Followers`)
_MOVING = ("left", "order", "session", "by_words", "by_meaning", *_TRANSITIONS, "next", "next_by_meta")
_COLUMN = {name: column for column, name in enumerate(HEADS)}
_SEEN_TEXT = [_COLUMN[name.removeprefix("unseen_")] for name in UNSEEN[1:]]
_UNSEEN_TEXT = slice(_COLUMN[UNSEEN[1]], _COLUMN[UNSEEN[-1]] + 1)
_MOVING_COLUMNS = [_COLUMN[name] for name in _MOVING]


def heads(asked: Asked, after: Sequence[int]) -> Floats:
    """Return float32 (n, len(HEADS)): every tool as the call that follows `after`, the calls for this intent."""
    return After(asked, [tuple(after)]).heads(still(asked))


def still(asked: Asked) -> Floats:
    """Return float32 (n, len(HEADS)): what depends on the intent alone; 0 in the columns of the other heads."""
    text, unseen = asked.text, asked.unseen
    found = np.zeros((len(HEADS), len(unseen)), np.float32)
    for name, column in (*text.items(), *asked.memory.items()):
        found[_COLUMN[name]] = column
    found[_UNSEEN_TEXT] = found[_SEEN_TEXT]
    found[_UNSEEN_TEXT] *= unseen
    found[_COLUMN["unseen"]] = unseen
    return found.T


class Taken:
    """How likely an intent takes each tool at all, sooner or later, in view of what was called.

    Args:
        probability: float32 (n,).
        longest: calls of the longest chain that is asked about.
    """

    def __init__(self, probability: Floats, longest: int) -> None:
        self.probability = probability
        self.likeliest = top(probability, longest + 1)  # one at least is in none of the chains
        self.all = float(np.add.reduce(probability))

    def open(self, chain: Sequence[int]) -> tuple[float, float]:
        """Return the logarithm of how many tools are still to be called, to expect, and the log-odds of the likeliest of them."""
        left = self.all - sum([self._probabilities[tool] for tool in set(chain)])
        for tool, odds in self._log_odds.items():
            if tool not in chain:
                return math.log(max(left, 0) + 0.05), odds
        return math.log(max(left, 0) + 0.05), _log_odds(0.0)

    @cached_property
    def _probabilities(self) -> list[float]:
        found: list[float] = self.probability.tolist()
        return found

    @cached_property
    def _log_odds(self) -> dict[int, float]:
        return {tool: _log_odds(self._probabilities[tool]) for tool in self.likeliest.tolist()}


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
        self.called = np.array(called, np.int64).reshape(len(chains), -1)  # (c, l), the last call last
        self._last = [chain[-1] if chain else none for chain in chains]
        self._anyhow = [asked.followers.after(tool) for tool in self._last]

    @cached_property
    def _open(self) -> Floats:
        """float32 (c, T): 1 for each term of the question that no tool of a chain says."""
        return np.asarray(np.minimum.reduce(self.asked.unsaid.take(self.called, axis=0), axis=1), np.float32)

    @cached_property
    def _moved(self) -> Moved:
        asked = self.asked
        return Moved(self._graph, asked.merged, asked.gathered, self.chains, asked.kept)

    @cached_property
    def _counted(self) -> Floats:
        return self._followed()

    @cached_property
    def _ends(self) -> Floats:
        """float32 (len(_TRANSITIONS), c): how much came to an end there."""
        return self._counted[:, :, -1]

    @cached_property
    def _believed(self) -> Floats:
        """float32 (len(_TRANSITIONS), c): how much was counted, and what the prior weighs beside it."""
        return np.asarray(np.add.reduce(self._counted, axis=2) + np.float32(BACKING), np.float32)

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
    def used(self) -> list[int]:
        """Every tool of every chain, once, as row * tools + tool."""
        tools = self._graph.tools
        return [row * tools + tool for row, chain in enumerate(self.chains) for tool in set(chain)]

    def _before(self, chain: Sequence[int]) -> list[int]:
        """What was called earlier in the session, but not now."""
        return [tool for tool in self.asked.earlier if tool not in chain]

    @cached_property
    def _columns(self) -> Floats:
        """float32 (len(_MOVING), c, n)."""
        asked, found = self.asked, self._moving
        if self._by_meta is not None:  # else nothing is due: what follows anyhow
            found[9] = np.log(self._by_meta[:, :-1] + np.float32(EPSILON))
        if asked.hidden is not None:
            found[3:5] = asked.seen(found[3:5], float(np.log(EPSILON)))
            found[5:] = asked.seen(found[5:], np.log(self._floors() + EPSILON))
        return found

    @cached_property
    def _moving(self) -> Floats:
        """float32 (len(_MOVING), c, n): the columns for tools that are all seen, with nothing due."""
        asked, shape = self.asked, (len(self.chains), self._graph.tools)
        found = np.empty((len(_MOVING), *shape), np.float32)
        np.matmul(self._open, asked.mentioned, out=found[0])  # BM25 for what is left of the question
        found[2] = self._session()
        self._order(found[1])
        found[3:5] = self._moved.gathered()
        self._shares(found[5:8])
        logs = found[3:8]
        logs += np.float32(EPSILON)
        np.log(logs, out=logs)
        np.concatenate([each.log for each in self._anyhow], out=found[8].reshape(-1))
        found[9] = found[8]
        return found

    def stopping(self, taken: Taken) -> NDArray[np.float64]:
        """Return float64 (c, len(STOPPING)): what it looks like to stop after each chain.

        The end's shares are as those of `_shares`, worked out by themselves: it has no share of what is called anyhow.
        """
        due = None if self._by_meta is None else np.ascontiguousarray(self._by_meta[:, -1])
        return np.array(self._stopping(taken, due), np.float64).reshape(-1, len(STOPPING))

    def _stopping(self, taken: Taken, due: Floats | None) -> list[tuple[float, ...]]:
        found, log = list[tuple[float, ...]](), math.log
        ends, all_ = self._ends.T.tolist(), self._believed.T.tolist()
        coming = None if due is None else due.tolist()
        rows = zip(self.chains, self.unmet.tolist(), self._anyhow, ends, all_, strict=True)
        for row, (chain, unmet, anyhow, end, believed) in enumerate(rows):
            words = (end[0] + BACKING * anyhow.end) / believed[0]
            meaning = (end[1] + BACKING * anyhow.end) / believed[1]
            path = (end[2] + BACKING * words) / believed[2] if chain else words
            by_meta = anyhow.log_end if coming is None else log(coming[row] + EPSILON)
            logs = log(words + EPSILON), log(meaning + EPSILON), log(path + EPSILON), anyhow.log_end, by_meta
            found.append((1.0, *logs, unmet, float(bool(chain)), math.log1p(len(chain)), *taken.open(chain)))
        return found

    @cached_property
    def unmet(self) -> Floats:
        """float32 (c,): how much of the question's words that any tool says is still open."""
        return np.asarray(self._open @ self.asked.said, np.float32)

    def _order(self, found: Floats) -> None:
        """How near to the last tool's mention each tool's own is, for those that are mentioned: into float32 (c, n)."""
        places, clear = self.asked.places, self.asked.unclear
        np.subtract(places[:-1], (places.take(self.called[:, -1]) + np.float32(_STEP))[:, None], out=found)
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
        # the steps that traces made from where each chain ends: its row, and (3, S) before, then, owner
        row, (before, then, owner) = self._graph.steps_from(self._last)
        ends, rows = self._graph.tools, len(self.chains)
        behind = np.array([(chain[-2] if len(chain) > 1 else ends) if chain else -1 for chain in self.chains], np.int64)
        weights = np.empty((len(_TRANSITIONS), len(row)), np.float32)
        weights[:2] = self._moved.of(row, owner)
        np.multiply(weights[0], before == behind.take(row), out=weights[2])
        place = row * (ends + 1) + then
        return sums_by_row(place, weights, rows * (ends + 1)).reshape(len(_TRANSITIONS), rows, ends + 1)

    def _shares(self, found: Floats) -> None:
        """How likely each tool comes next, by each head of transitions: into float32 (len(_TRANSITIONS), c, n).

        As `voted`: what comes next anyhow is the prior of both kernels, that of words the prior of the path.
        """
        np.divide(self._counted[:, :, :-1], self._believed[:, :, None], out=found)
        believed = np.float32(BACKING) / self._believed[:, :, None]
        found[:2] += believed[:2] * self._shared_anyhow[:, :-1]
        found[2] += believed[2] * found[0]
        begins = [row for row, chain in enumerate(self.chains) if not chain]
        if begins:
            found[2, begins] = found[0, begins]  # nothing lies behind

    @cached_property
    def _shared_anyhow(self) -> Floats:
        """float32 (c, n + 1): what comes next whatever the intent, the end last."""
        return np.concatenate([each.share for each in self._anyhow]).reshape(len(self.chains), -1)

    @cached_property
    def _by_meta(self) -> Floats | None:
        """float32 (c, n + 1): what comes next by the meta-capabilities that are due; None where none is."""
        levels = self.asked.levels
        if not len(levels.coming):
            return None
        return voted(levels.next(self.chains), self._shared_anyhow, DUE)

    def _floors(self) -> Floats:
        """float32 (len(_TRANSITIONS) + 2, c, 1): what a tool never seen would get: the prior, thinned by what was counted."""
        believed = np.array([each.believed for each in self._anyhow])
        floor = float(self.asked.usage.share[:-1].min(initial=1.0)) * SMOOTHING / believed
        thin = floor * (BACKING / (1 + BACKING))
        due = self.asked.levels.next(self.chains).sum(1) if self._by_meta is not None else np.zeros(len(self.chains))
        return np.stack([thin, thin, thin, floor, floor * DUE / (due + DUE)])[:, :, None].astype(np.float32)
