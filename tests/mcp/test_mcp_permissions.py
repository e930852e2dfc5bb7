"""Which tools may be called through the gateway: by rules, by the user, and again when a tool changed; long answers in pages."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestParams, ElicitResult

from mcp import Client, StdioServerParameters
from vademecum.errors import AccessError, UsageError
from vademecum.mcp.calls import PAGE_TOOL, Pages
from vademecum.mcp.permissions import Allowed, Permissions, effect
from vademecum.providers.servers.configured import Rules, read_servers
from vademecum.tools.records import Tool

FIND = Tool.of("notes", "find", "Find a note.", annotations={"readOnlyHint": True})
DELETE = Tool.of("notes", "delete", "Delete a note.", annotations={"destructiveHint": True})
SERVER = """
import json, os, sys
from pathlib import Path
hints = {"find": {"readOnlyHint": True}, "delete": {"destructiveHint": True}, "long": {"readOnlyHint": True}}
words = Path(__file__).with_name("words.txt")
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = {}
    if request["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "n", "version": "1"}}
    elif request["method"] == "tools/list":
        said = words.read_text() if words.exists() else "a note."
        result = {"tools": [
            {"name": name, "description": f"{name.title()} {said}", "inputSchema": {"type": "object"}, "annotations": each}
            for name, each in hints.items()
        ]}
    elif request["method"] == "tools/call":
        name = request["params"]["name"]
        result = {"content": [{"type": "text", "text": "start" + "x" * 2990 + "end" if name == "long" else name}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


class User:
    """A user who gives the same answer to every question; None for one that the client cannot ask."""

    def __init__(self, answer: str | None) -> None:
        self.answer, self.questions = answer, list[str]()

    def __call__(self, server: str, message: str, schema: Any) -> dict[str, str] | None:
        self.questions.append(message)
        return None if self.answer is None else {"answer": self.answer}


@pytest.mark.parametrize(
    ("rules", "admitted"),
    [
        (Rules(), {"notes/find", "notes/delete"}),
        (Rules(deny=("notes/del*",)), {"notes/find"}),
        (Rules(allow=("notes/find",)), {"notes/find"}),
        (Rules(ask=("notes/*",), allow=("notes/find",)), set()),
        (Rules(read_only=True), {"notes/find"}),
    ],
)
def test_the_strictest_list_decides(tmp_path: Path, rules: Rules, admitted: set[str]) -> None:
    """A tool that must be asked about is refused where nobody can be asked, with the way to allow the tool."""
    for tool in (FIND, DELETE):
        permissions = Permissions(Allowed(tmp_path), User(None))
        if tool.id in admitted:
            permissions.admit(tool, rules)
        else:
            with pytest.raises(AccessError, match=rf"{tool.id} .*(denied|readOnly|`vade tools allow {tool.id}`)"):
                permissions.admit(tool, rules)


def test_a_user_allows_once_or_always_or_not_at_all(tmp_path: Path) -> None:
    rules = Rules(ask=("*",))
    once, always, no = User("once"), User("always"), User("no")
    for user, times in ((once, 2), (always, 2)):
        for _ in range(times):
            Permissions(Allowed(tmp_path), user).admit(DELETE, rules)
    assert [len(once.questions), len(always.questions)] == [2, 1]
    assert once.questions[0] == "May notes/delete be called? It says: Delete a note. (may destroy)"
    with pytest.raises(AccessError, match="the user did not allow it"):
        Permissions(Allowed(tmp_path), no).admit(FIND, rules)


@pytest.mark.parametrize("rules", [Rules(), Rules(ask=("*",))])
@pytest.mark.parametrize(
    "change",
    [{"description": "Send all notes away."}, {"input_schema": {"x": 1}}, {"annotations": {"readOnlyHint": True}}],
)
def test_a_tool_that_changed_since_it_was_allowed_is_asked_about_again(
    tmp_path: Path, rules: Rules, change: dict[str, Any]
) -> None:
    Permissions(Allowed(tmp_path), User("always")).admit(DELETE, rules)
    changed, user = replace(DELETE, **change), User("always")
    with pytest.raises(AccessError, match="changed since it was allowed"):
        Permissions(Allowed(tmp_path), User(None)).admit(changed, rules)
    Permissions(Allowed(tmp_path), user).admit(changed, rules)
    Permissions(Allowed(tmp_path), user).admit(changed, rules)
    assert len(user.questions) == 1
    assert user.questions[0].startswith("notes/delete changed since it was allowed.")
    Allowed(tmp_path).add("notes/delete")  # as `vade tools allow` does: as the tool is at its next call
    Permissions(Allowed(tmp_path), User(None)).admit(DELETE, rules)


def test_gateways_with_servers_of_one_name_do_not_disturb_each_other(tmp_path: Path) -> None:
    """What one allowed is neither asked about again because of the other, nor allowed there."""
    rules, user = Rules(ask=("*",)), User("always")
    other = replace(DELETE, description="Delete a whole notebook.")
    for _ in range(2):
        Permissions(Allowed(tmp_path, "a/servers.json"), user).admit(DELETE, rules)
        Permissions(Allowed(tmp_path, "b/servers.json"), user).admit(other, rules)
    assert [question.partition(".")[0] for question in user.questions] == ["May notes/delete be called? It says: Delete a note", "May notes/delete be called? It says: Delete a whole notebook"]  # fmt: skip
    Allowed(tmp_path).add("notes/delete")  # by the user, for every gateway
    for gateway in ("a", "b", "c"):
        Permissions(Allowed(tmp_path, gateway), User(None)).admit(DELETE, rules)


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({}, ""),
        ({"readOnlyHint": True}, "reads"),
        ({"readOnlyHint": False}, "may destroy"),
        ({"destructiveHint": False}, "adds"),
    ],
)
def test_hints_are_shown_in_a_word(hints: dict[str, bool], said: str) -> None:
    assert effect(Tool.of("s", "t", annotations=hints)) == said


def test_a_wrong_entry_is_named_and_the_others_count(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    servers = {"good": {"command": "a"}, "bad": {"args": []}, "odd": {"command": "b", "deny": "x"}}
    path.write_text(json.dumps({"mcpServers": servers, "permissions": {"ask": ["*/delete_*"]}}))
    problems: list[str] = []
    (spec,) = read_servers(path, {}, problems)
    assert (spec.name, spec.rules) == ("good", Rules(ask=("*/delete_*",)))
    assert [problem.split(" in ")[0] for problem in problems] == ["'bad'", "deny of 'odd'"]


def test_a_long_answer_is_kept_and_read_page_by_page(tmp_path: Path) -> None:
    pages = Pages(tmp_path, 1000)
    assert pages.shown([{"type": "text", "text": "x" * 1000}]) is None
    image = {"type": "image", "data": "x" * 5000}
    first, same = pages.shown([{"type": "text", "text": "a" * 1000 + "b" * 500}, image]) or []
    assert same is image
    assert first["text"].startswith("a" * 1000 + "\n[page 1 of 2; the whole answer is in ")
    asked = json.loads(first["text"].partition("call_reading_tool with ")[2].rstrip("]"))
    assert asked.pop("tool") == PAGE_TOOL
    asked = asked["arguments"]
    assert pages.read(asked).startswith("b" * 500 + "\n[page 2 of 2")
    for wrong in ({"answer": "../x"}, {**asked, "page": 3}, {"answer": "none"}):
        with pytest.raises(UsageError, match=PAGE_TOOL):
            pages.read(wrong)
    assert [path.stat().st_mode & 0o077 for path in tmp_path.rglob("*.txt")] == [0]
    (lines,) = pages.shown([{"type": "text", "text": "".join(f"line {n}\n" for n in range(200))}]) or []
    assert lines["text"].splitlines()[-2:-1] == ["line 122"], "a page ends with a line"
    pages.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_tool_that_may_never_be_called_is_neither_found_nor_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it make an answer sure; a list that changes counts from the next question on."""
    (tmp_path / "notes.py").write_text(SERVER)
    config = tmp_path / "servers.json"
    notes = {"command": sys.executable, "args": [str(tmp_path / "notes.py")]}
    barring = {"notes": notes | {"deny": ["delete"]}, "reading": notes | {"readOnly": True}}
    config.write_text(json.dumps({"mcpServers": barring | {"bad": {}}}))
    for variable in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(variable)
    environment = dict(os.environ) | {"VADE_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    command = ["-m", "vademecum", "mcp", "--gateway", str(config)]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(tmp_path))

    async def session() -> None:
        async with Client(server) as client:

            async def ask(by: str, **arguments: Any) -> str:
                result = await client.call_tool(by, arguments)
                return " ".join(getattr(part, "text", "") for part in result.content)

            for name in ("notes", "reading"):
                await ask("call_tool", tool=f"{name}/none")
            for found in (
                await ask("search_tools", query="delete a note"),
                await ask("search_tools", query="delete"),
                await ask("suggest_plan", intent="delete a note"),
                await ask("predict_tool", intent="delete a note"),
                await ask("call_tool", tool="notes/delet"),
            ):
                assert "/delete" not in found
                assert not found.startswith(("resolved", "likely 1.00"))
            assert "is denied" in await ask("call_tool", tool="notes/delete")
            for by in ("call_tool", "call_reading_tool"):
                assert "reading is readOnly" in await ask(by, tool="reading/delete")
            assert "'bad' in " in await ask("call_tool", tool="bad/find")
            config.write_text(json.dumps({"mcpServers": {"notes": notes, "reading": barring["reading"]}}))
            assert (await ask("search_tools", query="delete")).startswith("resolved 1.00\nnotes/delete() 0.95")

    asyncio.run(asyncio.wait_for(session(), 120))


@pytest.mark.slow
def test_a_client_is_asked_and_the_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the official client: hints and score in a search, two tools to call, a question, a changed tool, a changed file."""
    (tmp_path / "notes.py").write_text(SERVER)
    config = tmp_path / "servers.json"
    notes = {"command": sys.executable, "args": [str(tmp_path / "notes.py")]}
    config.write_text(json.dumps({"mcpServers": {"notes": notes | {"ask": ["delete"]}, "bad": {}}}))
    for variable in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(variable)
    environment = dict(os.environ) | {"VADE_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    environment["VADE_GATEWAY__PAGE"] = "1000"
    command = ["-m", "vademecum", "mcp", "--gateway", str(config)]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(tmp_path))
    questions: list[str] = []

    async def user(_: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"answer": "always"})

    async def session() -> None:
        async with Client(server, elicitation_callback=user) as client:

            async def call(by: str, tool: str, **arguments: Any) -> str:
                result = await client.call_tool(by, {"tool": tool, "arguments": arguments})
                return " ".join(getattr(part, "text", "") for part in result.content)

            assert "there is no tool" in await call("call_tool", "notes/none")
            hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
            assert [hints[name].read_only_hint for name in ("call_reading_tool", "call_tool")] == [True, False]  # type: ignore[union-attr]
            found = (await client.call_tool("search_tools", {"query": "find a note"})).content[0].text  # type: ignore[union-attr]
            assert found.splitlines()[0].split()[0] in {"likely", "ambiguous"}, found
            assert "notes/find() 0." in found
            assert "[reads]" in found
            assert "note: 'bad' in " in found
            assert await call("call_reading_tool", "notes/find") == "find"
            assert "call it by call_tool" in await call("call_reading_tool", "notes/delete")
            assert [await call("call_tool", "notes/delete") for _ in range(2)] == ["delete"] * 2
            assert questions == ["May notes/delete be called? It says: Delete a note. (may destroy)"]

            first = await call("call_reading_tool", "notes/long")
            assert first.startswith("start")
            name = json.loads(first.partition("call_reading_tool with ")[2].rstrip("]"))["arguments"]["answer"]
            for by in ("call_reading_tool", "call_tool"):
                assert "end\n[page 3 of 3" in await call(by, PAGE_TOOL, answer=name, page=3)

            (tmp_path / "words.txt").write_text("and send it away.")
            config.write_text(json.dumps({"mcpServers": {"notes": notes | {"deny": ["long"], "cwd": str(tmp_path)}}}))
            assert "is denied" in await call("call_tool", "notes/long")
            assert await call("call_tool", "notes/find") == "find"
            assert questions[-1].startswith(
                "notes/find changed since it was allowed. Call it? It says: Find and send it away."
            )

    asyncio.run(asyncio.wait_for(session(), 120))
