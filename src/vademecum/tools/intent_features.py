"""An intent put to what is known: all that does not depend on what was called so far, each part worked out when first needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.tools.attention import MEANING, WORDS, Beside, attended, in_context, unmoved
from vademecum.tools.followers import Followers
from vademecum.tools.levels import Levels
from vademecum.tools.texts import Floats, Matches, Question
from vademecum.tools.usage import EPSILON, Usage
from vademecum.tools.view import View, votes, without

_MEANING, _SERVER, _MATES = 0.5, 0.5, 0.5  # what they weigh beside words, where there is text alone
# Cosines with a past intent from which a few traces know more than text, measured on UltraTool's training tasks: of words as they
# stand (what all of a few intents say would weigh nothing by its rarity), of words by their rarity, and of meaning.
_NEAR, _NEAR_RARE, _NEAR_MEANING = 0.4, 0.2, 0.5
_TEMPERATURES = np.array([WORDS, MEANING], np.float32)  # of the kernels of `attention`
_SAME = 0.999  # cosine of intents that say the same words
_CLEAR = 0.25  # share of a question's words from which a tool is surely mentioned


@dataclass(frozen=True)
class Asked:
    """An intent put to a view.

    Args:
        view: tools and traces.
        question: the intent.
        earlier: numbers of tools called earlier in the session, for other intents, in order and as often as they were.
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
    def alike(self) -> Floats:
        """float32 (m,): how much each trace's intent says the same words, 0..1."""
        return self.view.intents.tfidf(self.question, self.intent_matches)

    @cached_property
    def _attended(self) -> tuple[Floats, Floats, Floats]:
        graph, kernels = self.view.graph, (self.alike, self.view.intents.dense(self.question))
        return attended(graph.merged, graph.capability, kernels, self.weight, _TEMPERATURES)

    @property
    def attention(self) -> Floats:
        """float32 (2, m): the attention by the words of intents, and by their meaning."""
        return self._attended[0]

    def attention_after(self, after: Sequence[int]) -> Floats:
        """Return float32 (m,): the mean of both, each moved towards traces that called the same."""
        if not after:
            return self._attention
        both = in_context(self.attention, self.view.graph.shared(after))
        return _middle(both)

    @cached_property
    def _attention(self) -> Floats:
        return _middle(self.attention)

    @property
    def merged(self) -> Floats:
        """float32 (2, c): both, by capabilities."""
        return self._attended[1]

    @cached_property
    def attention_by_chain(self) -> Floats:
        """float32 (c,): the mean of both."""
        return _middle(self.merged)

    @cached_property
    def merged_weight(self) -> Floats:
        """float32 (c,): what the traces of each capability count for."""
        return self.view.merged_weight if self.excluded is None else self.view.graph.merge(self.weight)

    @property
    def gathered(self) -> Floats:
        """float32 (2, n): what both give to tools."""
        return self._attended[2]

    @cached_property
    def kept(self) -> Floats:
        """float32 (2, 1): what is left of both in any context, were no trace near it."""
        return unmoved(self.merged)

    @cached_property
    def followers(self) -> Followers:
        """What follows each tool whatever the intent."""
        if self.excluded is None:
            return self.view.followers
        return Followers(self.view.graph.merged, self.merged_weight, self.usage.share)

    @cached_property
    def beside(self) -> Beside:
        """What was called in sessions."""
        return self.view.beside if self.excluded is None else Beside(self.view.graph, self.weight)

    @cached_property
    def levels(self) -> Levels:
        """The level of meta-capabilities."""
        metas = self.view.metas
        counted = self.view.metas_counted if self.excluded is None else metas.weights(self.weight)
        return Levels(metas, counted, self.earlier)

    @cached_property
    def intent_matches(self) -> Matches:
        """Where past intents say the question's terms."""
        return self.view.intents.matches(self.question)

    @cached_property
    def document_matches(self) -> Matches:
        """Where tools say them."""
        return self.view.documents.matches(self.question)

    @cached_property
    def usage(self) -> Usage:
        """How much tools are called anyhow."""
        graph = self.view.graph
        return self.view.usage if self.excluded is None else Usage.of(graph.gather(self.weight), self.weight)

    @cached_property
    def once(self) -> NDArray[np.bool_]:
        """Whether no trace called a tool twice, bool (n,)."""
        if self.excluded is None:  # every trace counts for something
            return self.view.once
        tool, capability = self.view.again
        seen = np.bincount(self.view.graph.capability, self.weight, len(self.view.graph.capabilities))
        return without(self.view.graph.tools, tool[seen.take(capability) > 0])

    @cached_property
    def unseen(self) -> Floats:
        """float32 (n,): 1 for a tool that no trace called."""
        unseen = self.usage.unseen
        return (unseen if self.hidden is None else unseen | self.hidden).astype(np.float32)

    @cached_property
    def mentions(self) -> Floats:
        """float32 (P,): how well the terms of the question match, by `document_matches`."""
        return self.view.documents.gained(self.document_matches)

    @cached_property
    def mentioned(self) -> Floats:
        """float32 (T, n): what each term of the question adds to the BM25 of each tool."""
        matches = self.document_matches
        found = np.zeros((len(self.question.keys), self.view.graph.tools), np.float32)
        found[matches.term, matches.text] = self.mentions / np.float32(matches.worth)
        return found

    @cached_property
    def unsaid(self) -> Floats:
        """float32 (n + 1, T): 0 where a tool says a term of the question, else 1; the last one, no tool, says none."""
        found = np.ones((self.view.graph.tools + 1, len(self.question.keys)), np.float32)
        found[self.document_matches.text, self.document_matches.term] = 0
        return found

    @cached_property
    def said(self) -> Floats:
        """float32 (T,): the terms of the question that any tool says, as equal shares of 1."""
        said = self.document_matches.held > 0
        return (said / max(int(np.count_nonzero(said)), 1)).astype(np.float32)

    @cached_property
    def places(self) -> Floats:
        """float32 (n + 1,): where in the intent each tool is mentioned, 0 the beginning and 1 the end; 0 for no tool, the last."""
        matches, match, tools = self.document_matches, self.mentions, self.view.graph.tools + 1
        total = np.bincount(matches.text, match, tools)
        place = np.bincount(matches.text, match * matches.each(self.question.places), tools)
        return (place / np.maximum(total, 1e-9)).astype(np.float32)

    @cached_property
    def clear(self) -> Floats:
        """float32 (n,): how sure it is that each tool is mentioned at all, 0..1."""
        return np.asarray(np.minimum(self.text["bm25"] / np.float32(_CLEAR), 1), np.float32)

    @cached_property
    def unclear(self) -> Floats:
        """float32 (n,): what is taken from a tool for each share of the intent that lies between its mention and where it is due."""
        return -self.clear

    @cached_property
    def text(self) -> dict[str, Floats]:
        """The heads of text, float32 (n,) each."""
        view, question = self.view, self.question
        bm25 = view.documents.bm25(question, self.document_matches)
        tfidf = view.documents.tfidf(question, self.document_matches)
        servers = view.servers.matches(question)
        meaning, server = view.documents.nearest(question), view.servers.tfidf(question, servers)
        # BM25 is the better one where texts are long, tf-idf where a question says its topic several times
        relative, place = (
            (_relative(bm25) + _relative(tfidf)) / np.float32(2),
            _relative(view.servers.bm25(question, servers)),
        )
        near: Floats | float = 0.0
        if view.server.any():
            mates = np.zeros(int(view.server.max()) + 1, np.float32)
            np.maximum.at(mates, view.server, _relative(relative))
            near = np.where(view.server > 0, mates.take(view.server), 0)
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
        """The heads of memory that depend on the intent alone, float32 (n,) each."""
        view, graph = self.view, self.view.graph
        called, first = view.ridge.predict(view.intents, self.question, self.intent_matches)
        if self.own >= 0:
            called = view.ridge.without(called, self.own, graph.tools_of(self.own))
            first = view.ridge.without(first, self.own, view.firsts[self.own : self.own + 1])
        # up: what tools say of themselves makes a trace speak, even one whose intent was never written down
        alike = graph.merged.spread(self.text["tfidf"])
        _, _, members = attended(graph.merged, None, (alike,), self.merged_weight, _TEMPERATURES[:1])
        by_meta = self.levels.gathered(self.attention_by_chain)
        terms, by_members, by_meta = self.log_share(np.stack([self._terms(), members[0], by_meta]))
        return {
            "terms": terms,
            "by_members": by_members,
            "by_meta": by_meta,
            "ridge": self.seen(called, 0.0),
            "ridge_first": self.seen(first, 0.0),
            "popular": self.seen(self.usage.popular, self.usage.least[0]),
        }

    @cached_property
    def usual(self) -> Floats:
        """float32 (n,): what tools do anyhow, where no session is near."""
        return self.seen(self.usage.usual, self.usage.least[1])

    def log_share(self, share: Floats) -> Floats:
        """Return the logarithm of shares of attention, float32 (..., n)."""
        return self.seen(np.log(share + np.float32(EPSILON)), float(np.log(EPSILON)))

    def seen(self, value: Floats, floor: float | Floats) -> Floats:
        """Return the value for tools that memory knows; the same floor for all others. Both float32 (..., n)."""
        value = np.asarray(value, np.float32)
        return value if self.hidden is None else np.where(self.hidden, np.asarray(floor, np.float32), value)

    def _terms(self) -> Floats:
        """Each word of the intent votes for the tools of the traces that say it, the rare ones most."""
        intents, graph, matches = self.view.intents, self.view.graph, self.intent_matches
        voters, size = self.view.voters, len(graph.capabilities)
        if self.excluded is None:
            voice = intents.summed(matches, voters, self.view.votes, size, over=matches.worth)
        else:
            total = np.bincount(intents.read(voters, matches), votes(matches, self.weight), size)
            voice = (total / matches.worth).astype(np.float32)
        return graph.merged.gather(voice)


