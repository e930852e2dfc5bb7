"""Plans of a gateway are run as they are shown, against scripted servers; several gateways side by side."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp import Client, StdioServerParameters

SERVER = Path(__file__).with_name("scripted.py")
NOUNS = ("parcel", "route", "ticket", "ledger", "voucher", "sensor", "harvest", "anchor", "lantern", "violin")
Catalogue = list[dict[str, Any]]
Session = Callable[[Client], Awaitable[Any]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def through(project: Path, servers: Mapping[str, Catalogue], session: Session) -> Any:
    """Run a session through a gateway of a project, in front of scripted servers."""
    project.mkdir(exist_ok=True)
    commands = {}
    for name, catalogue in servers.items():
        (project / f"{name}.json").write_text(json.dumps(catalogue), encoding="utf-8")
        commands[name] = {"command": sys.executable, "args": [str(SERVER), str(project / f"{name}.json")]}
    config = project / "servers.json"
    config.write_text(json.dumps({"mcpServers": commands}), encoding="utf-8")
    command = ["-m", "vademecum", "mcp", "--gateway", str(config)]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ), cwd=str(project))

    async def converse() -> Any:
        async with Client(server) as client:
            return await session(client)

    return asyncio.run(asyncio.wait_for(converse(), 120))


async def ask(client: Client, named: str, /, **arguments: Any) -> str:
    result = await client.call_tool(named, arguments)
    text = "\n".join(getattr(part, "text", "") for part in result.content)
    assert not result.is_error, text
    return text


def layers_of(plan: str) -> list[list[tuple[str, list[str]]]]:
    """The calls of each layer of a plan as it is shown, with the names of their inputs."""
    layers: list[list[tuple[str, list[str]]]] = []
    for line in plan.splitlines():
        if re.fullmatch(r"\d+\.( at the same time:)?", line):
            layers.append([])
        elif found := re.match(r"  t\d+ (\S+?)\((.*)\)", line):
            layers[-1].append((found[1], re.findall(r"(\w+)\??:", found[2])))
    return layers


async def run(client: Client, plan: str) -> set[str]:
    """Run a plan layer by layer, the calls of a layer at the same time; return what was called."""
    known: dict[str, str] = {}
    for layer in layers_of(plan):
        calls = [
            ask(client, "call_tool", tool=tool, arguments={name: known[name] for name in inputs})
            for tool, inputs in layer
        ]
        for given in await asyncio.gather(*calls):
            known |= json.loads(given)
    return {tool for layer in layers_of(plan) for tool, _ in layer}


def generated(seed: int) -> Catalogue:
    """Tools of a random graph of dependencies; each says its noun alone."""
    draw = random.Random(seed)
    made: Catalogue = []
    for number, noun in enumerate(draw.sample(NOUNS, 7)):
        before = draw.sample(made, min(number, draw.randint(0, 2)))
        takes = [name for one in before for name in one["gives"]]
        made.append(
            {"name": f"make_{noun}", "description": f"Make the {noun}.", "takes": takes, "gives": [f"{noun}_code"]}
        )
    return made


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_plan_runs_as_it_is_shown(tmp_path: Path, seed: int) -> None:
    """No call of it lacks what another gives, although calls of a layer are made at once."""
    catalogue = generated(seed)

    async def session(client: Client) -> None:
        for one in catalogue[-4:]:
            plan = await ask(client, "suggest_plan", intent=one["description"])
            assert f"flow/{one['name']}" in await run(client, plan), plan

    through(tmp_path / "project", {"flow": catalogue}, session)


def tool(name: str, said: str, takes: tuple[str, ...] = (), gives: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": name, "description": said, "takes": list(takes), "gives": list(gives)}


@pytest.mark.slow
def test_gateways_with_servers_of_one_name_live_side_by_side(tmp_path: Path) -> None:
    """Each shows and plans with its own servers; traces of others speak only for tools that are the same here."""
    shared = [tool("find", "Find an entry.", gives=("entry_code",)), tool("send", "Send an entry.", ("entry_code",))]
    post = {"desk": [*shared, tool("stamp", "Stamp the parcel.", gives=("stamp_code",))]}
    bank = {"desk": [tool("transfer", "Transfer money.", gives=("receipt",))], "copy": shared}
    farm = {"desk": [tool("find", "Find an entry.", gives=("field_code",)), tool("plough", "Plough a field.", ("field_code",))]}  # fmt: skip
    intent = "pass on the news of the day"

    async def teach(client: Client) -> None:
        for number in range(3):
            await ask(client, "search_tools", query=f"{intent} {number}")
            entry = json.loads(await ask(client, "call_tool", tool="desk/find", arguments={}))
            await ask(client, "call_tool", tool="desk/send", arguments=entry)
            await ask(client, "search_tools", query=f"seal the box {number}")
            await ask(client, "call_tool", tool="desk/stamp", arguments={})

    def asked(query: str, verb: str = "suggest_plan") -> Callable[[Client], Awaitable[str]]:
        async def session(client: Client) -> str:
            name = "query" if verb == "search_tools" else "intent"
            return await ask(client, verb, **{name: query})

        return session

    through(tmp_path / "post", post, teach)
    found = {each: through(tmp_path / each, servers, asked("find, transfer, stamp, plough", "search_tools"))
             for each, servers in (("bank", bank), ("farm", farm), ("post", post))}  # fmt: skip
    assert "desk/transfer" in found["bank"]
    assert "stamp" not in found["bank"] + found["farm"]
    assert "desk/stamp" in found["post"]
    assert "transfer" not in found["post"] + found["farm"]
    plans = {each: through(tmp_path / each, servers, asked(f"{intent} 7"))
             for each, servers in (("post", post), ("bank", bank), ("farm", farm))}  # fmt: skip
    assert [[name for name, _ in layer] for layer in layers_of(plans["post"])] == [["desk/find"], ["desk/send"]]
    assert [[name for name, _ in layer] for layer in layers_of(plans["bank"])] == [["copy/find"], ["copy/send"]]
    assert "desk/send" not in plans["farm"]
    assert "past tasks like it: none" in plans["farm"] or "tools fits" in plans["farm"]
    del post["desk"][-1]
    assert "stamp" not in through(tmp_path / "post", post, asked("seal the box 7"))


@pytest.mark.slow
def test_the_next_tool_is_predicted_from_what_was_called_for_the_task(tmp_path: Path) -> None:
    """Learned through the gateway; the calls of a task are known there, and a tool that is denied is not proposed."""
    shared = [tool("find", "Look up an entry.", gives=("entry_code",)), tool("send", "Dispatch.", ("entry_code",)), tool("weigh", "Weigh.")]  # fmt: skip

    async def session(client: Client) -> None:
        for number in range(6):
            await ask(client, "search_tools", query=f"pass on the news of day {number}")
            entry = json.loads(await ask(client, "call_tool", tool="desk/find", arguments={}))
            await ask(client, "call_tool", tool="desk/send", arguments=entry)
        begun = await ask(client, "predict_tool", intent="pass on the news of the week")
        assert begun.splitlines()[0].endswith("after: nothing yet")
        assert begun.splitlines()[1].startswith("  desk/find() ")
        await ask(client, "call_tool", tool="desk/find", arguments={})
        then = await ask(client, "predict_tool", intent="pass on the news of the week")
        assert re.match(
            r".* \(0\.0\d that the task is done\), after: desk/find\n  desk/send\(entry_code: string\) 0\.\d\d", then
        ), then
        path = tmp_path / "project" / "servers.json"
        servers = json.loads(path.read_text())
        servers["mcpServers"]["desk"]["deny"] = ["send"]
        path.write_text(json.dumps(servers))
        await ask(client, "search_tools", query="anything")
        assert "send" not in await ask(client, "predict_tool", intent="pass on the news of the week")

    through(tmp_path / "project", {"desk": shared}, session)


@pytest.mark.slow
def test_texts_say_what_a_model_needs_and_no_more(tmp_path: Path) -> None:
    """A name gives that tool alone; of misfits few are named; what stands out of order or has to be known is said so."""
    desk = [tool("find_note", "Find notes.", (), ("note_code",)), tool("read_note", "Read a note.", ("note_code",)),
            tool("read_mail", "Read the mail that came.", ("mail_code",)), tool("send_mail", "Send it by mail.", ("address",)),
            tool("list_tags", "List all tags that notes have.")]  # fmt: skip

    async def session(client: Client) -> None:
        named = (await ask(client, "search_tools", query="send_mail")).splitlines()
        assert [line for line in named if line.startswith("desk/")] == ["desk/send_mail(address: string) 0.95"]
        foreign = (await ask(client, "search_tools", query="zxqv wplk bdrt")).splitlines()
        assert foreign[0].startswith("not found")
        assert re.fullmatch(r"nearest: (desk/\w+, ){2}desk/\w+", foreign[1])
        assert len(foreign) == 2
        plan = (await ask(client, "suggest_plan", intent="send it by mail")).splitlines()
        assert plan[0].endswith("past tasks like it: none")
        assert plan[-1].startswith("nothing known gives: ")
        assert "address of desk/send_mail" in plan[-1]
        for number in range(3):
            await ask(client, "search_tools", query=f"find the note and read it on day {number}")
            note = json.loads(await ask(client, "call_tool", tool="desk/find_note", arguments={}))
            await ask(client, "call_tool", tool="desk/read_note", arguments=note)
        found = await ask(client, "search_tools", query="find the note, then read it and send it by mail")
        heads = [
            (line, float(score)) for line, score in re.findall(r"^(desk/\w+\(.*\) (\d\.\d\d).*)$", found, re.MULTILINE)
        ]
        passed = [line for place, (line, score) in enumerate(heads) if any(score < other for _, other in heads[place:])]
        assert passed, found
        assert all(line.endswith("(not used yet)") for line in passed), found

    through(tmp_path / "project", {"desk": desk}, session)
