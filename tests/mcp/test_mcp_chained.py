"""A learned chain of tools is called as one tool: by the official client, in front of scripted servers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ElicitRequestParams, ElicitResult

from mcp import Client, StdioServerParameters
from vademecum.mcp.calls import Chained
from vademecum.mcp.permissions import Allowed
from vademecum.tools.records import Group, Tool

SERVER = Path(__file__).with_name("scripted.py")
DESK = [
    {"name": "find", "description": "Find an entry.", "takes": [], "gives": ["entry_code"]},
    {"name": "send", "description": "Send an entry.", "takes": ["entry_code", "remark"], "gives": ["receipt"], "free": ["remark"]},
    {"name": "weigh", "description": "Weigh a parcel.", "takes": [], "gives": ["weight"]},
    *({"name": f"stamp_{n}", "description": f"Stamp the news of day {n}.", "takes": [], "gives": []} for n in range(8)),
]  # fmt: skip
INTENT = "pass on the news of the day"
Said = tuple[str, bool]


class Through:
    """Sessions through one gateway, with a user who answers `always` or cannot be asked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.questions = folder, list[str]()
        (folder / "desk.json").write_text(json.dumps(DESK))
        self.serve()

    def serve(self, **rules: object) -> None:
        """Write the file of servers."""
        desk = {"command": sys.executable, "args": [str(SERVER), str(self.folder / "desk.json")]} | rules
        (self.folder / "servers.json").write_text(json.dumps({"mcpServers": {"desk": desk}}))

    def session(self, talk: Callable[[Any], Awaitable[Any]], *, can_ask: bool = True) -> Any:
        async def user(_: Any, params: ElicitRequestParams) -> ElicitResult:
            self.questions.append(params.message)
            return ElicitResult(action="accept", content={"answer": "always"})

        environment = {key: value for key, value in os.environ.items() if not key.startswith("VADE_")}
        environment |= {"VADE_HOME": str(self.folder / "home"), "XDG_CONFIG_HOME": str(self.folder / "config")}
        command = ["-m", "vademecum", "mcp", "--gateway", str(self.folder / "servers.json")]
        server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(self.folder))

        async def converse() -> Any:
            async with Client(server, elicitation_callback=user if can_ask else None) as client:

                async def ask(named: str, /, **arguments: Any) -> Said:
                    result = await client.call_tool(named, arguments)
                    return "\n".join(getattr(part, "text", "") for part in result.content), bool(result.is_error)

                return await talk(ask)

        return asyncio.run(asyncio.wait_for(converse(), 120))


async def teach(ask: Callable[..., Awaitable[Said]]) -> None:
    for number in range(3):
        await ask("search_tools", query=f"{INTENT} {number}")
        await ask("search_tools", query="desk/find")  # by its name, which is no task
        entry = json.loads((await ask("call_tool", tool="desk/find"))[0])
        said, failed = await ask("call_tool", tool="desk/send", arguments=entry | {"remark": f"no {number}"})
        assert not failed, said


@pytest.mark.slow
def test_a_learned_chain_is_called_as_one_tool(tmp_path: Path) -> None:
    """The user allows the chain once; values that flow between its calls are bound, a missing one is named."""
    gateway = Through(tmp_path)
    gateway.session(teach)

    async def use(ask: Callable[..., Awaitable[Said]]) -> None:
        found, _ = await ask("search_tools", query=f"{INTENT} 7")
        line = re.search(r"(capability/\w+)\((.*)\) 0\.\d\d.*\n  Calls desk/find, then desk/send\.", found)
        assert line, found
        id_ = line[1]
        assert line[2] == "remark: string, entry_code?: string"
        assert "desk/send. Unless given, taken from an earlier answer: entry_code." in found
        assert found.count("desk/") == 5 + 2, "a chain stands beside the tools"
        whole, _ = await ask("search_tools", query=id_)
        assert whole.startswith(f"resolved 1.00\n{id_}({line[2]})")
        assert 'schema: {"type": "object"' in whole
        plan, _ = await ask("suggest_plan", intent=f"{INTENT} 7")
        assert f"as one call: {id_}(remark: string, entry_code?: string)" in plan

        said, failed = await ask("call_tool", tool=id_, arguments={})
        assert failed
        assert "remark is missing" in said
        said, failed = await ask("call_reading_tool", tool=id_, arguments={"remark": "in haste"})
        assert failed
        assert "call it by call_tool" in said
        assert not gateway.questions

        for _ in range(2):
            said, failed = await ask("call_tool", tool=id_, arguments={"remark": "in haste"})
            assert not failed, said
            assert re.search(r"\[1 of 2: desk/find\]\n.*entry_code.*\n\[2 of 2: desk/send\]\n.*receipt number", said), (
                said
            )
        assert len(gateway.questions) == 1
        assert gateway.questions[0].startswith(f"May {id_} be called? It says: Calls desk/find, then desk/send.")

        said, failed = await ask("call_tool", tool=id_, arguments={"remark": "broken"})
        assert failed
        assert "entry_code number" in said
        assert "[2 of 2: desk/send]\nnothing gave ['broken']" in said

    gateway.session(use)


