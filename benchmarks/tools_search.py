"""How often the right tools are among the first five, without and with history, beside text baselines of the same run.

    python benchmarks/tools_search.py --data BENCH/tools --sets ultratool,livemcp,tmdb,bfcl_mt_base

`recall@5` is the share of a task's tools among the first five, `hit@1` whether the first is one of them. With history: after the
training tasks were observed. livemcp has no training tasks and is asked without.

`unused` is about tools that no observed task has: how often those that a task takes are among the first three, beside the same search
without history. Five draws: of a fifth of the tools with all tasks that have them left out, and of 10 and 40 observed tasks; of
livemcp 40 tasks are drawn to be observed. That all such tools that text has first are shown was chosen on draws within
training tasks of tmdb and bfcl, and with two of the draws of livemcp in view.

`--bare` asks without history alone, `--embedder SPEC` with an embedder of the user's own.
"""

from __future__ import annotations

# ruff: noqa: SLF001 - the baselines read what the capability reads
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import report
from tools_data import TraceSet, capability, read_set, set_arguments, traces_of
from vademecum.tools.tool_arrays import View

WITHOUT_HISTORY = ("livemcp",)
DRAWS = 5
COLD = 0.2  # of the tools
FEW = (10, 40)  # tasks


def scored(order: list[str], gold: frozenset[str]) -> tuple[float, float]:
    """(hit@1, recall@5)."""
    return float(order[:1] != [] and order[0] in gold), len(set(order[:5]) & gold) / len(gold)


def by_text(view: View, intent: str) -> dict[str, list[str]]:
    """The first five by BM25, tf-idf and vectors alone."""
    question = view.read(intent)
    scores = {
        "bm25": view.documents.bm25(question),
        "tf-idf": view.documents.tfidf(question),
        "vectors": view.documents.dense(question),
    }
    return {name: [view.tools[n].id for n in np.argsort(-score, kind="stable")[:5]] for name, score in scores.items()}


def measured(one: TraceSet, home: Path, spec: str, *, is_bare: bool) -> dict[str, Any]:
    """Everything about one set."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for train, test in one.folds():
        bare = capability(one.tools, [], home, spec)
        view = bare._now().view
        is_asked = not is_bare and one.name not in WITHOUT_HISTORY
        learned = capability(one.tools, traces_of(train), home, spec) if is_asked else None
        for task in test:
            found["without history"].append(scored(_first(bare, task.intent), task.gold))
            for name, order in by_text(view, task.intent).items():
                found[name].append(scored(order, task.gold))
            if learned:
                found["with history"].append(scored(_first(learned, task.intent), task.gold))
                step = learned.search(task.intent, reliability="step")
                found["with history, step reliability"].append(
                    scored([match.id for match in step.matches if match.kind == "tool"], task.gold)
                )
    return {
        name: {"hit@1": float(np.mean([h for h, _ in rows])), "recall@5": float(np.mean([r for _, r in rows]))}
        for name, rows in found.items()
    }


def unused(one: TraceSet, home: Path) -> dict[str, Any]:
    """Hit@3 of what no observed task has, per draw, with history and by text alone; hit@1 and recall@5 of all tools with history."""
    bare = capability(one.tools, [], home)
    found: dict[str, Any] = {}
    for name in ("a fifth", *FEW):
        rows = [_drawn(one, bare, home, name, seed) for seed in range(DRAWS)]
        columns = ("ours", "text", "tools", "hit@1", "recall@5")
        found[str(name)] = {key: [row[n] for row in rows] for n, key in enumerate(columns)}
    return found


def _drawn(one: TraceSet, bare: Any, home: Path, kind: str | int, seed: int) -> tuple[float, ...]:
    draw, folds = np.random.default_rng(seed), list(one.folds())
    train, test = folds[seed % len(folds)]
    if one.name in WITHOUT_HISTORY:
        order = draw.permutation(len(one.tasks))
        train, test = [one.tasks[n] for n in order[: FEW[-1]]], [one.tasks[n] for n in order[FEW[-1] :]]
    if isinstance(kind, int):
        kept = [train[n] for n in draw.permutation(len(train))[:kind]]
    else:
        hidden = set(draw.choice([tool.id for tool in one.tools], round(COLD * len(one.tools)), replace=False).tolist())
        kept = [task for task in train if not task.gold & hidden]
    learned, used = capability(one.tools, traces_of(kept), home), {tool for task in kept for tool in task.gold}
    ours, text, tools, all_ = 0, 0, 0, []
    for task in test:
        new, order = task.gold - used, _first(learned, task.intent)
        ours += len(new.intersection(order[:3]))
        text += len(new.intersection(_first(bare, task.intent)[:3])) if new else 0
        tools += len(new)
        all_.append(scored(order, task.gold))
    learned.close()
    hit, recall = np.mean(all_, axis=0).round(4).tolist()
    return (round(ours / max(tools, 1), 4), round(text / max(tools, 1), 4), tools, hit, recall)


def _first(made: Any, intent: str) -> list[str]:
    return [match.id for match in made.search(intent).matches if match.kind == "tool"]


def main() -> None:
    parser = set_arguments(__doc__, "tools-search", "ultratool,livemcp,tmdb,bfcl_mt_base")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--embedder", default="static:prose-1")
    args = parser.parse_args()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as home:
        for name in args.sets.split(","):
            result[name] = measured(read_set(args.data / name), Path(home), args.embedder, is_bare=args.bare)
            print(
                name,
                report.table(["", "hit@1", "recall@5"], [[k, *m.values()] for k, m in result[name].items()]),
                sep="\n",
            )
            if not args.bare:
                result[name]["unused"] = unused(read_set(args.data / name), Path(home))
                print(result[name]["unused"], flush=True)
    if not args.no_write:
        print(report.write(args.name, result))


if __name__ == "__main__":
    main()
