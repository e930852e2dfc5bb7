"""How fast: this engine and semble side by side, on the same trees, in one run, in turn, each step in a fresh process.

    python benchmarks/speed.py --data BENCH/code --repos CHECKOUTS [--rounds 5] [--only fastapi,gin] [--skip grown]

`saved_s` is until the index is on disk and can be searched, `linked_s` until the graph, which only ours has, is made too;
`wall_s` is the whole process without that.

semble runs twice: without its embedding model, which has to be downloaded (its figures are then better than what its
users see), and with a model of the same shape and random weights (see peers.SembleVectors).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import report
from data import load_questions
from grow import edit_one_line, grow, source_files

HERE = Path(__file__).parent
BYTES_OF_10K_CHUNKS = 5_150_000  # about 10,000 of our chunks, 8,400 of semble's; both sides get the same bytes
LONG = 10_000  # characters
PEERS = ("semble", "semble+vectors", "vademecum")
Facts = dict[str, Any]


@dataclass
class Bench:
    """Where the run keeps its trees and indexes, how often it measures, and what it has measured."""

    scratch: Path
    rounds: int
    peers: tuple[str, ...]
    queries: Path
    long: dict[str, Path]  # whole issues, and texts of 10,000 characters
    found: dict[str, dict[str, list[Facts]]] = field(default_factory=dict)

    def step(
        self, what: str, kind: str, peer: str, tree: Path, home: Path, *, keep: bool = True, queries: Path | None = None
    ) -> None:
        """Run one worker and keep its facts under `what`, with the wall time of the whole process."""
        home.mkdir(parents=True, exist_ok=True)
        asked = str(queries or self.queries)
        command = [sys.executable, str(HERE / "worker.py"), kind, peer, str(tree), str(home), asked]
        environment = compiled() | {"VADE_HOME": str(home), "HF_HUB_OFFLINE": "1"}
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        wall = time.perf_counter() - started
        if done.returncode:
            raise SystemExit(f"{what}: {peer} failed\n{done.stderr}")
        facts = json.loads(done.stdout.splitlines()[-1])
        linking = facts["linked_s"] - facts["saved_s"] if kind in {"index", "reopen"} and "linked_s" in facts else 0.0
        facts |= {"wall_s": wall - linking, "load": os.getloadavg()[0]}
        if keep:
            self.found.setdefault(what, {}).setdefault(peer, []).append(facts)

    def command(self, what: str, name: str, command: list[str], cwd: Path, home: Path) -> None:
        """Time a command as a user types it."""
        started = time.perf_counter()
        environment = compiled() | {"VADE_HOME": str(home)}
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)
        wall = time.perf_counter() - started
        if done.returncode not in {0, 1}:
            raise SystemExit(f"{what}: {name} failed\n{done.stderr.decode()}")
        self.found.setdefault(what, {}).setdefault(name, []).append({"wall_s": wall, "load": os.getloadavg()[0]})

    def in_turn(self, number: int) -> tuple[str, ...]:
        """The peers, the other way round every second time."""
        return self.peers if number % 2 == 0 else self.peers[::-1]


def compiled() -> dict[str, str]:
    """The environment, with modules compiled once and for all, as an installation has them."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cold_index(bench: Bench, trees: dict[str, Path]) -> None:
    """Index every repository from nothing, in a fresh process with an empty home."""
    for number in range(bench.rounds):
        for name, tree in trees.items():
            for peer in bench.in_turn(number):
                with tempfile.TemporaryDirectory(dir=bench.scratch) as home:
                    bench.step(f"index {name}", "index", peer, tree, Path(home))
        print(f"cold index: round {number + 1} of {bench.rounds}", flush=True)


def warm_queries(bench: Bench, what: str, tree: Path, homes: dict[str, Path]) -> None:
    """Open a stored index and ask; `vademecum-refresh` looks for edits before every answer."""
    variants = [*bench.peers, *(["vademecum-refresh"] if "vademecum" in bench.peers else [])]
    for number in range(bench.rounds):
        for peer in variants if number % 2 == 0 else variants[::-1]:
            bench.step(what, "query", peer, tree, homes[peer.partition("-")[0]])
    print(what, flush=True)


