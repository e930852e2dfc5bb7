"""Resources, prompts and logs of servers behind the gateway, by the official SDK's client and servers, over pipes and HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import PromptReference, ResourceTemplateReference

from fronted import BOTH_WAYS, both_ways, gateway
from mcp import Client, MCPError

SERVER = '''
import logging, sys, warnings
warnings.simplefilter("ignore")
from mcp.types import ResourceLink, Completion
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("notes")

@server.resource("notes://roof", name="roof", mime_type="text/plain")
def roof() -> str:
    return "the roof leaks"

@server.resource("notes://of/{year}", name="of_year")
def of_year(year: str) -> str:
    return f"notes of {year}"

@server.prompt()
def review(topic: str) -> str:
    """Review what was noted."""
    return f"Review the notes on {topic}."

@server.completion()
async def complete(ref, argument, context):
    return Completion(values=[argument.value + "of"])

@server.tool()
def point() -> list[ResourceLink]:
    """Point at the note on the roof, and at a page that anybody can read."""
    return [
        ResourceLink(type="resource_link", name="roof", uri="notes://roof"),
        ResourceLink(type="resource_link", name="page", uri="https://example.org/roof"),
    ]

@server.tool()
async def grumble(ctx: Context) -> str:
    """Say something for the log."""
    await ctx.session.send_log_message(level="info", data="it drips", logger="roof")
    await ctx.session.send_log_message(level="error", data="it pours")
    return "grumbled"

@server.tool()
async def learn(ctx: Context) -> str:
    """Have one more resource and prompt."""
    await ctx.session.send_resource_list_changed()
    await ctx.session.send_prompt_list_changed()
    await ctx.session.send_resource_updated("notes://roof")
    return "learnt"
'''
SILENT = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        offered = {"tools": {}, "resources": {}, "prompts": {}}
        result = {"protocolVersion": "2025-06-18", "capabilities": offered, "serverInfo": {"name": "s", "version": "1"}}
    elif request.get("method") == "tools/list":
        result = {"tools": [{"name": "sleep", "inputSchema": {"type": "object"}}]}
    elif request.get("method") == "resources/list":
        result = {"resources": "none"}
    elif request.get("method") == "prompts/list":
        result = {"prompts": [{"name": "p"}], "nextCursor": "again"}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.fixture
def through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[Any]]]:
    """Hold a session with `vade mcp --gateway`; return the notifications that came.

    In front of the same server twice, one that answers with nonsense, and one that is not there.
    """
    for name, text in (("notes", SERVER + BOTH_WAYS), ("silent", SILENT)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    with both_ways(tmp_path / "notes.py") as servers:
        servers |= {
            "silent": {"command": sys.executable, "args": [str(tmp_path / "silent.py")]},
            "lost": {"command": "/nonexistent/server"},
        }
        server = gateway(tmp_path, servers, monkeypatch)

        def run(session: Callable[[Client, list[Any]], Awaitable[None]]) -> list[Any]:
            heard: list[Any] = []

            async def hear(message: Any) -> None:
                heard.append(message)

            async def converse() -> None:
                async with Client(server, mode="legacy", message_handler=hear) as client:
                    for (
                        name
                    ) in servers:  # a call waits until its server has said what it has, however busy the machine is
                        for _ in range(20):
                            result = await client.call_tool("call_tool", {"tool": f"{name}/none"})
                            if name == "lost" or "there is no tool" in getattr(result.content[0], "text", ""):
                                break
                    await session(client, heard)

            asyncio.run(asyncio.wait_for(converse(), 120))
            return heard

        yield run


async def until(met: Callable[[], bool]) -> None:
    """Wait for what comes by itself."""
    for _ in range(200):
        if met():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came")


def logs(heard: list[Any]) -> list[tuple[str, str]]:
    """Who said what for the log."""
    return [(m.params.logger, m.params.data) for m in heard if getattr(m, "method", "") == "notifications/message"]


@pytest.mark.slow
def test_resources_of_all_servers_are_listed_and_read(through: Callable[..., list[Any]]) -> None:
    """Each is told apart by its server's name; one that answers with nonsense is left out and named in the log."""

    async def session(client: Client, heard: list[Any]) -> None:
        assert {"resources", "prompts", "logging", "completions"} <= set(
            client.server_capabilities.model_dump(exclude_none=True)
        )
        listed = (await client.list_resources()).resources
        assert {(str(one.uri), one.name) for one in listed} == {
            ("vade://piped/notes://roof", "piped/roof"),
            ("vade://served/notes://roof", "served/roof"),
        }
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "vade://piped/notes://of/{year}",
            "vade://served/notes://of/{year}",
        ]
        for server in ("piped", "served"):
            read = (await client.read_resource(f"vade://{server}/notes://of/1999")).contents[0]
            assert (str(read.uri), read.text) == (f"vade://{server}/notes://of/1999", "notes of 1999")
        for wrong, said in (("notes://roof", "vade://server/uri"), ("vade://nobody/notes://roof", "no resource")):
            with pytest.raises(MCPError, match=said):
                await client.read_resource(wrong)
        with pytest.raises(MCPError, match="piped refused resources/read"):
            await client.read_resource("vade://piped/notes://cellar")
        await until(lambda: any("silent answered resources/list" in str(said) for _, said in logs(heard)))

    through(session)


