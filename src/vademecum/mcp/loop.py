"""`vade mcp`: MCP over standard input and output.

The protocol is JSON-RPC 2.0, a message a line, in the standard library alone.

The official SDK takes 0.6 s to import. Agents start a server per session and wait for `initialize`, so this loop is ready
at once and imports the engine meanwhile. One thread reads and answers cheap requests. A second thread owns the engine,
opens it and runs the tools in order, so a long first index does not block `ping`.

Both eras of the protocol are supported: the `initialize` handshake (2024-11-05 to 2025-11-25), and the stateless protocol
(2026-07-28) with `server/discover`, where every request carries its version in `_meta`.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

from vademecum.errors import Error, UsageError
from vademecum.mcp.client import AskedClient, ProtocolError, offers_in
from vademecum.mcp.registry import front_for
from vademecum.mcp.tool import Front, paced
from vademecum.version import __version__

if TYPE_CHECKING:
    from vademecum.engine import Engine
    from vademecum.mcp.gateway import Gateway
    from vademecum.protocols import Progress, Told

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
SERVER_INFO = {"name": "vademecum", "version": __version__}
CAPABILITIES: dict[str, Any] = {"tools": {}}
LIST_TTL_MS = 3_600_000  # the tools never change while the server runs
RELAY_EVERY_S = 0.05
IN_ROUNDS = ("tools/call", "prompts/get", "resources/read")  # requests that may be answered with a question
MOST_APART = 64  # parallel calls of tools that run on separate threads

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022

Message = dict[str, Any]


class Server:
    """Answers one client.

    The engine is made once, on the thread that will use it. `send` writes one message, or a list of them; it is called from
    several threads, under a lock.
    """

    def __init__(self, open_engine: Callable[[], Engine], send: Callable[[Any], None], front: Front) -> None:
        self._front = front
        self._apart = threading.BoundedSemaphore(MOST_APART)
        self._open_engine = open_engine
        self._send_unlocked = send
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._cancelled: set[Any] = set()
        self.client = AskedClient(self._send)
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._run, name="vademecum-engine", daemon=True)
        self._worker.start()

    def receive(self, line: str) -> None:
        """Handle one line; the answer is sent now, or later."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send(_error(None, ProtocolError(PARSE_ERROR, "this line is not JSON")))
            return
        self.client.meet(message)
        if isinstance(message, list):  # a batch is answered as one, in order
            self._work.put(lambda: self._batch(message))
        elif isinstance(message, dict) and message.get("method") in ("tools/call", *self._front.methods):
            self._put(message)
        else:
            self._send(self._answer(message))

    def later(self, task: Callable[[Engine], None]) -> None:
        """Run a function with the engine, on the engine's thread, in turn."""
        self._work.put(lambda: task(self._opened()))

    def close(self) -> None:
        """Finish the open requests and close the engine."""
        self._work.put(None)
        self._worker.join()

    def _run(self) -> None:
        while task := self._work.get():
            task()
        if self._engine is not None:
            self._engine.close()

    def _put(self, message: Message) -> None:
        """Answer a call on the engine's thread, or on a separate one."""
        params = message.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        tool = self._front.tools.get(name) if isinstance(name, str) else None
        if message["method"] == "tools/call" and (tool is None or tool.apart is None):
            self._work.put(lambda: self._send(self._answer(message)))
        elif self._apart.acquire(blocking=False):
            threading.Thread(target=self._answer_apart, args=(message,), name="vademecum-call", daemon=True).start()
        else:
            busy = f"{MOST_APART} calls are being waited for already: wait for one of them"
            self._send(_error(message.get("id"), ProtocolError(INVALID_REQUEST, busy)))

    def _answer_apart(self, message: Message) -> None:
        try:
            self._send(self._answer(message))
        finally:
            self._apart.release()

    def _send(self, message: Any) -> None:
        if message:
            with self._lock:
                self._send_unlocked(message)

    def _batch(self, messages: list[Any]) -> None:
        if not messages:
            self._send(_error(None, ProtocolError(INVALID_REQUEST, "an empty batch")))
        self._send([answer for message in messages if (answer := self._answer(message))])

    def _answer(self, message: Any) -> Message | None:
        """Return the response to one message, or None."""
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if isinstance(message, dict) and ("result" in message or "error" in message):
                self.client.hear(message)
                return None
            given = message.get("id") if isinstance(message, dict) else None
            known = given if isinstance(given, str | int) else None
            return _error(known, ProtocolError(INVALID_REQUEST, "not a JSON-RPC request"))
        params = message.get("params") or {}
        if "id" not in message:
            self._notice(message["method"], params)
            return None
        try:
            result = self._result(message["id"], message["method"], params)
        except (ProtocolError, UsageError) as error:
            return _error(message["id"], error)
        if result is None:
            return None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _notice(self, method: str, params: Any) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            request = params.get("requestId")
            if isinstance(request, str | int):
                self._cancelled.add(request)

    def _result(self, request: Any, method: str, params: Any) -> Message | None:
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, "params must be an object")
        stateless = _stateless(params)
        match method:
            case "initialize":
                return self._initialize(params)
            case "server/discover":
                result: Message | None = {
                    "supportedVersions": [*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS],
                    "capabilities": {**CAPABILITIES, **self._front.capabilities},
                    "instructions": self._front.instructions,
                }
                self._warm_up()
            case "ping":
                result = {}
            case "tools/list":
                result = {"tools": [tool.declaration() for tool in self._front.tools.values()]}
            case _ if stateless and method in IN_ROUNDS:
                result = self._in_rounds(request, method, params)
            case _:
                result = self._handed_on(request, method, params)
        if stateless and result is not None:
            result = {"resultType": "complete"} | result | {"_meta": {SERVER_KEY: SERVER_INFO}}
            if method in {"server/discover", "tools/list"}:
                result |= {"ttlMs": LIST_TTL_MS, "cacheScope": "private"}
            elif method.endswith(("/list", "/read")) and result["resultType"] == "complete":
                result |= {"ttlMs": 0, "cacheScope": "private"}
        return result

    def _in_rounds(self, request: Any, method: str, params: Message) -> Message | None:
        """Answer a request that may need questions first."""
        tool = self._front.tools.get(str(params.get("name"))) if method == "tools/call" else None
        if tool and tool.apart is None:
            return self._handed_on(request, method, params)
        call = lambda: self._handed_on(request, method, params)  # noqa: E731
        return self.client.rounds.answered(params, offers_in(params), call)

    def _handed_on(self, request: Any, method: str, params: Message) -> Message | None:
        if method == "tools/call":
            return self._call(request, params)
        if method not in self._front.methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"no method {method!r}")
        try:
            return dict(self._front.methods[method](params))
        except UsageError:
            raise
        except Error as error:
            self.client.send_to_pages(error)
            raise ProtocolError(INTERNAL_ERROR, str(error)) from error

    def _initialize(self, params: Message) -> Message:
        asked, offers = params.get("protocolVersion"), params.get("capabilities")
        self.client.offers = offers if isinstance(offers, dict) else {}
        self.client.greeted = True
        self._warm_up()
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {**CAPABILITIES, **self._front.capabilities},
            "serverInfo": SERVER_INFO,
            "instructions": self._front.instructions,
        }

    def _warm_up(self) -> None:
        """Open the engine early; the first call reports an error."""

        def warm() -> None:
            with suppress(Exception):
                self._opened().warm_up()

        self._work.put(warm)

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._open_engine()
        return self._engine

    def _call(self, request: Any, params: Message) -> Message | None:
        name, arguments = params.get("name"), params.get("arguments") or {}
        tools = self._front.tools
        if not isinstance(name, str) or name not in tools:
            raise ProtocolError(INVALID_PARAMS, f"no tool {name!r}: there are {', '.join(tools)}")
        if not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "arguments must be an object")
        if self._is_cancelled(request):
            return None
        tool = tools[name]
        try:
            if tool.apart is not None:
                result = tool.call_apart(arguments, self._told(request, params)).result()
            else:
                engine = self._opened()
                outcome = tool.call(engine, arguments, self._progress(params))
                result = outcome.result(structured=engine.settings.mcp.structured_content)
        except Error as error:  # the model reads the message and can correct its call
            self.client.send_to_pages(error)
            result = _failed(str(error))
        except Exception as error:  # noqa: BLE001 -- one of the two marked edges: a bug must not end the session
            import traceback

            traceback.print_exception(error, file=sys.stderr)
            said = f"internal error in {name}: {type(error).__name__}: {error}: use grep for now and report it"
            result = _failed(said)
        return None if self._is_cancelled(request) else result

    def _is_cancelled(self, request: Any) -> bool:
        return isinstance(request, str | int) and request in self._cancelled

    def _progress(self, params: Message) -> Progress | None:
        """Return a callback for progress notifications, None without a token."""
        token = _meta(params).get("progressToken")
        if token is None:
            return None
        return paced(lambda count, stage: self._notify(token, {"progress": count, "message": stage}))

    def _told(self, request: Any, params: Message) -> Told | None:
        """Return a callback that relays another server's progress, None without a token."""
        token = _meta(params).get("progressToken")
        if token is None:
            return None
        sent = 0.0

        def told(progress: float, total: float | None, message: str) -> None:
            nonlocal sent
            now = time.monotonic()
            last = total is not None and progress >= total
            if self._is_cancelled(request) or (now - sent < RELAY_EVERY_S and not last):
                return
            sent = now
            notice: Message = {"progress": progress} | ({} if total is None else {"total": total})
            self._notify(token, notice | ({"message": message} if message else {}))

        return told

    def _notify(self, token: Any, progress: Message) -> None:
        params = {"progressToken": token, **progress}
        self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def serve(paths: tuple[str, ...], gateway: Gateway | None = None) -> None:
    """Serve the client until it closes standard input."""
    source, sink = _own_streams()
    broken = threading.Event()

    def send(message: Any) -> None:
        try:
            sink.write(json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=str) + "\n")
            sink.flush()
        except BrokenPipeError:
            broken.set()
            os.dup2(os.open(os.devnull, os.O_WRONLY), sink.fileno())  # for the flush at exit

    server = Server(
        lambda: _open_engine(paths, indexing=gateway is None), send, gateway.front if gateway else _front(paths)
    )
    waiting = gateway
    for line in source:
        if broken.is_set():
            break
        if line.strip():
            server.receive(line)
            if waiting:  # the first message names the client's capabilities, which the servers then get
                waiting.start(server.later, server.client)
                waiting = None
    server.client.hang_up()
    if gateway:
        gateway.close()
    server.close()


