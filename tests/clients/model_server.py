"""A model server on loopback that plays a script to a coding agent, over any of the four wires in `wires.py`.

A script is a list of turns: a `Call` of a tool, or a text. The turn that a request gets follows from the conversation in
the request, so that a repeated request gets the same turn, and each new conversation starts the script anew. Requests that
offer no tool (titles, topic checks, quota probes) get a short answer outside the script.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from clients.wires import MODEL, TOOL_SEARCH, Call, Chat, Messages, Part, Wire, wire_of

__all__ = ["Call", "ModelServer", "Part", "Request", "resolved"]


ASIDE = json.dumps({"title": "Scripted", "isNewTopic": False})
CHARS_PER_TOKEN = 4  # the usage that the server bills is an estimate: only its being deterministic matters


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived; `scripted` if a turn of the script answered it."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    scripted: bool = False

    @property
    def body(self) -> dict[str, Any]:
        """The body as data, empty if it is no JSON object."""
        try:
            found = json.loads(self.raw or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


class ModelServer:
    """Plays a script to every conversation, and keeps each request.

    >>> with ModelServer([Call("search", {"query": "budget"}), "Done."]) as server:
    ...     server.url.startswith("http://127.0.0.1:"), server.tool_results()
    (True, [])
    """

    def __init__(self, script: Sequence[Call | str]) -> None:
        self.script = list(script)
        self.requests: list[Request] = []
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    # Of the last request that the script answered.

    def body(self) -> dict[str, Any]:
        """Return the last scripted request's body, verbatim; empty before the first."""
        return self._last.body if self._last else {}

    def conversation(self) -> list[Part]:
        """Return the conversation as the model saw it in the end: system prompt, messages, calls, results."""
        return list(self._wire.said(self.body()))

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """Return the tools that the model was offered, by the name that a call has to use."""
        return self._wire.tools(self.body())

    def system(self) -> str:
        """Return the system prompt, and what the client added to the conversation by itself."""
        return "\n".join(part.text for part in self.conversation() if part.kind in {"system", "user"})

    def tool_results(self) -> list[str]:
        """Return the text of every result of a tool, in the order of the calls."""
        return [part.text for part in self.conversation() if part.kind == "result"]

    def hosts(self) -> list[str]:
        """Return the hosts outside that the client asked for; the server, as its proxy, refuses them all."""
        return sorted({request.path for request in self.requests if request.method == "CONNECT"})

    @property
    def _last(self) -> Request | None:
        return next((request for request in reversed(self.requests) if request.scripted), None)

    @property
    def _wire(self) -> Wire:
        return (wire_of(self._last.path) if self._last else None) or Messages()

    # Answering.

    def answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[int, str, bytes]:
        """Keep a request; return a status, a type of content and a body."""
        request = Request(method, path, headers, raw)
        wire = wire_of(path)
        if wire is None or method != "POST":
            self.requests.append(request)
            return _aside(request)
        body = request.body
        turn, number, scripted = self._turn(wire, body)
        self.requests.append(Request(method, path, headers, raw, scripted))
        spoken = turn if isinstance(turn, str) else turn.tool + json.dumps(turn.arguments)
        reply = wire.reply(turn, number, (estimate(raw.decode()), estimate(spoken)))
        if not (body.get("stream") or ":stream" in path):
            return 200, "application/json", json.dumps(reply).encode()
        lines = [f"event: {name}\n" * bool(name) + f"data: {json.dumps(data)}\n\n" for name, data in wire.events(reply)]
        lines += ["data: [DONE]\n\n"] * isinstance(wire, Chat)
        return 200, "text/event-stream", "".join(lines).encode()

    def _turn(self, wire: Wire, body: Mapping[str, Any]) -> tuple[Call | str, int, bool]:
        """Return the turn for a request, its number, and whether it is one of the script."""
        offered = wire.tools(body)
        if not offered:
            return ASIDE, 0, False
        said = list(wire.said(body))
        number = sum(part.kind == "call" for part in said)
        looked_up = sum(part.kind == "call" and part.name == TOOL_SEARCH for part in said)
        spoken = sum(part.kind == "assistant" and part.text in self.script for part in said)
        place = number - looked_up + spoken
        turn = self.script[place] if place < len(self.script) else "The script is over."
        if isinstance(turn, str):
            return turn, number, True
        if name := resolved(turn.tool, offered):
            return Call(name, turn.arguments), number, True
        if TOOL_SEARCH in offered and not looked_up and (wanted := self._deferred(said)):
            arguments = {"query": f"select:{','.join(wanted)}", "max_results": len(wanted)}
            return Call(TOOL_SEARCH, arguments), number, True
        return f"No tool {turn.tool} was offered.", number, True

    def _deferred(self, said: Iterable[Part]) -> list[str]:
        """Return the tools of the script that a client names in its prompt, but does not describe until asked."""
        named = {name for part in said for name in re.findall(r"\bmcp__\w+", part.text)}
        wanted = [resolved(turn.tool, sorted(named)) for turn in self.script if isinstance(turn, Call)]
        return [name for name in dict.fromkeys(wanted) if name]


def resolved(tool: str, offered: Iterable[str]) -> str:
    """Return the offered name that means a tool of ours; "" if none does.

    >>> resolved("search", ["web_search", "mcp__vademecum__search_tools", "mcp__vademecum__search"])
    'mcp__vademecum__search'
    """
    names = list(offered)
    ours = [name for name in names if re.fullmatch(rf"\w*?vademecum\w*?[_./-]+{re.escape(tool)}", name)]
    return next(iter(ours), tool if tool in names else "")


def estimate(text: str) -> int:
    """Return about how many tokens a text has, the same for the same text."""
    return -(-len(text) // CHARS_PER_TOKEN)


def _aside(request: Request) -> tuple[int, str, bytes]:
    """Answer what is no turn: counts of tokens, lists of models; nothing else is here."""
    path, count = urlsplit(request.path).path, estimate(request.raw.decode(errors="replace"))
    found: dict[str, Any] | None = None
    if path.endswith("/count_tokens"):
        found = {"input_tokens": count}
    elif path.endswith(":countTokens"):
        found = {"totalTokens": count}
    elif path.endswith("/models"):
        model = {"id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "name": f"models/{MODEL}"}
        found = {"object": "list", "data": [model], "models": [], "has_more": False}
    status = 200 if found is not None else 404
    return status, "application/json", json.dumps(found or {"error": {"message": "nothing is here"}}).encode()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up: clients do when they end."""


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, kind, body = server.answer(self.command, self.path, dict(self.headers), raw)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_POST = do_HEAD = do_CONNECT = _do  # noqa: N815 - http.server asks for these names

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
