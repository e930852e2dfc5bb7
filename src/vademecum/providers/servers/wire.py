"""What goes over the wire to an MCP server and comes back: messages, and what is wrong with an answer.

JSON-RPC 2.0, a message a line. Servers of the eras with a handshake are greeted with `initialize`; one that knows no
handshake (2026-07-28) gets its version with every request.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from vademecum.errors import ToolServerError, UrlElicitationError
from vademecum.protocols import Asks
from vademecum.version import __version__

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
CLIENT = {"name": "vademecum", "version": __version__}
METHOD_NOT_FOUND, UNSUPPORTED_VERSION = -32601, -32022
URL_ELICITATION_REQUIRED = -32042  # of the era with a handshake alone
CHANGED = "notifications/tools/list_changed"
PROGRESS = "notifications/progress"
# What a server may ask of whoever calls it, by the capability that this one declares.
QUESTIONS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
MOST_QUESTIONS = 16  # of one server at the same time
LONGEST_ABOUT = 4_000  # characters of what a server says of itself
MOST_ROUNDS = 10  # in which a server asks back
MOST_PAGES, MOST_LISTED = 1_000, 20_000  # of one server
_GREETINGS = frozenset({"initialize", "server/discover"})
_SAID = 300  # characters shown of what a server says
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})')

Message = dict[str, Any]


def request(number: int, method: str, params: Mapping[str, Any], stateless: Mapping[str, Any] | None) -> Message:
    """Return a request; in the era without a handshake, `stateless`, it says who asks, in which version, and what may be asked back."""
    if stateless is not None:
        key = "io.modelcontextprotocol/"
        meta = {f"{key}protocolVersion": STATELESS, f"{key}clientInfo": CLIENT}
        meta |= {f"{key}clientCapabilities": dict(stateless)}
        params = {**params, "_meta": {**params.get("_meta", {}), **meta}}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def hello(offers: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of `initialize`; `offers` is what a server may ask for."""
    return {"protocolVersion": HANDSHAKE, "capabilities": dict(offers), "clientInfo": CLIENT}


def offered(capabilities: Any) -> Mapping[str, Any]:
    """Return which of a client's capabilities can be handed on to a server behind it.

    Not a change of its roots: that needs messages of another kind.

    >>> offered({"roots": {"listChanged": True}, "sampling": {"tools": {}}, "elicitation": {"url": {}}, "tasks": {}})
    {'roots': {}, 'sampling': {'tools': {}}, 'elicitation': {'url': {}}}
    """
    known = capabilities if isinstance(capabilities, Mapping) else {}
    found = {name: known[name] for name in QUESTIONS.values() if isinstance(known.get(name), Mapping)}
    if "roots" in found:
        found["roots"] = {}
    if "elicitation" in found:  # one that names no way is asked by a form
        found["elicitation"] = {way: {} for way in ("form", "url") if way in found["elicitation"]}
    return {name: found[name] for name in ("roots", "sampling", "elicitation") if name in found}


def can_be_asked(method: str, params: Mapping[str, Any], offers: Mapping[str, Any]) -> bool:
    """Return whether a client that offers so much takes a question; the user is asked by a form, or sent to a page (`url`).

    >>> can_be_asked("elicitation/create", {"mode": "url"}, {"elicitation": {}})
    False
    """
    capability = QUESTIONS.get(method)
    if capability != "elicitation" or capability not in offers:
        return capability in offers
    return params.get("mode", "form") in (offers[capability] or ("form",))


def about(result: Any) -> str:
    """Return what a server says of itself in its answer to `initialize`: its title, description and instructions.

    >>> about({"serverInfo": {"name": "files", "title": "Files"}, "instructions": "Read before you write."})
    'Files Read before you write.'
    """
    result = result if isinstance(result, Mapping) else {}
    info = result.get("serverInfo") if isinstance(result.get("serverInfo"), Mapping) else {}
    said = (info.get("title"), info.get("description"), result.get("instructions"))
    return " ".join(part for part in said if isinstance(part, str) and part)[:LONGEST_ABOUT]


