"""The next tool and plans after traces that a gateway made, beside the same tasks as clean traces.

    python benchmarks/tools_gateway.py --data BENCH/tools --sets ultratool,bfcl_mt_base

The training tasks of a set are done through `vade mcp --gateway` by the official SDK's client, in front of a server with the set's tools,
as agents do it:

| agent | what it does |
| --- | --- |
| search | searches for each intent, then calls; ten tasks in a session, but a task of several turns is a session of its own |
| plan | asks for a plan of each intent, then calls |
| interleaved | two tasks or turns at a time, call by call |
| shuffled | two tasks or turns at a time, each call for one of them at random |
| failing | as `search`, and one call in five fails and is made again |

A call gets the value that the call it depends on returned where the set says who used whom, else none. Then the held-out tasks are asked
with what each gateway learned. All runs of one task are in one fold. Tasks to learn from and to ask are drawn, at most --train and --test.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import report
from mcp import Client, StdioServerParameters
from tools_data import Task, TraceSet, capability, embedder, read_set, set_arguments, traces_of
from tools_plan import of_plan, scored, summed
from vademecum.storage.sqlite import SqliteStore
from vademecum.tools.tools import Tools

SERVER = Path(__file__).with_name("tools_server.py")
TASKS_A_SESSION = 10
FAILS = 0.2
FEWEST = 20  # plans of which a mean says something


class Step(NamedTuple):
    """A call to make, with the place of the call whose value it uses, -1 for none."""

    tool: str
    uses: int


def named(tool: str) -> str:
    """The id of a set's tool behind the gateway."""
    return "set/" + re.sub(r"[^\w.-]", "_", tool.rpartition("/")[2] or tool)


def behind_gateway(one: TraceSet) -> TraceSet:
    """The set with the ids that a gateway gives its tools."""
    tools = [replace(tool, id=named(tool.id), name=named(tool.id)[4:], server="set") for tool in one.tools]
    tasks = [
        replace(
            task,
            turns=tuple(
                replace(turn, calls=tuple(map(named, turn.calls)), earlier=tuple(map(named, turn.earlier)))
                for turn in task.turns
            ),
            gold=frozenset(map(named, task.gold)),
            links=None if task.links is None else tuple((named(a), named(b)) for a, b in task.links),
        )
        for task in one.tasks
    ]
    return TraceSet(one.name, tools, tasks)


def jobs_of(task: Task) -> list[tuple[str, list[Step]]]:
    """What an agent does for a task: for each turn its words, and its calls."""
    found = []
    for trace in traces_of([task]):
        uses = {b: a for a, b in trace.links}
        found.append((trace.intent, [Step(call.tool, uses.get(n, -1)) for n, call in enumerate(trace.calls)]))
    return found


async def ask(client: Client, named_: str, **arguments: Any) -> str:
    result = await client.call_tool(named_, arguments)
    return "".join(getattr(part, "text", "") for part in result.content)


async def do(client: Client, steps: Sequence[Step], draw: random.Random, *, failing: bool) -> Any:
    """Make the calls of one intent, one at each resumption."""
    said: list[str] = []
    for step in steps:
        if failing and draw.random() < FAILS:
            await ask(client, "call_tool", tool=step.tool, arguments={"fail": True})
        values = re.findall(r"value-\d+", said[step.uses]) if step.uses >= 0 else []
        said.append(await ask(client, "call_tool", tool=step.tool, arguments={"given": values[0]} if values else {}))
        yield


async def session(client: Client, agent: str, jobs: Sequence[tuple[str, list[Step]]], draw: random.Random) -> None:
    """One session of an agent, with all its intents."""
    width = 2 if agent in ("interleaved", "shuffled") else 1
    for begin in range(0, len(jobs), width):
        going = []
        for intent, steps in jobs[begin : begin + width]:
            if agent == "plan":
                await ask(client, "suggest_plan", intent=intent)
            else:
                await ask(client, "search_tools", query=intent)
            going.append(do(client, steps, draw, failing=agent == "failing"))
        while going:
            for one in [draw.choice(going)] if agent == "shuffled" else list(going):
                if await anext(one, "done") == "done":
                    going.remove(one)


