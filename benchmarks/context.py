"""How much of an issue's fix stands in a context of 8,000 tokens: ours, the best search results, and windows of grep.

    python benchmarks/context.py --data BENCH/code --mirrors MIRRORS --keep FOLDER --state rows.jsonl [--half develop]

For each issue, the tree at its commit, and the lines and files that its fix changed (SWE-bench and Multi-SWE-bench):

    context        `engine.context(issue, budget)`
    search         the engine's own results for the issue, chunks near each other joined, in order, until the budget is full
    search title   the same for the issue's first line
    chunks         the engine's best chunks for the issue, as they rank, until the budget is full
    chunks title   the same for the issue's first line
    grep           windows of a careful reader with grep (`vademecum.bench.systems`), for the issue, until the budget is full
    grep title     the same for the issue's first line

Everyone's text is counted by the same counter, with one line `path:start-end` above each piece of the others; what does not
fit is passed over by everyone. A line counts as shown where it is in the text as a line of code, and a file where any of its
lines is; `named` counts a file as well that a signature with its place points at, which only ours does. Issues are halved by
a digest of their names: nothing is chosen on the half that is reported, `report`. `all` gives narrower intervals,
40 of whose issues early choices were made on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import report
from data import Question, export_tree, load_questions, mirror_of
from issues import issue_arguments, read_state
from metrics import Hit, paired_interval
from quality import grouped
from vademecum.answers.pack import CODE
from vademecum.bench.systems import Grep, read_tree
from vademecum.code.checkout.root import find_root
from vademecum.engine import Engine
from vademecum.index.tokenize import PatternCounter

OURS = "context"
SHOWN = ("lines", "files", "named", "tokens", "seconds")
SAMPLE = 40  # issues of the half `develop`, drawn once
DEPTH = 200  # results and windows that are offered to the budget
Row = dict[str, Any]


def half(questions: Sequence[Question], which: str) -> list[Question]:
    """Return the issues of one half, or `all` of them: for `develop`, a fixed sample of its half."""
    if which == "all":
        return list(questions)
    even = [q for q in questions if hashlib.sha256(q.id.encode()).digest()[0] % 2 == 0]
    if which == "report":  # in no order: a part of a run is a fair sample
        rest = [q for q in questions if q not in even]
        return sorted(rest, key=lambda q: hashlib.sha256(q.id.encode()).digest())
    return sorted(random.Random(7).sample(even, min(SAMPLE, len(even))), key=lambda q: q.id)


def shares(
    hits: Iterable[Hit], question: Question, named: AbstractSet[str] = frozenset()
) -> tuple[float, float, float]:
    """Return which share of the changed lines, and of the changed files, was shown, and of the files if `named` count too."""
    shown: dict[str, set[int]] = defaultdict(set)
    for hit in hits:
        shown[hit.path].update(range(hit.start, hit.end + 1))
    changed = {t.path: {n for first, last in t.spans for n in range(first, last + 1)} for t in question.targets}
    lines = sum(len(numbers & shown[path]) for path, numbers in changed.items())
    known = {path for path in changed if shown[path]}
    return (
        lines / sum(map(len, changed.values())),
        len(known) / len(changed),
        len(known | named & set(changed)) / len(changed),
    )


def fill(hits: Iterable[Hit], texts: dict[str, list[str]], budget: int) -> tuple[list[Hit], int]:
    """Return what fits, in order, and how many tokens it is."""
    counter, kept, spent = PatternCounter(), [], 0
    for hit in dict.fromkeys(hits):
        code = "\n".join(texts[hit.path][hit.start - 1 : hit.end])
        price = counter.count(f"{hit.path}:{hit.start}-{hit.end}\n{code}\n")
        if spent + price <= budget:
            kept.append(hit)
            spent += price
    return kept, spent


Said = tuple[str, list[Hit], int, float, set[str]]


def answers(engine: Engine, question: Question, budget: int) -> Iterator[Said]:
    """Yield for each system what it shows, what that costs, how long it took, and files that it points at besides."""
    started = time.perf_counter()
    found = engine.context(question.query, budget)
    pieces = [piece for part in found.parts for piece in part.pieces if piece.form in CODE]
    ours = [Hit(p.place.path, p.place.start_line, p.place.end_line) for p in pieces if p.place]
    assert found.tokens == PatternCounter().count(found.text) <= budget
    named = {piece.place.path for part in found.parts for piece in part.pieces if piece.place}
    yield OURS, ours, found.tokens, time.perf_counter() - started, named
    files = read_tree(find_root(engine.roots[0].path), (), engine.settings)
    texts = {path: content.decode().split("\n") for path, content in files.items()}
    for name, asked, joined in (
        ("search", question.query, True), ("search title", question.first_line, True),
        ("chunks", question.query, False), ("chunks title", question.first_line, False),
    ):  # fmt: skip
        started = time.perf_counter()
        evidence = engine.codebase.search(asked, k=DEPTH, joined=joined, refresh=False).evidence
        hits, spent = fill((Hit(e.path, e.start_line, e.end_line) for e in evidence), texts, budget)
        yield name, hits, spent, time.perf_counter() - started, set()
    grep = Grep((path, "\n".join(lines)) for path, lines in texts.items())
    for name, asked in (("grep", question.query), ("grep title", question.first_line)):
        started = time.perf_counter()
        hits, spent = fill(grep.search(asked, DEPTH), texts, budget)
        yield name, hits, spent, time.perf_counter() - started, set()


def tree_of(question: Question, mirrors: Path, keep: Path) -> Path:
    """Return the tree at an issue's commit, laid out once."""
    tree = keep / "trees" / question.id
    if not tree.exists():
        partial = tree.with_name(f"{tree.name}.partial")
        export_tree(mirror_of(mirrors, question.snapshot), question.commit, partial)
        partial.rename(tree)
    return tree


