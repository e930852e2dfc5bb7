"""The object behind `engine.tools`, over the user's ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any, TypeVar

import numpy as np

from vademecum.errors import UsageError
from vademecum.protocols import Clock, Embedder, Store
from vademecum.tools.confidence import RELIABILITIES, smoothed
from vademecum.tools.ledger import Ledger
from vademecum.tools.observe import read_traces
from vademecum.tools.openapi import read_openapi
from vademecum.tools.picture import graph_record
from vademecum.tools.predict import PREDICTORS, THRESHOLD, predict
from vademecum.tools.records import (
    Group,
    Listed,
    ObserveReport,
    Plan,
    Prediction,
    RegisterReport,
    Tool,
    ToolAnswer,
    ToolsStatus,
    Trace,
    Usage,
)
from vademecum.tools.refresh import Current, Known
from vademecum.tools.register import read_tools
from vademecum.tools.search import K, search
from vademecum.tools.suggest import suggest
from vademecum.tools.transcripts import read_transcript
from vademecum.tools.view import Reader, View

T = TypeVar("T", ToolAnswer, Prediction, Plan)
RECURRING = 10  # meta-capabilities listed


class Tools:
    """The tools of a user: search, prediction and plans, from traces.

    Args:
        store: opens the user's database, when it is first needed.
        embedder: loads what turns text into vectors, when it is first needed.
        clock: tells the time, in seconds since the epoch.
        database: where that database is, to be shown.
        scope: whose tools these are (see `ledger`); "" is the user, to whom all are open.
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

    def register(self, tools: Iterable[Tool], *, complete: Collection[str] = ()) -> RegisterReport:
        """Register tools; equal known ones stay as they are.

        `complete` are servers of which these are all tools: others of theirs are gone, until they come back.
        """
        return self._ledger.register(tools, complete)

    def register_json(self, text: str, *, server: str = "", replacing: bool = False) -> RegisterReport:
        """Register the tools of a JSON text, in any known shape.

        `server` is that of tools that name none; `replacing` says that the text has all tools of its servers.
        """
        tools, rejected = read_tools(text, server)
        complete = {tool.server for tool in tools} | ({server} if server else set()) if replacing else ()
        return replace(self._ledger.register(tools, complete), rejected=tuple(rejected))

    def register_openapi(self, text: str, *, server: str = "") -> RegisterReport:
        """Register an OpenAPI document's operations as a server's tools."""
        tools, rejected = read_openapi(text, server)
        return replace(self._ledger.register(tools, {tool.server for tool in tools}), rejected=tuple(rejected))

    def observe(self, traces: Iterable[Trace]) -> ObserveReport:
        """Take traces in; the same trace observed twice is one trace."""
        report = self._ledger.observe(traces)
        self._current.learn()
        return report

    def observe_json(self, text: str) -> ObserveReport:
        """Take in the traces of a JSON text or JSON lines."""
        traces, rejected = read_traces(text)
        return replace(self.observe(traces), rejected=tuple(rejected))

    def observe_transcript(self, text: str) -> ObserveReport:
        """Take in the traces of a coding agent's transcript, each once."""
        return self.observe(read_transcript(text))

    def forget(self, traces: Collection[str]) -> int:
        """Delete traces by their ids. Returns how many there were."""
        return self._ledger.forget(traces)

    def pin(self, tool: str, *, pinned: bool = True) -> None:
        """Show a tool with every search, or no longer."""
        self._ledger.pin(tool, pinned=pinned)

    def page(self, plan: Plan | None = None) -> str:
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

    def group(self, id_: str) -> Group | None:
        """Return a learned group by its id; None for an unknown one."""
        return self._now().groups.known.get(id_)

    def traces(self, ids: Collection[str] = (), *, tool: str = "") -> list[Trace]:
        """Return traces, the latest first, by id or by called tool."""
        found = [trace for trace in self._ledger.traces() if not ids or trace.id in ids]
        called = [trace for trace in found if not tool or any(call.tool == tool for call in trace.calls)]
        return sorted(called, key=lambda trace: (-trace.at, trace.id))

    def catalogue(self) -> list[Listed]:
        """Return every registered tool by id, with how it fared."""
        used, kept = {usage.tool: usage for usage in self.stats().used}, self._ledger.tools()
        return [Listed(each.tool, each.pinned, used.get(each.tool.id)) for each in kept if not each.gone]

    def search(
        self, intent: str, *, k: int = K, server: str = "", reliability: str = "", min_score: float | None = None,
        unfinished: str = "",
    ) -> ToolAnswer:  # fmt: skip
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

    def predict(
        self, intent: str, *, after: Sequence[str] = (), earlier: Sequence[str] = (), k: int = 3,
        threshold: float = THRESHOLD, by: str = PREDICTORS[0], unfinished: str = "",
    ) -> Prediction:  # fmt: skip
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

    def suggest(self, intent: str, *, unfinished: str = "") -> Plan:
        """Return a plan for an intent: calls in layers, with evidence."""
        return self._told(suggest(self._now(), intent, unfinished))

    def fit(self) -> int:
        """Fit the weights on all traces now; return the number of traces."""
        return len(self._current.fit().view.traces)

    def stats(self) -> ToolsStatus:
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


def _status(known: Known, database: str) -> ToolsStatus:
    """Count tools, traces and learned groups."""
    view, groups = known.view, known.groups.known
    metas = [group for group in groups.values() if group.kind == "meta"]
    listed = dict.fromkeys(id_ for meta in metas[:RECURRING] for id_ in (*meta.members, meta.id) if id_ in groups)
    live = [tool for number, tool in enumerate(view.tools) if view.live[number]]
    used = _usage(view)
    return ToolsStatus(
        len(live), dict(Counter(tool.server for tool in live).most_common()),
        len(view.traces), len({trace.session for trace in view.traces if trace.session}),
        sum(len(chain) > 1 for chain in view.graph.capabilities), len(metas),
        tuple(groups[id_] for id_ in listed), used,
        int(sum(view.calls[view.number[tool.id]] == 0 for tool in live)),
        tuple(view.tools[number].id for number in view.pinned), database,
    )  # fmt: skip


def _usage(view: View) -> tuple[Usage, ...]:
    """The usage of each called tool, the most called first."""
    reliability = smoothed(view.good, view.calls)
    took: dict[int, list[float]] = {}
    last: dict[int, float] = {}
    for trace, chain in zip(view.traces, view.chains, strict=True):
        for call, tool in zip(trace.calls, chain, strict=True):
            last[tool] = max(last.get(tool, 0.0), trace.at)
            took.setdefault(tool, []).extend([call.latency_s] if call.latency_s else [])
    return tuple(
        Usage(
            view.tools[n].id, int(view.calls[n]), int(view.calls[n] - view.good[n]), float(reliability[n]),
            median(took[n]) if took[n] else 0.0, last[n],
        )
        for n in np.argsort(-view.calls, kind="stable").tolist() if view.calls[n]
    )  # fmt: skip