@pytest.mark.slow
def test_prompts_of_all_servers_are_listed_filled_in_and_completed(through: Callable[..., list[Any]]) -> None:
    """A list without an end is left out; an argument that lacks is the server's own error, named with the server."""

    async def session(client: Client, heard: list[Any]) -> None:
        assert [one.name for one in (await client.list_prompts()).prompts] == ["piped/review", "served/review"]
        for server in ("piped", "served"):
            said = await client.get_prompt(f"{server}/review", {"topic": "the roof"})
            assert said.messages[0].content.text == "Review the notes on the roof."
            ref = PromptReference(type="ref/prompt", name=f"{server}/review")
            assert (await client.complete(ref, {"name": "topic", "value": "ro"})).completion.values == ["roof"]
        year = ResourceTemplateReference(type="ref/resource", uri="vade://piped/notes://of/{year}")
        assert (await client.complete(year, {"name": "year", "value": "19"})).completion.values == ["19of"]
        with pytest.raises(MCPError, match="piped refused prompts/get"):
            await client.get_prompt("piped/review")
        with pytest.raises(MCPError, match="server/prompt"):
            await client.get_prompt("review")
        await until(lambda: any("no end" in str(said) for _, said in logs(heard)))

    through(session)


@pytest.mark.slow
def test_what_a_server_tells_reaches_the_client(through: Callable[..., list[Any]]) -> None:
    """Log messages by the level asked for, under the server's name; changes; and links that can be read as they are given."""

    async def session(client: Client, heard: list[Any]) -> None:
        for server in ("piped", "served"):
            links = (await client.call_tool("call_tool", {"tool": f"{server}/point"})).content
            assert [str(link.uri) for link in links] == [f"vade://{server}/notes://roof", "https://example.org/roof"]
            assert (await client.read_resource(str(links[0].uri))).contents[0].text == "the roof leaks"
        await client.call_tool("call_tool", {"tool": "piped/grumble"})
        await until(lambda: ("piped", "it pours") in logs(heard))
        assert ("piped/roof", "it drips") in logs(heard)
        heard.clear()
        with pytest.warns(MCPDeprecationWarning):  # by the newest era; clients of the others send it
            await client.session.set_logging_level("error")
        await client.call_tool("call_tool", {"tool": "piped/grumble"})
        await until(lambda: ("piped", "it pours") in logs(heard))
        assert not any(said == "it drips" for _, said in logs(heard))
        await client.call_tool("call_tool", {"tool": "piped/learn"})
        await until(lambda: any(getattr(m, "method", "") == "notifications/resources/updated" for m in heard))
        methods = {getattr(message, "method", "") for message in heard}
        assert {"notifications/resources/list_changed", "notifications/prompts/list_changed"} <= methods
        assert "vade://piped/notes://roof" in {
            str(m.params.uri) for m in heard if getattr(m, "method", "") == "notifications/resources/updated"
        }

    through(session)
