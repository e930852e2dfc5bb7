"""The capability as one object: what `engine.tools` offers, over one ledger for the user."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from vademecum.errors import UsageError
from vademecum.protocols import Clock, Embedder, Store, ToolServer
from vademecum.tools.ledger import Ledger
from vademecum.tools.observe import read_traces
from vademecum.tools.openapi import read_openapi
from vademecum.tools.page import graph_page
from vademecum.tools.records import ObserveReport, Plan, RegisterReport, Tool, ToolAnswer, Trace
from vademecum.tools.register import read_tools
from vademecum.tools.reliability import RELIABILITIES
from vademecum.tools.search import K, Wanted, search
from vademecum.tools.sources import listed
from vademecum.tools.view import Reader


class Tools:
    """Knows which tools there are and how they were used; says which fits, which comes next, and what the plan is.

    Args:
        store: opens the user's database, when it is first needed.
        embedder: loads what turns text into vectors, when it is first needed.
        clock: tells the time, in seconds since the epoch.
    """

    def __init__(self, store: Callable[[], Store], embedder: Callable[[], Embedder], clock: Clock) -> None:
        self._ledger = Ledger(store, clock)
        self._reader = Reader(self._ledger, embedder)

    def register(self, tools: Iterable[Tool], *, complete: Collection[str] = ()) -> RegisterReport:
        """Take tools in; what is known with the same words is left as it is.

        Args:
            tools: each with its server.
            complete: servers of which these are all tools: others of theirs are gone, until they come back.

        Raises:
            StoreError: the database could not take them; it is as it was.
        """
        return self._ledger.register(tools, complete)

    def register_json(self, text: str, *, server: str = "", replacing: bool = False) -> RegisterReport:
        """Take in the tools of a JSON text, in any shape `tools.register` knows.

        Args:
            text: the JSON.
            server: the server of those that name none.
            replacing: whether the text has all tools of the servers it names.

        Raises:
            UsageError: it is not JSON.
        """
        tools, rejected = read_tools(text, server)
        complete = {tool.server for tool in tools} | ({server} if server else set()) if replacing else ()
        return replace(self._ledger.register(tools, complete), rejected=tuple(rejected))

    def register_server(self, server: ToolServer) -> RegisterReport:
        """Take in what a running server lists: these are all its tools.

        Raises:
            ToolServerError: it cannot be asked; what was known of it stays.
        """
        tools, rejected = listed(server)
        return replace(self._ledger.register(tools, {server.name}), rejected=tuple(rejected))

    def register_openapi(self, text: str, *, server: str = "") -> RegisterReport:
        """Take in the operations of an OpenAPI document, as JSON or YAML: these are all tools of that server.

        Args:
            text: the document.
            server: what it is called; its title unless given.

        Raises:
            UsageError: it is no OpenAPI document.
        """
        tools, rejected = read_openapi(text, server)
        return replace(self._ledger.register(tools, {tool.server for tool in tools}), rejected=tuple(rejected))

    def observe(self, traces: Iterable[Trace]) -> ObserveReport:
        """Take traces in; the same trace observed twice is one trace.

        Raises:
            StoreError: the database could not take them; it is as it was.
        """
        return self._ledger.observe(traces)

    def observe_json(self, text: str) -> ObserveReport:
        """Take in the traces of a JSON text, or JSON lines, as `tools.observe` describes them.

        Raises:
            UsageError: it is not JSON.
        """
        traces, rejected = read_traces(text)
        return replace(self._ledger.observe(traces), rejected=tuple(rejected))

    def pin(self, tool: str, *, pinned: bool = True) -> None:
        """Show a tool with every search, or no longer.

        Raises:
            UsageError: no tool has this id.
        """
        self._ledger.pin(tool, pinned=pinned)

    def page(self, plan: Plan | None = None) -> str:
        """Return an HTML page, complete in itself, that shows how tools lead to each other, and a plan if one is given."""
        tools = [kept.tool for kept in self._ledger.tools() if not kept.gone]
        return graph_page(tools, self._ledger.traces(), plan)

    def search(self, intent: str, *, k: int = K, server: str = "", reliability: str = "smoothed") -> ToolAnswer:
        """Return the few tools that fit an intent, best first, with why.

        Args:
            intent: what is to be done, or a tool's name.
            k: at most how many, pinned ones apart.
            server: only tools of this one.
            reliability: a key of `tools.reliability.RELIABILITIES`.

        Raises:
            UsageError: an argument is wrong.
        """
        if reliability not in RELIABILITIES:
            raise UsageError(f"no reliability {reliability!r}: it is one of {', '.join(RELIABILITIES)}")
        if k < 1:
            raise UsageError(f"k is {k}: ask for one tool or more")
        return search(self._reader.view(), Wanted(intent, k, server, reliability))
