"""What each tool looks like as the next call: one number from each head, for every tool at once.

Heads of text compare the intent with what tools say of themselves, so they work from the first minute. Heads of memory
read past traces, by attention (`attention`) and by regression (`ridge`). Heads of use say how a tool fares in general.
A few say that a tool was never used, so that those can be weighed by their text alone: whatever memory says of them is
the same small number, `floors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.retrieval.lexical import K1
from vademecum.tools.attention import (
    BACKING,
    MEANING,
    SMOOTHING,
    WORDS,
    attend,
    beside,
    in_context,
    transitions,
    votes,
)
from vademecum.tools.texts import Floats, Matches, Question
from vademecum.tools.view import View

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

_EPSILON = 1e-3  # of a share of attention: below, nothing is known
_POPULAR = 0.1  # calls that every tool is believed to have had
_STEP = 0.2  # how far apart two needs are said, as a share of the intent
_MEANING, _SERVER, _MATES = 0.5, 0.5, 0.5  # what they weigh beside words, where there is text alone
_CLEAR = 0.25  # share of a question's words from which a tool is surely mentioned


@dataclass(frozen=True)
class Asked:
    """An intent put to a view: what does not hang on what was called so far.

    Args:
        view: tools and traces.
        question: the intent.
        earlier: numbers of tools called earlier in the session, for other intents.
        own: the trace that the question is, when weights are fitted; -1 otherwise.
        excluded: traces that must not speak: its own and those of its session.
        hidden: bool (n,), tools to be treated as if no trace had used them; None for none.
    """

    view: View
    question: Question
    earlier: tuple[int, ...] = ()
    own: int = -1
    excluded: NDArray[np.int64] | None = None
    hidden: NDArray[np.bool_] | None = None

    @cached_property
    def chain(self) -> tuple[int, ...]:
        """What the trace that is asked about called."""
        return self.view.chains[self.own] if self.own >= 0 else ()

    @cached_property
    def weight(self) -> Floats:
        """float32 (m,): what each trace counts for."""
        weight = self.view.graph.weight
        if self.excluded is not None:
            weight = weight.copy()
            weight[self.excluded] = 0
        return weight

    @cached_property
    def attention(self) -> tuple[Floats, Floats]:
        """float32 (m,) twice: the attention by the words of intents, and by their meaning."""
        intents, question = self.view.intents, self.question
        by_words = attend(intents.tfidf(question, self.intent_matches), self.weight, WORDS)
        return by_words, attend(intents.dense(question), self.weight, MEANING)

    @cached_property
    def intent_matches(self) -> Matches:
        """Where past intents say the question's terms."""
        return self.view.intents.matches(self.question)

    @cached_property
    def document_matches(self) -> Matches:
        """Where tools say them."""
        return self.view.documents.matches(self.question)

    @cached_property
    def _contexts(self) -> dict[tuple[int, ...], tuple[Floats, Floats]]:
        """The attention in each context that was asked about."""
        return {}

    @cached_property
    def _steps(self) -> dict[tuple[int, ...], dict[str, tuple[Floats, float]]]:
        """The transitions from each of these contexts."""
        return {}

    @cached_property
    def counted(self) -> Floats:
        """float32 (n,): the weight of the traces that called each tool."""
        return self.view.graph.gather(self.weight)

    @cached_property
    def unseen(self) -> Floats:
        """float32 (n,): 1 for a tool that no trace called."""
        unseen = self.counted <= 0
        return (unseen if self.hidden is None else unseen | self.hidden).astype(np.float32)

    @cached_property
    def mentions(self) -> tuple[NDArray[np.int32], NDArray[np.int64], Floats, float]:
        """Return (tool, term, how well it matches) for every term of the question in every tool, and what all are worth."""
        documents = self.view.documents
        tool, term, tf, idf = self.document_matches
        match = (idf[term] * tf / (tf + np.float32(K1) * documents.norm[tool])).astype(np.float32)
        return tool, term, match, max(float(idf.sum()), 1e-9)

    @cached_property
    def places(self) -> Floats:
        """float32 (n,): where in the intent each tool is mentioned, 0 the beginning and 1 the end."""
        tool, term, match, _ = self.mentions
        total = np.bincount(tool, match, self.view.graph.tools)
        place = np.bincount(tool, match * self.question.places[term], self.view.graph.tools)
        return (place / np.maximum(total, 1e-9)).astype(np.float32)

    @cached_property
    def text(self) -> dict[str, Floats]:
        """The heads of text that hang on the intent alone."""
        view, question = self.view, self.question
        bm25, tfidf = (read(question, self.document_matches) for read in (view.documents.bm25, view.documents.tfidf))
        meaning, server = view.documents.nearest(question), view.servers.tfidf(question)
        # BM25 is the better one where texts are long, tf-idf where a question says its topic several times
        relative, place = (_relative(bm25) + _relative(tfidf)) / np.float32(2), _relative(view.servers.bm25(question))
        mates = np.zeros(int(view.server.max(initial=0)) + 1, np.float32)
        np.maximum.at(mates, view.server, _relative(relative))
        near = np.where(view.server > 0, mates[view.server], 0)
        return {
            "bm25": bm25,
            "tfidf": tfidf,
            "meaning": meaning,
            "server": server,
            # what text alone would rank by; a tool whose server has another that fits is likelier to be meant
            "match": (relative + _MEANING * meaning + _SERVER * place + _MATES * near).astype(np.float32),
        }

    @cached_property
    def memory(self) -> dict[str, Floats]:
        """The heads of memory that hang on the intent alone."""
        view, graph = self.view, self.view.graph
        called, first = view.ridge.predict(view.intents, self.question)
        if self.own >= 0:
            called = view.ridge.without(called, self.own, graph.tools_of(self.own))
            first = view.ridge.without(first, self.own, view.firsts[self.own : self.own + 1])
        # up: what tools say of themselves makes a trace speak, even one whose intent was never written down
        members = attend(graph.spread(self.text["tfidf"]), self.weight, WORDS)
        return {
            "terms": self._log(self._terms()),
            "by_members": self._log(graph.gather(members)),
            "ridge": self._seen(called, 0.0),
            "ridge_first": self._seen(first, 0.0),
            "popular": self._seen(np.log((self.counted + 0.5) / self._calls), float(np.log(0.5 / self._calls))),
        }

    @cached_property
    def _calls(self) -> np.float32:
        return np.float32(self.weight.sum() + 1)

    @cached_property
    def _share(self) -> Floats:
        """float32 (n + 1,): the share of each tool in all calls; the end has none."""
        count = np.append(self.counted + np.float32(_POPULAR), np.float32(0))
        return np.asarray(count / max(float(count.sum()), 1e-9), np.float32)

    @cached_property
    def first(self) -> Floats:
        """float32 (n, len(HEADS)): every tool as the first call."""
        return self._heads(())

    def heads(self, after: Sequence[int]) -> Floats:
        """Return float32 (n, len(HEADS)): every tool as the call that follows `after`, the calls for this intent."""
        return self._heads(after) if after else self.first

    def _heads(self, after: Sequence[int]) -> Floats:
        by_words, by_meaning = self.attention_after(after)
        graph = self.view.graph
        columns = self.text | self.memory | self._calls_so_far(after)
        columns |= {
            "left": self._left(after),
            "order": self._order(after),
            "by_words": self._log(graph.gather(by_words)),
            "by_meaning": self._log(graph.gather(by_meaning)),
            "session": self._session(after),
            "unseen": self.unseen,
            "unseen_bm25": self.unseen * self.text["bm25"],
            "unseen_tfidf": self.unseen * self.text["tfidf"],
            "unseen_meaning": self.unseen * self.text["meaning"],
            "unseen_match": self.unseen * self.text["match"],
        }
        for name, (share, floor) in self._next(after).items():
            columns[name] = self._seen(np.log(share[:-1] + np.float32(_EPSILON)), float(np.log(floor + _EPSILON)))
        return np.stack([columns[name] for name in HEADS], axis=1)

    def stopping(self, after: Sequence[int], taken: Floats) -> Floats:
        """Return float32 (len(STOPPING),): what it looks like to stop here.

        `taken` is float32 (n,): the probability of each tool that the intent takes it, sooner or later.
        """
        found = self._next(after)
        ends = {name: float(np.log(share[-1] + _EPSILON)) for name, (share, _) in found.items()}
        open_ = taken.copy()
        open_[list(after)] = 0
        surest = float(np.clip(open_.max(initial=0.0), 1e-3, 1 - 1e-3))
        said = ends | {
            "open": float(np.log(open_.sum() + 0.05)),
            "surest": float(np.log(surest / (1 - surest))),
            "bias": 1.0,
            "left": float(self._unmet(after)),
            "begun": float(bool(after)),
            "long": float(np.log1p(len(after))),
        }
        return np.array([said[name] for name in STOPPING], np.float32)

    def ranking(self, likely: float, tools: tuple[int, ...], odds: Floats) -> list[float]:
        """Return what a whole chain looks like, len(RANKING) numbers.

        `likely` is its log-probability call by call, `odds` float32 (n,) the log-odds of each tool that the intent takes it.
        """
        clear = np.minimum(self.text["bm25"] / np.float32(_CLEAR), 1)
        apart = [
            float((self.places[b] - self.places[a]) * min(clear[a], clear[b]))
            for later, b in enumerate(tools)
            for a in tools[:later]
            if a != b
        ]
        said = {
            "likely": likely,
            "taken": float(odds[list(set(tools))].sum()),
            "unmet": self._unmet(tools),
            "in_order": sum(apart) / len(apart) if apart else 0.0,
            "known": float(np.log(self._attended.get(tools, 0.0) + _EPSILON)),
        }
        return [said[name] for name in RANKING]

    @cached_property
    def _attended(self) -> dict[tuple[int, ...], float]:
        """The attention that the traces of each chain get."""
        graph = self.view.graph
        share = np.bincount(graph.capability, self.attention_joined(()), len(graph.capabilities))
        return {graph.capabilities[number]: float(share[number]) for number in np.flatnonzero(share)}

    def attention_after(self, after: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the attention by words and by meaning, float32 (m,) each, moved towards traces that called the same."""
        context = tuple(sorted(set(after)))
        if context not in self._contexts:
            shared = self.view.graph.shared(context)
            by_words, by_meaning = self.attention
            moved = (in_context(by_words, shared), in_context(by_meaning, shared)) if context else self.attention
            self._contexts[context] = moved
        return self._contexts[context]

    def attention_joined(self, after: Sequence[int]) -> Floats:
        """Return float32 (m,): the mean of both."""
        by_words, by_meaning = self.attention_after(after)
        return np.asarray((by_words + by_meaning) / 2, np.float32)

    def _next(self, after: Sequence[int]) -> dict[str, tuple[Floats, float]]:
        """The heads of transitions, float32 (n + 1,) with the end last, each with what a tool without any gets."""
        place = tuple(after)
        if place not in self._steps:
            self._steps[place] = self._transitions(place)
        return self._steps[place]

    def _transitions(self, after: tuple[int, ...]) -> dict[str, tuple[Floats, float]]:
        by_words, by_meaning = self.attention_after(after)
        graph = self.view.graph
        here = after[-1] if after else graph.tools
        before = (after[-2] if len(after) > 1 else graph.tools) if after else None
        anyhow = transitions(graph, here, self.weight, self._share)
        words = votes(graph, here, by_words, anyhow)
        meaning = votes(graph, here, by_meaning, anyhow)
        path = votes(graph, here, by_words, words, before) if after else words
        # what is left for a tool never seen: the prior, thinned by what was counted at each step
        floor = (
            float(self._share[:-1].min(initial=1.0))
            * SMOOTHING
            / (float(graph.after(here, self.weight).sum()) + SMOOTHING)
        )
        thin = BACKING / (1 + BACKING)
        return {
            "next": (anyhow, floor),
            "next_by_words": (words, floor * thin),
            "next_by_meaning": (meaning, floor * thin),
            "next_by_path": (path, floor * thin),
        }

    def _calls_so_far(self, after: Sequence[int]) -> dict[str, Floats]:
        used, last, before = (np.zeros(self.view.graph.tools, np.float32) for _ in range(3))
        before[list(self.earlier)] = 1
        before[list(after)] = 0
        used[list(after)] = 1
        last[list(after[-1:])] = 1
        return {"used": used, "last": last, "before": before}

    def _unexplained(self, after: Sequence[int]) -> Floats:
        """float32 (T,): 1 for each term of the question that no tool called so far says."""
        tool, term, _, _ = self.mentions
        open_ = np.ones(len(self.question.keys), np.float32)
        for called in set(after):
            open_[term[tool == called]] = 0
        return open_

    def _left(self, after: Sequence[int]) -> Floats:
        """BM25 for what is left of the question."""
        if not after:
            return self.text["bm25"]
        tool, term, match, worth = self.mentions
        left = np.bincount(tool, match * self._unexplained(after)[term], self.view.graph.tools)
        return (left / worth).astype(np.float32)

    def _unmet(self, after: Sequence[int]) -> float:
        """How much of the question's words that any tool says is still open."""
        _, term, _, _ = self.mentions
        said = np.unique(term)
        return float(self._unexplained(after)[said].mean()) if len(said) else 0.0

    def _order(self, after: Sequence[int]) -> Floats:
        """How near to the last tool's mention each tool's own is, for those that are mentioned."""
        place = self.places[after[-1]] if after else np.float32(0)
        clear = np.minimum(self.text["bm25"] / np.float32(_CLEAR), 1)
        return np.asarray(-np.abs(self.places - place - np.float32(_STEP)) * clear, np.float32)

    def _terms(self) -> Floats:
        """Each word of the intent votes for the tools of the traces that say it, the rare ones most."""
        graph = self.view.graph
        trace, term, _, idf = self.intent_matches
        given = self.weight[trace]
        held = np.bincount(term, given, len(idf)).astype(np.float32) + 1
        voice = np.bincount(trace, given * idf[term] / held[term], len(graph)).astype(np.float32)
        return graph.gather(voice) / np.float32(max(float(idf.sum()), 1e-9))

    def _session(self, after: Sequence[int]) -> Floats:
        graph = self.view.graph
        context = list(dict.fromkeys((*self.earlier, *after)))
        attention = beside(graph, context, self.weight)
        if not attention.any():  # what tools do anyhow
            share = (self.counted + np.float32(0.5)) / self._calls
            return self._seen(np.log(share + np.float32(_EPSILON)), float(np.log(0.5 / self._calls + _EPSILON)))
        return self._log(graph.gather(attention))

    def _log(self, share: Floats) -> Floats:
        return self._seen(np.log(share + np.float32(_EPSILON)), float(np.log(_EPSILON)))

    def _seen(self, value: Floats, floor: float) -> Floats:
        """The value for tools that memory knows; the same floor for all others."""
        value = np.asarray(value, np.float32)
        return value if self.hidden is None else np.where(self.hidden, np.float32(floor), value)


def _relative(score: Floats) -> Floats:
    """The score as a share of the highest."""
    return score / np.float32(max(float(score.max(initial=0)), 1e-6))
