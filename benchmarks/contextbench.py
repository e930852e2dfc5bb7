"""Compare one call's text with the lines that people chose as the context of a fix (ContextBench).

    python benchmarks/contextbench.py --parquet verified_test.parquet --mirrors MIRRORS --keep FOLDER --state rows.jsonl
    … --snapshot django/django=felixxm/django --peers bm25-windows,semble

The file is one of ContextBench's own (`data/contextbench_verified_test.parquet`, Apache-2.0). Each task is asked with all of its
text in the tree at its commit. At 2,000, 4,000 and 8,000 tokens:

    context     `engine.context(issue, budget)`
    search      the engine's results for the issue, in order, until the budget is full
    others      their results, in order, until the budget is full

Recall is the share of the chosen lines, and of the files that hold them, that is shown; precision the share of what is shown
that was chosen. Sums are over all tasks (micro). Chosen files that the tree does not hold, since a test run wrote them, do
not count. `hit@k`: one of the files that the fix edits is among the first k files. Tasks without a mirror are left out and
counted. Needs `pyarrow`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import report
from context import fill, tree_of
from data import Question
from issues import read_state
from metrics import Hit, files_of
from peers import make
from swebench import changed_lines
from vademecum.answers.pack import CODE
from vademecum.engine import Engine

BUDGETS = (2_000, 4_000, 8_000)
FIRST = (1, 3, 10)
DEPTH = 200  # results that are offered to a budget
_PLACE = re.compile(r"^/workspace/(?:[^/]+__[^/]+/)?")
Lines = dict[str, set[int]]
Row = dict[str, Any]


def chosen_lines(gold: str, tree: Path) -> Lines:
    """Read a task's chosen lines, by the files of the tree."""
    lines: Lines = defaultdict(set)
    for part in json.loads(gold):
        path = _PLACE.sub("", part["file"])
        if (tree / path).is_file():
            lines[path].update(range(part["start_line"], part["end_line"] + 1))
    return lines


def compared(hits: Iterable[Hit], chosen: Lines) -> Row:
    """Count lines and files: chosen, shown, and both.

    >>> compared([Hit("a.py", 1, 4), Hit("b.py", 1, 2)], {"a.py": {3, 4, 5}})
    {'lines': [3, 6, 2], 'files': [1, 2, 1]}
    """
    shown: Lines = defaultdict(set)
    for hit in hits:
        shown[hit.path].update(range(hit.start, hit.end + 1))
    both = [shown[path] & numbers for path, numbers in chosen.items() if path in shown]
    lines = [sum(map(len, chosen.values())), sum(map(len, shown.values())), sum(map(len, both))]
    return {"lines": lines, "files": [len(chosen), len(shown), sum(map(bool, both))]}


def texts_of(tree: Path, hits: Iterable[Hit]) -> dict[str, list[str]]:
    """Read the lines of the files that are named."""
    return {path: (tree / path).read_text("utf-8", "replace").split("\n") for path in {hit.path for hit in hits}}


def first_files(hits: Sequence[Hit], edited: set[str]) -> Row:
    """Return whether an edited file is among the first few."""
    return {f"hit@{k}": float(bool(edited & set(files_of(hits)[:k]))) for k in FIRST}


def answers(task: Row, tree: Path, home: Path, peers: Sequence[str]) -> Iterator[Row]:
    """Yield what each system shows of a task at each budget."""
    chosen, edited, issue = (
        chosen_lines(task["gold_context"], tree),
        set(changed_lines(task["patch"])),
        task["problem_statement"],
    )
    os.environ["VADE_HOME"] = str(home)
    with Engine.open(tree) as engine:
        engine.codebase.index()
        for budget in BUDGETS:
            found = engine.context(issue, budget)
            pieces = [piece for part in found.parts for piece in part.pieces if piece.form in CODE]
            hits = [Hit(p.place.path, p.place.start_line, p.place.end_line) for p in pieces if p.place]
            yield {"system": "context", "budget": budget} | compared(hits, chosen)
        evidence = engine.codebase.search(issue, k=DEPTH, refresh=False).evidence
        ranked = {"search": [Hit(e.path, e.start_line, e.end_line) for e in evidence]}
    for name in peers:
        peer = make(name, home)
        peer.index(tree)
        ranked[name] = peer.search(issue, DEPTH)
        peer.close()
    for name, hits in ranked.items():
        texts = texts_of(tree, hits)
        for budget in BUDGETS:
            shown, _ = fill(hits, texts, budget)
            yield {"system": name, "budget": budget} | compared(shown, chosen) | first_files(hits, edited)