def capabilities(result: Any) -> Mapping[str, Any]:
    """Return what a server says in its greeting that it has."""
    named = result.get("capabilities") if isinstance(result, Mapping) else None
    return named if isinstance(named, Mapping) else {}


def refusal(message: Message) -> Message | None:
    """Return the answer to what a server asks of its client: a ping is answered, anything else is not offered here."""
    if "id" not in message:
        return None
    answer: Message = {"jsonrpc": "2.0", "id": message["id"]}
    if message.get("method") == "ping":
        return answer | {"result": {}}
    return answer | {"error": {"code": METHOD_NOT_FOUND, "message": "this client offers no such thing"}}


def telling(params: Mapping[str, Any], token: int) -> Mapping[str, Any]:
    """Return the parameters of a request, with what its progress is to be told under."""
    return {**params, "_meta": {**params.get("_meta", {}), "progressToken": token}}


def progress_in(message: Message) -> tuple[int, tuple[float, float | None, str]] | None:
    """Return whose progress a notification tells, and how far it is; None where it is not one that means anything.

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
    """Return the message on a line; None where it is none, as where a server prints something else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def id_in(line: bytes) -> int | None:
    """Return the id that the beginning of an unreadable answer names, so that whoever waits for it can be told."""
    found = _ID.search(line[:4096]) or _ID.search(line[-256:])
    return int(found[1]) if found else None


def in_rounds(
    name: str, what: str, params: Mapping[str, Any], ask: Callable[[Mapping[str, Any]], Message], asks: Asks | None
) -> Message:
    """Put a request, and again with the answers where a server asks back before it goes on, as without a handshake it does.

    Args:
        name: The server's.
        what: What is asked of it.
        params: The request's.
        ask: Puts it and returns the result.
        asks: Who answers what it asks back; None for nobody.

    Raises:
        ToolServerError: What it asks has no answer, or it never has enough.
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
            time.sleep(0.05 * (again + 1))  # it only wants to be asked again
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

    Args:
        name: The server's.
        method: What it is asked.
        key: What the list is called in its answer.
        page: Returns the result for a cursor, "" for the first.

    Raises:
        ToolServerError: What the server sends is no such list, or has no end.
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
    """Return the result of a call, checked to be one.

    Raises:
        ToolServerError: It is none.
    """
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
    """Return the error that a JSON-RPC error stands for: for one that names pages to visit first, one that has them.

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
    """The pages that the user has to visit first, where an error is that one and names them as it should."""
    data = error.get("data") if isinstance(error, Mapping) and error.get("code") == URL_ELICITATION_REQUIRED else None
    found = data.get("elicitations") if isinstance(data, Mapping) else None
    pages = found if isinstance(found, list) else []
    return [page for page in pages if isinstance(page, Mapping) and isinstance(page.get("url"), str) and page["url"]]


def unanswered(method: str, noise: str = "") -> str:
    """Return what to do about a request without an answer in time; `noise` is a line that came meanwhile and is no message.

    >>> unanswered("initialize")
    'see whether this is a server of MCP, or raise gateway.timeout_s'
    """
    if noise:
        return f"it wrote {shortened(noise)!r}, which is no message of MCP: report it to its author"
    return f"{_instead(method)}, or raise gateway.timeout_s"


def too_long(method: str, most: int) -> str:
    """Return what is wrong with an answer of more than `most` bytes, and what to do about it.

    >>> too_long("initialize", 100)
    'more than 100 bytes: see whether this is a server of MCP, or raise gateway.answer_bytes'
    >>> too_long("tools/call", 100)
    'more than 100 bytes: ask for less, or raise gateway.answer_bytes'
    """
    return f"more than {most} bytes: {_instead(method)}, or raise gateway.answer_bytes"


def _instead(method: str) -> str:
    """What to do other than raise a limit: of a greeting nobody can ask for less."""
    return "see whether this is a server of MCP" if method in _GREETINGS else "ask for less"


def shortened(text: str) -> str:
    """Return a text as one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _SAID else line[: _SAID - 3] + "..."
