"""The servers behind the gateway: tools, state, restarts, and pass-through.

A fleet is the servers behind a gateway, by name. Their file is read again when it changes.

    fleet = Fleet.of_file("servers.json", opening)
    fleet.refresh()          closes removed servers, makes added ones; unchanged ones go on
    fleet.all["notes"]

A wrong entry is named in `problems`, and the other servers count. While the whole file is wrong, the servers from before go on.

Resources, prompts, completions, logs and questions pass through. Names begin with the server's name, like those of
tools, so a name never depends on the other servers:

    a prompt      review             becomes  notes/review
    a resource    file:///roof.md    becomes  vade://notes/file:///roof.md
    a logger      db                 becomes  notes/db

Nothing is cached. Each list asks all servers with that capability in parallel; a server that fails is left out and
logged.

A server may also ask for the user, the model or the roots while it runs a call (`elicitation/create`,
`sampling/createMessage`, `roots/list`), if its client accepts that. So the gateway announces to its servers exactly the
capabilities of its own client. The client sees the gateway's name alone, so a question to the user, a form or a page,
begins with the name of the asking server.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from vademecum.errors import ConfigError, Error, ToolServerError, UsageError
from vademecum.mcp.client import working
from vademecum.protocols import AskingServer, Clock, OfferingServer, TellingServer, Told, ToolServer
from vademecum.providers.servers.configured import Rules, ServerSpec, read_servers
from vademecum.providers.servers.wire import METHOD_NOT_FOUND, can_be_asked, every_page, offered
from vademecum.tools.records import Tool
from vademecum.tools.register import listed

if TYPE_CHECKING:
    from vademecum.protocols import Hears

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


SCHEME = "vade://"
CAPABILITIES: Mapping[str, Any] = {
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
LISTING_S = 10.0  # to wait for slow servers
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LOG = "notifications/message"
_UPDATED = "notifications/resources/updated"
_VISITED = "notifications/elicitation/complete"  # the user has finished with the page
_HANDED_ON = ("notifications/resources/list_changed", "notifications/prompts/list_changed")
_FOR_ANYBODY = ("http://", "https://")  # links that the client can read itself stay unchanged

Params = Mapping[str, Any]
Asking = Callable[[str, Mapping[str, Any], str], Mapping[str, Any]]  # (method, params, asking server) → answer


class Offerings:
    """Passes requests to servers, and their notifications to the client."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._level = ""  # lowest log level the client wants; "" for the servers' default
        self._tell: Hears = lambda *_: None
        self.methods: Mapping[str, Callable[[Params], Params]] = {
            "resources/list": lambda _: self._all("resources", "resources/list", "resources"),
            "resources/templates/list": lambda _: self._all(
                "resources", "resources/templates/list", "resourceTemplates"
            ),
            "resources/read": lambda params: self._of_resource("resources/read", params),
            "resources/subscribe": lambda params: self._of_resource("resources/subscribe", params),
            "resources/unsubscribe": lambda params: self._of_resource("resources/unsubscribe", params),
            "prompts/list": lambda _: self._all("prompts", "prompts/list", "prompts"),
            "prompts/get": self._prompt,
            "completion/complete": self._complete,
            "logging/setLevel": self._set_level,
        }

    def connect(self, tell: Hears) -> None:
        """Set the client that receives notifications."""
        self._tell = tell

    def arrived(self, upstream: Upstream) -> None:
        """Send the wanted log level to a newly listed server."""
        if self._level:
            self._try(upstream, "logging", "logging/setLevel", {"level": self._level})

    def hear(self, server: str, method: str, params: Params) -> None:
        """Pass on a notification of a server."""
        if method == _LOG and self._is_wanted(params.get("level")):
            logger = params.get("logger")
            self._tell(_LOG, {**params, "logger": f"{server}/{logger}" if isinstance(logger, str) else server})
        elif method == _UPDATED and isinstance(params.get("uri"), str):
            self._tell(_UPDATED, {**params, "uri": outside(server, params["uri"])})
        elif method == _VISITED:
            self._tell(method, params)
        elif method in _HANDED_ON:
            self._tell(method, {})

    # Lists, of all servers.

    def _all(self, capability: str, method: str, key: str) -> Params:
        """Ask every server with a capability for its list, in parallel."""
        found: dict[str, list[Params]] = {}
        servers = self._fleet.all
        threads = [
            threading.Thread(target=self._list, args=(each, capability, method, key, found), daemon=True)
            for each in servers.values()
        ]
        deadline = time.monotonic() + LISTING_S
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
        for name, thread in zip(servers, threads, strict=True):
            if thread.is_alive():
                self._warn(f"{name} did not answer {method} within {LISTING_S:g} s: it is left out")
        listed = dict(found)
        return {key: [_named(name, item) for name in servers for item in listed.get(name, ())]}

    def _list(self, upstream: Upstream, capability: str, method: str, key: str, found: dict[str, list[Params]]) -> None:
        try:
            if upstream.has(capability):
                found[upstream.name] = every_page(
                    upstream.name,
                    method,
                    key,
                    lambda cursor: upstream.ask(method, {"cursor": cursor} if cursor else {}),
                )
        except Error as error:
            self._warn(str(error))

    # One thing of one server.

    def _of_resource(self, method: str, params: Params) -> Params:
        upstream, uri = self._resource(params.get("uri"))
        result = upstream.ask(method, {**params, "uri": uri})
        if method != "resources/read":
            return {}
        contents = result.get("contents")
        return {**result, "contents": [_with_uri(upstream.name, part) for part in _dicts(contents)]}

    def _prompt(self, params: Params) -> Params:
        upstream, name = self._named(params.get("name"))
        result = upstream.ask("prompts/get", {**params, "name": name})
        said = [
            {**message, "content": linked(upstream.name, [message["content"]])[0]}
            if isinstance(message.get("content"), Mapping)
            else message
            for message in _dicts(result.get("messages"))
        ]
        return {**result, "messages": said}

    def _complete(self, params: Params) -> Params:
        given = params.get("ref")
        ref: Params = given if isinstance(given, Mapping) else {}
        key = "uri" if ref.get("type") == "ref/resource" else "name"
        upstream, inner = (self._resource if key == "uri" else self._named)(ref.get(key))
        if not upstream.has("completions"):
            return {"completion": {"values": []}}
        return upstream.ask("completion/complete", {**params, "ref": {**ref, key: inner}})

    def _set_level(self, params: Params) -> Params:
        level = params.get("level")
        if level not in LEVELS:
            raise UsageError(f"no level {level!r}: it is one of {', '.join(LEVELS)}")
        self._level = level
        for upstream in self._fleet.all.values():
            if upstream.listed.is_set():  # other servers get the level when they have started
                threading.Thread(target=self.arrived, args=(upstream,), daemon=True).start()
        return {}

    def _resource(self, asked: Any) -> tuple[Upstream, str]:
        """Return the server of a resource, and its own URI."""
        uri = asked if isinstance(asked, str) else ""
        server, _, inner = uri.removeprefix(SCHEME).partition("/")
        upstream = self._fleet.all.get(unquote(server))
        if not uri.startswith(SCHEME) or not inner or upstream is None:
            raise UsageError(f"no resource {asked!r}: resources/list names them as {SCHEME}server/uri")
        return upstream, inner

    def _named(self, asked: Any) -> tuple[Upstream, str]:
        """Return the server of a prompt, and its own name."""
        server, _, name = asked.partition("/") if isinstance(asked, str) else ("", "", "")
        upstream = self._fleet.all.get(server)
        if not name or upstream is None:
            raise UsageError(f"no prompt {asked!r}: prompts/list names them as server/prompt")
        return upstream, name

    # The log.

    def _is_wanted(self, level: Any) -> bool:
        return level in LEVELS and (not self._level or LEVELS.index(level) >= LEVELS.index(self._level))

    def _warn(self, said: str) -> None:
        if self._is_wanted("warning"):
            self._tell(_LOG, {"level": "warning", "logger": "vademecum", "data": said})

    def _try(self, upstream: Upstream, capability: str, method: str, params: Params) -> None:
        try:
            if upstream.has(capability):
                upstream.ask(method, params)
        except Error as error:
            self._warn(str(error))


