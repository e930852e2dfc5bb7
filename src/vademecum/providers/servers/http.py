"""An MCP server at a URL, by the official SDK.

The transport is streamable HTTP, or the older SSE.

The SDK needs an event loop. Each server has one loop on a thread of its own with one connection, and any thread may ask it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp.types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    SamplingCapability,
)
from pydantic import BaseModel

from mcp import Client, MCPError, types
from vademecum.addresses import is_elsewhere
from vademecum.errors import ToolServerError
from vademecum.protocols import Told
from vademecum.providers.servers.wire import (
    CHANGED,
    URL_ELICITATION_REQUIRED,
    McpServer,
    about,
    parsed,
    refused,
    shortened,
    too_long,
)

T = TypeVar("T")
INTERNAL_ERROR = -32603
REQUESTS: Mapping[str, tuple[Any, Any]] = {
    "resources/list": (types.ListResourcesRequest, types.ListResourcesResult),
    "resources/templates/list": (types.ListResourceTemplatesRequest, types.ListResourceTemplatesResult),
    "resources/read": (types.ReadResourceRequest, types.ReadResourceResult),
    "resources/subscribe": (types.SubscribeRequest, types.EmptyResult),
    "resources/unsubscribe": (types.UnsubscribeRequest, types.EmptyResult),
    "prompts/list": (types.ListPromptsRequest, types.ListPromptsResult),
    "prompts/get": (types.GetPromptRequest, types.GetPromptResult),
    "completion/complete": (types.CompleteRequest, types.CompleteResult),
    "logging/setLevel": (types.SetLevelRequest, types.EmptyResult),
}
_OF_THE_WIRE = frozenset({"transfer-encoding", "content-encoding", "content-length"})  # wrong for a decoded body
UNLIMITED_S = 86_400.0  # a day; another limit applies
SLACK_S = 5.0  # seconds beyond the SDK's own time limit before giving up


class HttpServer(McpServer):
    """An MCP server at a URL; `sse` is the older transport."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        sse: bool = False,
        timeout_s: float = 60.0,
        answer_bytes: int = 4_000_000,
    ) -> None:
        super().__init__(name, timeout_s, answer_bytes)
        self.remote = is_elsewhere(url)
        self._url = url
        self._headers = dict(headers or {})
        self._sse = sse
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._stop: asyncio.Event | None = None

    def _capabilities(self) -> Mapping[str, Any]:
        return _plain(self._connected().server_capabilities)

    def _page(self, cursor: str) -> Mapping[str, Any]:
        listed = self._connected().list_tools(cursor=cursor or None, cache_mode="refresh")
        return _plain(self._done("tools/list", listed))

    def _call(self, tool: str, arguments: dict[str, Any], told: Told | None) -> Mapping[str, Any]:
        async def heard(progress: float, total: float | None, message: str | None) -> None:
            assert told is not None
            told(progress, total, message or "")

        limit_s = UNLIMITED_S if self._offers else None  # `_done` has a limit that excludes the server's own questions
        called = self._connected().call_tool(tool, arguments, limit_s, progress_callback=heard if told else None)
        return _plain(self._done(tool, called))

    def _ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return _plain(self._done(method, asking(self._connected(), method, params)))

    def close(self) -> None:
        """Close the connection."""
        self._gone = self._gone or "it was closed"
        loop, stop = self._loop, self._stop
        if loop and stop:
            with suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(stop.set)

    def _connected(self) -> Client:
        """Return the one connection, made at first use."""
        with self._starting:
            if self._gone:
                raise ToolServerError(f"{self.name} cannot be asked: {self._gone}")
            if self._client is None:
                ready: concurrent.futures.Future[Client] = concurrent.futures.Future()
                threading.Thread(target=self._run, args=(ready,), name=f"{self.name}-http", daemon=True).start()
                try:
                    failure = ready.exception(self._timeout_s + SLACK_S)
                except concurrent.futures.TimeoutError:
                    failure = TimeoutError(f"no answer within {self._timeout_s:g} s")
                if failure:
                    self.close()
                    raise ToolServerError(
                        f"{self.name} cannot be reached at {_address(self._url)}: {_reason(failure, self._url)}: "
                        "start it, or correct its url and headers"
                    ) from failure
                self._client = ready.result()
            return self._client

    def _run(self, ready: concurrent.futures.Future[Client]) -> None:
        """Keep one connection on this thread's loop until closed or lost."""

        async def hold(mode: Literal["legacy", "auto"]) -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            async with (
                self._transport() as transport,
                Client(
                    transport,
                    mode=mode,
                    read_timeout_seconds=self._timeout_s,
                    message_handler=self._heard,
                    **answering(self._answered, self._offers),
                ) as client,
            ):
                info = client.server_info
                said = {"serverInfo": info.model_dump(mode="json") if info else {}, "instructions": client.instructions}
                self.about = about(said)
                ready.set_result(client)
                listening = asyncio.create_task(_outcome(self._listen(client)))
                if not self._gone:  # may have been closed while connecting
                    await self._stop.wait()
                listening.cancel()

        # Servers can ask during a call only with a handshake; the SDK would choose to go without.
        ended = asyncio.run(_outcome(hold("legacy"))) if self._offers else None
        if not (ready.done() or self._gone):
            ended = asyncio.run(_outcome(hold("auto")))
        self._gone = self._gone or (f"the connection was lost: {_reason(ended, self._url)}" if ended else "it ended")
        if ended and not ready.done():
            ready.set_exception(ended)

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        limit = self._answer_bytes
        timeout = httpx2.Timeout(self._timeout_s, read=max(self._timeout_s, 300.0))
        if self._sse:
            yield sse_client(self._url, self._headers, self._timeout_s)
            return
        bounded = Bounded(limit)
        async with httpx2.AsyncClient(
            headers=self._headers, timeout=timeout, transport=bounded, trust_env=False
        ) as http:
            yield streamable_http_client(self._url, http_client=http, max_sse_event_size=limit)

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes, which servers with a handshake refuse."""
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as changes:
            async for change in changes:
                if isinstance(change, ToolsListChanged):
                    self._stale.set()
                elif isinstance(change, PromptsListChanged | ResourcesListChanged):
                    kind = "prompts" if isinstance(change, PromptsListChanged) else "resources"
                    self._hears(f"notifications/{kind}/list_changed", {})

    async def _heard(self, message: Any) -> None:
        method, params = getattr(message, "method", ""), getattr(message, "params", None)
        if method == CHANGED:
            self._stale.set()
        elif method:
            said = _plain(params) if params else {}
            await asyncio.to_thread(self._hears, method, said)  # on a thread: a slow client must not block this loop

    async def _answered(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a question on a thread, so that the loop goes on."""
        assert self._asks is not None
        self._questions += 1
        try:
            return await asyncio.to_thread(self._asks, method, params)
        finally:
            self._questions -= 1

    def _done(self, what: str, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result."""
        assert self._loop is not None
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:  # the loop ended meanwhile
            work.close()
            raise ToolServerError(f"{self.name} cannot be asked: {self._gone or 'the connection was lost'}") from error
        failure: BaseException | None
        try:
            while True:
                try:
                    failure = future.exception(self._timeout_s + SLACK_S)
                    break
                except concurrent.futures.TimeoutError:
                    if not self._questions:  # the server's time does not run during its own questions
                        raise
        except (concurrent.futures.TimeoutError, concurrent.futures.CancelledError) as error:
            future.cancel()
            failure = error
        if isinstance(failure, TimeoutError) or "timed out" in str(failure).lower():
            raise ToolServerError(
                f"{self.name} did not answer {what} within {self._timeout_s:g} s: "
                "ask for less, or raise gateway.timeout_s"
            ) from failure
        if isinstance(failure, MCPError) and failure.code == URL_ELICITATION_REQUIRED:
            raise refused(self.name, what, failure.error.model_dump(mode="json", by_alias=True)) from failure
        if failure:
            raise ToolServerError(f"{self.name} failed at {what}: {_reason(failure, self._url)}") from failure
        return future.result()


async def asking(client: Client, method: str, params: Mapping[str, Any]) -> BaseModel:
    """Send any request known to the SDK to a server."""
    asked, answered = REQUESTS[method]
    request = asked.model_validate({"method": method, "params": dict(params)})
    return await client.session.send_request(request, answered)


def answering(
    asked: Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]], offers: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the SDK client's callbacks for the questions of `offers`."""

    async def put(method: str, params: BaseModel | None, kind: Any) -> Any:
        answer = await asked(method, _plain(params) if params else {})
        if error := answer.get("error"):
            return ErrorData(code=int(error.get("code", INTERNAL_ERROR)), message=str(error.get("message", "refused")))
        return kind.model_validate(answer["result"])

    async def elicited(_: Any, params: BaseModel) -> Any:
        return await put("elicitation/create", params, ElicitResult)

    async def sampled(_: Any, params: BaseModel) -> Any:
        kind = CreateMessageResultWithTools if getattr(params, "tools", None) else CreateMessageResult
        return await put("sampling/createMessage", params, kind)

    async def rooted(_: Any) -> Any:
        return await put("roots/list", None, ListRootsResult)

    callbacks = {"elicitation": ("elicitation_callback", elicited), "roots": ("list_roots_callback", rooted)}
    callbacks |= {"sampling": ("sampling_callback", sampled)}
    found: dict[str, Any] = {name: callback for kind, (name, callback) in callbacks.items() if kind in offers}
    if offers.get("sampling"):
        found["sampling_capabilities"] = SamplingCapability.model_validate(offers["sampling"])
    return found


class Bounded(httpx2.AsyncHTTPTransport):
    """A transport that limits the size of a response.

    Event streams are limited by the SDK. A response that is too long becomes a JSON-RPC error, because an exception would
    cost the connection.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; return its response, or an error if too long."""
        response = await super().handle_async_request(request)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return response
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > self._most:
                await response.aclose()
                return httpx2.Response(200, json=self._too_long(request), request=request)
        kept = {name: value for name, value in response.headers.items() if name not in _OF_THE_WIRE}
        return httpx2.Response(response.status_code, headers=kept, content=bytes(body), request=request)

    def _too_long(self, request: httpx2.Request) -> dict[str, Any]:
        asked = parsed(request.content) or {}
        said = f"it answered with {too_long(str(asked.get('method')), self._most)}"
        return {"jsonrpc": "2.0", "id": asked.get("id"), "error": {"code": INTERNAL_ERROR, "message": said}}


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def _outcome(work: Coroutine[Any, Any, None]) -> BaseException | None:
    """Return the exception of a coroutine, or None.

    Every exception counts: foreign code on its own thread must not fail unseen.
    """
    ended = await asyncio.gather(work, return_exceptions=True)
    return ended[0]


def _reason(failure: BaseException, url: str) -> str:
    """Return the first cause in nested exception groups, without URL secrets."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return shortened((str(failure) or type(failure).__name__).replace(url, _address(url)).partition(" For more")[0])


def _address(url: str) -> str:
    """Return a URL without user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or '?'}{f':{parts.port}' if parts.port else ''}{parts.path}"
