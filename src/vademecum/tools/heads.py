"""What each tool looks like as the next call: one number from each head, for every tool at once.

Heads of text compare the intent with what tools say of themselves, so they work from the first minute. Heads of memory
read past traces, by attention (`attention`) and by regression (`ridge`). Heads of use say how a tool fares in general.
A few say that a tool was never used, so that those can be weighed by their text alone: whatever memory says of them is
the same small number, a floor.

Most of it hangs on the intent alone (`asked`). The rest hangs on what was called so far, and is worked out for many chains of
calls side by side (`After`), as a plan follows several at once.
"""

from __future__ import annotations

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
MEMORY = ("terms", "by_words", "by_meaning", "by_members", "session", "next_by_words", "next_by_meaning", "next_by_path",
          "next", "ridge", "ridge_first")  # fmt: skip
USE = ("popular", "used", "last", "before")
UNSEEN = ("unseen", "unseen_bm25", "unseen_tfidf", "unseen_meaning", "unseen_match")
HEADS = (*TEXT, *MEMORY, *USE, *UNSEEN)
STOPPING = (
    "bias",
    "next_by_words",
    "next_by_meaning",
    "next_by_path",
    "next",
    "left",
    "begun",
    "long",
    "open",
    "surest",
)
RANKING = ("likely", "taken", "unmet", "in_order", "known")

