"""The ASGI application: routes, error handlers, startup and shutdown.

MCP over streamable HTTP stands at `/mcp`. It offers the same tools as MCP over standard input and output, to any caller
with a key. The official SDK speaks the protocol (both eras). It takes longer to import than the loop of `mcp.loop`, but
only once. No session is stored between requests, so a restarted server continues where it was. Each call is answered by
an engine that opens only the caller's repositories.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.exceptions import HTTPException
from starlette.routing import Route
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from vademecum.config import Settings
from vademecum.errors import Error
from vademecum.heaps import give_back_while_used
from vademecum.hooks.hook import RUNS
from vademecum.http.auth import Key
from vademecum.http.engines import Engines, HookRuns, Opening, Readiness
from vademecum.http.guard import Guard, refusal
from vademecum.http.jobs import Jobs
from vademecum.http.problems import MEDIA_TYPE, ProblemError, invalid_part, problem, problem_of
from vademecum.http.request_context import AppState, encoded
from vademecum.http.routes import code, indexing, memory, server, tools
from vademecum.http.routes.shapes import ALWAYS, only_known
from vademecum.mcp.registry import INSTRUCTIONS, front_for
from vademecum.mcp.tool import Tool, paced
from vademecum.version import __version__
from vademecum.wiring.roots import OpenedRoot
from vademecum.wiring.stores import Stores

if TYPE_CHECKING:
    from starlette.types import ASGIApp

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from vademecum.http.auth import Visitor
    from vademecum.protocols import Progress

LOG = logging.getLogger(__name__)
ROUTERS = (
    *(server.router, code.router, code.symbol_routes, code.graph_routes, indexing.router),
    *(memory.event_routes, memory.router, tools.router, server.pages),
)


def application(
    roots: Sequence[OpenedRoot],
    settings: Settings,
    keys: Sequence[Key] = (),
    hosts: frozenset[str] | None = None,
    closing: Callable[[], None] = lambda: None,
    ending: threading.Event | None = None,
) -> ASGIApp:
    """Return the ASGI application.

    Args:
        roots: The repositories that are served.
        settings: All settings.
        keys: Keys of callers; without keys any caller may ask.
        hosts: Host names that requests may address; None for any, which requires keys.
        closing: Called after shutdown, before the signal is re-raised.
        ending: Set when shutdown begins. Streams then end; other requests may finish.
    """
    own = settings.server
    agents = Agents(lambda: app.state.shared, own.max_body_bytes)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        engines = Engines(settings)
        app.state.shared = AppState(
            settings,
            tuple(roots),
            tuple(keys),
            engines,
            Jobs(settings, [root.path for root in roots]),
            HookRuns(settings.home / RUNS),
            Readiness(Stores(settings).reach, settings.storage.provider),
            ending or threading.Event(),
        )
        giving_back = asyncio.create_task(give_back_while_used(lambda: engines.answered))
        try:
            async with agents.run():
                yield
        finally:
            giving_back.cancel()
            app.state.shared.jobs.close()
            engines.close()
            closing()

    app = FastAPI(
        title="vademecum", version=__version__, summary="Finds code, with evidence.", lifespan=life, docs_url=None, redoc_url=None,
        responses=ALWAYS
    )  # fmt: skip
    for router in ROUTERS:
        app.include_router(router, dependencies=[Depends(only_known)])
    app.router.routes.append(Route("/mcp", agents))
    _tell_errors(app)
    app.mount("/page", server.PageFiles(), name="page")
    return Guard(app, roots, keys, hosts, own)


def _tell_errors(app: FastAPI) -> None:
    """Register handlers that answer every error with problem details."""

    def answer(request: Request, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
        return Response(encoded(body | {"instance": request.state.request_id}), status, headers, media_type=MEDIA_TYPE)

    @app.exception_handler(Error)
    async def ours(request: Request, error: Error) -> Response:
        status, body = problem_of(error)
        return answer(request, status, body, {"Retry-After": "2"} if status == 503 else None)

    @app.exception_handler(ProblemError)
    async def refused(request: Request, error: ProblemError) -> Response:
        return refusal(error, request.state.request_id)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        said = "; ".join(invalid_part(each) for each in error.errors())
        return answer(request, 422, problem(422, f"{said}: /docs shows what each takes"))

    @app.exception_handler(HTTPException)
    async def known(request: Request, error: HTTPException) -> Response:
        said = f"{request.method} {request.url.path}: {error.detail}: /docs lists what there is"
        return answer(request, error.status_code, problem(error.status_code, said), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> Response:
        LOG.error("internal error", exc_info=error, extra={"fields": {"request": request.state.request_id}})
        said = f"internal error: {type(error).__name__}: the server's log has more under this request's id"
        return answer(request, 500, problem(500, said))


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where a request's head takes too long."""

    seconds: float  # for a head, from the connection's or the head's first byte on
    _waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take some bytes, and wait on while the head is not whole."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._waits is None:
            self._waits = self.loop.call_later(self.seconds, self._give_up)

    def _give_up(self) -> None:
        self._waits = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _stop(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None


Context = ServerRequestContext[Any, Any]


class Agents:
    """The ASGI application at `/mcp`. `run` must be active while it answers."""

    def __init__(self, shared: Callable[[], AppState], max_body_bytes: int) -> None:
        """Take a function that returns the `AppState`, and the body limit.

        The function is called after the server has started. `max_body_bytes` limits a request's body.
        """
        self._shared = shared
        server: Server[Any] = Server(
            "vademecum",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self._sessions = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=max_body_bytes)
        self.run = self._sessions.run  # a block in which requests are answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._sessions.handle_request(scope, receive, send)

    async def _list_tools(self, _: Context, __: Any) -> mcp_types.ListToolsResult:
        tools = [mcp_types.Tool.model_validate(tool.declaration()) for tool in self._tools().values()]
        return mcp_types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Context, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        tools = self._tools()
        tool = tools.get(params.name)
        if tool is None:
            return _failed(f"no tool {params.name!r}: there are {', '.join(tools)}")
        assert context.request is not None
        visitor: Visitor = context.request.state.visitor
        opening, progress = Opening(visitor.paths, visitor.personal), _progress(context)
        try:
            outcome = await self._shared().engines.call(
                opening, lambda engine: tool.call(engine, params.arguments or {}, progress)
            )
        except ProblemError as refused:
            return _failed(str(refused.detail))
        except Error as error:
            return _failed(str(error))
        result = outcome.result(structured=self._shared().settings.mcp.structured_content)
        return mcp_types.CallToolResult.model_validate(result)

    def _tools(self) -> Mapping[str, Tool]:
        return front_for(self._shared().settings).tools


def _failed(said: str) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult.model_validate({"content": [{"type": "text", "text": said}], "isError": True})


def _progress(context: Context) -> Progress:
    """Return a callback that sends progress as MCP notifications.

    Any thread may call it. The SDK sends notifications only to clients that asked for them.
    """
    loop = asyncio.get_running_loop()

    def send(count: int, stage: str) -> None:
        asyncio.run_coroutine_threadsafe(context.session.report_progress(count, None, stage), loop)

    return paced(send)
