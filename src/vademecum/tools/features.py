"""Features of each tool for an intent and as the next call.

`docs/tools.md` has a table of the heads. `Asked` has what no later call changes; `After` what depends on the calls so
far, for many chains side by side, as a plan follows several at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.hypergraph import BACKING, MEANING, SMOOTHING, WORDS, attend, in_context, next_due, voted
from vademecum.tools.texts import Floats, Matches, Question
from vademecum.tools.tool_arrays import View

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

_SERVER, _MATES = 0.5, 0.5  # what they weigh beside words, where there is text alone
_SAID = 0.35  # the highest tf-idf cosine from which words weigh fully beside meaning
_STEPS = 0.3  # what the best step of an intent weighs beside the whole
_SERVERS = 20  # from which a server's name and its other tools say all they can: of few, names are mostly chance
# Cosines with a past intent from which a few traces know more than text: of words as they stand, by rarity, of meaning.
_NEAR, _NEAR_RARE, _NEAR_MEANING = 0.4, 0.2, 0.5  # one is near: a search may find more with it
_SAME_WORDS, _SAME_MEANING = 0.8, 0.7  # one asks for the same: plans and next calls are better with it
# So many traces with this cosine of words are believed like one that asks for the same, if this share has the same calls
_SEVERAL, _SEVERAL_NEAR, _AGREED = 3, 0.3, 0.8
NEAR = 0.2  # share of a search that belongs to traces that are near and no more
_TEMPERATURES = np.array([[WORDS], [MEANING]], np.float32)  # of the two kernels of attention
EPSILON = 1e-3  # of a share of attention: below, nothing is known
_USE = 0.1  # calls that every tool is believed to have had
_SAME = 0.999  # cosine of intents that say the same words
_CLEAR = 0.25  # share of a question's words from which a tool is surely mentioned


@dataclass(frozen=True)
class Asked:
    """An intent put to a view."""

    view: View
    question: Question
    earlier: tuple[int, ...] = ()  # tools called earlier in the session, for other intents
    own: int = -1  # the trace that the question is, and that must not speak
    excluded: NDArray[np.int64] | None = None  # traces that must not speak: its own and those of its session
    hidden: NDArray[np.bool_] | None = None  # (n,), tools to be treated as if no trace had used them

    @cached_property
    def chain(self) -> tuple[int, ...]:
        """The calls of the trace in question."""
        return self.view.chains[self.own] if self.own >= 0 else ()

    @cached_property
    def weight(self) -> Floats:
        """Each trace's weight, float32 (m,)."""
        weight = self.view.graph.weight
        if self.excluded is not None:
            weight = weight.copy()
            weight[self.excluded] = 0
        return weight

    @cached_property
    def alike(self) -> Floats:
        """float32 (m,): how much each trace's intent says the same words, 0..1."""
        return self.view.intents.tfidf(self.question, self.intent_matches)

    @cached_property
    def plain(self) -> Floats:
        """float32 (m,): the cosine of plain words, whatever their rarity, 0..1."""
        intents = self.view.intents
        shared = np.bincount(self.intent_matches.text, minlength=intents.size)
        said = np.bincount(intents.postings.docs, minlength=intents.size)
        return np.asarray(shared / np.sqrt(np.maximum(said * len(self.question.keys), 1)), np.float32)

    @cached_property
    def attention(self) -> Floats:
        """Each trace's attention, the mean by words and meaning, float32 (m,)."""
        kernels = np.stack([self.alike, self.view.intents.dense(self.question)])
        return np.asarray(attend(kernels, self.weight, _TEMPERATURES).mean(axis=0), np.float32)

    @cached_property
    def attention_by_chain(self) -> Floats:
        """The attention of each capability's traces, float32 (c,)."""
        return self.view.graph.merge(self.attention)

    @cached_property
    def merged_weight(self) -> Floats:
        """The weight of each capability's traces, float32 (c,)."""
        return self.view.graph.merge(self.weight)

    @cached_property
    def due(self) -> dict[tuple[int, ...], float]:
        """The capabilities due after the session's earlier calls, with their weights."""
        return self.view.metas.due(self.earlier, self.weight) if self.earlier else {}

    @cached_property
    def intent_matches(self) -> Matches:
        """The question's terms in past intents."""
        return self.view.intents.matches(self.question)

    @cached_property
    def document_matches(self) -> Matches:
        """The question's terms in the texts of tools."""
        return self.view.documents.matches(self.question)

    @cached_property
    def counted(self) -> Floats:
        """The weight of the traces that called each tool, float32 (n,)."""
        return self.view.graph.gather(self.weight)

    @cached_property
    def use(self) -> Floats:
        """Each tool's share of all calls, float32 (n + 1,)."""
        count = np.append(self.counted + np.float32(_USE), np.float32(0))
        return np.asarray(count / max(float(count.sum()), 1e-9), np.float32)

    @cached_property
    def once(self) -> NDArray[np.bool_]:
        """True for tools that no trace called twice, bool (n,)."""
        once = np.ones(len(self.view.tools), np.bool_)
        once[[tool for tool, capability in self.view.again if self.merged_weight[capability] > 0]] = False
        return once

    @cached_property
    def unseen(self) -> Floats:
        """float32 (n,): 1 for a tool that no trace called."""
        unseen = self.counted <= 0
        return (unseen if self.hidden is None else unseen | self.hidden).astype(np.float32)

    @cached_property
    def mentioned(self) -> Floats:
        """Each term's share of each tool's BM25, float32 (T, n)."""
        matches = self.document_matches
        found = np.zeros((len(self.question.keys), self.view.graph.tools), np.float32)
        found[matches.term, matches.text] = self.view.documents.gained(matches) / np.float32(matches.worth)
        return found

    @cached_property
    def said(self) -> Floats:
        """Equal shares of 1 for known terms, float32 (T,)."""
        said = self.document_matches.held > 0
        return (said / max(int(np.count_nonzero(said)), 1)).astype(np.float32)

    @cached_property
    def places(self) -> Floats:
        """Each tool's place of mention, 0 first, 1 last, float32 (n,)."""
        said = self.question.places @ self.mentioned
        return np.asarray(said / np.maximum(self.bm25, np.float32(1e-9)), np.float32)

    @cached_property
    def clear(self) -> Floats:
        """The certainty of each tool's mention, 0..1, float32 (n,)."""
        return np.asarray(np.minimum(self.bm25 / np.float32(_CLEAR), 1), np.float32)

    @cached_property
    def bm25(self) -> Floats:
        """float32 (n,): how well the words of each tool fit the intent."""
        return self.view.documents.bm25(self.question, self.document_matches)

    @cached_property
    def meaning(self) -> Floats:
        """Each tool's cosine with the nearest clause, float32 (n,)."""
        return self.view.documents.nearest(self.question)

    @cached_property
    def tfidf(self) -> Floats:
        """Each tool's tf-idf cosine with the intent, float32 (n,), 0..1."""
        return self.view.documents.tfidf(self.question, self.document_matches)

    @cached_property
    def match(self) -> Floats:
        """Each tool's score by text alone, float32 (n,)."""
        view, question = self.view, self.question
        documents, many = view.documents, int(view.server.max(initial=0))
        words = _words(self.bm25, self.tfidf)
        if question.steps:
            found = [(step, documents.matches(step)) for step in question.steps]
            steps = [_words(documents.bm25(*each), documents.tfidf(*each)) for each in found]
            words = (words + np.float32(_STEPS) * np.maximum.reduce(steps)) / np.float32(1 + _STEPS)
        if documents.vectors is not None:  # they know what is meant by words that no tool says
            words *= min(float(self.tfidf.max(initial=0)) / _SAID, 1)
        server = _relative(view.servers.bm25(question))
        mates = np.zeros(many + 1, np.float32)
        np.maximum.at(mates, view.server, _relative(words))
        mates[0] = 0  # tools without a server
        near = words + min(many / _SERVERS, 1) * (_SERVER * server + _MATES * mates.take(view.server))
        meaning = documents.dense(question) + self.meaning  # of the whole question, and of its nearest clause
        return np.asarray(near + meaning, np.float32)

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """The heads that depend on the intent alone, float32 (n,) each."""
        view, graph = self.view, self.view.graph
        traces = self.weight.sum() + 1
        called, first = view.ridge.predict(view.intents, self.question, self.intent_matches)
        if self.own >= 0:
            called = view.ridge.without(called, self.own, graph.tools_of(self.own))
            first = view.ridge.without(first, self.own, graph.firsts[self.own : self.own + 1])
        return {
            "match": self.match,
            "terms": self.log_share(self._terms()),
            "attention": self.log_share(graph.merged.gather(self.attention_by_chain)),
            "ridge": self.seen(called, 0.0),
            "ridge_first": self.seen(first, 0.0),
            "popular": self.seen(np.log((self.counted + 0.5) / traces), float(np.log(0.5 / traces))),
            "unseen": self.unseen * bool(len(self.question.keys)),  # only words can mean a tool without traces
            "unseen_match": self.unseen * self.match,
        }

    def log_share(self, share: Floats) -> Floats:
        """Return the logarithm of shares of attention, float32 (..., n)."""
        return self.seen(np.log(share + np.float32(EPSILON)), float(np.log(EPSILON)))

    def seen(self, value: Floats, floor: float) -> Floats:
        """Return values for known tools, a floor elsewhere, float32 (..., n)."""
        value = np.asarray(value, np.float32)
        return value if self.hidden is None else np.where(self.hidden, np.asarray(floor, np.float32), value)

    def _terms(self) -> Floats:
        """Votes of the intent's words for the tools of traces with them."""
        graph, matches = self.view.graph, self.intent_matches
        given = self.weight.take(matches.text)
        total = np.bincount(matches.term, given, len(matches.held))
        given *= (matches.idf / (total + 1)).take(matches.term)
        voice = np.bincount(graph.capability.take(matches.text), given, len(graph.capabilities)) / matches.worth
        return graph.merged.gather(voice.astype(np.float32))