def _own_streams() -> tuple[TextIO, TextIO]:
    """Return the client's streams, reserved for this loop.

    All other output goes to standard error, even from C code or child processes.
    """
    source = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="replace", newline="\n")
    sink = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace", newline="\n")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


def _front(paths: tuple[str, ...]) -> Front:
    """Return the tools to list; with broken settings the default ones."""
    from vademecum.config import Settings, load

    try:
        return front_for(load(paths[0] if paths else os.curdir))
    except Error:
        return front_for(Settings())


def _open_engine(paths: tuple[str, ...], *, indexing: bool) -> Engine:
    from vademecum.config import load
    from vademecum.wiring.roots import unasked

    settings = load(paths[0] if len(paths) == 1 else None if paths else ".")
    for path, why in unasked(paths or (".",), settings).items() if indexing else ():
        raise UsageError(
            f"the server was started in {path}, which {why}: add the repository to its command, `vade mcp /path/to/it`, "
            f"or agree with `vade index {path} --yes`"
        )
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its thread pool costs more to start than it saves here
    from vademecum.engine import Engine

    return Engine.open(*(paths or (".",)))


def _stateless(params: Message) -> bool:
    """Return whether a request is stateless; refuse unknown versions."""
    version = _meta(params).get(VERSION_KEY)
    if version is not None and version not in STATELESS_VERSIONS:
        supported = [*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS]
        data = {"supported": supported, "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, f"protocol version {version!r} is not spoken here", data)
    return version is not None


def _meta(params: Message) -> Message:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _error(request: Any, error: ProtocolError | UsageError) -> Message:
    body: Message = {"code": getattr(error, "code", INVALID_PARAMS), "message": str(error)}
    if isinstance(error, ProtocolError) and error.data is not None:
        body["data"] = error.data
    return {"jsonrpc": "2.0", "id": request, "error": body}


def _failed(message: str) -> Message:
    return {"content": [{"type": "text", "text": message}], "isError": True}


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--gateway",
    "servers",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Instead serve the servers in FILE (its mcpServers) behind five tools: search, plan, predict and two to call.",
)
def mcp(paths: tuple[str, ...], servers: str | None) -> int:
    """Serve the current repository, or each PATH, to coding agents over MCP.

    Speaks on standard input and output. `vade install` adds it to agents; by hand it is, for example,

    \b
    claude mcp add vademecum -- vade mcp
    """  # noqa: D301 -- click reads the backspace as "leave these lines as they are"
    if sys.stdin.isatty():
        click.echo("vade mcp speaks JSON-RPC with an agent; a person wants `vade search`. Control-D ends it.", err=True)
    serve(paths, _gateway(servers) if servers else None)
    return 0


def _gateway(path: str) -> Gateway:
    """Return the gateway to a file's servers. Raises `UsageError` behind another."""
    import uuid

    from vademecum.config import load
    from vademecum.mcp.gateway import INSIDE, gateway_to

    if os.environ.get(INSIDE):
        raise UsageError(f"this gateway was started by another: take the gateway itself out of {path}")
    return gateway_to(path, load(), f"gateway-{uuid.uuid4().hex[:12]}")