def question_of(task: Row) -> Question:
    """Turn a task into a question about its commit."""
    place = {"commit": task["base_commit"], "snapshot": task["snapshot"]}
    return Question(task["instance_id"], task["snapshot"], task["language"], "", task["problem_statement"], (), **place)


def run(tasks: Sequence[Row], mirrors: Path, keep: Path, peers: Sequence[str], state: Path) -> list[Row]:
    """Ask every system for every task that has no rows yet; returns all rows."""
    rows = read_state(state)
    done = {row["id"] for row in rows}
    for number, task in enumerate(tasks, 1):
        if task["instance_id"] in done:
            continue
        try:
            tree = tree_of(question_of(task), mirrors, keep)
        except FileNotFoundError as error:
            print(f"{number}/{len(tasks)} left out: {error}", flush=True)
            continue
        facts = {"id": task["instance_id"], "repo": task["snapshot"]}
        own = [facts | row for row in answers(task, tree, keep / "home", peers)]
        with state.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in own)
        rows += own
        print(f"{number}/{len(tasks)} {task['instance_id']}", flush=True)
    return rows


def summarise(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return recall and precision of each system at each budget over all tasks, and its hits."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[f"{row['system']} {row['budget']}"].append(row)
    return {name: _shares(own) for name, own in grouped.items()}


def _shares(rows: Sequence[Row]) -> dict[str, float]:
    """Return the shares of one system's rows."""
    shares: dict[str, float] = {}
    for unit in ("lines", "files"):
        chosen, shown, both = (sum(row[unit][n] for row in rows) for n in range(3))
        shares |= {f"{unit}: recall": both / chosen, f"{unit}: precision": both / max(shown, 1)}
        shares[f"{unit}: recall, a task"] = sum(row[unit][2] / row[unit][0] for row in rows) / len(rows)
    shares |= {name: sum(row[name] for row in rows) / len(rows) for name in rows[0] if name.startswith("hit@")}
    return {name: round(share, 4) for name, share in shares.items()}


def main(argv: Sequence[str] | None = None) -> None:
    """Ask all tasks and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parquet", type=Path, required=True)
    parser.add_argument("--mirrors", type=Path, required=True, help="git directories of the repositories")
    parser.add_argument("--snapshot", action="append", default=[], help="a task's repository=owner/name of its mirror")
    parser.add_argument("--keep", type=Path, required=True, help="folder for trees and indexes, kept for the next run")
    parser.add_argument("--state", type=Path, required=True, help="finished rows, so that a stopped run goes on")
    parser.add_argument("--peers", default="bm25-windows", help="names in peers.py, separated by commas")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    from pyarrow import parquet  # which only this script and `swebench.py` need

    snapshots = dict(pair.split("=") for pair in arguments.snapshot)
    tasks = parquet.read_table(arguments.parquet).to_pylist()
    tasks = [task | {"snapshot": snapshots.get(task["repo"], task["repo"])} for task in tasks]
    rows = run(tasks, arguments.mirrors, arguments.keep, arguments.peers.split(","), arguments.state)
    means = summarise(rows)
    columns = list(next(row for row in means.values() if f"hit@{FIRST[0]}" in row))
    print(report.table(["system", *columns], [[s, *(row.get(c, "") for c in columns)] for s, row in means.items()]))
    result = {"tasks": len({row["id"] for row in rows}), "of": len(tasks), "means": means}
    print("written:", report.write("contextbench", result, arguments.into).name)


if __name__ == "__main__":
    main()