def put(view: View, intent: str, earlier: tuple[int, ...] = (), unfinished: str = "") -> Asked:
    """Put an intent to a view.

    The trace of an unfinished task, named by its id, does not speak: nobody knows yet how the task ends.
    """
    ids = (number for number, trace in enumerate(view.traces) if trace.id == unfinished)
    own = next(ids, -1) if unfinished else -1
    return Asked(view, view.read(intent), earlier, own, np.array([own]) if own >= 0 else None)


def trusted(asked: Asked, *, fitted: bool) -> Asked:
    """Return a question as far as its few traces are trusted.

    Of a few traces all attention goes to one that may be for something else. So until weights are `fitted`, a question
    is asked as if there were none, unless a past intent asks for the same, or several near ones made the same calls.
    """
    return asked if trust(asked, fitted=fitted) == 1 else without_traces(asked)


def trust(asked: Asked, *, fitted: bool) -> float:
    """Return the weight of traces in a search: 0, `NEAR` or 1."""
    if fitted or not asked.view.traces:
        return 1.0
    speaks = asked.weight > 0
    meaning, words = asked.view.intents.dense(asked.question)[speaks], asked.plain[speaks]
    near = asked.view.graph.capability[speaks][(meaning >= _NEAR_MEANING) | (words >= _SEVERAL_NEAR)]
    agreed = len(near) >= _SEVERAL and np.bincount(near).max() >= max(_SEVERAL, _AGREED * len(near))
    if agreed or meaning.max(initial=0) >= _SAME_MEANING or words.max(initial=0) >= _SAME_WORDS:
        return 1.0
    nearest = max(meaning.max(initial=0) / _NEAR_MEANING, words.max(initial=0) / _NEAR)
    return NEAR if max(nearest, asked.alike[speaks].max(initial=0) / _NEAR_RARE) >= 1 else 0.0


