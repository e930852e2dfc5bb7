"""The gateway, by the official SDK's client, in front of real servers and of ones that fail."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp import Client, StdioServerParameters
from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import ConsentError, ToolServerError, UsageError
from vademecum.mcp.gateway import Gateway
from vademecum.mcp.tool import violation
from vademecum.mcp.upstream import Fleet, Upstream
from vademecum.providers.servers.configured import ServerSpec, open_server
from vademecum.result import Err, Ok
from vademecum.settings import PrivacySettings
from vademecum.tools.records import Trace
from vademecum.tools.session_traces import PAUSE_S, Traced
from vademecum.wiring.roots import consented

NOTES = '''
import os, sys, time
import anyio
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image

server = MCPServer("notes")

@server.tool()
def find_note(about: str) -> str:
    """Find a note about something."""
    return f"note-4711 is about {about}"

@server.tool()
def delete_note(note_id: str, password: str = "") -> str:
    """Delete a note for ever."""
    return f"{note_id} is gone; the password was {password}"

@server.tool()
def draw_note(note_id: str) -> Image:
    """Show a note as a picture."""
    return Image(data=b"\\x89PNG", format="png")

@server.tool()
def read(path: str) -> str:
    """Read a page of notes."""
    return path

@server.tool()
async def learn(ctx: Context) -> str:
    """Learn to translate notes."""
    server.add_tool(find_note, name="translate_note", description="Translate a note into French.")
    await ctx.session.send_tool_list_changed()
    return "learnt"

@server.tool()
async def sort_notes(ctx: Context) -> str:
    """Sort all notes, which takes a while."""
    for done in (1, 2, 3):
        await ctx.report_progress(done, 3, f"box {done}")
        await anyio.sleep(0.2)
    return "sorted"

class Answer(BaseModel):
    sure: bool

@server.tool()
async def burn_notes(ctx: Context) -> str:
    """Burn all notes, after asking the user."""
    return str(await ctx.elicit("Are you sure?", Answer))

@server.tool()
async def rhyme_notes(ctx: Context) -> str:
    """Make notes rhyme, by the client's model."""
    said = SamplingMessage(role="user", content=TextContent(type="text", text="a rhyme"))
    return str(await ctx.session.create_message([said], max_tokens=10))

