"""How long a coding agent waits for a hook: a process started cold, a memory of many facts, an answer read to its end.

    python benchmarks/memory_hooks.py [--facts 2000] [--runs 40]

Each hook is run as an agent runs it, one after the other, with compiled modules as an installed package has them. `wall_ms` is what the
agent waits, `cpu_ms` what the process computed: on a machine that others use too the second says what a quiet one would
take. `python` is an interpreter that does nothing. `stop` is run as at the end of each turn: the transcript has grown, and what reads it
is started in the background, where the next runs compete with it; `started` is how many of these processes there were.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import write
from vademecum import config
from vademecum.engine import Engine
from vademecum.memory.records import Event, Role, event_id

PROMPT = "why did we put the retry limit of the upload service at seven?"
THINGS = ("cache", "parser", "upload service", "login page", "scheduler", "importer", "ledger", "search index")
KINDS = (
    "We decided to write the {thing} number {n} in Rust because it is called {n} times a second.",
    "The {thing} number {n} listens on port {port}.",
    "We still need to test the {thing} number {n}.",
    "Always run suite {n} when I ask about the {thing} number {n}.",
)
FAILURES = 400  # sessions in which a command failed until a file was edited
ERROR = "E   AssertionError: the {thing} retries {n} times, not seven"


def prepare(top: Path, facts: int) -> dict[str, str]:
    """Make a repository with a memory of so many facts, and return the environment to ask it in."""
    (top / "app").mkdir()
    subprocess.run(["git", "init", "-q", str(top / "app")], check=True)
    environ = {
        **os.environ,
        "VADE_HOME": str(top / "data"),
        "HOME": str(top),
        "VADE_SEARCH__EMBEDDER": "hashing",
        "PYTHONPYCACHEPREFIX": str(top / "compiled"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    settings = config.load(environ={"VADE_HOME": str(top / "data")}, arguments={"search.embedder": "hashing"})
    with Engine.open(str(top / "app"), settings=settings) as engine:
        said = (KINDS[n % len(KINDS)].format(thing=THINGS[n % len(THINGS)], n=n, port=2000 + n) for n in range(facts))
        events = [
            Event(event_id("s", Role.USER, text, at), at, Role.USER, text, "s")
            for at, text in enumerate(said, 1_700_000_000)
        ]
        engine.memory.record_all(events)
        engine.memory.record_all(step for n in range(FAILURES) for step in failure(n, str(top / "app")))
    return environ


def failure(n: int, root: str) -> list[Event]:
    """Return a session in which a test fails, a file is edited, and the test passes."""
    thing, path = THINGS[n % len(THINGS)], f"{root}/src/part{n}.py"
    steps: list[tuple[Role, str, dict[str, Any]]] = [
        (Role.COMMAND, f"pytest tests/test_{n}.py", {}),
        (Role.OUTPUT, f"{'.' * 800}\n{ERROR.format(thing=thing, n=n)}\n1 failed in 0.2s", {"failed": True}),
        (Role.EDIT, f"{path}\n-a = {n}\n+a = 7", {"path": path}),
        (Role.COMMAND, f"pytest tests/test_{n}.py", {}),
        (Role.OUTPUT, "1 passed in 0.2s", {}),
    ]
    at = 1_710_000_000.0 + 100 * n
    return [
        Event(event_id(f"f{n}", role, text, at + place), at + place, role, text, f"f{n}", root, metadata=metadata)
        for place, (role, text, metadata) in enumerate(steps)
    ]


def timed(
    command: list[str], content: bytes, environ: dict[str, str], runs: int, before: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Run a command so often, each time after something else, and return what it took."""
    subprocess.run(command, input=content, stdout=subprocess.DEVNULL, env=environ, check=True)  # compiled once
    walls, cpus = [], []
    for _ in range(runs):
        before()
        used, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, input=content, stdout=subprocess.DEVNULL, env=environ, check=True)
        walls.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime)
    return {"wall_ms": spread(walls), "cpu_ms": spread(cpus)}


class Transcript:
    """What an agent writes down of a session in the repository, a turn at a time."""

    def __init__(self, top: Path) -> None:
        """Begin one where Claude Code has it."""
        self.cwd = str(top / "app")
        folder = "".join(each if each.isalnum() and each.isascii() else "-" for each in self.cwd)
        self.path = top / ".claude" / "projects" / folder / "s.jsonl"
        self.path.parent.mkdir(parents=True)
        self.turns = 0

    def grow(self) -> None:
        """Write a turn."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_767_225_600 + 60 * self.turns))
        self.turns += 1
        turn = {"type": "user", "cwd": self.cwd, "sessionId": "s", "timestamp": at,
                "message": {"content": f"Always run suite {self.turns} before committing."}}  # fmt: skip
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(turn) + "\n")


def kept(top: Path) -> int:
    """Return how many turns of the transcript are in memory."""
    with closing(sqlite3.connect(next((top / "data").rglob("repos/*/memory.db")))) as db:
        return int(
            db.execute("SELECT count(*) FROM events WHERE json_extract(metadata, '$.agent') = 'claude'").fetchone()[0]
        )


def stopped(top: Path, hook: list[str], said: bytes, environ: dict[str, str], runs: int) -> dict[str, Any]:
    """Run the hook at the end of so many turns, and wait until all of them are kept."""
    transcript = Transcript(top)
    found = timed([*hook, "stop"], said, environ, runs, transcript.grow)
    until = time.monotonic() + 120
    while kept(top) < transcript.turns and time.monotonic() < until:
        time.sleep(0.2)
    time.sleep(1)  # it ends
    started = (top / "data" / "hooks.runs").read_text(encoding="ascii").count("catch-up ")
    return found | {"turns": transcript.turns, "turns_kept": kept(top), "started": started}


def spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    at = {"least": 0, "median": len(ordered) // 2, "p95": int(len(ordered) * 0.95)}
    return {name: round(ordered[place] * 1e3, 1) for name, place in at.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--no-save", action="store_true", help="only print")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        top = Path(folder).resolve()
        environ = prepare(top, arguments.facts)
        said = json.dumps({"session_id": "s", "cwd": str(top / "app"), "prompt": PROMPT}).encode()
        hook = [sys.executable, "-m", "vademecum", "memory", "hook"]
        result: dict[str, Any] = {"facts": arguments.facts, "runs": arguments.runs}
        result["python"] = timed([sys.executable, "-c", "pass"], b"", environ, arguments.runs)
        for name in ("session-start", "prompt"):
            result[name] = timed([*hook, name], said, environ, arguments.runs)
        call = {"session_id": "s", "cwd": str(top / "app")}
        edit = {"hook_event_name": "PreToolUse", "tool_input": {"file_path": str(top / "app/src/part7.py")}}
        failed = {"hook_event_name": "PostToolUseFailure", "tool_input": {"command": "pytest"},
                  "error": ERROR.format(thing=THINGS[7], n=7)}  # fmt: skip
        result["edit"] = timed([*hook, "tool"], json.dumps(call | edit).encode(), environ, arguments.runs)
        result["failed"] = timed([*hook, "tool"], json.dumps(call | failed).encode(), environ, arguments.runs)
        result["stop"] = stopped(top, hook, said, environ, arguments.runs)
    print(json.dumps(result, indent=1))
    if not arguments.no_save:
        write("memory-hooks", result)


if __name__ == "__main__":
    main()
