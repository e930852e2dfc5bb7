"""How long a coding agent waits for a hook: a process started cold, a memory of many facts, an answer read to its end.

    python benchmarks/memory_hooks.py [--facts 2000] [--runs 40]

Each hook is run as an agent runs it, one after the other, with compiled modules as an installed package has them. `wall_ms` is what the
agent waits, `cpu_ms` what the process computed: on a machine that others use too the second says what a quiet one would
take. `python` is an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
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


def prepare(top: Path, facts: int) -> dict[str, str]:
    """Make a repository with a memory of so many facts, and return the environment to ask it in."""
    (top / "app").mkdir()
    subprocess.run(["git", "init", "-q", str(top / "app")], check=True)
    environ = {
        **os.environ,
        "VADE_HOME": str(top / "data"),
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
    return environ


def timed(command: list[str], content: bytes, environ: dict[str, str], runs: int) -> dict[str, Any]:
    """Run a command so often and return what it took."""
    subprocess.run(command, input=content, stdout=subprocess.DEVNULL, env=environ, check=True)  # compiled once
    walls, cpus = [], []
    for _ in range(runs):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, input=content, stdout=subprocess.DEVNULL, env=environ, check=True)
        walls.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"wall_ms": spread(walls), "cpu_ms": spread(cpus)}


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
        elsewhere = json.dumps({"cwd": str(top)}).encode()  # what `stop` starts there has nothing to do
        result["stop"] = timed([*hook, "stop"], elsewhere, environ, arguments.runs)
    print(json.dumps(result, indent=1))
    if not arguments.no_save:
        write("memory-hooks", result)


if __name__ == "__main__":
    main()