@pytest.mark.slow
def test_a_chain_goes_by_the_lists_and_the_user(tmp_path: Path) -> None:
    """Where a client cannot ask, `vade tools allow` allows the chain; a tool that is denied is denied in a chain, too."""
    gateway = Through(tmp_path)
    gateway.session(teach)

    async def use(ask: Callable[..., Awaitable[Said]]) -> None:
        found, _ = await ask("search_tools", query=f"{INTENT} 7")
        id_ = re.findall(r"capability/\w+", found)[0]
        said, failed = await ask("call_tool", tool=id_, arguments={"remark": "in haste"})
        assert failed
        assert f"The user allows it by `vade tools allow {id_}`" in said
        Allowed(tmp_path / "home").add(id_)
        said, failed = await ask("call_tool", tool=id_, arguments={"remark": "in haste"})
        assert not failed, said
        gateway.serve(deny=["send"])
        said, failed = await ask("call_tool", tool=id_, arguments={"remark": "in haste"})
        assert failed
        assert "desk/send is denied" in said
        assert id_ not in (await ask("search_tools", query=f"{INTENT} 7"))[0]

    gateway.session(use, can_ask=False)


def chain(giver: dict[str, Any], taker: dict[str, Any], links: tuple[tuple[int, int], ...] = ((0, 1),)) -> Chained:
    wanted = {name: {"type": "string"} for name in taker}
    tools = (
        Tool.of("files", "find_file", output_schema={"properties": giver} if giver else {}),
        Tool.of("mail", "send", input_schema={"properties": wanted, "required": [*taker]}),
    )
    return Chained(Group("capability/1", "capability", (), tuple(tool.id for tool in tools), 2, links), tools)


@pytest.mark.parametrize(
    ("answer", "bound"),
    [
        ({"structuredContent": {"file_path": "a", "size": 3}}, "a"),
        ({"content": [{"type": "text", "text": '{"file_path": "a"}'}]}, "a"),
        ({"structuredContent": {"files": [{"path": "a"}]}}, "a"),
        ({"structuredContent": {"files": [{"path": "a"}, {"path": "b"}]}}, ""),  # nobody knows which
        ({"structuredContent": {"file_path": 3}}, ""),
        ({"content": [{"type": "text", "text": "the file_path is a"}]}, ""),
    ],
)
def test_an_argument_is_taken_from_an_answer_that_has_one_such_value(answer: dict[str, Any], bound: str) -> None:
    one = chain({}, {"file_path": {}, "to": {}})
    assert one.arguments(1, {"to": "me"}, [answer]) == {"to": "me"} | ({"file_path": bound} if bound else {})
    assert one.arguments(1, {"file_path": "given"}, [answer]) == {"file_path": "given"}
    said = {"structuredContent": {"body": "hello", "size": 3}}  # a name that says little, where the tools say no more
    assert chain({}, {"body": {}}).arguments(1, {}, [said]) == {"body": "hello"}
    apart = chain({}, {"file_path": {}}, links=())
    assert apart.arguments(1, {}, [answer]) == {}


def test_a_chain_asks_for_what_no_answer_promises() -> None:
    promised, open_ = {"file_path": {"type": "string"}}, dict[str, Any]()
    required = [chain(giver, {"file_path": {}, "to": {}}).tool.input_schema["required"] for giver in (promised, {"size": {}}, open_)]  # fmt: skip
    assert required == [["to"], ["file_path", "to"], []]
    said = [chain(giver, {"file_path": {}}).tool.description for giver in (promised, open_)]
    assert [each.partition("send. ")[2] for each in said] == [
        "Unless given, taken from an earlier answer: file_path.",
        "Give file_path, unless an earlier answer is JSON that has it.",
    ]
    assert chain(promised, {"file_path": {}}, links=()).tool.input_schema["required"] == ["file_path"]
