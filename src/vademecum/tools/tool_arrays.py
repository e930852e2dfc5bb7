"""Tools as arrays, derived from the ledger."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import EmbedError
from vademecum.protocols import Embedder
from vademecum.redaction.redact import MARK
from vademecum.tools.hypergraph import Chain, Hypergraph, Metas
from vademecum.tools.records import Tool, Trace
from vademecum.tools.texts import Floats, Matches, Question, Texts, clauses, document, is_deprecated, passage
from vademecum.tools.tool_ledger import Kept, Ledger
from vademecum.types import EmbedKind, Passage

_MARK = re.compile(rf"{re.escape(MARK)}[\w-]+\]")
_QUESTIONS = 16  # that are kept as they were read
STRENGTH = 1.0  # of the ridge
_BUCKETS = 512
_COPIES = 4  # buckets a term is hashed into
REST_S = 60.0  # pause after a failure of the embedder, so that not every question waits for one


@dataclass(frozen=True)
class View:
    """Tools and traces by number."""

    tools: tuple[Tool, ...]  # registered ones by id, those that are gone too, then those that only traces name
    live: NDArray[np.bool_]  # (n,), whether a tool can be called as far as anybody knows
    pinned: tuple[int, ...]
    traces: tuple[Trace, ...]  # as written, without calls that failed and were made again or replaced
    documents: Texts  # what tools say of themselves
    servers: Texts
    intents: Texts  # what traces were for
    graph: Hypergraph  # the traces as hyperedges
    good: NDArray[np.float64]  # (n,), how often a call went well
    calls: NDArray[np.float64]  # (n,)
    read: Callable[[str], Question]

    @cached_property
    def offered(self) -> NDArray[np.bool_]:
        """Live tools that are not deprecated, bool (n,)."""
        return self.live & np.array([not is_deprecated(tool) for tool in self.tools], np.bool_)

    @cached_property
    def server(self) -> NDArray[np.int64]:
        """int64 (n,): each tool's server by number, 0 for those without."""
        numbers = {"": 0}
        return np.array([numbers.setdefault(tool.server, len(numbers)) for tool in self.tools], np.int64)

    @cached_property
    def chains(self) -> list[tuple[int, ...]]:
        """The numbers of the tools that each trace called, in order."""
        return [self.graph.capabilities[number] for number in self.graph.capability]

    @cached_property
    def metas(self) -> Metas:
        """The sequences of capabilities."""
        return Metas.of(self.graph)

    @cached_property
    def again(self) -> list[tuple[int, int]]:
        """(tool, capability) of each tool that a chain calls twice."""
        chains = enumerate(self.graph.capabilities)
        return [(tool, n) for n, chain in chains for tool, times in Counter(chain).items() if times > 1]

    @cached_property
    def ridge(self) -> Ridge:
        """Intents and tools in common, over all traces."""
        return Ridge.of(self.intents, self.graph)

    @cached_property
    def number(self) -> dict[str, int]:
        """Each tool's number by its id."""
        return {tool.id: number for number, tool in enumerate(self.tools)}

    @cached_property
    def named(self) -> dict[str, list[int]]:
        """The live tools of each name and of each id, lower case."""
        found: dict[str, list[int]] = {}
        for number in self.live.nonzero()[0].tolist():
            for name in {self.tools[number].name.lower(), self.tools[number].id.lower()}:
                found.setdefault(name, []).append(number)
        return found


@dataclass(frozen=True)
class Ridge:
    """Two fits on the same intents: all tools, and the first tool.

    W = (X'X + strength I)^-1 X'Y with a row of X for each trace, the vector of its intent and its words hashed into
    signed buckets. Leaving a trace out needs no second fit: its residual is divided by 1 minus its leverage.
    """

    called: Floats  # (n, d), each tool's weights
    first: Floats
    leverage: Floats  # (m,), how far each trace's own outcome decides what is predicted for it

    @classmethod
    def of(cls, intents: Texts, graph: Hypergraph) -> Self:
        """Fit on all traces."""
        meanings = [] if intents.vectors is None else [intents.vectors]
        x = np.concatenate([*meanings, hashed_rows(intents)], axis=1)
        fitted = _fitted(x)
        begins = np.arange(len(graph)), graph.firsts
        return cls(
            _grouped(fitted, graph.member_trace, graph.member_tool, graph.tools),
            _grouped(fitted, *begins, graph.tools),
            np.einsum("ij,ij->i", x, fitted),
        )

    def predict(self, intents: Texts, question: Question, matches: Matches) -> tuple[Floats, Floats]:
        """Return each tool's score to be called, and first, float32 (n,) each."""
        (words,) = _hashed(np.zeros(len(question.keys), np.int64), question.keys, _worth(intents.size, matches.held), 1)
        meaning = np.zeros(self.called.shape[1] - _BUCKETS, np.float32)
        if len(meaning) and question.vector is not None:
            meaning = question.vector
        row = np.concatenate([meaning, words])
        return self.called @ row, self.first @ row

    def without(self, predicted: Floats, trace: int, called: NDArray[np.int64]) -> Floats:
        """Return the prediction for a trace's own intent without that trace."""
        outcome = np.zeros(len(predicted), np.float32)
        outcome[called] = 1
        leverage = self.leverage[trace]
        return np.asarray((predicted - leverage * outcome) / max(1 - leverage, np.float32(1e-3)), np.float32)


