"""The object behind `engine.tools`, over the user's ledger."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any, TypeVar

import numpy as np

from vademecum.errors import Error, StoreError, UsageError
from vademecum.protocols import Clock, Embedder, Store
from vademecum.tools import records
from vademecum.tools.confidence import RELIABILITIES, smoothed
from vademecum.tools.fit import fitted
from vademecum.tools.observe import read_traces, read_transcript
from vademecum.tools.register import read_openapi, read_tools
from vademecum.tools.relations import graph_record
from vademecum.tools.search import PREDICTORS, THRESHOLD, K, Known, predict, search, shares, suggest
from vademecum.tools.tool_arrays import Reader, View
from vademecum.tools.tool_ledger import Ledger, within
from vademecum.tools.weights import Model, prior

T = TypeVar("T", records.ToolAnswer, records.Prediction, records.Plan)
RECURRING = 10  # meta-capabilities listed


class Tools:
    """The tools of a user: search, prediction and plans, from traces.

    Args:
        store: opens the user's database, when it is first needed.
        embedder: loads what turns text into vectors, when it is first needed.
        clock: tells the time, in seconds since the epoch.
        database: where that database is, to be shown.
        scope: whose tools these are (see `tool_ledger`); "" is the user, to whom all are open.
        reliability, min_score: for searches that name none.
    """

    def __init__(
        self, store: Callable[[], Store], embedder: Callable[[], Embedder], clock: Clock, database: str = "",
        scope: str = "", *, reliability: str = "smoothed", min_score: float = 0.0,
    ) -> None:  # fmt: skip
        self._given = store, embedder, clock, database
        self._reliability, self._min_score, self._database = reliability, min_score, database
        self._scopes: dict[str, Tools] = {}
        self._ledger = Ledger(store, clock, scope)
        self._reader = Reader(self._ledger, embedder)
        self._current = Current(self._ledger, self._reader)

    def within(self, scope: str) -> Tools:
        """Return the tools of a scope, a gateway's servers in one project."""
        if scope not in self._scopes:
            self._scopes[scope] = Tools(*self._given, scope, reliability=self._reliability, min_score=self._min_score)
        return self._scopes[scope]

    def retain(self, servers: Collection[str]) -> int:
        """Mark tools of all other servers as gone; return their number."""
        return self._ledger.retain(servers)

    def register(self, tools: Iterable[records.Tool], *, complete: Collection[str] = ()) -> records.RegisterReport:
        """Register tools; equal known ones stay as they are.

        `complete` are servers of which these are all tools: others of theirs are gone, until they come back.
        """
        return self._ledger.register(tools, complete)

    def register_json(self, text: str, *, server: str = "", replacing: bool = False) -> records.RegisterReport:
        """Register the tools of a JSON text, in any known shape.

        `server` is that of tools that name none; `replacing` says that the text has all tools of its servers.
        """
        tools, rejected = read_tools(text, server)
        complete = {tool.server for tool in tools} | ({server} if server else set()) if replacing else ()
        return replace(self._ledger.register(tools, complete), rejected=tuple(rejected))

    def register_openapi(self, text: str, *, server: str = "") -> records.RegisterReport:
        """Register an OpenAPI document's operations as a server's tools."""
        tools, rejected = read_openapi(text, server)
        return replace(self._ledger.register(tools, {tool.server for tool in tools}), rejected=tuple(rejected))

    def observe(self, traces: Iterable[records.Trace]) -> records.ObserveReport:
        """Take traces in; the same trace observed twice is one trace."""
        report = self._ledger.observe(traces)
        self._current.learn()
        return report

    def observe_json(self, text: str) -> records.ObserveReport:
        """Take in the traces of a JSON text or JSON lines."""
        traces, rejected = read_traces(text)
        return replace(self.observe(traces), rejected=tuple(rejected))

    def observe_transcript(self, text: str) -> records.ObserveReport:
        """Take in the traces of a coding agent's transcript, each once."""
        return self.observe(read_transcript(text))

    def forget(self, traces: Collection[str]) -> int:
        """Delete traces by their ids. Returns how many there were."""
        return self._ledger.forget(traces)

    def pin(self, tool: str, *, pinned: bool = True) -> None:
        """Show a tool with every search, or no longer."""
        self._ledger.pin(tool, pinned=pinned)

    def page(self, plan: records.Plan | None = None) -> str:
        """Return an HTML page of the tools, their links and a plan."""
        from vademecum.page_file import page_file

        listed = [each.record() for each in self.catalogue()]
        stats = asdict(self.stats()) | {"database": ""}  # the page may be shown to others
        held = {"/tools": {"items": listed}, "/tools/stats": stats, "/tools/graph": self.drawn()}
        start = {"tab": "graph"}
        if plan is not None:
            start = {"tab": "plan", "q": plan.intent}
            held["/tools/search"] = asdict(self.search(plan.intent, k=8))
            held["/tools/predict"] = asdict(self.predict(plan.intent, k=5))
            held["/tools/suggest"] = asdict(plan)
        return page_file("tools", "Tools and how they lead to each other", start, held)

    def drawn(self) -> dict[str, Any]:
        """Return nodes, and hyperarcs between them, as JSON-serialisable values."""
        tools = [kept.tool for kept in self._ledger.tools() if not kept.gone]
        return graph_record(tools, self._ledger.traces(), self._current.read().groups.known)

    def group(self, id_: str) -> records.Group | None:
        """Return a learned group by its id; None for an unknown one."""
        return self._now().groups.known.get(id_)

    def traces(self, ids: Collection[str] = (), *, tool: str = "") -> list[records.Trace]:
        """Return traces, the latest first, by id or by called tool."""
        found = [trace for trace in self._ledger.traces() if not ids or trace.id in ids]
        called = [trace for trace in found if not tool or any(call.tool == tool for call in trace.calls)]
        return sorted(called, key=lambda trace: (-trace.at, trace.id))

    def catalogue(self) -> list[records.Listed]:
        """Return every registered tool by id, with how it fared."""
        used, kept = {usage.tool: usage for usage in self.stats().used}, self._ledger.tools()
        return [records.Listed(each.tool, each.pinned, used.get(each.tool.id)) for each in kept if not each.gone]

    def search(
        self, intent: str, *, k: int = K, server: str = "", reliability: str = "", min_score: float | None = None,
        unfinished: str = "",
    ) -> records.ToolAnswer:  # fmt: skip
        """Return the few tools that fit an intent, best first, with why.

        Args:
            intent: what is to be done, or a tool's name.
            k: at most how many, pinned ones and chains apart.
            server: only tools of this one.
            reliability: a key of `tools.confidence.RELIABILITIES`; "" is the setting's.
            min_score: the least `semantic` of a shown tool but exact names and pins, 0..1; None is the setting's.
            unfinished: the id of the task's own trace, which is no evidence yet.

        Raises:
            UsageError: an argument is wrong.
        """
        reliability = reliability or self._reliability
        least = self._min_score if min_score is None else min_score
        if reliability not in RELIABILITIES:
            raise UsageError(f"no reliability {reliability!r}: it is one of {', '.join(RELIABILITIES)}")
        if not 0 <= least <= 1:
            raise UsageError(f"the least score is {least}: it is a probability, between 0 and 1")
        known = self._now(k)
        return self._told(
            search(known, intent, k=k, server=server, reliability=reliability, min_score=least, unfinished=unfinished)
        )

    def shares(self, intent: str, *, unfinished: str = "") -> dict[str, float]:
        """Return each tool's probability as a call for an intent, by id."""
        return shares(self._now(), intent, unfinished)

    def predict(
        self, intent: str, *, after: Sequence[str] = (), earlier: Sequence[str] = (), k: int = 3,
        threshold: float = THRESHOLD, by: str = PREDICTORS[0], unfinished: str = "",
    ) -> records.Prediction:  # fmt: skip
        """Return the likeliest next calls for an intent, with evidence.

        Args:
            intent: what is to be done.
            after: ids of the tools called for it so far, in order.
            earlier: ids of the tools called before in the same session, for other intents.
            k: at most how many.
            threshold: abstain below this probability.
            by: "attention" sees what was called; "goal" and "shgat" score a target by the intent alone (`shgat`).
            unfinished: the id of the task's own trace, which is no evidence yet.

        Raises:
            UsageError: an argument is wrong.
        """
        if not 0 <= threshold <= 1:
            raise UsageError(f"the threshold is {threshold}: it is a probability, between 0 and 1")
        if by not in PREDICTORS:
            raise UsageError(f"{by!r} predicts nothing: choose among {', '.join(PREDICTORS)}")
        known = self._now(k)
        return self._told(
            predict(known, intent, after, earlier, k=k, threshold=threshold, by=by, unfinished=unfinished)
        )

    def suggest(self, intent: str, *, unfinished: str = "") -> records.Plan:
        """Return a plan for an intent: calls in layers, with evidence."""
        return self._told(suggest(self._now(), intent, unfinished))

    def fit(self) -> int:
        """Fit the weights on all traces now; return the number of traces."""
        return len(self._current.fit().view.traces)

    def stats(self) -> records.ToolsStatus:
        """Return counts of tools and traces, and each tool's usage."""
        return _status(self._current.read(), self._database)

    def settle(self) -> int:
        """Wait until all traces and weights count; return the number of traces."""
        return len(self._current.settle().view.traces)

    def close(self) -> None:
        """Stop working in traces; the next process continues."""
        for each in self._scopes.values():
            each.close()
        self._current.close()

    def _now(self, k: int = 1) -> Known:
        """Return the current state for a question about `k` tools."""
        if k < 1:
            raise UsageError(f"k is {k}: ask for one tool or more")
        return self._current.now()

    def _told(self, answer: T) -> T:
        """Add to an answer's reason why words alone ranked, where they did."""
        if not (problem := self._reader.problem):
            return answer
        return replace(answer, reason="; ".join(filter(None, (f"ranked by words alone: {problem}", answer.reason))))


