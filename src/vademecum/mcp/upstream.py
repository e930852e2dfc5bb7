"""A server behind the gateway: its tools, its state, its restarts.

A fleet is the servers behind a gateway, by name. Their file is read again when it changes.

    fleet = Fleet.of_file("servers.json", opening)
    fleet.refresh()          closes removed servers, makes added ones; unchanged ones go on
    fleet.all["notes"]

A wrong entry is named in `problems`, and the other servers count. While the whole file is wrong, the servers from before go on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vademecum.errors import ConfigError, Error, ToolServerError
from vademecum.mcp.client import working
from vademecum.protocols import Clock, OfferingServer, TellingServer, Told, ToolServer
from vademecum.providers.servers.configured import Rules, ServerSpec, read_servers
from vademecum.tools.records import Tool
from vademecum.tools.register import listed

Opening = Callable[[ServerSpec], "Upstream"]


class Fleet:
    """Servers by name, as a mapping that is replaced as a whole.

    `path` is that of their file, "" without one.
    """

    def __init__(self, upstreams: Sequence[Upstream] = ()) -> None:
        self.all: Mapping[str, Upstream] = {upstream.name: upstream for upstream in upstreams}
        self.problems: tuple[str, ...] = ()
        self._specs: Mapping[str, ServerSpec] = {}
        self.path = ""
        self._opening: Opening | None = None
        self._stamp: tuple[int, int] | None = None
        self._lock = threading.Lock()

    @classmethod
    def of_file(cls, path: str, opening: Opening) -> Fleet:
        """Return a file's servers, unstarted. Raises `ConfigError` without any."""
        fleet, problems = cls(), list[str]()
        fleet.path, fleet._opening, fleet._stamp = path, opening, _stamp(path)
        fleet._take(read_servers(path, problems=problems))
        fleet.problems = tuple(problems)
        return fleet

    def refresh(self) -> None:
        """Read the file again if it changed."""
        if self._opening is None or _stamp(self.path) == self._stamp:
            return
        with self._lock:
            stamp, problems = _stamp(self.path), list[str]()
            if stamp == self._stamp:
                return
            self._stamp = stamp
            try:
                specs = read_servers(self.path, problems=problems)
            except ConfigError as error:
                self.problems = (f"{error}: the servers from before go on",)
                return
            self._take(specs)
            self.problems = tuple(problems)

    def _take(self, specs: Sequence[ServerSpec]) -> None:
        assert self._opening is not None
        before: Mapping[str, Upstream] = self.all
        kept: dict[str, Upstream] = {}
        for spec in specs:
            known = self._specs.get(spec.name)
            same = known is not None and replace(known, rules=spec.rules) == spec
            kept[spec.name] = before[spec.name] if same else self._opening(spec)
            kept[spec.name].rules = spec.rules
        self.all, self._specs = kept, {spec.name: spec for spec in specs}
        for name, upstream in before.items():
            if kept.get(name) is not upstream:
                threading.Thread(target=upstream.close, name=f"{name}-close").start()


def _stamp(path: str) -> tuple[int, int] | None:
    """Return a file's time and size; None for a missing file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


PATIENCE_S = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)  # seconds before the nth restart in a row


class Upstream:
    """One server, restarted with growing delays when it fails.

    It starts at its first request. The clock tells seconds that only grow.
    """

    def __init__(self, name: str, open_server: Callable[[], ToolServer], clock: Clock) -> None:
        self.name = name  # with which its tools' ids begin
        self.problem = ""  # the reason for having no tools now
        self.tools: Mapping[str, Tool] = {}  # by name, as last listed
        self.rules = Rules()
        self.listed = threading.Event()  # set after the first attempt to list tools
        self._open = open_server
        self._clock = clock
        self._lock = threading.Lock()
        self._listing = threading.Lock()
        self._server: ToolServer | None = None
        self._failures = 0
        self._cause = ""  # of the last failure
        self._not_before = 0.0
        self._closed = False

    @property
    def stale(self) -> bool:
        """True when the tools must be listed again."""
        server = self._server
        return not self.listed.is_set() or bool(self.problem) or (server is not None and server.stale)

    def refresh(self) -> bool:
        """List the tools again if they may have changed.

        Returns whether a new list was stored; `problem` holds the reason of a failure.
        """
        with self._listing:
            if not self.stale:
                return False
            try:
                tools, _ = listed(self._ready())
            except Error as error:
                self.problem = self._cause = str(error)
                return False
            finally:
                self.listed.set()
            self.tools, self.problem = {tool.name: tool for tool in tools}, ""
            return True

    def call(self, tool: str, arguments: Mapping[str, Any], told: Told | None = None) -> Mapping[str, Any]:
        """Call a tool and return its result in MCP's form.

        A failed call is not repeated. `told` receives progress, if the server reports it.

        Raises:
            ToolServerError: The server is gone, too slow, or sends a malformed answer; the message says what happens next.
        """
        server = self._ready()
        working(self.name)
        try:
            if told is not None and isinstance(server, TellingServer):
                result = server.call_telling(tool, arguments, told).unwrap()
            else:
                result = server.call(tool, arguments).unwrap()
        except ToolServerError as error:
            self._cause = str(error)
            if server.alive:
                raise
            raise ToolServerError(f"{error}: it is started again with the next call") from error
        self._failures = 0
        return result

    def has(self, capability: str) -> bool:
        """Return whether the server has an MCP capability. Raises `ToolServerError`."""
        server = self._ready()
        return isinstance(server, OfferingServer) and capability in server.offers().unwrap()

    def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of any MCP request. Raises `ToolServerError`."""
        server = self._ready()
        if not isinstance(server, OfferingServer):
            raise ToolServerError(f"{self.name} has tools alone: it cannot be asked {method}")
        working(self.name)
        return server.ask(method, params).unwrap()

    def close(self) -> None:
        """Close the server for good."""
        with self._lock:
            self._closed = True
            server, self._server = self._server, None
        if server:
            server.close()

    def _ready(self) -> ToolServer:
        """Return the server, restarted after its delay. Raises `ToolServerError` before."""
        with self._lock:
            if self._closed:
                raise ToolServerError(f"{self.name} was closed with the gateway")
            if self._server is not None and not self._server.alive:
                self._server.close()
                self._server = None
                self._not_before = self._clock() + PATIENCE_S[min(self._failures, len(PATIENCE_S) - 1)]
                self._failures += 1
                self.listed.clear()  # a new one may have other tools
            if self._server is None:
                wait = self._not_before - self._clock()
                if wait > 0:
                    cause = self._cause.partition(" (failed ")[0]
                    raise ToolServerError(f"{cause} (failed {self._failures} times; next try in {wait:.0f} s)")
                self._server = self._open()
            return self._server
