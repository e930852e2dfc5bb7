"""Histories by chance: after each, the index that lived through it must answer as a fresh one does.

    python benchmarks/random_histories.py 10000
    python benchmarks/random_histories.py 10000 --first 10000 --processes 2

A script is up to a dozen steps: edits, renames, copies, commits, branches, stashes, rebases, runs that are aborted or
killed, lost files, clean-ups. Answers, their order and every score are compared exactly. A script that differs is printed
with its number; `histories.script` in the tests returns its steps. Written are the counts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import histories

PART = 100  # scripts that a process takes at once


def ran(seeds: range) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Return how often each step was taken, and the scripts that differ."""
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    taken: Counter[str] = Counter()
    bad: list[tuple[int, str]] = []
    for seed, differs in histories.tried(seeds):
        taken.update(str(name) for name, *_ in histories.script(seed))
        if differs:
            bad.append((seed, differs))
    return taken, bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scripts", type=int)
    parser.add_argument("--first", type=int, default=0, help="the number of the first script")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further scripts after this time")
    asked = parser.parse_args()
    parts = [
        range(n, min(n + PART, asked.first + asked.scripts))
        for n in range(asked.first, asked.first + asked.scripts, PART)
    ]
    began, done, taken, bad = time.monotonic(), 0, Counter[str](), []
    with tempfile.TemporaryDirectory() as place, ProcessPoolExecutor(asked.processes) as pool:
        os.environ |= {"TMPDIR": place, "XDG_CONFIG_HOME": f"{place}/user"}
        tempfile.tempdir = None
        for part, (steps, differing) in zip(parts, pool.map(ran, parts), strict=True):
            done, taken, bad = done + len(part), taken + steps, bad + differing
            for seed, differs in differing:
                print(f"script {seed} of those from {part.start}: {histories.script(seed)}\n{differs}", flush=True)
            print(f"{done} scripts, {len(bad)} differ, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            if time.monotonic() - began > asked.seconds:
                pool.shutdown(cancel_futures=True)
                break
    print(
        report.write("histories", {"scripts": done, "differ": len(bad), "steps": taken.total(), "taken": dict(taken)})
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
