"""The guard: checks every request before a route answers.

It sets the request's id, and checks the host name, the origin and the key. On a loopback address there need be no key, so
a page in the user's browser must not be able to ask in the user's name. A request is answered only under a name of this
server (DNS rebinding), and only to pages of its own (`Origin`, `Sec-Fetch-Site`; no CORS). The guard is plain ASGI
because events are streamed.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.responses import Response

from vademecum.http.auth import Key, Visitor, find_key, visitor
from vademecum.http.problems import MEDIA_TYPE, ProblemError, problem
from vademecum.http.request_context import encoded
from vademecum.metrics import continued, counter, gauge, histogram, note, span
from vademecum.settings import ServerSettings
from vademecum.wiring.roots import OpenedRoot

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger(__name__)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
# Open without a key: health, and files that are public in this project's repository.
OPEN = re.compile(r"/(?:healthz|readyz|openapi\.json|docs)?|/page/.*")
# the metrics count any other method as ANY
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
HARDENING = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}
_STREAM = re.compile(r"/mcp|/v1/index/jobs/[^/]+/events")  # streams: a HEAD for them would not end
_ID = re.compile(r"[\w.-]{1,64}")
_REQUESTS = counter("vademecum_http_requests_total", "Requests, by method, route and status.")
_TOOK = histogram("vademecum_http_request_duration_seconds", "Seconds until a request was answered, by route.")
_OPEN = gauge("vademecum_http_requests_in_flight", "Requests that are being answered.")


class Guard:
    """ASGI middleware that passes a request on or refuses it.

    The arguments are those of `application`, and the server's settings.
    """

    def __init__(
        self,
        app: ASGIApp,
        roots: Sequence[OpenedRoot],
        keys: Sequence[Key],
        hosts: frozenset[str] | None,
        own: ServerSettings,
    ) -> None:
        self._app = app
        self._keys = tuple(keys)
        self._visitors: Mapping[str, Visitor] = {key.name: visitor(key, roots) for key in keys}
        self._everybody = Visitor("", tuple(root.path for root in roots), personal=True)
        self._hosts, self._own = hosts, own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, method = Headers(scope=scope), scope["method"]
        if method == "HEAD" and not _STREAM.fullmatch(scope["path"]):
            scope = {**scope, "method": "GET"}  # answered like GET; the HTTP server omits the body
        given = headers.get("x-request-id", "")
        said = _Said(given if _ID.fullmatch(given) else uuid.uuid4().hex, send)
        scope.setdefault("state", {})["request_id"] = said.id
        started = time.perf_counter()
        try:
            with _OPEN.during(), continued(headers), span(f"HTTP {method}"):
                self._let_in(scope, headers)
                await self._app(scope, _limited(receive, self._own.max_body_bytes, self._own.timeout_s), said)
                note({"http.route": _route(scope), "http.response.status_code": said.status})
        except ProblemError as refused:
            await refusal(refused, said.id)(scope, receive, said)
        finally:
            self._note(scope, method, said, time.perf_counter() - started)

    def _note(self, scope: Scope, method: str, said: _Said, took_s: float) -> None:
        """Count and log a request."""
        route = _route(scope)
        method = method if route != "none" and method in METHODS else "ANY"
        _REQUESTS.add(method=method, route=route, status=str(said.status))
        _TOOK.observe(took_s, route=route)
        fields = {
            "request": said.id,
            "method": method,
            "route": route,
            "status": said.status,
            "ms": round(took_s * 1e3, 1),
        }
        who = getattr(scope["state"].get("visitor"), "name", "")
        asked = f"{scope['path']}?{scope['query_string'].decode('latin-1')}" if self._own.log_queries else ""
        fields |= {name: value for name, value in (("visitor", who), ("asked", asked)) if value}
        LOG.info("request", extra={"fields": fields})

    def _let_in(self, scope: Scope, headers: Headers) -> None:
        """Check a request, and set its caller; raise `ProblemError` otherwise."""
        self._check_host(headers)
        _check_origin(scope, headers)
        if int(headers.get("content-length", "0") or 0) > self._own.max_body_bytes:
            raise _too_large(self._own.max_body_bytes)
        _check_body(headers)
        if not self._keys:
            scope["state"]["visitor"] = self._everybody
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        if found := find_key(self._keys, given):
            scope["state"]["visitor"] = self._visitors[found.name]
        elif not OPEN.fullmatch(scope["path"]):
            said = (
                "give a key, as `Authorization: Bearer KEY` or `X-API-Key: KEY`; `vade serve --new-key NAME` makes one"
            )
            raise ProblemError(401, said, {"WWW-Authenticate": 'Bearer realm="vademecum"'})

    def _check_host(self, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
        if self._hosts is not None and name not in self._hosts:
            said = f"{name!r} is not a name of this server: ask at {min(LOOPBACK)}, or add it to server.hosts"
            raise ProblemError(421, said)


class _Said:
    """Sends an answer with request id and security headers; stores its status."""

    def __init__(self, request_id: str, send: Send) -> None:
        self.id = request_id
        self.status = 0
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name for name, _ in message.get("headers", ())}
            more = {"X-Request-Id": self.id, **HARDENING}
            message["headers"] = [
                *message.get("headers", ()),
                *((n.lower().encode(), v.encode()) for n, v in more.items() if n.lower().encode() not in given),
            ]
        await self._send(message)


def refusal(refused: ProblemError, request_id: str = "") -> Response:
    """Return a refusal as problem details."""
    body = problem(refused.status_code, refused.detail, **({"instance": request_id} if request_id else {}))
    return Response(encoded(body), refused.status_code, refused.headers, media_type=MEDIA_TYPE)


def _check_origin(scope: Scope, headers: Headers) -> None:
    """Refuse requests from pages of other sites."""
    origin = headers.get("origin")
    host = headers.get("host", "").lower()
    if origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}:
        raise ProblemError(403, f"pages of {origin!r} may not ask here: open this server's own page")
    site = headers.get("sec-fetch-site", "none")
    visit = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET" and OPEN.fullmatch(scope["path"])
    if site not in {"none", "same-origin"} and not visit:
        raise ProblemError(403, "another site's page may not ask here: open this server's own page")


def _check_body(headers: Headers) -> None:
    """Refuse bodies of types that an HTML form can send."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind not in {"application/json", "application/x-ndjson"}:
        raise ProblemError(415, f"a body of {kind!r} is not read here: send application/json")
    if not kind and headers.get("content-length", "0") != "0":
        raise ProblemError(415, "the body's Content-Type is missing: send application/json")


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    """Wrap `receive` to refuse bodies that are too long or too late.

    A body may have `most` bytes, and must have come within `seconds`.

    The limit also holds when `Content-Length` is wrong.
    """
    seen, is_whole = 0, False
    until = asyncio.get_running_loop().time() + seconds

    async def limited() -> Message:
        nonlocal seen, is_whole
        if is_whole:  # what comes now is that the client went
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError as error:
            said = f"the body did not come within {seconds:g} seconds: send it at once, or raise server.timeout_s"
            raise ProblemError(408, said) from error
        seen, is_whole = seen + len(message.get("body", b"")), not message.get("more_body", False)
        if seen > most:
            raise _too_large(most)
        return message

    return limited


def _too_large(most: int) -> ProblemError:
    return ProblemError(413, f"the body has more than {most} bytes: send it in parts, or raise server.max_body_bytes")


def _route(scope: Scope) -> str:
    route: Any = scope.get("route")
    return str(getattr(route, "path", "/mcp" if scope["path"] == "/mcp" else "none"))
