"""How well the right file comes first: semble's questions (`files`) or CoSQA's (`functions`), every peer on the same trees.

python benchmarks/quality.py --data BENCH/code --repos CHECKOUTS [--suite files] [--peers a,b] [--only fastapi,gin]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import report
from data import Question, load_questions, load_repositories
from metrics import file_measures, lines_returned, mean_over_repositories, paired_interval, semble_ndcg, span_recall
from peers import PEERS, Peer, make

DEPTH = 50  # chunks asked for where files are ranked to ten: ten chunks often hold fewer than ten files
SUITES = {"files": "semble", "functions": "cosqa"}
SHOWN = ("semble_ndcg", "file_ndcg", "file_hit1", "file_recall", "file_mrr", "file_ndcg_of10", "lines")
Row = dict[str, Any]


def measure(peer: Peer, question: Question, query: str) -> Row:
    """Ask once for ten chunks and once for fifty, and measure both answers."""
    started = time.perf_counter()
    ten = peer.search(query, 10)
    elapsed = time.perf_counter() - started
    said: Row = getattr(peer, "said", {})
    targets = question.targets
    row: Row = {
        "id": question.id,
        "repo": question.repo,
        "language": question.language,
        "category": question.category,
        "semble_ndcg": semble_ndcg(ten, targets),
        **file_measures(peer.search(query, DEPTH), targets),
        "file_ndcg_of10": file_measures(ten, targets)["file_ndcg"],
        "lines": lines_returned(ten),
        "ms": round(elapsed * 1000, 3),
        **said,
    }
    spans = span_recall(ten, targets)
    return row if spans is None else row | {"span_recall": spans}


def run(
    peer_name: str, questions: dict[str, list[Question]], trees: dict[str, Path], homes: Path
) -> tuple[list[Row], Row]:
    """Index every repository with a fresh peer and ask its questions; returns the rows and the index facts."""
    rows: list[Row] = []
    facts: Row = {}
    for repo, asked in questions.items():
        peer = make(peer_name, homes / repo)
        try:
            started = time.perf_counter()
            peer.index(trees[repo])
            facts[repo] = {"index_s": round(time.perf_counter() - started, 3), "chunks": peer.chunks()}
            rows.extend(measure(peer, question, question.query) for question in asked)
        finally:
            peer.close()
    return rows, facts


def grouped(rows: Iterable[Row], measure_name: str) -> dict[str, list[float]]:
    """Values of one measure by repository, in the order of the questions."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if measure_name in row:
            values[row["repo"]].append(row[measure_name])
    return values


def summary(rows: list[Row], by: str | None = None) -> Row:
    """Means over repositories of every measure shown; with `by`, one such row for each language or category."""
    if by is None:
        found: Row = {name: round(mean_over_repositories(grouped(rows, name)), 4) for name in SHOWN}
        return found | {"questions": len(rows)}
    parts = sorted({row[by] for row in rows})
    return {part: summary([row for row in rows if row[by] == part]) for part in parts}


def differences(results: dict[str, list[Row]], ours: str, measure_name: str) -> dict[str, list[float]]:
    """Ours minus each other peer, with a 95 % bootstrap interval over repositories and questions."""
    mine = grouped(results[ours], measure_name)
    return {
        other: [round(value, 4) for value in paired_interval(mine, grouped(rows, measure_name))]
        for other, rows in results.items()
        if other != ours
    }


def load(data: Path, suite_name: str, only: Sequence[str]) -> dict[str, list[Question]]:
    """Read the questions, by repository."""
    suite = SUITES[suite_name]
    roots = {repo.name: repo.root for repo in load_repositories(data) if repo.suite == suite}
    questions: dict[str, list[Question]] = defaultdict(list)
    for question in load_questions(data / f"{suite_name}.jsonl.gz", roots):
        if not only or question.repo in only:
            questions[question.repo].append(question)
    return dict(questions)


def find_trees(repos: Path, suite_name: str, names: Iterable[str]) -> dict[str, Path]:
    """Say where each repository's tree lies, and stop where one is missing."""
    base = repos / SUITES[suite_name]
    trees = {name: base if suite_name == "functions" else base / name for name in names}
    missing = [name for name, tree in trees.items() if not tree.is_dir()]
    if missing:
        raise SystemExit(f"no checkout of {', '.join(missing)} under --repos: run checkout.py first")
    return trees


def print_tables(results: dict[str, list[Row]]) -> None:
    """Print overall means, then semble's rule by language and by category."""
    print(
        report.table(
            ["peer", *SHOWN], [[name, *summary(rows).values()][: len(SHOWN) + 1] for name, rows in results.items()]
        )
    )
    for by in ("language", "category"):
        parts = sorted({row[by] for rows in results.values() for row in rows})
        found = {name: summary(rows, by) for name, rows in results.items()}
        print(f"\nsemble's rule NDCG@10 by {by}, mean over repositories")
        print(
            report.table([by, *results], [[part, *(found[n][part]["semble_ndcg"] for n in results)] for part in parts])
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Run the peers, print the tables, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with repos.json and the question files")
    parser.add_argument("--repos", type=Path, required=True, help="folder that checkout.py wrote")
    parser.add_argument("--suite", choices=SUITES, default="files")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS))
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], help="these repositories alone")
    parser.add_argument("--homes", type=Path, default=None, help="keep this engine's indexes here between runs")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    parser.add_argument("--name", default="", help="name of the result instead of quality-<suite>")
    arguments = parser.parse_args(argv)
    questions = load(arguments.data, arguments.suite, arguments.only)
    trees = find_trees(arguments.repos, arguments.suite, questions)
    results: dict[str, list[Row]] = {}
    indexed: Row = {}
    with tempfile.TemporaryDirectory(prefix="bench-homes-") as scratch:
        for name in arguments.peers:
            started = time.perf_counter()
            results[name], indexed[name] = run(name, questions, trees, arguments.homes or Path(scratch))
            print(f"{name}: {len(results[name])} questions in {time.perf_counter() - started:.1f} s", flush=True)
    print()
    print_tables(results)
    ours = "vademecum" if "vademecum" in results else arguments.peers[-1]
    result = {
        "suite": arguments.suite,
        "overall": {name: summary(rows) for name, rows in results.items()},
        f"{ours}_minus": {m: differences(results, ours, m) for m in ("semble_ndcg", "file_ndcg")},
        "by_language": {name: summary(rows, "language") for name, rows in results.items()},
        "by_category": {name: summary(rows, "category") for name, rows in results.items()},
        "by_repo": {name: summary(rows, "repo") for name, rows in results.items()},
        "index": indexed,
    }
    print(f"\n{ours} minus (difference, 95 % interval):", result[f"{ours}_minus"])
    file = report.write(arguments.name or f"quality-{arguments.suite}", result, arguments.into)
    print(f"written: {file.name}")


if __name__ == "__main__":
    main()