def learned(one: TraceSet, train: Sequence[Task], agent: str, home: Path, seed: int) -> Tools:
    """Do tasks through gateways; return the user's tools with what was learned."""
    home.mkdir()
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": {"type": "object", **tool.input_schema}}
        for tool in one.tools
    ]
    (home / "tools.json").write_text(json.dumps(listed), encoding="utf-8")
    servers = {"set": {"command": sys.executable, "args": [str(SERVER), str(home / "tools.json")]}}
    (home / "servers.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VADE_")}
    environment = kept | {"VADE_HOME": str(home / "home"), "XDG_CONFIG_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
    command = ["-m", "vademecum", "mcp", "--gateway", str(home / "servers.json")]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(home))

    async def work() -> None:
        draw = random.Random(seed)
        talks = any(len(task.turns) > 1 for task in train)  # each of which is a session
        width = 1 if talks else TASKS_A_SESSION
        for begin in range(0, len(train), width):
            jobs = [job for task in train[begin : begin + width] for job in jobs_of(task)]
            async with Client(server) as client:
                await session(client, agent, jobs, draw)

    asyncio.run(work())
    (database,) = (home / "home").rglob("user.db")
    store = SqliteStore(database)
    made = Tools(lambda: store, embedder, lambda: 0.0)
    made.settle()
    return made


def measured(made: Tools, test: Sequence[Task]) -> dict[str, float]:
    """How often the next tool is the first, and how good plans are."""
    made.fit()
    hits, plans, calls = [], [], []
    for task in test:
        for turn in task.turns:
            for number, tool in enumerate(turn.calls):
                found = made.predict(turn.intent, after=turn.calls[:number], earlier=turn.earlier, k=1)
                hits.append(bool(found.candidates) and found.candidates[0].tool == tool)
        if len(task.turns) == 1:
            plan = made.suggest(task.intent)
            calls.append(len(plan.tasks))
            plans.append(scored(*of_plan(plan), task))
    rest = {**summed(plans), "calls of a plan": float(np.mean(calls))} if len(plans) >= FEWEST else {}
    return {"next tool": float(np.mean(hits)), **rest}


def compared(
    one: TraceSet, agents: Sequence[str], most: tuple[int, int], home: Path, seed: int
) -> Iterator[tuple[str, Any]]:
    """Yield each kind of traces with its measures, on the first fold's tasks."""
    one, draw = behind_gateway(one), random.Random(seed)
    train, test = next(one.folds())
    train, test = draw.sample(train, min(most[0], len(train))), draw.sample(test, min(most[1], len(test)))
    yield "no traces", measured(capability(one.tools, [], home), test)
    yield "clean traces", measured(capability(one.tools, traces_of(train), home), test)
    for agent in agents:
        made = learned(one, train, agent, home / agent, seed)
        counted: Mapping[str, float] = measured(made, test)
        yield agent, {**counted, "traces": made.stats().traces}
        made.close()


def main() -> None:
    parser = set_arguments(__doc__, "tools-gateway", "ultratool,bfcl_mt_base")
    parser.add_argument("--agents", default="search,plan,interleaved,shuffled,failing")
    parser.add_argument("--train", type=int, default=300)
    parser.add_argument("--test", type=int, default=150)
    parser.add_argument("--seeds", default="11", help="of the drawn tasks and of the agents, each a result of its own")
    args = parser.parse_args()
    result: dict[str, Any] = {}
    for name, seed in product(args.sets.split(","), map(int, args.seeds.split(","))):
        found = result[f"{name}, seed {seed}"] = {}
        with tempfile.TemporaryDirectory() as home:
            drawn = args.agents.split(","), (args.train, args.test), Path(home), seed
            for kind, measures in compared(read_set(args.data / name), *drawn):
                found[kind] = measures
                print(name, seed, kind, {key: round(value, 3) for key, value in measures.items()}, flush=True)
    if not args.no_write:
        print(report.write(args.name, result))


if __name__ == "__main__":
    main()
