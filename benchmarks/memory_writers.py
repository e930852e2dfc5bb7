"""Eight processes write to one memory and are killed at random: is anything lost that was acknowledged?

    python benchmarks/memory_writers.py --seconds 60

Each writer records one event after another and appends its id to a file of its own once the call has returned. Killed writers
are started again. At the end every acknowledged id must be in the memory, once, with the facts it states; the database must be whole; and what it recalls
must be what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import report
from memory_speed import opened
from vademecum.plugins import load

WRITERS = 8
_WRITE = """
import itertools, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from memory_speed import opened
from vademecum.plugins import load
home, name = Path(sys.argv[1]), sys.argv[2]
memory, store = opened(home, load("embedder", "hashing"))
acknowledged = os.open(home / f"{name}.ids", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for n in itertools.count():
    text = f"writer {name} of process {os.getpid()} says number {n}: the retry limit of service {name}{n % 7} is {n}"
    done = memory.record(text, session=name, role="user")
    os.write(acknowledged, (done.ids[0] + "\\n").encode())
"""


def start(home: Path, name: str) -> subprocess.Popen[bytes]:
    """Start one writer."""
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", _WRITE, str(home), name, here]
    return subprocess.Popen(command, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})


def measure(seconds: float, home: Path, seed: int = 7) -> dict[str, Any]:
    """Let them write, kill some, look."""
    chance = random.Random(seed)
    writers = {str(n): start(home, str(n)) for n in range(WRITERS)}
    kills = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.2, 2.0))
        name = chance.choice(sorted(writers))
        writers[name].kill()
        writers[name].wait()
        kills += 1
        writers[name] = start(home, name)
    for writer in writers.values():
        writer.kill()
        writer.wait()
    return {"seconds": seconds, "writers": WRITERS, "kills": kills, **check(home)}


def check(home: Path) -> dict[str, Any]:
    """Compare what was acknowledged with what is there."""
    acknowledged = [line for path in home.glob("*.ids") for line in path.read_text().split("\n")[:-1]]
    memory, store = opened(home, load("embedder", "hashing"))
    events = memory.events()
    ids = {event.id for event in events}
    claimed = {row[0] for row in store.scan("claims", columns=("event",)).unwrap()}
    found = memory.recall("retry limit of service", k=100)
    result = {
        "acknowledged": len(acknowledged),
        "events": len(events),
        "lost": len(set(acknowledged) - ids),
        "twice": len(events) - len(ids) + len(acknowledged) - len(set(acknowledged)),
        "without_facts": len(ids - claimed),
        "recalled_that_are_not_there": sum(item.event.id not in ids for item in found.evidence),
        "database": store.check().unwrap(),
    }
    store.close()
    return result


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-memory-") as home:
        found = measure(arguments.seconds, Path(home))
    print(json.dumps(found, indent=1))
    print("written:", report.write("memory-writers", found, arguments.into).name)


if __name__ == "__main__":
    main()