_STEP = 0.2  # how far apart two needs are said, as a share of the intent
_TRANSITIONS = ("next", "next_by_words", "next_by_meaning", "next_by_path")
_MOVING = ("left", "order", "session", "by_words", "by_meaning", *_TRANSITIONS)
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

    def heads(self, unmoved: Floats) -> Floats:
        """Return float32 (n, len(HEADS)): every tool after the first of the chains; `unmoved` is what `still` returns."""
        found = unmoved.copy()
        found[:, _MOVING_COLUMNS] = self._columns[:, 0].T
        for name, (rows, tools) in self._called.items():
            found[tools[rows == 0], _COLUMN[name]] = 1
        return found

    def scores(self, unmoved: Floats, weights: Weights) -> Floats:
        """Return float32 (c, n): every tool's score after each chain.

        Args:
            unmoved: float32 (n,), what `still` adds to it.
            weights: float64 (len(HEADS),).
        """
        moving = weights[_MOVING_COLUMNS].astype(np.float32)
        total: Floats = (moving @ self._columns.reshape(len(_MOVING), -1)).reshape(len(self.chains), -1) + unmoved
        for name, (rows, tools) in self._called.items():
            total[rows, tools] += np.float32(weights[_COLUMN[name]])
        return total

    @cached_property
    def _columns(self) -> Floats:
        """float32 (len(_MOVING), c, n)."""
        asked, shape = self.asked, (len(self.chains), self._graph.tools)
        found = np.empty((len(_MOVING), *shape), np.float32)
        found[0], found[1], found[2] = self._left(), self._order(), self._session()
        found[3:5] = asked.log_share(self._moved.gathered)
        logs = np.log(self._next[:, :, :-1] + np.float32(EPSILON))
        found[5:] = logs if asked.hidden is None else asked.seen(logs, np.log(self._floors() + EPSILON))
        return found

    @cached_property
    def _called(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The heads that say what was called: in which rows, of which tools, they say 1."""
        earlier = set(self.asked.earlier)
        said = {
            "used": [(row, tool) for row, chain in enumerate(self.chains) for tool in set(chain)],
            "last": [(row, chain[-1]) for row, chain in enumerate(self.chains) if chain],
            "before": [(row, tool) for row, chain in enumerate(self.chains) for tool in earlier.difference(chain)],
        }
        cells = {name: np.array(pairs, np.int64).reshape(-1, 2) for name, pairs in said.items() if pairs}
        return {name: (pairs[:, 0], pairs[:, 1]) for name, pairs in cells.items()}

    def stopping(self, taken: Floats) -> Floats:
        """Return float32 (c, len(STOPPING)): what it looks like to stop here.

        `taken` is float32 (n,): the probability of each tool that the intent takes it, sooner or later.
        """
        ends = np.log(self._next[:, :, -1] + EPSILON)
        length = np.array([len(chain) for chain in self.chains])
        order = top(taken, int(length.max(initial=0)) + 1).tolist()  # one of them at least is in none of the chains
        surest = np.array([next((tool for tool in order if tool not in chain), -1) for chain in self.chains])
        sure = np.clip(np.where(surest < 0, 0, taken[surest]) if order else np.zeros(len(length)), 1e-3, 1 - 1e-3)
        row, tool = self._called.get("used", (length[:0], length[:0]))
        rest = float(taken.sum()) - np.bincount(row, taken[tool], len(length))
        said = dict(zip(_TRANSITIONS, ends, strict=True)) | {
            "open": np.log(np.maximum(rest, 0) + 0.05),
            "surest": np.log(sure / (1 - sure)),
            "bias": np.ones(len(length)),
            "left": self.unmet,
            "begun": length > 0,
            "long": np.log1p(length),
        }
        return np.stack([said[name] for name in STOPPING], axis=1).astype(np.float32)

    @cached_property
    def unmet(self) -> NDArray[np.float64]:
        """float64 (c,): how much of the question's words that any tool says is still open."""
        said = self.asked.said
        return self._open[:, said].mean(1) if len(said) else np.zeros(len(self.chains))

    @cached_property
    def _open(self) -> Floats:
        """float32 (c, T): 1 for each term of the question that no tool of a chain says."""
        open_ = np.ones((len(self.chains), len(self.asked.question.keys)), np.float32)
        rows, tools = self._called.get("used", ((), ()))
        said = [self.asked.said_by(int(tool)) for tool in tools]
        if said:
            open_[np.repeat(rows, [len(terms) for terms in said]), np.concatenate(said)] = 0
        return open_

    def _left(self) -> Floats:
        """BM25 for what is left of the question."""
        tool, term, match, worth = self.asked.mentions
        return sums_by_row(tool, match * self._open.take(term, axis=1), self._graph.tools) / np.float32(worth)

    def _order(self) -> Floats:
        """How near to the last tool's mention each tool's own is, for those that are mentioned."""
        places = self.asked.places
        last = np.array([places[chain[-1]] if chain else 0 for chain in self.chains], np.float32)
        return np.asarray(-np.abs(places - last[:, None] - np.float32(_STEP)) * self.asked.clear, np.float32)

    @cached_property
    def _moved(self) -> Moved:
        return Moved(self._graph, self.asked.attention, self.asked.gathered, self.chains)

    def _session(self) -> Floats:
        """What was called beside the same, in other sessions."""
        asked = self.asked
        found = asked.beside.gathered([list(dict.fromkeys((*asked.earlier, *chain))) for chain in self.chains])
        return (
            asked.usual if found is None else np.where(found.any(1, keepdims=True), asked.log_share(found), asked.usual)
        )

    @cached_property
    def _steps(self) -> tuple[NDArray[np.int64], NDArray[np.int64] | slice]:
        """The steps that traces made from where each chain ends: its row, and the step's place in the graph."""
        here = np.array([chain[-1] if chain else self._graph.tools for chain in self.chains], np.int64)
        begin, end = self._graph.here_start[here], self._graph.here_start[here + 1]
        if len(here) == 1:  # at the beginning these are all traces: not to be copied
            return np.zeros(int(end[0] - begin[0]), np.int64), slice(int(begin[0]), int(end[0]))
        return spans(begin, end)

    @cached_property
    def _next(self) -> Floats:
        """float32 (len(_TRANSITIONS), c, n + 1): how likely each tool comes next, the end last, by each head of transitions."""
        (row, step), graph, ends = self._steps, self._graph, self._graph.tools
        owner = graph.owner[step]
        behind = np.array([(chain[-2] if len(chain) > 1 else ends) if chain else -1 for chain in self.chains], np.int64)
        weights = np.empty((len(_TRANSITIONS), len(row)), np.float32)
        weights[0], weights[1:3] = self.asked.weight.take(owner), self._moved.of(row, owner)
        weights[3] = weights[1] * (graph.before[step] == behind.take(row))
        place = row * (ends + 1) + graph.then[step]
        count = sums_by_row(place, weights, len(self.chains) * (ends + 1)).reshape(
            len(_TRANSITIONS), len(self.chains), ends + 1
        )
        found = np.empty_like(count)
        found[0] = voted(count[0], self.asked.share, SMOOTHING)
        found[1:3] = voted(count[1:3], found[0], BACKING)
        found[3] = voted(count[3], found[1], BACKING)
        begins = [row for row, chain in enumerate(self.chains) if not chain]
        found[3, begins] = found[1, begins]  # nothing lies behind
        return found

    def _floors(self) -> Floats:
        """float32 (len(_TRANSITIONS), c, 1): what a tool never seen would get: the prior, thinned by what was counted."""
        row, step = self._steps
        counted = np.bincount(row, self.asked.weight[self._graph.owner[step]], len(self.chains))
        floor = float(self.asked.share[:-1].min(initial=1.0)) * SMOOTHING / (counted + SMOOTHING)
        thin = BACKING / (1 + BACKING)
        return np.stack([floor, floor * thin, floor * thin, floor * thin])[:, :, None].astype(np.float32)