def _status(known: Known, database: str) -> records.ToolsStatus:
    """Count tools, traces and learned groups."""
    view, groups = known.view, known.groups.known
    metas = [group for group in groups.values() if group.kind == "meta"]
    listed = dict.fromkeys(id_ for meta in metas[:RECURRING] for id_ in (*meta.members, meta.id) if id_ in groups)
    live = [tool for number, tool in enumerate(view.tools) if view.live[number]]
    used = _usage(view)
    return records.ToolsStatus(
        len(live), dict(Counter(tool.server for tool in live).most_common()),
        len(view.traces), len({trace.session for trace in view.traces if trace.session}),
        sum(len(chain) > 1 for chain in view.graph.capabilities), len(metas),
        tuple(groups[id_] for id_ in listed), used,
        int(sum(view.calls[view.number[tool.id]] == 0 for tool in live)),
        tuple(view.tools[number].id for number in view.pinned), database,
    )  # fmt: skip


def _usage(view: View) -> tuple[records.Usage, ...]:
    """The usage of each called tool, the most called first."""
    reliability = smoothed(view.good, view.calls)
    took: dict[int, list[float]] = {}
    last: dict[int, float] = {}
    for trace, chain in zip(view.traces, view.chains, strict=True):
        for call, tool in zip(trace.calls, chain, strict=True):
            last[tool] = max(last.get(tool, 0.0), trace.at)
            took.setdefault(tool, []).extend([call.latency_s] if call.latency_s else [])
    return tuple(
        records.Usage(
            view.tools[n].id, int(view.calls[n]), int(view.calls[n] - view.good[n]), float(reliability[n]),
            median(took[n]) if took[n] else 0.0, last[n],
        )
        for n in np.argsort(-view.calls, kind="stable").tolist() if view.calls[n]
    )  # fmt: skip


