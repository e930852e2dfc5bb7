"""MCP over streamable HTTP at `/mcp`.

It offers the same tools as MCP over standard input and output, to any caller with a key. The official SDK speaks the
protocol (both eras). It takes longer to import than the loop of `mcp.serve`, but only once. No session is stored between
requests, so a restarted server continues where it was. Each call is answered by an engine that opens only the caller's
repositories.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from vademecum.errors import Error
from vademecum.http.engines import Opening
from vademecum.http.problems import ProblemError
from vademecum.http.request_context import AppState
from vademecum.mcp.registry import INSTRUCTIONS, front_for
from vademecum.mcp.tool import Tool, paced
from vademecum.version import __version__

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from vademecum.http.auth import Visitor
    from vademecum.protocols import Progress

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
