"""How true the verdicts are: does the stated probability say how often an answer is there, and is nothing found where nothing is?

    python benchmarks/verdicts.py --data BENCH/code --repos CHECKOUTS [--issues rows.jsonl]

Every question of the `files` and `functions` suites is asked of its own repository, where it counts as answered if one of ten
results is in a right file, and of two others of `files`, where it has no answer (now and then it has one all the same: a
ceiling on every figure here). None of these repositories was used to fit ranking or verdicts. Names are asked alike; an
abstention is right when no line of the repository looks as if it defined the name, by a regular expression that knows nothing
of our index. `resolved` is also told by kind of question: names, short questions, the web's, and with --issues those of the
rows that `issues.py` keeps, which are asked of their own repository alone.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import report
from data import Question
from issues import HISTORY, read_state
from quality import find_trees, load
from vademecum import config
from vademecum.engine import Engine
from vademecum.index.query import plan_query
from vademecum.types import Answer, Verdict

OTHERS = 2
KINDS = {"files": "short", "functions": "web"}  # of the questions of a suite that are no names
Row = dict[str, Any]
BINS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0001)
_DEFINES = (
    r"(?:def|class|func|fn|function|interface|type|struct|trait|enum|const|val|var|let|module|object|protocol|data|newtype|record"
    r"|macro_rules!|#define|typealias|using|defmodule|union|extension|concept|abstract|instance)\s+(?:\([^)]*\)\s*)?(?:[\w.:]*[.:])?"
)


def area(scores: Sequence[float], answered: Sequence[bool]) -> float:
    """Area under the ROC curve: how often an answered question scores above an unanswered one, ties counting half.

    >>> area([0.1, 0.9, 0.5, 0.5], [False, True, True, False])
    0.875
    """
    score, y = np.asarray(scores), np.asarray(answered)
    higher = (score[y][:, None] > score[~y][None, :]).mean()
    return float(higher + 0.5 * (score[y][:, None] == score[~y][None, :]).mean())


def reliability(scores: Sequence[float], answered: Sequence[bool]) -> list[dict[str, float]]:
    """Stated and true share of answered questions, by bins of the stated probability.

    `even` is the true share if as many questions were answered as not, which is what the stated one is made for.
    """
    score, y = np.asarray(scores), np.asarray(answered)
    even = np.where(y, 0.5 / max(y.mean(), 1e-9), 0.5 / max(1 - y.mean(), 1e-9))
    table = []
    for low, high in pairwise(BINS):
        own = (score >= low) & (score < high)
        if own.any():
            table.append({
                "from": low, "to": min(high, 1.0), "questions": int(own.sum()),
                "stated": round(float(score[own].mean()), 3), "true": round(float(y[own].mean()), 3),
                "even": round(float((even[own] * y[own]).sum() / even[own].sum()), 3),
            })  # fmt: skip
    return table


def is_right(answer: Answer, question: Question) -> bool:
    """Whether one of the results is in a right file."""
    wanted = {target.path for target in question.targets}
    return any(item.path in wanted for item in answer.evidence)


def seems_defined(tree: Path, name: str) -> bool:
    """Whether some line of a tree looks as if it defined a name."""
    pattern = re.compile((_DEFINES + rf"{re.escape(name)}\b").encode())
    return any(
        pattern.search(path.read_bytes())
        for path in tree.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1_000_000
    )


def ask(question: Question, suite: str, place: str, engine: Engine, tree: Path) -> Row:
    """Ask one question of one repository, its own or another."""
    answer = engine.codebase.search(question.query, refresh=False)
    plan, own = plan_query(question.query), place == question.repo
    kind = "name" if plan.is_symbol else KINDS[suite]
    right = own and is_right(answer, question)
    row: Row = {"repo": question.repo, "kind": kind, "own": own, "right": right}
    if kind == "name":  # a label may speak of a name that its commit has no more
        row["defined"] = right or seems_defined(tree, plan.names[0])
    return row | {"stated": answer.probability, "verdict": answer.verdict.value}


def run(suites: dict[str, dict[str, list[Question]]], trees: dict[str, Path], home: Path) -> list[Row]:
    """Ask everything."""
    chance = random.Random(11)
    rows = []
    with ExitStack() as stack:
        engines = {}
        for repo, tree in trees.items():
            settings = config.load(None, environ={"VADE_HOME": str(home / repo)})
            engines[repo] = stack.enter_context(Engine.open(tree, settings=settings))
            engines[repo].codebase.index()
        for suite, questions in suites.items():
            for repo, asked in questions.items():
                for question in asked:
                    others = chance.sample([other for other in suites["files"] if other != repo], OTHERS)
                    rows += [ask(question, suite, place, engines[place], trees[place]) for place in (repo, *others)]
    return rows


def issue_rows(state: Path, peer: str) -> list[Row]:
    """Read what one peer said of the issues that `issues.py` asked."""
    return [
        {"kind": f"issue, {row['query']}", "own": True, "right": row["file_ndcg_of10"] > 0}
        | {name: row[name] for name in ("repo", "stated", "verdict")}
        for row in read_state(state)
        if row["peer"] == peer
    ]


def resolved_by_kind(rows: list[Row]) -> dict[str, Row]:
    """How often `resolved` is right, beside what it states: asked of the own repository, and with even odds."""
    found = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        sure = [row for row in mine if row["verdict"] == Verdict.RESOLVED]
        own = [row for row in sure if row["own"]]
        found[kind] = {"questions": sum(row["own"] for row in mine), "resolved": len(own)}
        if own:
            found[kind] |= {"own_stated": mean_of(own, "stated"), "own_true": mean_of(own, "right")}
        if sure and not all(row["own"] for row in mine):
            odds = sum(row["right"] for row in mine) / max(1, sum(not row["right"] for row in mine))
            right = sum(row["right"] for row in sure)
            even = right / max(1e-9, right + odds * (len(sure) - right))
            found[kind] |= {
                "all_stated": mean_of(sure, "stated"),
                "all_true": mean_of(sure, "right"),
                "all_even": round(even, 3),
            }
    return found


def mean_of(rows: list[Row], name: str) -> float:
    """Mean of one value of the rows."""
    return round(float(np.mean([row[name] for row in rows])), 3)


def summary(rows: list[Row]) -> Row:
    """Areas with an interval over repositories, the reliability table, and what names were told; of the `files` suite."""
    prose: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        if row["kind"] == KINDS["files"]:
            prose[row["repo"]].append((row["stated"], row["right"]))
    names = [row for row in rows if row["kind"] == "name"]
    every = [pair for pairs in prose.values() for pair in pairs]
    chance = np.random.default_rng(7)
    repos = sorted(prose)
    draws = []
    for _ in range(1000):
        drawn = [pair for n in chance.integers(len(repos), size=len(repos)) for pair in prose[repos[n]]]
        draws.append(area([p for p, _ in drawn], [y for _, y in drawn]))
    scores, answered = [p for p, _ in every], [y for _, y in every]
    abstained = [n for n in names if n["verdict"] == Verdict.NOT_FOUND]
    resolved = [n for n in names if n["verdict"] == Verdict.RESOLVED]
    rejected = [y for p, y in every if p < BINS[1]]
    return {
        "area": round(area(scores, answered), 4),
        "area_interval": [round(float(q), 4) for q in np.quantile(draws, [0.025, 0.975])],
        "questions": len(every),
        "reliability": reliability(scores, answered),
        "resolved": resolved_by_kind(rows),
        "not_found": {"questions": len(rejected), "wrongly": sum(rejected), "of_unanswered": round(
            (len(rejected) - sum(rejected)) / max(1, len(every) - sum(answered)), 4)},
        "names": {
            "asked": len(names),
            "abstained": len(abstained),
            "abstained_rightly": sum(not n["defined"] for n in abstained),
            "defined_in_the_repository": sum(n["defined"] for n in names),
            "resolved": len(resolved),
            "resolved_where_defined": sum(n["defined"] for n in resolved),
        },
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--issues", type=Path, help="rows that issues.py keeps")
    parser.add_argument("--peer", default=HISTORY, help="whose rows of the issues")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    suites = {suite: load(arguments.data, suite, ()) for suite in KINDS}
    trees: dict[str, Path] = {}
    for suite, questions in suites.items():
        trees |= find_trees(arguments.repos, suite, questions)
    with tempfile.TemporaryDirectory(prefix="bench-verdicts-") as home:
        rows = run(suites, trees, Path(home))
    found = summary(rows + (issue_rows(arguments.issues, arguments.peer) if arguments.issues else []))
    print(
        f"area under the ROC curve {found['area']} {found['area_interval']} over {found['questions']} questions asked"
    )
    columns = ["from", "to", "questions", "stated", "true", "even"]
    print(report.table(columns, [[row[c] for c in columns] for row in found["reliability"]]))
    columns = ["questions", "resolved", "own_stated", "own_true", "all_stated", "all_true", "all_even"]
    by_kind = [[kind, *(row.get(c, "") for c in columns)] for kind, row in found["resolved"].items()]
    print(report.table(["resolved", *columns], by_kind))
    print("not found:", found["not_found"])
    print("names:", found["names"])
    print("written:", report.write("verdicts", found, arguments.into).name)


if __name__ == "__main__":
    main()