ENOUGH = 20  # traces from which weights of one's own are fitted
GROWTH = 2.0  # times as many traces as at the last fit: fitted anew
FEW = 200  # traces that a question works in by itself
QUIET_S = 0.25  # before the thread begins, so that the next question comes first
_MODEL = "tools.model"


class Current:
    """Keeps the view current, beside the questions where that takes long."""

    def __init__(self, ledger: Ledger, reader: Reader) -> None:
        self._ledger, self._reader, self._fact = ledger, reader, within(ledger.scope, _MODEL)
        self._known: Known | None = None
        self._making = threading.RLock()  # one view at a time: the reader and the database are this one's
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._hurry = threading.Event()  # somebody waits for the thread
        self._problem = ""  # why the thread could not go on
        self._closed = False

    def now(self) -> Known:
        """Return the state for a question."""
        version, known = self._ledger.version(), self._known
        if (
            known is None or self._reader.lacks_vectors or self._problem
            or known.version.catalogue != version.catalogue
            or (known.version != version and len(known.view.traces) <= FEW)
        ):  # fmt: skip
            known = self.read()
        if known.version != version or self._is_due(known):
            self._begin()
        return known

    def learn(self) -> None:
        """Start to work in new traces, after a first question."""
        if self._known is not None and self._known.version != self._ledger.version():
            self._begin()

    def read(self, *, laid_out: bool = False) -> Known:
        """Return the current state, with the weights as they are.

        `laid_out` computes all that questions need before any of them sees it.
        """
        with self._making:
            if laid_out:
                self._check()
            version = self._ledger.version()
            if self._known is None or self._known.version != version or self._reader.lacks_vectors:
                view, model = self._reader.view(), Model.read(self._ledger.fact(self._fact))
                made = Known(view, model or prior(), version)
                if laid_out:
                    _ = view.ridge, view.metas.after, view.graph.merged, made.ways, made.pairs, made.groups.known
                self._known, self._problem = made, ""
            return self._known

    def settle(self) -> Known:
        """Wait until all traces and weights count; return the state."""
        self._hurry.set()
        if thread := self._thread:
            thread.join()
        self._hurry.clear()
        known = self.read()
        return self.fit(known) if self._is_due(known) else known

    def close(self) -> None:
        """Release the database; unfinished work of the thread is dropped.

        A thread that is still at work when the interpreter ends can abort the process.
        """
        self._hurry.set()
        with self._making:
            self._closed = True
        if thread := self._thread:
            thread.join()

    def _check(self) -> None:
        if self._closed:
            raise StoreError("the tools were closed")

    def _is_due(self, known: Known) -> bool:
        """Return whether the weights are to be fitted, and can be."""
        return not self._reader.problem and len(known.view.traces) >= max(ENOUGH, GROWTH * known.model.traces)

    def fit(self, known: Known | None = None) -> Known:
        """Fit the weights now, due or not, store and use them.

        Without the embedder they would be those of words alone.
        """
        known = known or self.read()
        if not known.view.traces or self._reader.problem:
            return known
        model = fitted(known.view, known.pairs, prior(), check=self._check)
        with self._making:
            if not self._closed and not self._reader.problem:
                self._ledger.keep_fact(self._fact, model.write())
                self._known = replace(self._known or known, model=model)
            return self._known or known

    def _begin(self) -> None:
        """Start the thread, unless it is at work."""
        with self._starting:
            if not self._closed and not self._problem and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name="vademecum-tools", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        self._hurry.wait(QUIET_S)
        try:
            while not self._closed:
                known = self.read(laid_out=True)
                if self._is_due(known):
                    self.fit(known)
                elif known.version == self._ledger.version():
                    return
        except Error as error:  # the next question reads by itself, and says what is wrong
            self._problem = str(error)