def without_traces(asked: Asked) -> Asked:
    """Return the question as if no trace were there."""
    view, nothing = asked.view, np.ones(len(asked.view.tools), np.bool_)
    return Asked(view, asked.question, asked.earlier, -1, np.arange(len(view.traces)), nothing)


def same_intent(asked: Asked) -> int | None:
    """Return the latest good trace with these very words, if callable."""
    view = asked.view
    near = np.flatnonzero((asked.alike > _SAME) & (asked.weight > 0))
    fine = [n for n in near if view.traces[n].ok and view.offered[list(view.chains[n])].all()]
    return int(fine[-1]) if fine else None


def _words(bm25: Floats, tfidf: Floats) -> Floats:
    """Return each tool's fit by words, as a share of the best."""
    return (_relative(bm25) + _relative(tfidf)) / np.float32(2)


def _relative(score: Floats) -> Floats:
    """The score as a share of the highest."""
    return score / np.float32(max(float(np.maximum.reduce(score, initial=0)), 1e-6))


def heads(asked: Asked, after: Sequence[int]) -> Floats:
    """Return every tool's features after `after`, float32 (n, len(HEADS))."""
    found, here = still(asked), After(asked, [tuple(after)])
    found[:, _MOVING] = here.columns[0].T
    found[list(after), _COLUMN["used"]] = 1
    found[here.before(after), _COLUMN["before"]] = 1
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
        said = self.asked.mentioned
        return np.array([(said[:, list(chain)] <= 0).all(axis=1) for chain in self.chains], np.float32)

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
        asked, graph = self.asked, self.asked.view.graph.merged
        for row, chain in enumerate(self.chains):
            before, last = (graph.tools, graph.tools, *chain)[-2:]
            anyhow = voted(graph.after(last, asked.merged_weight), asked.use, SMOOTHING)
            attention = in_context(asked.attention_by_chain, graph.shared(chain)) if chain else asked.attention_by_chain
            by_last = voted(graph.after(last, attention), anyhow, BACKING)
            found[row, 0] = voted(graph.after(last, attention, before), by_last, BACKING) if chain else by_last
            found[row, 1] = voted(next_due(asked.due, chain, len(anyhow)), anyhow, DUE) if asked.due else anyhow
        return found

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