def run(questions: Sequence[Question], mirrors: Path, keep: Path, budget: int, state: Path) -> list[Row]:
    """Ask every system for every issue that has no rows yet; returns all rows."""
    os.environ["VADE_HOME"] = str(keep / "home")
    rows = read_state(state)
    done = {row["id"] for row in rows}
    for number, question in enumerate(questions, 1):
        if question.id in done:
            continue
        with Engine.open(tree_of(question, mirrors, keep)) as engine:
            engine.codebase.index()
            own: list[Row] = []
            for system, hits, tokens, seconds, pointed_at in answers(engine, question, budget):
                lines, files, named = shares(hits, question, pointed_at)
                facts = {"id": question.id, "repo": question.repo, "system": system, "pieces": len(hits)}
                facts |= {"lines": lines, "files": files, "named": named}
                own.append(facts | {"tokens": tokens, "seconds": round(seconds, 3)})
        rows += own
        with state.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in own)
        shown = {row["system"]: round(row["lines"], 3) for row in own}
        print(f"{number}/{len(questions)} {question.id} {json.dumps(shown)}", flush=True)
    return rows


def summarise(rows: list[Row]) -> Row:
    """Print and return means, and ours minus each of the others with an interval over repositories."""
    systems = list(dict.fromkeys(row["system"] for row in rows))
    of = {system: [row for row in rows if row["system"] == system] for system in systems}
    means = {s: {name: round(sum(r[name] for r in of[s]) / len(of[s]), 4) for name in SHOWN} for s in systems}
    print(report.table(["system", *SHOWN], [[s, *(means[s][name] for name in SHOWN)] for s in systems]))
    gaps: Row = {}
    for system in systems[1:]:
        for measure in ("lines", "files", "named"):
            gap = paired_interval(grouped(of[OURS], measure), grouped(of[system], measure))
            gaps.setdefault(system, {})[measure] = [round(value, 4) for value in gap]
    print(f"{OURS} minus (difference of means over repositories, 95 % interval): {json.dumps(gaps)}")
    return {"issues": len(of[OURS]), "means": means, "minus": gaps}


def half_arguments(description: str | None) -> argparse.ArgumentParser:
    """Return the options of every script that measures one half of the issues."""
    parser = issue_arguments(description)
    parser.add_argument("--keep", type=Path, required=True, help="folder for trees and indexes, kept for the next run")
    parser.add_argument("--half", choices=["develop", "report", "all"], default="report")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one half and write the result."""
    parser = half_arguments(__doc__)
    parser.add_argument("--budget", type=int, default=8_000)
    parser.add_argument("--limit", type=int, default=None, help="only so many issues")
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    questions = half(load_questions(arguments.data / "issues.jsonl.gz"), arguments.half)[: arguments.limit]
    rows = run(questions, arguments.mirrors, arguments.keep, arguments.budget, arguments.state)
    rows = [row for row in rows if row["id"] in {question.id for question in questions}]
    result = {"half": arguments.half, "budget": arguments.budget} | summarise(rows)
    print("written:", report.write(f"context-{arguments.half}", result, arguments.into).name)


if __name__ == "__main__":
    main()
