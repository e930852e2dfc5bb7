"""MCP servers: their common part, messages, and checks of answers.

JSON-RPC 2.0, one message a line. Servers with a handshake are greeted with `initialize`; a server without
handshake (2026-07-28) gets version and client with every request.
"""

from __future__ import annotations

import json
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from vademecum.errors import ToolServerError, UrlElicitationError
from vademecum.protocols import Asks, Hears, Told
from vademecum.result import attempt
from vademecum.version import __version__

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
CLIENT = {"name": "vademecum", "version": __version__}
METHOD_NOT_FOUND, UNSUPPORTED_VERSION = -32601, -32022
URL_ELICITATION_REQUIRED = -32042  # only in versions with a handshake
CHANGED = "notifications/tools/list_changed"
PROGRESS = "notifications/progress"
# Questions that a server may ask its client, by the capability that the client declares.
QUESTIONS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
MOST_QUESTIONS = 16  # open at the same time, from one server
LONGEST_ABOUT = 4_000  # characters of a server's description of itself
MOST_ROUNDS = 10  # of questions during one request
MOST_PAGES, MOST_LISTED = 1_000, 20_000  # of one server
_GREETINGS = frozenset({"initialize", "server/discover"})
_SAID = 300  # characters of a server's text in a message
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})')

Message = dict[str, Any]