server.run("stdio")
'''
FILES = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, result = request.get("method"), {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "f", "version": "1"}}
    elif method == "tools/list":
        text = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": False}
        number = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
        result = {"tools": [
            {"name": "read", "description": "Read a file from the disk.", "inputSchema": text},
            {"name": "measure", "description": "Measure a file.", "inputSchema": text, "outputSchema": number},
            {"name": "hang", "description": "Never answer.", "inputSchema": {"type": "object"}},
            {"name": "flood", "description": "Answer without measure.", "inputSchema": {"type": "object"}},
            {"name": "crash", "description": "End.", "inputSchema": {"type": "object"}},
        ]}
    elif request["params"]["name"] == "hang":
        continue
    elif request["params"]["name"] == "crash":
        os._exit(9)
    else:
        name = request["params"]["name"]
        said = "x" * 50_000 if name == "flood" else str(os.getpid())
        result = {"content": [{"type": "text", "text": said}]}
        if name == "measure":
            result["structuredContent"] = {"size": "huge"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
SECRET = "hunter2-correct-horse"
Session = Callable[[Client], Awaitable[None]]


@pytest.fixture
def through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Trace]]:
    """Run a session through `vade mcp --gateway` over two servers and one that is not there; return the traces kept."""
    (tmp_path / "notes.py").write_text(NOTES, encoding="utf-8")
    (tmp_path / "files.py").write_text(FILES, encoding="utf-8")
    servers = {name: {"command": sys.executable, "args": [str(tmp_path / f"{name}.py")]} for name in ("notes", "files")}
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": servers | {"lost": {"command": "/nonexistent/server"}}}))
    for variable in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(session: Session, **settings: str) -> list[Trace]:
        environment = dict(os.environ) | {"VADE_GATEWAY__TIMEOUT_S": "60"} | settings
        command = ["-m", "vademecum", "mcp", "--gateway", str(config)]
        server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(tmp_path))

        async def converse() -> None:
            async with Client(server) as client:
                for name in servers:  # a call waits until its server has said what it has, however busy the machine is
                    await ask(client, "call_tool", tool=f"{name}/none")
                await session(client)

        asyncio.run(asyncio.wait_for(converse(), 120))
        with Engine.open(str(tmp_path)) as engine:
            return engine.tools._ledger.traces()

    return run


async def ask(client: Client, named: str, /, **arguments: Any) -> tuple[str, bool]:
    """Call one of the gateway's tools; return its text and whether it is an error."""
    result = await client.call_tool(named, arguments)
    return "\n".join(getattr(part, "text", f"<{part.type}>") for part in result.content), bool(result.is_error)


def tools_in(found: str) -> str:
    """The tools in the text of a search, without the verdict's line and without scores."""
    return re.sub(r"\) \d\.\d\d", ")", found.partition("\n")[2])


@pytest.mark.slow
def test_tools_are_found_called_and_traced(through: Callable[..., list[Trace]], tmp_path: Path) -> None:
    """Search names the right tool with its arguments, a call goes through, and the trace says who used whose outcome."""

    async def session(client: Client) -> None:
        found, _ = await ask(client, "search_tools", query="delete a note")
        assert tools_in(found).startswith(
            "notes/delete_note(note_id: string, password?: string)\n  Delete a note for ever."
        )
        assert "note: lost cannot be started: '/nonexistent/server'" in found
        assert await ask(client, "call_tool", tool="notes/find_note", arguments={"about": "cheese"}) == (
            "note-4711 is about cheese",
            False,
        )
        given = {"note_id": "note-4711", "password": SECRET}
        said, failed = await ask(client, "call_tool", tool="delete_note", arguments=given)
        assert said.startswith("note-4711 is gone")
        assert not failed
        assert await ask(client, "call_tool", tool="notes/draw_note", arguments={"note_id": "note-4711"}) == (
            "<image>",
            False,
        )

    (trace,) = through(session)
    assert trace.intent == "delete a note"
    assert [(call.tool, call.arguments, call.ok) for call in trace.calls] == [
        ("notes/find_note", ("about",), True),
        ("notes/delete_note", ("note_id", "password"), True),
        ("notes/draw_note", ("note_id",), True),
    ]
    assert {(0, 1), (0, 2)} <= set(trace.links)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"find_note" in kept
    assert SECRET.encode() not in kept
    assert b"note-4711" not in kept
    assert b"cheese" not in kept


@pytest.mark.slow
def test_what_was_done_is_suggested(through: Callable[..., list[Trace]]) -> None:
    """A task done once is planned from its trace: the same calls in their order, with what they take."""
    intent = "throw away the note about cheese"

    async def session(client: Client) -> None:
        await ask(client, "suggest_plan", intent=intent)
        await ask(client, "call_tool", tool="notes/find_note", arguments={"about": "cheese"})
        await ask(client, "call_tool", tool="notes/delete_note", arguments={"note_id": "note-4711"})
        again, _ = await ask(client, "suggest_plan", intent=intent)
        assert "past tasks like it: none" in again, "here the task may go on"

    async def another(client: Client) -> None:
        plan, failed = await ask(client, "suggest_plan", intent=intent)
        assert not failed
        lines = plan.splitlines()
        assert lines[0].startswith("confidence "), plan
        assert lines[1:5] == [
            "1.",
            "  t1 notes/find_note(about: string)",
            "2.",
            "  t2 notes/delete_note(note_id: string, password?: string) after t1",
        ]

    through(session)
    through(another)


@pytest.mark.slow
def test_the_list_of_tools_never_changes(through: Callable[..., list[Trace]]) -> None:
    """What an agent pays for is small and the same to the byte, whatever servers learn; what they learn is found at once."""

    async def session(client: Client) -> None:
        def shown(listed: Any) -> str:
            return "".join(tool.model_dump_json() for tool in listed.tools)

        first = shown(await client.list_tools(cache_mode="refresh"))
        assert len(first) < 3000
        assert {"notes", "files", "lost"} <= set(
            (client.instructions or "").replace(",", " ").replace(".", " ").split()
        )
        found, _ = await ask(client, "search_tools", query="translate_note")
        assert "translate_note" not in found
        assert await ask(client, "call_tool", tool="notes/learn") == ("learnt", False)
        found, _ = await ask(client, "search_tools", query="translate_note")
        assert tools_in(found).startswith("notes/translate_note(about: string)"), found
        assert "schema: {" in found, "a tool asked for by name comes with its schema"
        assert shown(await client.list_tools(cache_mode="refresh")) == first

    through(session)


@pytest.mark.slow
def test_what_is_wrong_is_said_and_the_others_go_on(through: Callable[..., list[Trace]]) -> None:
    """No such tool, two of one name, a wrong argument, a broken promise, an answer too long: each names the thing and the fix."""

    async def session(client: Client) -> None:
        async def wrong(expected: str, tool: str, /, **arguments: Any) -> None:
            said, failed = await ask(client, "call_tool", tool=tool, arguments=arguments)
            assert failed
            assert said.startswith(expected), said

        await ask(client, "search_tools", query="anything")
        await wrong("there is no tool 'notes/find_notes': did you mean notes/find_note", "notes/find_notes")
        await wrong("2 servers have 'read': say which: notes/read, files/read", "read", path="x")
        await wrong("files/read: path is missing: it must be text; it takes path: string", "files/read")
        await wrong("files/read: there is no pth: did you mean 'path'?", "files/read", path="x", pth="x")
        await wrong("files/read: path must be text, not 3", "files/read", path=3)
        await wrong("files/measure broke its own output schema: size must be a whole number", "files/measure", path="x")
        await wrong(
            "files answered with more than 10000 bytes: ask for less, or raise gateway.answer_bytes", "files/flood"
        )
        await wrong("lost cannot be started: '/nonexistent/server': No such file or directory", "lost/x")
        said, failed = await ask(client, "call_tool", arguments={})
        assert failed
        assert said.startswith("call_tool: tool is missing")
        assert (await ask(client, "call_tool", tool="files/read", arguments={"path": "x"}))[1] is False

    (trace,) = through(session, VADE_GATEWAY__ANSWER_BYTES="10000")
    assert [(call.tool, call.ok) for call in trace.calls] == [
        ("files/measure", False),
        ("files/flood", False),
        ("files/read", True),
    ]


@pytest.mark.slow
def test_one_slow_server_stops_nobody(through: Callable[..., list[Trace]]) -> None:
    """While a call is waited for, others are answered, also by the same server; then its time is up."""

    async def session(client: Client) -> None:
        await ask(client, "search_tools", query="read a file")
        hanging = asyncio.create_task(ask(client, "call_tool", tool="files/hang"))
        assert (await ask(client, "call_tool", tool="notes/find_note", arguments={"about": "x"}))[1] is False
        assert (await ask(client, "call_tool", tool="files/read", arguments={"path": "x"}))[1] is False
        assert tools_in((await ask(client, "search_tools", query="find a note"))[0]).startswith("notes/find_note")
        assert not hanging.done()
        said, failed = await hanging
        assert failed
        assert said == "files did not answer hang within 8 s: ask for less, or raise gateway.timeout_s"

    through(session, VADE_GATEWAY__TIMEOUT_S="8")


@pytest.mark.slow
def test_a_crashed_server_comes_back(through: Callable[..., list[Trace]]) -> None:
    """The call that it crashed at says so and is not made again; the next one finds a new process."""

    async def session(client: Client) -> None:
        first, _ = await ask(client, "call_tool", tool="files/read", arguments={"path": "x"})
        said, failed = await ask(client, "call_tool", tool="files/crash")
        assert failed
        assert said == "files stopped before it answered: exit code 9: it is started again with the next call"
        second, failed = await ask(client, "call_tool", tool="files/read", arguments={"path": "x"})
        assert not failed
        assert first != second

    (trace,) = through(session)
    assert [call.ok for call in trace.calls] == [True, False, True]


@pytest.mark.slow
def test_how_far_a_call_is_reaches_who_wants_to_know(through: Callable[..., list[Trace]]) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def session(client: Client) -> None:
        result = await client.call_tool("call_tool", {"tool": "notes/sort_notes"}, progress_callback=hear)
        assert not result.is_error
        assert heard == [(1, 3, "box 1"), (2, 3, "box 2"), (3, 3, "box 3")]
        assert await ask(client, "call_tool", tool="notes/sort_notes") == ("sorted", False)
        assert len(heard) == 3

    through(session)


def test_a_server_that_asks_the_user_or_the_model_is_refused_and_does_not_hang(
    through: Callable[..., list[Trace]],
) -> None:
    async def session(client: Client) -> None:
        for tool in ("burn_notes", "rhyme_notes"):
            text, failed = await asyncio.wait_for(ask(client, "call_tool", tool=f"notes/{tool}"), 30)
            assert failed, text
            assert text
        assert await ask(client, "call_tool", tool="notes/read", arguments={"path": "a"}) == ("a", False)

    through(session)


def test_a_server_on_another_machine_is_not_asked_unless_agreed_to(
    through: Callable[..., list[Trace]], tmp_path: Path
) -> None:
    config = tmp_path / "servers.json"
    servers = json.loads(config.read_text(encoding="utf-8"))
    servers["mcpServers"]["far"] = {"url": "http://192.0.2.1/mcp"}  # an address that is nobody's (RFC 5737)
    config.write_text(json.dumps(servers), encoding="utf-8")
    (tmp_path / "vademecum.toml").write_text("[privacy]\nallow_remote = true\n", encoding="utf-8")

    async def session(client: Client) -> None:
        text, failed = await ask(client, "search_tools", query="find a note")
        assert not failed
        assert "notes/find_note" in text
        assert (
            "'far' sends the arguments of calls to another machine: set privacy.allow_remote in your user file" in text
        )
        text, failed = await ask(client, "call_tool", tool="far/anything")
        assert failed
        assert "privacy.allow_remote" in text

    through(session)


def test_who_agreed_may_ask_another_machine() -> None:
    far, near = (ServerSpec.of_url(url) for url in ("https://192.0.2.1/mcp", "http://127.0.0.1:9/mcp"))
    agreed = replace(Settings(), privacy=PrivacySettings(allow_remote=True))
    assert consented("server of tools", open_server(far), agreed, shared=False).remote
    assert not consented("server of tools", open_server(near), Settings(), shared=False).remote
    with pytest.raises(ConsentError, match="VADE_PRIVACY__ALLOW_REMOTE=1"):
        consented("server of tools", open_server(far), Settings(), shared=False)


def test_a_gateway_does_not_start_itself(through: Callable[..., list[Trace]], tmp_path: Path) -> None:
    """Where its own entry stands among the servers, it says so instead of starting for ever."""
    config = tmp_path / "servers.json"
    servers = json.loads(config.read_text())
    servers["mcpServers"]["lost"] = {
        "command": sys.executable,
        "args": ["-m", "vademecum", "mcp", "--gateway", str(config)],
    }
    servers["mcpServers"]["lost"]["env"] = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    config.write_text(json.dumps(servers))

    async def session(client: Client) -> None:
        found, _ = await ask(client, "search_tools", query="find a note")
        assert tools_in(found).startswith("notes/find_note")
        assert "take the gateway itself out of" in found

    through(session)


class Scripted:
    """A server that does what it is told to: dies when asked, or answers."""

    name, about, remote, stale = "s", "", False, False

    def __init__(self, log: list[str], *, dies: bool) -> None:
        self.alive, self._dies, self._log = True, dies, log
        log.append("opened")

    def tools(self) -> Any:
        """One tool."""
        return Ok([{"name": "go", "inputSchema": {}}])

    def call(self, tool: str, arguments: Any) -> Any:
        """Die or answer."""
        self._log.append("called")
        if self._dies:
            self.alive = False
            return Err(ToolServerError("s stopped: exit code 1"))
        return Ok({"content": []})

    def close(self) -> None:
        """Nothing to let go of."""


def test_a_server_that_keeps_crashing_is_tried_ever_more_rarely() -> None:
    """At once the first time, then after ever longer pauses that the message names; success forgets it all."""
    now, log, dies = [100.0], list[str](), [True]
    upstream = Upstream("s", lambda: Scripted(log, dies=dies[0]), lambda: now[0])

    def failure() -> str:
        with pytest.raises(ToolServerError) as caught:
            upstream.call("go", {})
        return str(caught.value)

    assert failure() == "s stopped: exit code 1: it is started again with the next call"
    assert failure() == "s stopped: exit code 1: it is started again with the next call"
    assert failure() == "s stopped: exit code 1 (failed 2 times; next try in 1 s)"
    assert failure() == "s stopped: exit code 1 (failed 2 times; next try in 1 s)"
    assert log == ["opened", "called"] * 2
    now[0] += 1
    failure()
    assert "failed 3 times; next try in 2 s" in failure()
    now[0] += 2
    dies[0] = False
    assert upstream.call("go", {}) == {"content": []}
    upstream.close()
    assert "closed with the gateway" in failure()


def test_a_trace_goes_on_where_results_flow_and_ends_with_a_new_search_or_a_pause() -> None:
    """Values in the question link nothing; short values link nothing."""
    now = [0.0]
    traced = Traced("s", lambda: now[0])
    traced.intend("find ticket 12345")
    traced.called("t/find", {"number": 12345}, "ticket 12345 of ada@example.org, priority 3")[0]
    traced.intend("write mail")
    trace = traced.called("mail/send", {"to": "ada@example.org", "about": 12345, "priority": 3}, "")[0]
    assert (trace.id, trace.intent, trace.links) == ("s:1", "find ticket 12345; write mail", ((0, 1),))
    traced.intend("find ticket 12345", planned=("mail/send",))
    assert traced.called("t/close", {}, "")[0].id == "s:1", "the same plan asked for again is the same work"
    traced.intend("find ticket 12345", planned=("mail/send",))
    assert traced.called("t/find", {}, "")[0].id == "s:2", "but not where the work begins again"
    traced.intend("something else")
    assert traced.called("t/find", {}, "", ok=False)[0].id == "s:3"
    now[0] += PAUSE_S + 1
    trace = traced.called("t/find", {"a": {"b": ["deep value"]}}, "")[0]
    assert (trace.id, trace.intent, trace.at) == ("s:4", "", PAUSE_S + 1)


def test_calls_of_two_tasks_at_once_are_told_apart_by_what_was_shown_for_each() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend("water the garden", fits={"garden/tap": 0.5, "garden/hose": 0.5})
    traced.intend("pay the rent", fits={"bank/login": 0.5, "bank/pay": 0.5})
    tools = ("garden/tap", "bank/login", "garden/hose", "bank/pay")
    traces = {trace.id: trace for trace in [traced.called(tool, {}, "")[0] for tool in tools]}
    assert {trace.intent: [call.tool for call in trace.calls] for trace in traces.values()} == {
        "water the garden": ["garden/tap", "garden/hose"],
        "pay the rent": ["bank/login", "bank/pay"],
    }


def tasks(traced: Traced, calls: list[str]) -> dict[str, list[str]]:
    """Make calls; return the tools of each task by its intent."""
    traces = {trace.id: trace for trace in [traced.called(tool, {}, "")[0] for tool in calls]}
    return {trace.intent: [call.tool for call in trace.calls] for trace in traces.values()}


def test_a_plan_takes_the_place_of_an_earlier_one() -> None:
    """What the earlier one left undone is not done by what follows the later one."""
    traced = Traced("s", lambda: 0.0)
    traced.intend("move the flight", fits={"air/find": 0.5, "air/change": 0.5}, planned=("air/find", "air/change"))
    assert tasks(traced, ["air/find"]) == {"move the flight": ["air/find"]}
    traced.intend(
        "cancel the flight", fits={"air/find": 0.4, "air/change": 0.3, "air/cancel": 0.6}, planned=("air/cancel",)
    )
    done = ["air/find", "air/cancel", "air/change"]
    assert tasks(traced, done) == {"cancel the flight": done}


def test_two_plans_at_once_are_told_apart_by_what_fits_where_neither_names_the_tool() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend(
        "water the garden", fits={"garden/tap": 0.5, "garden/hose": 0.4, "bank/pay": 0.01}, planned=("garden/tap",)
    )
    traced.intend("pay the rent", fits={"bank/pay": 0.5, "bank/login": 0.2}, planned=("bank/pay",))
    assert tasks(traced, ["garden/tap", "bank/login", "garden/hose", "bank/pay"]) == {
        "water the garden": ["garden/tap", "garden/hose"],
        "pay the rent": ["bank/login", "bank/pay"],
    }


def test_a_search_that_waits_for_its_first_call_is_given_what_fits_nothing_well() -> None:
    """Of two searches before any call; one that was before the task's own search was given up."""
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    traced = Traced("s", clock)
    traced.intend("sing a song")
    traced.intend("water the garden", fits={"garden/tap": 0.5, "bank/login": 0.05})
    assert tasks(traced, ["garden/tap", "shed/key"]) == {"water the garden": ["garden/tap", "shed/key"]}
    traced.intend("mow the lawn", fits={"garden/mow": 0.5, "bank/login": 0.05})
    traced.intend("pay the rent", fits={"bank/pay": 0.5, "bank/login": 0.02})
    found = tasks(traced, ["garden/mow", "bank/login", "bank/pay"])
    assert found == {"mow the lawn": ["garden/mow"], "pay the rent": ["bank/login", "bank/pay"]}
    traced.intend("mow the meadow", fits={"garden/mow": 0.5})
    traced.intend("paint the fence", fits={"shed/brush": 0.5})
    found = tasks(traced, ["garden/mow", "shop/colour", "shed/brush"])
    assert found == {"mow the meadow": ["garden/mow"], "paint the fence": ["shop/colour", "shed/brush"]}


def test_what_is_called_next_shows_whose_the_first_call_was() -> None:
    """Both traces are told anew; a call that says what it is for is not doubted."""
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    traced = Traced("s", clock)
    traced.intend("move the flight", fits={"air/find": 0.4, "air/change": 0.2})
    traced.intend("book a flight", fits={"air/find": 0.5, "air/book": 0.6})
    assert traced.called("air/find", {}, "flight AB-1234")[0].intent == "book a flight"
    assert traced.called("air/find", {}, "flight CD-5678")[0].intent == "move the flight"
    traces = traced.called("air/change", {"flight": "AB-1234"}, "")
    assert [(trace.intent, len(trace.calls)) for trace in traces] == [("move the flight", 2), ("book a flight", 1)]
    traced.intend("sell the car", fits={"shop/list": 0.4, "shop/sell": 0.6})
    traced.intend("buy a car", fits={"shop/list": 0.5, "shop/buy": 0.6})
    assert traced.called("shop/list", {}, "car EF-9012")[0].intent == "buy a car"
    assert [trace.intent for trace in traced.called("shop/sell", {"car": "EF-9012"}, "")] == ["sell the car"]
    assert traced.called("shop/buy", {}, "")[0].intent == "buy a car", "its search waits again"
    traced.intend("mow the lawn", fits={"garden/shed": 0.4, "garden/mow": 0.6})
    traced.called("garden/shed", {}, "key GH-3456", intent="paint the shed")
    assert traced.called("garden/mow", {"key": "GH-3456"}, "")[0].intent == "paint the shed"


def test_two_tasks_that_ask_for_much_the_same_at_once_stay_two() -> None:
    traced = Traced("s", lambda: 0.0)
    fits = {"bank/login": 0.9, "bank/pay": 0.3, "bank/balance": 0.4}
    traced.intend("log in to account 1234 and pay the rent", fits=fits | {"bank/pay": 0.6})
    traced.intend("log in to account 5678 and tell the balance", fits=fits | {"bank/balance": 0.7})
    found = tasks(traced, ["bank/login", "bank/login", "bank/pay", "bank/balance"])
    assert sorted(found.values()) == [["bank/login", "bank/balance"], ["bank/login", "bank/pay"]]


def told(traced: Traced, calls: list[tuple[str, dict[str, str], str]]) -> dict[str, list[str]]:
    """Make calls with arguments and results; return the tools of each trace as last told, by its intent."""
    traces = {trace.id: trace for call in calls for trace in traced.called(*call)}
    return {trace.intent: [call.tool for call in trace.calls] for trace in traces.values() if trace.calls}


def test_two_searches_of_much_the_same_words_are_two_tasks_once_both_are_called_for() -> None:
    """Until then the earlier one may be a first attempt at the later one."""
    traced = Traced("s", lambda: 0.0)
    traced.intend("total sales of shoes in 2022, with tax", fits={"shop/sales": 0.1, "shop/tax": 0.9})
    traced.intend("average sales of shoes in 2022, in euros", fits={"shop/sales": 0.5, "bank/convert": 0.4})
    first = told(traced, [("shop/sales", {}, "value-1234")])
    assert first == {"total sales of shoes in 2022, with tax; average sales of shoes in 2022, in euros": ["shop/sales"]}
    calls = [("shop/sales", {}, "value-5678"), ("shop/tax", {"given": "value-1234"}, ""),
             ("bank/convert", {"given": "value-5678"}, "")]  # fmt: skip
    assert told(traced, calls) == {
        "total sales of shoes in 2022, with tax": ["shop/sales", "shop/tax"],
        "average sales of shoes in 2022, in euros": ["shop/sales", "bank/convert"],
    }


def test_a_value_of_what_was_asked_for_shows_whose_a_call_is() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend("fly to Lisbon", fits={"air/find": 0.4, "air/book": 0.4})
    traced.intend("fly to Geneva", fits={"air/find": 0.5, "air/book": 0.5})
    calls = [("air/find", {"to": town}, f"flight {town[0]}-1234") for town in ("Lisbon", "Geneva")]
    calls += [("air/book", {"to": town}, "") for town in ("Geneva", "Lisbon")]
    both = ["air/find", "air/book"]
    assert told(traced, calls) == {"fly to Lisbon": both, "fly to Geneva": both}


def test_what_fits_nothing_does_not_go_back_to_a_task_that_something_was_searched_for_since() -> None:
    """Even where that one's search had found the tool, and more so if it was made again after a failure."""
    traced = Traced("s", lambda: 0.0)
    traced.intend("like the photo", fits={"photo/like": 0.5, "air/airport": 0.01})
    assert tasks(traced, ["photo/like"]) == {"like the photo": ["photo/like"]}
    traced.intend("fly to Lisbon", fits={"air/find": 0.5})
    assert tasks(traced, ["air/find", "air/airport"]) == {"fly to Lisbon": ["air/find", "air/airport"]}
    assert not traced.called("shop/pay", {}, "", ok=False)[0].calls[-1].ok
    assert traced.called("shop/pay", {}, "")[0].intent == "fly to Lisbon"


def test_a_trace_whose_calls_turn_out_to_be_another_tasks_is_told_without_them() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend("water the garden", fits={"garden/tap": 0.3, "garden/shed": 0.9, "garden/hose": 0.9})
    traced.intend("mend the tap", fits={"garden/tap": 0.5, "shop/ring": 0.5})
    (first,) = traced.called("garden/tap", {}, "tap 1234 is open")
    (second,) = traced.called("garden/shed", {}, "")
    assert (first.intent, second.intent) == ("mend the tap", "water the garden")
    whole, empty = traced.called("garden/hose", {"tap": "tap 1234"}, "")
    assert [call.tool for call in whole.calls] == ["garden/tap", "garden/shed", "garden/hose"]
    assert (whole.id, empty.id, empty.calls) == (second.id, first.id, ())


def test_a_tool_looked_up_by_its_name_belongs_to_the_task_at_hand() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend("mail the report", fits={"files/find": 0.6, "mail/send": 0.5}, planned=("files/find", "mail/send"))
    for tool in ("files/find", "mail/send", "files/close"):
        traced.intend(tool, fits={tool: 0.9}, named=True)
        trace = traced.called(tool, {}, "")[0]
    assert (trace.intent, [call.tool for call in trace.calls]) == (
        "mail the report",
        ["files/find", "mail/send", "files/close"],
    )
    fresh = Traced("t", lambda: 0.0)
    fresh.intend("mail/send", fits={"mail/send": 0.9}, named=True)
    assert fresh.called("mail/send", {}, "")[0].intent == "mail/send"


def test_a_search_that_led_to_no_call_speaks_for_the_one_after_it_if_they_ask_for_the_same() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend("sing a song")
    traced.intend("sprinkle garden flowers", fits={"garden/mow": 0.5})
    traced.intend("water garden flowers", fits={"garden/tap": 0.5})
    assert traced.called("garden/tap", {}, "")[0].intent == "sprinkle garden flowers; water garden flowers"


def test_what_a_call_says_it_is_for_decides() -> None:
    traced = Traced("s", lambda: 0.0)
    first = [traced.called("a/begin", {}, "x", intent=each)[0] for each in ("one thing", "another")]
    again = traced.called("a/end", {}, "", intent="one thing")[0]
    assert (again.id, again.intent, len(again.calls)) == (first[0].id, "one thing", 2)


def test_after_a_failure_a_search_for_much_the_same_goes_on_with_the_task() -> None:
    traced = Traced("s", lambda: 0.0)
    traced.intend("send the letter home", fits={"post/send": 0.5})
    failed = traced.called("post/send", {}, "", ok=False)[0]
    traced.intend("deliver the letter", fits={"mail/send": 0.5})
    assert traced.called("mail/send", {}, "sent")[0].id == failed.id
    traced.intend("deliver the letter of Bob", fits={"post/send": 0.5})
    assert traced.called("post/send", {}, "")[0].id != failed.id


def test_calls_that_overlap_do_not_wait_for_each_other() -> None:
    now = [0.0]
    traced = Traced("s", lambda: now[0])
    traced.intend("compare the shops")
    for tool in ("a/price", "b/price"):  # both begin at once
        now[0] += 1.0
        traced.called(tool, {}, f"costs {tool}-4711", latency_s=now[0])[0]
    now[0] += 1.0
    trace = traced.called("c/compare", {"left": "a/price-4711", "right": "b/price-4711"}, "")[0]
    assert trace.links == ((0, 2), (1, 2))
    now[0] += 1.0
    assert traced.called("d/tell", {}, "")[0].links == ((0, 2), (1, 2), (2, 3))


def test_the_value_of_a_password_is_cut_out_of_what_was_searched_for() -> None:
    """Whatever it looks like, and from then on; what else was given stays."""
    traced = Traced("s", lambda: 0.0)
    traced.intend("sign in ada with swordfish at example.org")
    given = {"user": "ada", "site": "example.org", "auth": [{"apiKey": "swordfish"}], "max_tokens": 1000}
    assert traced.called("bank/login", given, "")[0].intent == "sign in ada with [redacted:argument] at example.org"
    assert traced.called("bank/pay", {}, "")[0].intent == "sign in ada with [redacted:argument] at example.org"
    traced.intend("cook swordfish", planned=("kitchen/cook",))
    assert traced.called("kitchen/cook", {"dish": "swordfish"}, "")[0].intent == "cook swordfish"


class Stuck(Scripted):
    """One that failed once, and then takes for ever to say what it has."""

    def __init__(self, log: list[str]) -> None:
        super().__init__(log, dies=False)
        self.waited = threading.Event()

    def tools(self) -> Any:
        """Fail at first; afterwards never come to an end by itself."""
        self._log.append("asked")
        if self._log.count("asked") == 1:
            return Err(ToolServerError("s did not answer"))
        self._log.append("stuck" if not self.waited.wait(15) else "let go")
        return Ok([])


class Described(Scripted):
    """Two tools that take lists, choices and objects, and one that says it is deprecated."""

    def tools(self) -> Any:
        edit = {"type": "object", "properties": {"old": {"type": "string"}, "at": {"type": ["integer", "null"]}, "in": {"type": "array", "items": {"type": "string"}}}, "required": ["old"]}  # fmt: skip
        text = {"path": {"type": "string"}, "edits": {"type": "array", "items": edit}, "as": {"enum": ["diff", "file"]}}
        more = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        said = f"Edit the text of a file. {'It keeps all else as it was. ' * 20}"
        return Ok([
            {"name": "edit_text", "description": said, "inputSchema": {"properties": text, "required": ["path", "edits"]}},
            {"name": "edit", "description": "Edit a file. DEPRECATED: Use edit_text.", "inputSchema": {"properties": {"more": more}}},
            {"name": "count_sheep", "description": "Count the sheep of a herd.", "inputSchema": {}},
        ])  # fmt: skip


def test_a_search_says_how_a_tool_is_called_and_little_of_what_fits_badly(tmp_path: Path, monkeypatch: Any) -> None:
    """Choices and the fields of objects stand in the signature; a cut is seen, and so is a tool that is on its way out."""
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    gateway = Gateway(Fleet([Upstream("s", lambda: Described([], dies=False), lambda: 0.0)]), "c", tmp_path)
    with Engine.open(str(tmp_path)) as engine:
        search = gateway.front.tools["search_tools"].run
        assert search is not None
        found = search(engine, {"query": "edit the text of a file"}, None).text
    signature = (
        's/edit_text(path: string, edits: [{old: string, at?: integer|null, in?: [string]}], as?: "diff"|"file") '
    )
    assert signature in found
    assert re.search(r"^  Edit the text of a file. .*…$", found, re.MULTILINE)
    assert re.search(r"^s/edit\(more\?: integer\|string\) 0\.\d\d \[deprecated\]$", found, re.MULTILINE)
    assert "Count the sheep" not in found
    assert "sheep of" not in found
    gateway.close()


def test_a_server_that_failed_before_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked again beside the search, which says once what is wrong with it."""
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("vademecum.mcp.gateway.LISTING_S", 1000.0)
    log: list[str] = []
    stuck = Stuck(log)
    gateway = Gateway(Fleet([Upstream("s", lambda: stuck, lambda: 0.0)]), "c", tmp_path)
    with Engine.open(str(tmp_path)) as engine:
        search = gateway.front.tools["search_tools"].run
        assert search is not None
        assert "note: s did not answer" in search(engine, {"query": "go"}, None).text
        again = search(engine, {"query": "go"}, None).text
    assert log == ["opened", "asked", "asked"], "the second answer does not wait for the server"
    assert again.count("note: ") == 1
    assert "note: s did not answer" in again
    stuck.waited.set()
    gateway.close()


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        ({"a": 1}, {}, ""),
        ({"a": 1}, True, ""),
        ({"a": 1}, False, "it is not allowed"),
        ({"a": 1.0}, {"properties": {"a": {"type": "integer"}}}, ""),
        ({"a": True}, {"properties": {"a": {"type": "integer"}}}, "a must be a whole number, not True"),
        ({"a": None}, {"properties": {"a": {"type": ["string", "null"]}}}, ""),
        ({"a": "x"}, {"properties": {"a": {"enum": ["y", "z"]}}}, "a must be one of 'y', 'z', not 'x'"),
        ({"a": [1, "x"]}, {"properties": {"a": {"items": {"type": "number"}}}}, "a[1] must be a number, not 'x'"),
        (
            {"a": {"b": 1}},
            {"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"properties": {"b": {"type": "string"}}}}},
            "a.b must be text, not 1",
        ),
        (
            {"a": 1},
            {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
            "a fits no form of it: a must be text, not 1",
        ),
        ({"a": 1}, {"properties": {"a": {"$ref": "https://example.org/x"}}}, ""),
        (
            {"a": "xyz"},
            {"properties": {"a": {"type": "string", "maxLength": 2}}},
            "a must be at most 2 characters, not 'xyz'",
        ),
        ({}, {"allOf": [{"required": ["a"]}]}, "a is missing"),
    ],
)
def test_violations_of_a_schema(value: object, schema: object, said: str) -> None:
    """What is wrong is named by its place, with what it should be."""
    assert violation(value, schema) == said


def test_a_schema_that_refers_to_itself_ends() -> None:
    """Hostile schemas cost a bounded time."""
    twice = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "string"}
    assert violation(1, {"$ref": "#"}) == ""
    assert "must be text" in violation(1, twice)
    assert violation("x", {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}) == ""


def test_the_configuration_is_read_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`vade mcp --gateway` inside a gateway, or with a file that is none, ends with a line that says why."""
    from vademecum.mcp.loop import _gateway

    monkeypatch.setenv("VADE_GATEWAY", "1")
    with pytest.raises(UsageError, match="was started by another"):
        _gateway(str(tmp_path / "servers.json"))