def hashed_rows(texts: Texts) -> Floats:
    """Return each text's words as a unit vector, float32 (n, _BUCKETS)."""
    postings = texts.postings
    held = np.diff(postings.offsets)
    keys, worth = np.repeat(postings.keys, held), np.repeat(_worth(texts.size, held), held)
    return _hashed(postings.docs, keys, worth, texts.size)


def _hashed(row: NDArray[np.integer], keys: NDArray[np.uint64], worth: NDArray[np.float64], rows: int) -> Floats:
    """Return each row's words as a unit vector, float32 (rows, _BUCKETS)."""
    flat = np.zeros(rows * _BUCKETS)
    for copy in range(_COPIES):
        part = ((keys >> np.uint64(16 * copy)) & np.uint64(0xFFFF)).astype(np.int64)
        sign = np.where(part >> 15, 1, -1)
        flat += np.bincount(row * _BUCKETS + part % _BUCKETS, worth * sign, len(flat))
    found = flat.reshape(-1, _BUCKETS)
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)


def _worth(texts: int, held: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each term's weight: its idf, 0 for fewer than two texts."""
    return np.asarray(np.log1p((texts - held + 0.5) / (held + 0.5)) * (held > 1), np.float64)


def _fitted(x: Floats) -> Floats:
    """Return x (x'x + s)⁻¹, float32 (m, d).

    It is (xx' + s)⁻¹ x as well: the smaller system is solved.
    """
    wide = x.T if len(x) < x.shape[1] else x
    gram = wide.T @ wide + np.float32(STRENGTH) * np.eye(wide.shape[1], dtype=np.float32)
    solved = np.linalg.solve(gram.astype(np.float64), wide.T).astype(np.float32)
    return solved if wide is not x else solved.T


def _grouped(x: Floats, rows: NDArray[np.int64], groups: NDArray[np.int64], size: int) -> Floats:
    """Return float32 (size, d): the sum of the rows of each group."""
    total = np.zeros((size, x.shape[1]), np.float32)
    np.add.at(total, groups, x[rows])
    return total


def without_retries(trace: Trace) -> Trace:
    """Return a trace without failed calls that were made again or replaced.

    A call was made again if the next one is of the same tool, and replaced if its tool never went well and a later call
    did.

    >>> from vademecum.tools.records import Call
    >>> calls = (Call("a", ok=False), Call("b"), Call("c", ok=False), Call("c"))
    >>> learned = without_retries(Trace("t", "do it", calls, links=((0, 1), (1, 3))))
    >>> [call.tool for call in learned.calls], learned.links
    (['b', 'c'], ((0, 1),))
    """
    calls = trace.calls
    well = {call.tool for call in calls if call.ok}
    last = max((n for n, call in enumerate(calls) if call.ok), default=-1)
    gone = {n for n, call in enumerate(calls[: last + 1]) if not call.ok}
    gone -= {n for n in gone if calls[n].tool in well and calls[n + 1].tool != calls[n].tool}
    if not gone:
        return trace
    kept = [n for n in range(len(calls)) if n not in gone]
    place = {n: number for number, n in enumerate(kept)}
    links = tuple((place[a], place[b]) for a, b in trace.links if a in place and b in place)
    return replace(trace, calls=tuple(calls[n] for n in kept), links=links)


class Reader:
    """Makes views, and keeps the terms and vectors of texts."""

    def __init__(self, ledger: Ledger, embedder: Callable[[], Embedder]) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._vectors: dict[str, Floats] = {}  # by the text's hash
        self._questions: dict[str, Question] = {}  # the latest ones, by their text
        self._failed_at: float | None = None
        self.problem = ""  # why some texts have no vector, or ""

    @property
    def lacks_vectors(self) -> bool:
        """True when the embedder failed, and has rested since."""
        return self._failed_at is not None and time.monotonic() - self._failed_at >= REST_S

    def question(self, text: str) -> Question:
        """Read an intent: the whole, and each of its clauses."""
        if (known := self._questions.get(text)) is not None:
            return known
        vectors = self._embedded([Passage(part) for part in (text, *clauses(text))], "query")
        if vectors is None:
            return Question.of(text)
        if len(self._questions) >= _QUESTIONS:
            self._questions.clear()
        found = self._questions[text] = Question.of(text, vectors[0], vectors[1:])
        return found

    def view(self) -> View:
        """Return a view of the ledger as it is now."""
        self._failed_at, self.problem = None, ""
        kept, kept_traces, about = self._ledger.tools(), self._ledger.traces(), self._ledger.servers()
        traces = tuple(map(without_retries, kept_traces))
        tools, live = _nodes(kept, kept_traces, callable_=not self._ledger.scope)
        number = _numbers(tools, live)
        chains = [Chain(tuple(number[call.tool] for call in t.calls), t.ok, t.session) for t in traces]
        every = [(number[call.tool], call.ok) for trace in kept_traces for call in trace.calls]
        calls, good = (
            np.bincount([n for n, ok in every if ok or any_], minlength=len(tools)) for any_ in (True, False)
        )
        intents = [_MARK.sub("", t.intent) for t in traces]  # the place of a secret says nothing
        documents = Texts(
            [document(tool) for tool in tools],
            self._kept_vectors([passage(tool) for tool in tools], "document"),
        )
        return View(
            tools, live, tuple(n for n, each in enumerate(kept) if each.pinned and not each.gone), traces, documents,
            Texts([f"{tool.server} {about.get(tool.server, '')}" for tool in tools], None),
            Texts(intents, self._kept_vectors([Passage(intent) for intent in intents], "query")),
            Hypergraph.of(chains, len(tools)), good.astype(np.float64), calls.astype(np.float64), self.question,
        )  # fmt: skip

    def _kept_vectors(self, passages: Sequence[Passage], kind: EmbedKind) -> Floats | None:
        """Return the vectors of texts, each made once and kept."""
        name = self._embedder().name
        if not self._vectors:
            self._vectors = {hash_: np.frombuffer(v, np.float32) for hash_, v in self._ledger.vectors(name).items()}
        said = [
            f"{kind}\0{each.text}\0{each.title}\0{each.context}".encode("utf-8", "surrogatepass") for each in passages
        ]
        hashes = ["tools:" + blake2b(each, digest_size=12).hexdigest() for each in said]
        new = {hash_: each for hash_, each in zip(hashes, passages, strict=True) if hash_ not in self._vectors}
        if new:
            made = self._embedded(list(new.values()), kind)
            if made is None:
                return None
            self._vectors |= dict(zip(new, made, strict=True))
            self._ledger.keep_vectors(name, [(h, v.tobytes()) for h, v in zip(new, made, strict=True)])
        return np.stack([self._vectors[hash_] for hash_ in hashes]) if hashes else self._embedded((), kind)

    def _embedded(self, passages: Sequence[Passage], kind: EmbedKind) -> Floats | None:
        """Return the vectors of texts; None while the embedder fails."""
        if self._failed_at is not None:
            return None
        embedder = self._embedder()
        try:
            return embedder.embed(passages, kind).unwrap() if passages else np.zeros((0, embedder.dim), np.float32)
        except EmbedError as error:
            self.problem, self._failed_at = str(error), time.monotonic()
            return None


def _nodes(
    kept: Sequence[Kept], traces: Sequence[Trace], *, callable_: bool
) -> tuple[tuple[Tool, ...], NDArray[np.bool_]]:
    """Return every known tool, and whether it can be called.

    `callable_` says that of tools which only traces name.
    """
    known = {name for each in kept for name in (each.tool.id, each.tool.name)}
    called = dict.fromkeys(call.tool for trace in traces for call in trace.calls if call.tool not in known)
    named = [Tool(id_, id_.rpartition("/")[2], id_.rpartition("/")[0]) for id_ in called]
    live = [*(not each.gone for each in kept), *(callable_ for _ in named)]
    return (*(each.tool for each in kept), *named), np.array(live, bool)


def _numbers(tools: Sequence[Tool], live: NDArray[np.bool_]) -> dict[str, int]:
    """Return the number of each tool's names: id, or bare name."""
    order = sorted(range(len(tools)), key=lambda n: (not live[n], n))
    by_name = {tools[n].name: n for n in reversed(order)}
    return by_name | {tool.id: n for n, tool in enumerate(tools)}
