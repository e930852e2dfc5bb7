"""How near a suggested plan is to the one that people or a generator wrote, beside baselines of the same run.

    python benchmarks/tools_plan.py --data BENCH/tools --sets ultratool,tmdb

Node-F1 and link-F1 as GNN4TaskPlan counts them: per task over sets of tools and of linked pairs, then the mean; link-F1 over
tasks that have links. Baselines: the tools of the nearest training task copied with its links, and the likeliest chain
of a Markov model joined with BM25.
"""

from __future__ import annotations

# ruff: noqa: SLF001 - the baselines read what the capability reads
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import report
from tools_data import Task, TraceSet, capability, read_set, set_arguments, traces_of
from tools_next import Markov
from vademecum.tools.records import Plan
from vademecum.tools.tool_arrays import View

Pairs = set[tuple[str, str]]


def f1(found: Iterable[Any], right: Iterable[Any]) -> float:
    """The harmonic mean of precision and recall of two sets.

    >>> f1({1, 2}, {2, 3})
    0.5
    """
    a, b = set(found), set(right)
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def scored(tools: Sequence[str], links: Pairs, task: Task) -> tuple[float, float | None, bool]:
    """Node-F1, link-F1 where the task has links, and whether the set of tools is exactly right."""
    linked = f1(links, task.links) if task.links else None
    return f1(tools, task.gold), linked, set(tools) == task.gold


def of_plan(plan: Plan) -> tuple[list[str], Pairs]:
    """The tools of a plan, and which waits for which."""
    calls = {task.id: task.call for task in plan.tasks}
    return list(calls.values()), {(calls[before], task.call) for task in plan.tasks for before in task.depends_on}


def copied(view: View, train: Sequence[Task], task: Task) -> tuple[list[str], Pairs]:
    """The nearest training task by tf-idf."""
    near = train[int(np.argmax(view.intents.tfidf(view.read(task.intent))))]
    return sorted(near.gold), set(near.links or ())


def chained(view: View, markov: Markov, task: Task, length: int) -> tuple[list[str], Pairs]:
    """The greedy chain by Markov times BM25, of the usual length."""
    bm25 = view.documents.bm25(view.read(task.intent)) + 0.02
    chain: list[int] = []
    before = markov.n
    for _ in range(length):
        score = markov.after(before) * bm25
        score[chain] = 0
        before = int(score.argmax())
        chain.append(before)
    names = [view.tools[n].id for n in chain]
    return names, set(pairwise(names))


def measured(one: TraceSet, home: Path) -> dict[str, Any]:
    """Everything about one set."""
    found: dict[str, list[tuple[float, float | None, bool]]] = defaultdict(list)
    sure: list[tuple[float, bool]] = []
    for train, test in one.folds():
        made = capability(one.tools, traces_of(train), home)
        made.fit()
        view = made._now().view
        markov = Markov(view, train)
        length = round(float(np.mean([len(task.turns[0].calls) for task in train])))
        for task in test:
            plan = made.suggest(task.intent)
            found["vademecum"].append(scored(*of_plan(plan), task))
            found["nearest trace, copied"].append(scored(*copied(view, train, task), task))
            found["markov * bm25"].append(scored(*chained(view, markov, task, length), task))
            sure.append((plan.confidence, found["vademecum"][-1][2]))
    result: dict[str, Any] = {name: summed(rows) for name, rows in found.items()}
    order = sorted(sure, reverse=True)
    result["exact at coverage"] = {
        str(c): round(float(np.mean([right for _, right in order[: max(1, round(c * len(order)))]])), 4)
        for c in (0.25, 0.5, 0.75, 1.0)
    }
    return result


def summed(rows: Sequence[tuple[float, float | None, bool]]) -> dict[str, float]:
    """Means of node-F1, link-F1 and exactness."""
    nodes, links, exact = zip(*rows, strict=True)
    with_links = [link for link in links if link is not None]
    return {
        "node-F1": float(np.mean(nodes)),
        "link-F1": float(np.mean(with_links)) if with_links else 0.0,
        "exact": float(np.mean(exact)),
    }


def main() -> None:
    args = set_arguments(__doc__, "tools-plan", "ultratool,tmdb").parse_args()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as home:
        for name in args.sets.split(","):
            result[name] = measured(read_set(args.data / name), Path(home))
            rows = [[kind, *m.values()] for kind, m in result[name].items() if "node-F1" in m]
            print(name, report.table(["", "node-F1", "link-F1", "exact"], rows), sep="\n")
            print("  exact at coverage", result[name]["exact at coverage"])
    if not args.no_write:
        print(report.write(args.name, result))


if __name__ == "__main__":
    main()