class McpServer(ABC):
    """The common part of MCP servers, however they are reached."""

    def __init__(self, name: str, timeout_s: float, answer_bytes: int) -> None:
        self.name = name
        self.about = ""
        self._timeout_s = timeout_s
        self._answer_bytes = answer_bytes
        self._starting = threading.Lock()
        self._gone = ""  # the reason that the server is gone; "" while it is alive
        self._stale = threading.Event()
        self._asks: Asks | None = None  # answers the server's questions
        self._offers: Mapping[str, Any] = {}
        self._questions = 0  # being answered now
        self._hears: Hears = lambda *_: None  # receives the server's notifications

    @abstractmethod
    def _capabilities(self) -> Mapping[str, Any]:
        """Return the server's capabilities, starting or connecting it first."""

    @abstractmethod
    def _page(self, cursor: str) -> Mapping[str, Any]:
        """Return the page of the tool list at a cursor."""

    @abstractmethod
    def _call(self, tool: str, arguments: dict[str, Any], told: Told | None) -> Mapping[str, Any]:
        """Return a call's result."""

    @abstractmethod
    def _ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a request's result."""

    @attempt(ToolServerError, ToolServerError)
    def tools(self) -> list[Mapping[str, Any]]:
        """Return every tool as the server declares it, from all pages."""
        self._capabilities()
        self._stale.clear()
        return every_page(self.name, "tools/list", "tools", self._page)

    @attempt(ToolServerError, ToolServerError)
    def call(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call a tool and return its result as MCP writes it."""
        return self._told(tool, arguments, None)

    @attempt(ToolServerError, ToolServerError)
    def call_telling(self, tool: str, arguments: Mapping[str, Any], told: Told) -> Mapping[str, Any]:
        """Call a tool, passing its progress on to `told`."""
        return self._told(tool, arguments, told)

    def _told(self, tool: str, arguments: Mapping[str, Any], told: Told | None) -> Mapping[str, Any]:
        self._capabilities()
        return outcome(self.name, tool, self._call(tool, dict(arguments), told))

    @attempt(ToolServerError, ToolServerError)
    def offers(self) -> Mapping[str, Any]:
        """Return the server's capabilities."""
        return self._capabilities()

    @attempt(ToolServerError, ToolServerError)
    def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send any request and return its result."""
        self._capabilities()
        return self._ask(method, params)

    def answer_by(self, asks: Asks, offers: Mapping[str, Any]) -> None:
        """Set the answerer of the server's questions.

        `offers` are declared to the server in the beginning, so call this first.
        """
        self._asks, self._offers = asks, offers

    def tell(self, hears: Hears) -> None:
        """Set the receiver of the server's notifications."""
        self._hears = hears

    @property
    def stale(self) -> bool:
        """True if the server announced changes since its last tool list."""
        return self._stale.is_set()

    @property
    def alive(self) -> bool:
        """True while the server can be asked: not started yet, or running."""
        return not self._gone


def request(number: int, method: str, params: Mapping[str, Any], stateless: Mapping[str, Any] | None) -> Message:
    """Return a request.

    `stateless` holds the client's capabilities for a server without a handshake, whose requests carry version, client and
    capabilities; it is None for a server with one.
    """
    if stateless is not None:
        key = "io.modelcontextprotocol/"
        meta = {f"{key}protocolVersion": STATELESS, f"{key}clientInfo": CLIENT}
        meta |= {f"{key}clientCapabilities": dict(stateless)}
        params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def hello(offers: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of `initialize`; `offers` are the client's capabilities."""
    return {"protocolVersion": HANDSHAKE, "capabilities": dict(offers), "clientInfo": CLIENT}


def offered(capabilities: Any) -> Mapping[str, Any]:
    """Return the client's capabilities that the gateway can pass on.

    Changes of the client's roots are not passed on: they need another kind of message.

    >>> offered({"roots": {"listChanged": True}, "sampling": {"tools": {}}, "elicitation": {"url": {}}, "tasks": {}})
    {'roots': {}, 'sampling': {'tools': {}}, 'elicitation': {'url': {}}}
    """
    known = capabilities if isinstance(capabilities, Mapping) else {}
    found = {name: known[name] for name in QUESTIONS.values() if isinstance(known.get(name), Mapping)}
    if "roots" in found:
        found["roots"] = {}
    if "elicitation" in found:  # a client that names no mode takes forms
        found["elicitation"] = {way: {} for way in ("form", "url") if way in found["elicitation"]}
    return {name: found[name] for name in ("roots", "sampling", "elicitation") if name in found}


def can_be_asked(method: str, params: Mapping[str, Any], offers: Mapping[str, Any]) -> bool:
    """Return whether a client with these capabilities takes a question.

    Elicitation asks the user with a form, or sends the user to a page (`url`).

    >>> can_be_asked("elicitation/create", {"mode": "url"}, {"elicitation": {}})
    False
    """
    capability = QUESTIONS.get(method)
    if capability != "elicitation" or capability not in offers:
        return capability in offers
    return params.get("mode", "form") in (offers[capability] or ("form",))


def about(result: Any) -> str:
    """Return a server's description of itself: title, description and instructions.

    `result` is the server's answer to `initialize`.

    >>> about({"serverInfo": {"name": "files", "title": "Files"}, "instructions": "Read before you write."})
    'Files Read before you write.'
    """
    result = result if isinstance(result, Mapping) else {}
    info = result.get("serverInfo") if isinstance(result.get("serverInfo"), Mapping) else {}
    said = (info.get("title"), info.get("description"), result.get("instructions"))
    return " ".join(part for part in said if isinstance(part, str) and part)[:LONGEST_ABOUT]


def capabilities(result: Any) -> Mapping[str, Any]:
    """Return the server's capabilities from its greeting."""
    named = result.get("capabilities") if isinstance(result, Mapping) else None
    return named if isinstance(named, Mapping) else {}


def refusal(message: Message) -> Message | None:
    """Return the reply to an unsupported request; None for a notification."""
    if "id" not in message:
        return None
    answer: Message = {"jsonrpc": "2.0", "id": message["id"]}
    if message.get("method") == "ping":
        return answer | {"result": {}}
    return answer | {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing"}}


def telling(params: Mapping[str, Any], token: int) -> Mapping[str, Any]:
    """Return a request's parameters with a progress token."""
    return {**params, "_meta": {**params.get("_meta", {}), "progressToken": token}}


def progress_in(message: Message) -> tuple[int, tuple[float, float | None, str]] | None:
    """Return token and progress from a progress notification, else None.

    >>> progress_in({"method": PROGRESS, "params": {"progressToken": 3, "progress": 1, "message": "page 1"}})
    (3, (1.0, None, 'page 1'))
    """
    params = message.get("params")
    if message.get("method") != PROGRESS or not isinstance(params, Mapping):
        return None
    token, done, said = (params.get(name) for name in ("progressToken", "progress", "message"))
    if not isinstance(token, int) or not _is_number(done):
        return None
    total = params.get("total")
    return token, (float(done), float(total) if _is_number(total) else None, said if isinstance(said, str) else "")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def parsed(line: bytes) -> Message | None:
    """Return the message on a line; None for other output."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def id_in(line: bytes) -> int | None:
    """Return the id in the beginning or end of a broken answer."""
    found = _ID.search(line[:4096]) or _ID.search(line[-256:])
    return int(found[1]) if found else None


def in_rounds(
    name: str, what: str, params: Mapping[str, Any], ask: Callable[[Mapping[str, Any]], Message], asks: Asks | None
) -> Message:
    """Send a request, and again with answers to the server's questions.

    A server without a handshake asks before it goes on, and expects the request again.
    `what` is the request's name in messages, `asks` answers the questions.

    Raises:
        ToolServerError: A question has no answer, or the questions do not end.
    """
    result = ask(params)
    for again in range(MOST_ROUNDS):
        if result.get("resultType") != "input_required":
            return result
        questions, state = result.get("inputRequests"), result.get("requestState")
        answers = {}
        for key, question in questions.items() if isinstance(questions, Mapping) else ():
            answer = _answered(question, asks)
            if "result" not in answer:
                said = answer.get("error", {}).get("message", "no answer")
                raise ToolServerError(f"{name} asked something before it goes on with {what}, and was refused: {said}")
            answers[key] = answer["result"]
        if not answers:
            time.sleep(0.05 * (again + 1))  # the server only wants to be asked again
        known = {"inputResponses": answers} if answers else {}
        result = ask({**params, **known, **({} if state is None else {"requestState": state})})
    raise ToolServerError(
        f"{name} asked back {MOST_ROUNDS} times and did not go on with {what}: report it to its author"
    )


def _answered(question: Any, asks: Asks | None) -> Mapping[str, Any]:
    method = question.get("method") if isinstance(question, Mapping) else None
    if asks is None or method not in QUESTIONS:
        return {"error": {"message": "this client offers no such thing"}}
    params = question.get("params")
    return asks(method, params if isinstance(params, Mapping) else {})


def every_page(name: str, method: str, key: str, page: Callable[[str], Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Read a list such as `tools/list` to its end.

    `key` is the list's key in an answer; `page` returns the answer for a cursor, "" for the first.

    Raises:
        ToolServerError: The answer holds no such list, or the list has no end.
    """
    found: list[Mapping[str, Any]] = []
    cursor, seen = "", {""}
    for _ in range(MOST_PAGES):
        result = page(cursor)
        listed = result.get(key)
        if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
            raise ToolServerError(f"{name} answered {method} with no list of {key}: report it to its author")
        found += listed
        cursor = result.get("nextCursor") or ""
        if not cursor:
            return found
        if not isinstance(cursor, str) or cursor in seen or len(found) > MOST_LISTED:
            break
        seen.add(cursor)
    raise ToolServerError(f"the list of {key} of {name} has no end (after {len(found)}): report it to its author")


def outcome(name: str, tool: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tool call's well-formed result. Raises `ToolServerError` for another."""
    content = result.get("content", [])
    structured = result.get("structuredContent")
    fine = isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)
    if (
        not fine
        or not (structured is None or isinstance(structured, dict))
        or ("content" not in result and not structured)
    ):
        raise ToolServerError(f"{name} answered {tool} with something that is no tool result: report it to its author")
    return result


def refused(name: str, method: str, error: Any) -> ToolServerError:
    """Return the exception for a JSON-RPC error.

    An error that names pages to visit first becomes a `UrlElicitationError`.

    >>> page = {"mode": "url", "url": "https://notes.example/login", "message": "Log in", "elicitationId": "e1"}
    >>> wants = {"code": -32042, "message": "URL elicitation required", "data": {"elicitations": [page]}}
    >>> str(refused("notes", "read", wants))
    'notes refused read: the user has to visit https://notes.example/login first (Log in): open it, then call again'
    """
    if pages := _pages(error):
        where = " and ".join(f"{page['url']} first ({shortened(str(page.get('message', '')))})" for page in pages)
        named = [{**page, "message": f"{name}: {page.get('message', '')}"} for page in pages]
        said = f"{name} refused {method}: the user has to visit {where}: open {'it' if len(pages) == 1 else 'them'}, then call again"
        return UrlElicitationError(said, named)
    told = error.get("message") if isinstance(error, Mapping) else None
    return ToolServerError(f"{name} refused {method}: {shortened(str(told or error))}")


def _pages(error: Any) -> list[Mapping[str, Any]]:
    """Return the pages that the user must visit first, or []."""
    data = error.get("data") if isinstance(error, Mapping) and error.get("code") == URL_ELICITATION_REQUIRED else None
    found = data.get("elicitations") if isinstance(data, Mapping) else None
    pages = found if isinstance(found, list) else []
    return [page for page in pages if isinstance(page, Mapping) and isinstance(page.get("url"), str) and page["url"]]


def unanswered(method: str, noise: str = "") -> str:
    """Return advice for a request without an answer in time.

    `noise` is a line that came meanwhile and is not a message.

    >>> unanswered("initialize")
    'see whether this is a server of MCP, or raise gateway.timeout_s'
    """
    if noise:
        return f"it wrote {shortened(noise)!r}, which is no message of MCP: report it to its author"
    return f"{_instead(method)}, or raise gateway.timeout_s"


def too_long(method: str, most: int) -> str:
    """Return problem and advice for an answer over `most` bytes.

    >>> too_long("initialize", 100)
    'more than 100 bytes: see whether this is a server of MCP, or raise gateway.answer_bytes'
    >>> too_long("tools/call", 100)
    'more than 100 bytes: ask for less, or raise gateway.answer_bytes'
    """
    return f"more than {most} bytes: {_instead(method)}, or raise gateway.answer_bytes"


def _instead(method: str) -> str:
    """Return advice other than a limit; greetings cannot be smaller."""
    return "see whether this is a server of MCP" if method in _GREETINGS else "ask for less"


def shortened(text: str) -> str:
    """Return a text as one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _SAID else line[: _SAID - 3] + "..."