def put(view: View, question: Question, *, fitted: bool) -> Asked:
    """Put an intent to a view, without a context.

    With weights of one's own (`fitted`) memory speaks as much as these say. Those to begin with held where there were thousands of
    traces, one of them always near; of a few, all attention goes to one that may be for something else. So until then, where no
    past intent says nearly the same, it is asked as if there were none.
    """
    asked = Asked(view, question)
    if fitted or not view.traces or _is_near(asked):
        return asked
    nobody, everything = np.arange(len(view.traces)), np.ones(len(view.tools), np.bool_)
    return Asked(view, question, excluded=nobody, hidden=everything)


def same_intent(asked: Asked) -> int | None:
    """Return the latest good trace that was for these very words, if all its tools can still be called."""
    view = asked.view
    near = np.flatnonzero(asked.alike > _SAME)
    fine = [n for n in near if view.traces[n].ok and view.live[list(view.chains[n])].all()]
    return int(fine[-1]) if fine else None


def _is_near(asked: Asked) -> bool:
    """Whether any past intent says nearly the same."""
    intents, question = asked.view.intents, asked.question
    shared = np.bincount(asked.intent_matches.text, minlength=intents.size)
    said = np.bincount(intents.postings.docs, minlength=intents.size)
    plain = shared / np.sqrt(np.maximum(said * len(question.keys), 1))
    found = plain.max() >= _NEAR or asked.alike.max() >= _NEAR_RARE or intents.dense(question).max() >= _NEAR_MEANING
    return bool(found)


def _relative(score: Floats) -> Floats:
    """The score as a share of the highest."""
    return score / np.float32(max(float(np.maximum.reduce(score, initial=0)), 1e-6))


def _middle(both: Floats) -> Floats:
    """float32 (m,): the mean of two rows; `mean` itself takes longer to begin than to add."""
    total: Floats = np.add.reduce(both, axis=0)
    total /= np.float32(2)
    return total