def long_queries(bench: Bench, size: str, tree: Path, homes: dict[str, Path]) -> None:
    """Ask what people paste: whole issues, and texts of 10,000 characters."""
    for kind, texts in bench.long.items():
        for number in range(bench.rounds):
            for peer in bench.in_turn(number):
                bench.step(f"{kind} {size}", "query", peer, tree, homes[peer], queries=texts)
        print(f"{kind} {size}", flush=True)


def reindex(bench: Bench, what: str, tree: Path, homes: dict[str, Path], files: list[tuple[str, str]]) -> None:
    """Edit one line and bring the stored index up to date in a fresh process; then once more with nothing changed."""
    for number in range(bench.rounds):
        edit_one_line(tree, files, number)
        for peer in bench.in_turn(number):
            bench.step(f"{what} after an edit", "reopen", peer, tree, homes[peer])
        for peer in bench.in_turn(number):
            bench.step(f"{what} unchanged", "reopen", peer, tree, homes[peer])
    if "vademecum" in bench.peers:
        for _ in range(bench.rounds):
            bench.step(f"{what} after an edit, process kept", "edits", "vademecum", tree, homes["vademecum"])
    print(what, flush=True)


def commands(bench: Bench, what: str, tree: Path, homes: dict[str, Path]) -> None:
    """Whole-process time of `vade search`, with ripgrep for scale."""
    vade = [sys.executable, "-m", "vademecum", "search", "where are requests retried"]
    ripgrep = ["rg", "-i", "-c", "-e", "requests", "-e", "retried", "."]
    for _ in range(bench.rounds):
        if "vademecum" in bench.peers:
            bench.command(what, "vade search", vade, tree, homes["vademecum"])
        bench.command(what, "rg", ripgrep, tree, homes[bench.peers[0]])


def grown(bench: Bench, files: list[tuple[str, str]], count: int) -> Facts:
    """Everything that needs a large repository: 10k chunks by bytes, then `count` files (10,000: about 100k chunks)."""
    sizes: Facts = {}
    large = f"{count // 1000}k files" if count >= 1000 else f"{count} files"
    limits: dict[str, dict[str, int]] = {"10k chunks": {"size": BYTES_OF_10K_CHUNKS}, large: {"count": count}}
    for name, limit in limits.items():
        tree = bench.scratch / name.replace(" ", "-")
        sizes[name] = grow(files, tree, **limit)
        homes = {peer: bench.scratch / f"{tree.name}-{peer}" for peer in bench.peers}
        for peer in bench.peers:
            bench.step(f"index {name}", "index", peer, tree, homes[peer])
        warm_queries(bench, f"queries {name}", tree, homes)
        long_queries(bench, name, tree, homes)
        commands(bench, f"command {name}", tree, homes)
        if name == large:
            reindex(bench, f"reindex {name}", tree, homes, files)
    return sizes


def small_commands(bench: Bench, tree: Path) -> None:
    """`vade search` on one small repository, indexed before."""
    homes = {peer: bench.scratch / f"small-{peer}" for peer in bench.peers}
    for peer in bench.peers:
        bench.step("", "index", peer, tree, homes[peer], keep=False)
    commands(bench, f"command {tree.name}", tree, homes)


def medians(found: dict[str, dict[str, list[Facts]]]) -> dict[str, dict[str, Facts]]:
    """Median of every figure over the rounds, with the number of rounds."""
    result: dict[str, dict[str, Facts]] = {}
    for what, by_peer in found.items():
        result[what] = {}
        for peer, rows in by_peer.items():
            middle = {key: round(statistics.median(row[key] for row in rows if key in row), 4) for key in rows[0]}
            result[what][peer] = middle | {"rounds": len(rows)}
    return result


def ratios(middle: dict[str, dict[str, Facts]]) -> dict[str, Facts]:
    """Theirs divided by ours for each figure both have: above 1 we need less."""
    return {
        what: {
            key: round(rows["semble"][key] / rows["vademecum"][key], 3)
            for key in rows["semble"]
            if key not in {"rounds", "load", "chunks"} and rows["vademecum"].get(key)
        }
        for what, rows in middle.items()
        if {"semble", "vademecum"} <= rows.keys()
    }