class Questions:
    """Passes the servers' questions to the client, once there is one."""

    def __init__(self) -> None:
        self._asks: Asking | None = None
        self._offers: Mapping[str, Any] = {}
        self._connected = threading.Event()

    def connect(self, asks: Asking | None, capabilities: Mapping[str, Any]) -> None:
        """Set the client, with the capabilities it named."""
        self._asks, self._offers = asks, offered(capabilities)
        self._connected.set()

    def serve(self, server: ToolServer) -> None:
        """Answer the questions of a new server.

        Does nothing if the client accepts no questions. Waits until the client is known: its first message may be a
        call, and that call may start the server.
        """
        self._connected.wait()
        if isinstance(server, AskingServer) and self._offers:
            server.answer_by(lambda method, params: self._asked(server.name, method, params), self._offers)

    def ask_user(self, server: str, message: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Ask the client's user with a form, for a server's call.

        Returns the fields of the form, none of them if the user declined; None if the client cannot ask.
        """
        params: Params = {"message": message, "requestedSchema": schema}
        if self._asks is None or not can_be_asked("elicitation/create", params, self._offers):
            return None
        working(server)
        answer = self._asks("elicitation/create", params, server).get("result")
        accepted = isinstance(answer, Mapping) and answer.get("action") == "accept"
        content = answer.get("content") if isinstance(answer, Mapping) and accepted else None
        return content if isinstance(content, Mapping) else {}

    def _asked(self, name: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._asks is None or not can_be_asked(method, params, self._offers):
            return {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing"}}
        said = params.get("message")
        if method == "elicitation/create" and isinstance(said, str):
            params = {**params, "message": f"{name}: {said}"}
        return self._asks(method, params, name)


def outside(server: str, uri: str) -> str:
    """Return the gateway's name for a server's URI or template.

    >>> outside("my notes", "file:///roof.md")
    'vade://my%20notes/file:///roof.md'
    """
    return f"{SCHEME}{quote(server, safe='')}/{uri}"


def linked(server: str, content: Iterable[Any]) -> list[Any]:
    """Return content with resource links that the gateway can resolve."""
    found = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "resource_link" and not str(part.get("uri")).startswith(_FOR_ANYBODY):
            found.append(_with_uri(server, part))
        elif kind == "resource" and isinstance(part.get("resource"), Mapping):
            found.append({**part, "resource": _with_uri(server, part["resource"])})
        else:
            found.append(part)
    return found


def _named(server: str, item: Params) -> Params:
    """Return a list entry under its name at the gateway."""
    named = _with_uri(server, item)
    if isinstance(item.get("uriTemplate"), str):
        named = {**named, "uriTemplate": outside(server, item["uriTemplate"])}
    return {**named, "name": f"{server}/{item['name']}"} if isinstance(item.get("name"), str) else named


def _with_uri(server: str, item: Params) -> Params:
    uri = item.get("uri")
    return {**item, "uri": outside(server, uri)} if isinstance(uri, str) else item


def _dicts(given: Any) -> list[Params]:
    return [part for part in given if isinstance(part, Mapping)] if isinstance(given, list) else []
