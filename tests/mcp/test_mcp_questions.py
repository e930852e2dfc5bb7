"""What servers behind the gateway ask of the user and the model, by the official SDK's client and servers, over pipes and HTTP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
)

from fronted import BOTH_WAYS, both_ways, gateway
from mcp import Client, MCPError
from vademecum.errors import UrlElicitationError
from vademecum.mcp.client import AskedClient
from vademecum.mcp.upstream import Questions
from vademecum.providers.servers.wire import URL_ELICITATION_REQUIRED, refused


class Asker:
    """A server that keeps whom it may ask."""

    name = "notes"

    def answer_by(self, asks: Any, offers: Any) -> None:
        self.asks, self.offers = asks, offers


SERVER = '''
import sys
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import ElicitRequestURLParams, SamplingMessage, TextContent
from pydantic import BaseModel
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("notes")

class Answer(BaseModel):
    sure: bool

@server.tool()
async def burn(ctx: Context) -> str:
    """Burn all notes, after asking the user."""
    said = await ctx.elicit("Are you sure?", Answer)
    return f"{said.action} {said.data.sure if said.action == 'accept' else ''}"

@server.tool()
async def login(ctx: Context) -> str:
    """Log in, on a page of the server's."""
    return (await ctx.elicit_url("Log in", "https://notes.example/login", "e1")).action

@server.tool()
def read() -> str:
    """Read notes, which nobody may who has not logged in."""
    pages = [("https://notes.example/login", "Log in", "e2"), ("https://notes.example/terms", "Agree", "e3")]
    raise UrlElicitationRequiredError(
        [ElicitRequestURLParams(message=m, url=url, elicitation_id=id_) for url, m, id_ in pages]
    )

@server.tool()
async def logged_in(ctx: Context) -> str:
    """Say that the user has logged in."""
    await ctx.session.send_elicit_complete("e1")
    return "said"

@server.tool()
async def rhyme(ctx: Context) -> str:
    """Make notes rhyme, by the client's model."""
    said = SamplingMessage(role="user", content=TextContent(type="text", text="a rhyme on sea"))
    return (await ctx.session.create_message([said], max_tokens=10)).content.text

@server.tool()
async def where(ctx: Context) -> str:
    """Say where the client works."""
    return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)