def show(title: str, middle: dict[str, dict[str, Facts]], columns: Sequence[str]) -> None:
    """Print a table of these columns, one row for each step and peer."""
    rows = [[what, peer, *(facts.get(c) for c in columns)] for what, by in middle.items() for peer, facts in by.items()]
    print(report.table([title, "peer", *columns], rows), "\n")


def print_tables(middle: dict[str, dict[str, Facts]], gains: dict[str, Facts]) -> None:
    """One table for cold indexing, one for the rest, then the ratios."""
    index = {what: by for what, by in middle.items() if what.startswith("index ")}
    rest = {what: by for what, by in middle.items() if what not in index}
    show("cold index", index, ("chunks", "index_s", "saved_s", "linked_s", "wall_s", "peak_mib"))
    show(
        "step",
        rest,
        ("open_s", "saved_s", "linked_s", "wall_s", "p50_ms", "p95_ms", "rss_mib", "anonymous_mib", "peak_mib"),
    )
    print("semble / vademecum, above 1 is in our favour:")
    for what, row in gains.items():
        print(f"  {what}: {row}")


def totals(middle: dict[str, dict[str, Facts]]) -> dict[str, float]:
    """Seconds that each peer took to index all the repositories, the index on disk."""
    sums: dict[str, float] = {}
    for what, by_peer in middle.items():
        for peer, facts in by_peer.items() if what.startswith("index ") else ():
            sums[peer] = round(sums.get(peer, 0.0) + facts["saved_s"], 3)
    return sums


def long_texts(data: Path, into: Path) -> dict[str, Path]:
    """Write what long questions are asked: every whole issue, and LONG characters of issues laid end to end, from each half of it on."""
    issues = [question.query for question in load_questions(data / "issues.jsonl.gz")]
    random.Random(7).shuffle(issues)
    laid = "\n\n".join(issues)
    texts = {"issues": issues, "10 kB": [laid[at : at + LONG] for at in range(0, len(laid) - LONG + 1, LONG // 2)]}
    files = {kind: into / f"{kind.replace(' ', '-')}.json" for kind in texts}
    for kind, file in files.items():
        file.write_text(json.dumps(texts[kind]), encoding="utf-8")
    return files


def main(argv: Sequence[str] | None = None) -> None:
    """Run everything that is not skipped, print the tables, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with files.jsonl.gz and issues.jsonl.gz: the queries"
    )
    parser.add_argument("--repos", type=Path, required=True, help="folder that checkout.py wrote")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", type=lambda text: tuple(text.split(",")), default=PEERS)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="these repositories alone")
    parser.add_argument("--files", type=int, default=10_000, help="size of the large repository; smaller for a trial")
    parser.add_argument("--skip", choices=["repos", "grown"], default="", help="leave a part out")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    trees = {tree.name: tree for tree in sorted((arguments.repos / "semble").iterdir()) if tree.is_dir()}
    chosen = {name: tree for name, tree in trees.items() if not arguments.only or name in arguments.only}
    texts = [question.query for question in load_questions(arguments.data / "files.jsonl.gz")]
    random.Random(7).shuffle(texts)
    with tempfile.TemporaryDirectory(prefix="bench-speed-") as scratch:
        queries = Path(scratch) / "queries.json"
        queries.write_text(json.dumps(texts), encoding="utf-8")
        long = long_texts(arguments.data, Path(scratch))
        bench = Bench(Path(scratch), arguments.rounds, arguments.peers, queries, long)
        sizes: Facts = {}
        if arguments.skip != "repos":
            cold_index(bench, chosen)
            small_commands(bench, next(iter(chosen.values())))
        if arguments.skip != "grown":
            sizes = grown(bench, source_files(list(trees.values())), arguments.files)
    middle = medians(bench.found)
    gains = ratios(middle)
    print_tables(middle, gains)
    print("sum of the cold indexings, saved_s:", totals(middle))
    result = {"rounds": arguments.rounds, "grown": sizes, "total_index_s": totals(middle), "medians": middle}
    result["semble_over_vademecum"] = gains
    print("written:", report.write("speed", result, arguments.into).name)


if __name__ == "__main__":
    main()
