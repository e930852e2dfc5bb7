"""Trace sets for the tools benchmarks: tools, tasks and folds, from a path; nothing of them is kept.

A set is a folder of `tools.jsonl` {id, name, desc, params, server?} and `tasks.jsonl` {id, intent, seq, links, gold, split,
turns?}. A task with turns is a session: each turn is an intent of its own, with its own calls.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from vademecum.plugins import load
from vademecum.storage.sqlite import SqliteStore
from vademecum.tools.observe import trace
from vademecum.tools.records import Call, Tool, Trace
from vademecum.tools.tools import Tools

FOLDS = 5


@dataclass(frozen=True)
class Turn:
    """One intent with its calls; `earlier` are those of the session's turns before, in order and as often as they were."""

    intent: str
    calls: tuple[str, ...]
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """One task of a set."""

    id: str
    intent: str
    turns: tuple[Turn, ...]
    gold: frozenset[str]
    links: tuple[tuple[str, str], ...] | None
    split: str
    group: str = ""  # of runs of one task


@dataclass
class TraceSet:
    """A set by name, with its tools and tasks."""

    name: str
    tools: list[Tool]
    tasks: list[Task] = field(default_factory=list)

    def folds(self) -> Iterator[tuple[list[Task], list[Task]]]:
        """Yield (training tasks, test tasks): the official split where there is one, else five folds.

        All runs of one task are in one fold.
        """
        if {task.split for task in self.tasks} >= {"train", "test"}:
            yield [t for t in self.tasks if t.split == "train"], [t for t in self.tasks if t.split == "test"]
            return
        places: dict[str, int] = {}
        fold_of = [places.setdefault(task.group or task.id, len(places)) % FOLDS for task in self.tasks]
        for fold in range(FOLDS):
            kept = [task for task, its in zip(self.tasks, fold_of, strict=True) if its != fold]
            yield kept, [task for task, its in zip(self.tasks, fold_of, strict=True) if its == fold]


def read_set(folder: Path) -> TraceSet:
    """Read a set."""
    tools = [_tool(json.loads(line)) for line in (folder / "tools.jsonl").read_text(encoding="utf-8").splitlines()]
    tasks = [_task(json.loads(line)) for line in (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    return TraceSet(folder.name, tools, [task for task in tasks if task.gold])


def set_arguments(description: str | None, name: str, sets: str) -> argparse.ArgumentParser:
    """Return the options of every script that measures trace sets, with the result's name and the default sets."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=sets)
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--name", default=name, help="of the result: that of other sets is kept apart")
    return parser


@cache
def embedder(spec: str = "static:prose-1") -> Any:
    """The built-in embedder of tools, or another one, loaded once."""
    return load("embedder", spec)


def capability(tools: Sequence[Tool], traces: Sequence[Trace], home: Path, spec: str = "static:prose-1") -> Tools:
    """The capability over a new database with these tools and traces, as a user would have it."""
    home.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(home / f"{time.monotonic_ns()}.db")
    made = Tools(lambda: store, lambda: embedder(spec), time.time)
    made.register(tools)
    made.observe(traces)
    made.settle()
    return made


def traces_of(tasks: Sequence[Task]) -> list[Trace]:
    """The tasks as traces; links only where the set says them."""
    found = []
    for task in tasks:
        for number, turn in enumerate(task.turns):
            links = _links(turn.calls, task.links) if task.links is not None else ()
            session = task.id if len(task.turns) > 1 else ""
            calls = tuple(Call(tool) for tool in turn.calls)
            found.append(trace(turn.intent, calls, id_=f"{task.id}.{number}", links=links, session=session))
    return found


def _links(calls: tuple[str, ...], links: Sequence[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
    """Named links as places: a call uses the latest earlier call of that name."""
    found = []
    for before, after in links:
        for later, name in enumerate(calls):
            earlier = [n for n in range(later) if calls[n] == before]
            if name == after and earlier:
                found.append((earlier[-1], later))
                break
    return tuple(dict.fromkeys(found))


def _tool(row: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": {name: {} for name in row.get("params", ())}}
    return Tool(
        row["id"], row["name"], row.get("server", ""), row.get("desc", ""), schema, about=row.get("server_desc", "")
    )


def _task(row: dict[str, Any]) -> Task:
    turns: list[Turn] = []
    earlier: tuple[str, ...] = ()
    for turn in row.get("turns") or [{"user": row["intent"], "calls": row["seq"]}]:
        if turn["calls"]:
            turns.append(Turn(turn["user"], tuple(turn["calls"]), earlier))
        earlier += tuple(turn["calls"])
    links = None if row["links"] is None else tuple((a, b) for a, b in row["links"])
    gold, group = frozenset(row["gold"]), str(row.get("group", ""))
    return Task(row["id"], row["intent"], tuple(turns), gold, links, row["split"], group)