'''
TIMEOUT_S = 8.0  # of a call, while no question is open; a busy machine needs five to start a server


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The same server as a command and at an address; it keeps nothing of a session."""
    file = tmp_path_factory.mktemp("questions") / "notes.py"
    file.write_text(SERVER + BOTH_WAYS, encoding="utf-8")
    with both_ways(file) as servers:
        yield servers


@pytest.fixture
def through(servers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Hold a session with `vade mcp --gateway`, as a client that greets and may be asked."""
    server = gateway(tmp_path, servers, monkeypatch, VADE_GATEWAY__TIMEOUT_S=str(TIMEOUT_S))

    def run(session: Callable[[Client], Awaitable[None]], mode: str = "legacy", **answering: Any) -> None:
        async def converse() -> None:
            async with Client(server, mode=mode, **answering) as client:
                for _ in range(100):  # until both have started, however busy the machine is
                    said = await ask(client, "piped/none"), await ask(client, "served/none")
                    if all("there is no tool" in text for text in said):
                        break
                    await asyncio.sleep(0.5)  # the gateway waits before it tries again
                await session(client)

        asyncio.run(asyncio.wait_for(converse(), 240))

    return run


async def ask(client: Client, tool: str) -> str:
    """Call a tool through the gateway; return what it says, failed or not."""
    result = await client.call_tool("call_tool", {"tool": tool})
    return " ".join(getattr(part, "text", "") for part in result.content)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_user_and_the_model_are_asked_for_a_server(through: Callable[..., None], mode: str) -> None:
    """A client that greets is asked, and so is one that does not: there the call is answered with the question."""
    questions: list[str] = []

    async def user(_: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        await asyncio.sleep(TIMEOUT_S + 1)  # people think longer than servers may
        return ElicitResult(action="accept", content={"sure": True})

    async def model(_: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        asked = params.messages[0].content
        assert isinstance(asked, TextContent)
        assert (asked.text, params.max_tokens) == ("a rhyme on sea", 10)
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="tea"), model="m")

    async def roots(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///work")])  # type: ignore[arg-type]

    async def session(client: Client) -> None:
        for name in ("piped", "served"):
            assert await ask(client, f"{name}/rhyme") == "tea"
            assert await ask(client, f"{name}/where") == "file:///work"
            assert await ask(client, f"{name}/burn") == "accept True"
        assert questions == ["piped: Are you sure?", "served: Are you sure?"]

    through(session, mode, elicitation_callback=user, sampling_callback=model, list_roots_callback=roots)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_who_says_no_is_heard_and_who_offers_nothing_is_not_asked(through: Callable[..., None], mode: str) -> None:
    async def user(_: Any, __: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="decline")

    async def session(client: Client) -> None:
        for name in ("piped", "served"):
            assert (await ask(client, f"{name}/burn")).strip() == "decline"
            assert "ot supported" in (said := await ask(client, f"{name}/rhyme")) or "no such thing" in said

    through(session, mode, elicitation_callback=user)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_user_is_sent_to_a_page_for_a_server(through: Callable[..., None], mode: str) -> None:
    """With the server's name in front, and the page as the server says it; that it is done with is heard by who greeted."""
    sent: list[tuple[str, str, str]] = []
    done = asyncio.Event()

    async def user(_: Any, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        sent.append((params.message, params.url, params.elicitation_id or ""))
        return ElicitResult(action="accept")

    async def heard(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/elicitation/complete":
            assert message.params.elicitation_id == "e1"
            done.set()

    async def session(client: Client) -> None:
        for name in ("piped", "served"):
            assert await ask(client, f"{name}/login") == "accept"
        assert sent == [(f"{name}: Log in", "https://notes.example/login", "e1") for name in ("piped", "served")]
        if mode == "legacy":
            assert await ask(client, "piped/logged_in") == "said"
            await asyncio.wait_for(done.wait(), 20)

    through(session, mode, elicitation_callback=user, message_handler=heard)


@pytest.mark.slow
def test_a_call_that_needs_a_page_visited_first_says_so_with_the_page(through: Callable[..., None]) -> None:
    """As MCP's own error, with all that it names, to a client that can send its user there."""

    async def user(_: Any, __: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action="accept")

    async def session(client: Client) -> None:
        for name in ("piped", "served"):
            with pytest.raises(MCPError) as needed:
                await client.call_tool("call_tool", {"tool": f"{name}/read"})
            assert needed.value.code == URL_ELICITATION_REQUIRED
            assert needed.value.data["elicitations"] == [
                {
                    "mode": "url",
                    "url": "https://notes.example/login",
                    "message": f"{name}: Log in",
                    "elicitationId": "e2",
                },
                {
                    "mode": "url",
                    "url": "https://notes.example/terms",
                    "message": f"{name}: Agree",
                    "elicitationId": "e3",
                },
            ]
            assert await ask(client, f"{name}/logged_in") == "said"

    through(session, elicitation_callback=user)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_who_cannot_be_sent_to_a_page_reads_where_it_is(through: Callable[..., None], mode: str) -> None:
    async def session(client: Client) -> None:
        for name in ("piped", "served"):
            assert await ask(client, f"{name}/read") == (
                f"{name} refused read: the user has to visit https://notes.example/login first (Log in) and "
                "https://notes.example/terms first (Agree): open them, then call again"
            )

    through(session, mode)


@pytest.mark.parametrize(
    "data", [None, [], {}, {"elicitations": None}, {"elicitations": [1, {}, {"url": 7}, {"url": ""}]}]
)
def test_an_error_that_names_no_page_is_a_refusal_like_any_other(data: Any) -> None:
    error = refused("notes", "read", {"code": URL_ELICITATION_REQUIRED, "message": "log in", "data": data})
    assert str(error) == "notes refused read: log in"
    assert not isinstance(error, UrlElicitationError)


def test_who_takes_forms_alone_is_sent_to_no_page() -> None:
    asked: list[Any] = []
    questions = Questions()
    questions.connect(lambda *said: asked.append(said) or {"result": {}}, {"elicitation": {"form": {}}})
    refused = questions._asked("notes", "elicitation/create", {"mode": "url", "message": "Log in"})
    assert "no such thing" in refused["error"]["message"]
    assert not asked
    assert questions._asked("notes", "elicitation/create", {"message": "Sure?"}) == {"result": {}}


def test_a_server_that_starts_before_the_client_is_known_still_asks_it() -> None:
    """A first message that is a call starts a server at once; the server waits for the client's capabilities."""
    server: Any = Asker()
    questions = Questions()
    early = threading.Thread(target=questions.serve, args=(server,), daemon=True)
    early.start()
    early.join(0.2)
    questions.connect(lambda *_: {"result": {"action": "accept"}}, {"elicitation": {"form": {}}})
    early.join(10)
    assert server.offers == {"elicitation": {"form": {}}}
    assert server.asks("elicitation/create", {"message": "Sure?"}) == {"result": {"action": "accept"}}


def test_who_waits_for_a_client_that_is_gone_is_told() -> None:
    sent: list[dict[str, Any]] = []
    client = AskedClient(sent.append)

    def send(message: dict[str, Any]) -> None:
        sent.append(message)
        client.hang_up()

    client = AskedClient(send)
    client.greeted = True
    assert client.ask("roots/list", {})["error"]["message"] == "the client is gone"
    assert client.ask("roots/list", {})["error"]["message"] == "the client is gone"
    assert [message["method"] for message in sent] == ["roots/list"]


def test_answers_find_who_asked_and_others_are_nothing() -> None:
    def send(message: dict[str, Any]) -> None:
        client.hear({"id": 7, "result": {}})
        client.hear({"id": None, "error": {}})
        client.hear({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}})
        client.hear({"jsonrpc": "2.0", "id": message["id"], "result": "again"})

    client = AskedClient(send)
    client.greeted = True
    assert client.ask("roots/list", {}) == {"result": {"roots": []}}
