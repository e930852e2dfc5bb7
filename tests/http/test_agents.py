"""MCP over HTTP, asked by the official client: the tools of standard input and output, for whoever has a key."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from mcp import Client, MCPError
from vademecum.mcp.registry import ALWAYS, INSTRUCTIONS, TOOLS


def ask(client, questions):
    """Ask as an agent does, with the client's key."""

    async def run():
        http_client = httpx2.AsyncClient(headers=client.headers, timeout=60)
        address = f"http://127.0.0.1:{client.port}/mcp"
        async with http_client, Client(streamable_http_client(address, http_client=http_client)) as asked:
            return await questions(asked)

    return asyncio.run(run())


def test_the_tools_are_those_of_standard_input_and_output(serve, repo):
    async def questions(asked):
        listed = (await asked.list_tools()).tools
        return (
            [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed],
            asked.instructions,
            asked.server_info,
        )

    listed, instructions, server = ask(serve(repo()), questions)
    expected = [TOOLS[name].declaration() for name in ALWAYS]
    assert [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in listed] == [
        {name: tool[name] for name in ("name", "description", "inputSchema")} for tool in expected
    ]
    assert [tool["annotations"] for tool in listed] == [tool["annotations"] for tool in expected]
    assert (instructions, server.name) == (INSTRUCTIONS, "vademecum")


def test_a_setting_lists_more_tools(serve, repo, monkeypatch):
    """`mcp.tools` adds to the five; a tool that is not listed is refused, and the five are named."""

    async def questions(asked):
        listed = [tool.name for tool in (await asked.list_tools()).tools]
        return listed, await asked.call_tool("open", {"location": "src/budget.py:1"})

    listed, refused = ask(serve(repo("plain")), questions)
    assert listed == list(ALWAYS)
    assert (refused.is_error, refused.content[0].text) == (True, f"no tool 'open': there are {', '.join(ALWAYS)}")
    monkeypatch.setenv("VADE_MCP__TOOLS", "open")
    listed, opened = ask(serve(repo("more")), questions)
    assert listed == [*ALWAYS, "open"]
    assert (opened.is_error, "src/budget.py:1-1" in opened.content[0].text) == (False, True)


def test_a_tool_answers_as_elsewhere(serve, repo):
    told = []

    async def progress(done, total, message):
        told.append((done, message))

    async def questions(asked):
        found = await asked.call_tool("search", {"query": "split the token budget"}, progress_callback=progress)
        wrong = await asked.call_tool("search", {"budget": 200})
        unknown = await asked.call_tool("grep", {})
        missing = await asked.call_tool("search", {"query": "budget", "path": "../outside"})
        kept = await asked.call_tool("remember", {"text": "We decided to use SQLite."})
        recalled = await asked.call_tool("recall", {"question": "what did we decide about SQLite"})
        return found, wrong, unknown, missing, kept, recalled

    client = serve(repo())
    found, wrong, unknown, missing, kept, recalled = ask(client, questions)
    assert not found.is_error
    assert "src/budget.py:" in found.content[0].text
    assert found.structured_content is None
    assert (wrong.is_error, wrong.content[0].text.startswith("search: query is missing")) == (True, True)
    assert (unknown.is_error, "there are search" in unknown.content[0].text) == (True, True)
    assert (missing.is_error, "is outside" in missing.content[0].text) == (True, True)
    assert not kept.is_error
    assert "SQLite" in recalled.content[0].text
    assert client.get("/v1/events").json["items"][0]["text"] == "We decided to use SQLite."


def test_an_agent_without_a_key_is_not_answered(serve, repo):
    client, key = serve(repo(), keys=[("agent", "*")])

    async def list_tools(asked):
        return len((await asked.list_tools()).tools)

    assert ask(client.with_key(key), list_tools) == len(ALWAYS)
    with pytest.raises((MCPError, httpx2.HTTPStatusError, ExceptionGroup)):
        ask(client, list_tools)


def test_memory_is_of_the_repositories_that_a_key_opens(serve, repo, monkeypatch):
    """With a key for one of three, that one is meant; with two, the one to write to is named; the third is never told of."""
    monkeypatch.setenv("VADE_MCP__STRUCTURED_CONTENT", "true")
    app, lib, secret = repo("app"), repo("lib"), repo("secret")
    client, of_all, of_two, of_one = serve(app, lib, secret, keys=[("all", "*"), ("two", "app,lib"), ("one", "lib")])

    async def said(asked, tool, **arguments):
        answer = await asked.call_tool(tool, arguments)
        return answer.is_error, answer.content[0].text, answer.structured_content

    async def everything(asked):
        for name in ("app", "lib", "secret"):
            failed, text, _ = await said(asked, "remember", text=f"We decided to use {name}base for data.", repo=name)
            assert not failed, text
        return await said(asked, "recall", question="what did we decide to use for data")

    async def of_some(asked):
        return (
            await said(asked, "recall", question="what did we decide to use for data"),
            await said(asked, "remember", text="We decided to use tabs."),
            await said(asked, "recall", question="what did we decide", repo="secret"),
            await said(asked, "remember", text="We decided to use tabs.", repo="secret"),
        )

    _, _, found = ask(client.with_key(of_all), everything)
    assert {each["repo"] for each in found["evidence"]} == {"app", "lib", "secret"}
    (_, _, found), unnamed, other, written = ask(client.with_key(of_two), of_some)
    assert {each["repo"] for each in found["evidence"]} == {"app", "lib"}
    assert (unnamed[0], "give 'repo', one of app, lib" in unnamed[1]) == (True, True)
    for refused in (other, written):
        assert (refused[0], refused[1].endswith("choose among app, lib")) == (True, True)
    (_, text, found), unnamed, other, written = ask(client.with_key(of_one), of_some)
    assert [each["text"] for each in found["evidence"]] == ["We decided to use libbase for data."]
    assert not unnamed[0]
    assert (other[0], written[0]) == (True, True)
    assert "secretbase" not in text
    assert [each["text"] for each in client.with_key(of_one).get("/v1/events").json["items"]] == [
        "We decided to use tabs.", "We decided to use libbase for data."
    ]  # fmt: skip


def test_both_eras_of_the_protocol_are_spoken(serve, repo):
    """A client that shakes hands as of 2024 to 2025, and one that asks with its version in each request."""
    client = serve(repo())
    accept = {"Accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    said = client.post("/mcp", hello, **accept)
    assert said.status == 200
    [line] = [line for line in said.body.decode().splitlines() if line.startswith("data: {")]
    assert json.loads(line.removeprefix("data: "))["result"]["protocolVersion"] == "2025-06-18"
    assert client.post("/mcp", b"not json", **accept, Content_Type="application/json").status == 400
    assert client.get("/mcp", Origin="https://evil.example").status == 403
