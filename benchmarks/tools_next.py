"""How often the next tool is the predicted one, beside baselines of the same run, with ablations and calibration.

    python benchmarks/tools_next.py --data BENCH/tools --sets ultratool,bfcl_mt_base,tmdb

Every step of every test task counts, the first included. A turn of a session is asked with its own text and what was called
before. Baselines, fitted on the same training tasks: the most frequent tool, Markov (smoothed, over the whole session), BM25 of
the intent, and the two joined by a conditional logit that was fitted with each training task left out. An ablation is
fitted anew without those heads, and "refitted with all" with every one, on what was called alone: the weights used but
for those of unseen tools, which are fitted on hidden ones. A cold tool is one of a fifth of the tools that is in no training task.
Places are those that a prediction shows, with what it keeps for tools never used (`vademecum.tools.search`); that rule and its
constant were chosen on tools hidden inside the training tasks of the first fold.
"""

from __future__ import annotations

# ruff: noqa: SLF001 - the parts are measured by themselves; numpy reads the variable when it is imported
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every verb that opens an engine: threads that wait would count

import numpy as np

import report
from tools_data import Task, TraceSet, capability, read_set, set_arguments, traces_of
from vademecum.bench.measures import paired_difference
from vademecum.tools import fit as fitting
from vademecum.tools.features import HEADS, MEMORY, TEXT, USE, Asked, heads
from vademecum.tools.fit import Choice, drawn, fit
from vademecum.tools.search import shown
from vademecum.tools.shgat import toward_goals
from vademecum.tools.tool_arrays import View
from vademecum.tools.tools import Tools
from vademecum.tools.weights import PHASES, log_probabilities, prior, taken_from

ABLATIONS: Mapping[str, tuple[str, ...]] = {
    "without messages": ("attention", "transition", "session"),
    "without history": (*MEMORY, "popular"),
    "without text": (*TEXT, "unseen_match"),
    "without use": USE,
    "without context": ("order", "transition", "session", "used", "before"),
} | {f"without {head}": (head,) for head in (*TEXT, *MEMORY, *USE)}
COVERAGE = (0.25, 0.5, 0.75, 0.9, 1.0)
DRAWS = 2000
COLD = 0.2


class Step(NamedTuple):
    """One call of a task: `bm25`, float32 (n,), is how well each tool fits by BM25 alone."""

    phase: int
    choice: Choice
    task: int
    bm25: np.ndarray


Steps = list[Step]


def rank_of(scores: np.ndarray, chosen: int) -> int:
    """The place of the chosen one; ties in the order of position."""
    return 1 + int((scores > scores[chosen]).sum() + (scores[:chosen] == scores[chosen]).sum())


def place_of(step: Step, weights: np.ndarray) -> int:
    """The place of the chosen one as a prediction shows it."""
    features = step.choice.features
    likely, unseen = (features @ weights).astype(np.float32), features[:, HEADS.index("unseen")]
    return 1 + shown(likely, step.bm25, unseen > 0, len(unseen)).index(step.choice.chosen)


def measures(ranks: Sequence[int]) -> dict[str, float]:
    r = np.asarray(ranks)
    return {"hit@1": float((r <= 1).mean()), "hit@3": float((r <= 3).mean()), "mrr": float((1 / r).mean())}


def steps_of(view: View, tasks: Sequence[Task]) -> Steps:
    """Every step of test tasks, as what each tool looks like and which was called."""
    found: Steps = []
    for number, task in enumerate(tasks):
        for turn in task.turns:
            asked = Asked(view, view.read(turn.intent), tuple(view.number[tool] for tool in turn.earlier))
            calls = tuple(view.number[tool] for tool in turn.calls)
            for step, tool in enumerate(calls):
                choice = Choice(heads(asked, calls[:step]), tool)
                found.append(Step(min(step, PHASES - 1), choice, number, asked.bm25))
    return found


def without(steps: Steps, dropped: Sequence[str]) -> Steps:
    """The same steps with some heads saying nothing."""
    kept = np.array([0 if head in dropped else 1 for head in HEADS], np.float32)
    return [step._replace(choice=Choice(step.choice.features * kept, step.choice.chosen)) for step in steps]


def trained(view: View) -> Steps:
    """Training steps, each trace asked of the others."""
    asked = [fitting.asked_of(view, int(n)) for n in drawn(view, fitting.MOST_TRACES, 7)]
    return [Step(phase, choice, 0, each.bm25) for each in asked for phase, choice in fitting.choices(each)]


def refitted(steps: Steps, dropped: Sequence[str]) -> np.ndarray:
    """Weights by phase, fitted without some heads."""
    begin = prior().next.mean(0) * np.array([head not in dropped for head in HEADS])
    steps = without(steps, dropped)
    joint = fit([step.choice for step in steps], begin, fitting.STRENGTH)
    by_phase = [[step.choice for step in steps if step.phase == phase] for phase in range(PHASES)]
    return np.stack([fit(choices, joint, fitting.PHASE_STRENGTH) for choices in by_phase])


def ranks(steps: Steps, weights: np.ndarray) -> list[int]:
    return [place_of(step, weights[step.phase]) for step in steps]


class Markov:
    """Transition counts over whole sessions, with popularity behind them."""

    def __init__(self, view: View, tasks: Sequence[Task]) -> None:
        self.n = len(view.tools)
        self.count = np.zeros((self.n + 1, self.n), np.float32)
        self.popular = np.full(self.n, 0.1, np.float32)
        for task in tasks:
            self._add(view, task, 1)

    def _add(self, view: View, task: Task, sign: int) -> None:
        before = self.n
        for tool in whole(view, task):
            self.count[before, tool] += sign
            self.popular[tool] += sign
            before = tool

    def left_out(self, view: View, task: Task) -> Iterator[tuple[int, np.ndarray]]:
        """The steps of a task, told by all others."""
        self._add(view, task, -1)
        before = self.n
        for tool in whole(view, task):
            yield tool, self.after(before)
            before = tool
        self._add(view, task, 1)

    def after(self, before: int) -> np.ndarray:
        """Return the smoothed share of each tool after one."""
        share = self.popular / self.popular.sum()
        row = self.count[before]
        return (row + share) / (row.sum() + 1)


def whole(view: View, task: Task) -> list[int]:
    return [view.number[tool] for turn in task.turns for tool in turn.calls]


def baselines(view: View, train: Sequence[Task], test: Sequence[Task]) -> dict[str, list[int]]:
    """Ranks of frequency, Markov, BM25, and the learned mix of the last two."""
    markov, found = Markov(view, train), defaultdict(list)
    fitting_on = [choice for task in train[:1500] for choice in _mixed(view, markov.left_out(view, task), task)]
    weights = fit(fitting_on, np.zeros(4), 0.1)
    for task in test:
        before = markov.n
        steps = []
        for tool in whole(view, task):
            steps.append((tool, markov.after(before)))
            before = tool
        for choice in _mixed(view, iter(steps), task):
            found["frequency"].append(rank_of(markov.popular, choice.chosen))
            found["markov"].append(rank_of(choice.features[:, 0], choice.chosen))
            found["bm25"].append(rank_of(choice.features[:, 1], choice.chosen))
            found["markov+bm25"].append(rank_of(choice.features @ weights, choice.chosen))
    return found


def _mixed(view: View, steps: Iterator[tuple[int, np.ndarray]], task: Task) -> Iterator[Choice]:
    """What the learned mix sees: log Markov, BM25, whether a tool was used, whether it was the last."""
    used, last = np.zeros(len(view.tools), np.float32), np.zeros(len(view.tools), np.float32)
    for turn in task.turns:
        bm25 = view.documents.bm25(view.read(turn.intent))
        for _ in turn.calls:
            tool, share = next(steps)
            yield Choice(np.stack([np.log(share), bm25, used, last], 1).astype(np.float32), tool)
            used[tool], last[:] = 1, 0
            last[tool] = 1
    for _ in steps:  # let the counts of a task that was left out be put back
        pass


def interval(ours: Sequence[int], theirs: Sequence[int], tasks: Sequence[int]) -> list[float]:
    """95 % interval of the difference in hit@1, drawing tasks."""
    first = [[float(rank <= 1) for rank in ranks] for ranks in (ours, theirs)]
    found = paired_difference(*first, [str(task) for task in tasks], seed=1, rounds=DRAWS)
    return [round(found.low, 4), round(found.high, 4)]


def calibration(steps: Steps, weights: np.ndarray) -> dict[str, Any]:
    """Expected calibration error over ten bins, and accuracy at several coverages, the surest first."""
    sure, right = [], []
    for step in steps:
        logs = log_probabilities(step.choice.features, weights[step.phase])
        sure.append(float(np.exp(logs.max())))
        right.append(rank_of(logs, step.choice.chosen) == 1)
    p, y = np.array(sure), np.array(right)
    bins = np.minimum((p * 10).astype(int), 9)
    error = sum(
        abs(p[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in range(10) if (bins == b).any()
    )
    order = np.argsort(-p)
    curve = {str(c): round(float(y[order[: max(1, round(c * len(y)))]].mean()), 4) for c in COVERAGE}
    return {"ece": round(float(error), 4), "confidence": round(float(p.mean()), 4), "accuracy_at_coverage": curve}


def by_goal(made: Tools, test: Sequence[Task]) -> list[int]:
    """Ranks by ADR-050's order of things: a target by the intent alone, then the first step on the way to it."""
    view, ways, model = made._now().view, made._now().ways, made._now().model
    found = []
    for task in test:
        for turn in task.turns:
            taken = taken_from(
                log_probabilities(heads(Asked(view, view.read(turn.intent)), ()), model.search), model.certain
            )
            for step, tool in enumerate(turn.calls):
                called = [view.number[each] for each in turn.calls[:step]]
                probability = toward_goals(view, ways.starting(turn.calls[:step]), taken, called)
                found.append(rank_of(probability, view.number[tool]))
    return found


def by_shgat(made: Tools, test: Sequence[Task]) -> list[int]:
    """Ranks by ADR-050's four heads: the best capability by the intent alone, then its first call that was not made."""
    view, shgat = made._now().view, made._now().shgat
    found = []
    for task in test:
        for turn in task.turns:
            asked, calls = Asked(view, view.read(turn.intent)), [view.number[each] for each in turn.calls]
            found += [rank_of(shgat.first_steps(asked, calls[:step]), tool) for step, tool in enumerate(calls)]
    return found


def cold(one: TraceSet, train: Sequence[Task], test: Sequence[Task], home: Path, seed: int) -> dict[str, list[int]]:
    """Ranks of tools that no training task has, by the model and by text alone."""
    names = [tool.id for tool in one.tools]
    hidden = set(np.random.default_rng(seed).choice(names, round(COLD * len(names)), replace=False).tolist())
    kept = [task for task in train if not task.gold & hidden]
    made = capability(one.tools, traces_of(kept), home)
    view, weights = made._now().view, made._now().model.next
    found: dict[str, list[int]] = {"ours": [], "bm25": [], "warm": []}
    for step in steps_of(view, test):
        place, chosen = place_of(step, weights[step.phase]), step.choice.chosen
        if view.tools[chosen].id in hidden:
            found["ours"].append(place)
            found["bm25"].append(rank_of(step.bm25, chosen))
        else:
            found["warm"].append(place)
    return found


def measured(one: TraceSet, home: Path, *, ablations: bool) -> dict[str, Any]:
    """Everything about one set."""
    found: dict[str, list[int]] = defaultdict(list)
    taken: dict[str, list[int]] = defaultdict(list)
    groups: list[int] = []
    everything: list[tuple[Steps, np.ndarray]] = []
    seconds = []
    for number, (train, test) in enumerate(one.folds()):
        made = capability(one.tools, traces_of(train), home)
        view = made._now().view
        started = time.perf_counter()
        made.fit()
        seconds.append(time.perf_counter() - started)
        weights = made._now().model.next
        steps = steps_of(view, test)
        groups += [1_000_000 * number + step.task for step in steps]
        found["vademecum"] += ranks(steps, weights)
        for name, places in baselines(view, train, test).items():
            found[name] += places
        found["by goal"] += by_goal(made, test)
        found["by shgat"] += by_shgat(made, test)
        everything.append((steps, weights))
        training = trained(view) if ablations else []
        for name, dropped in ABLATIONS.items() if ablations else ():
            taken[name] += ranks(without(steps, dropped), refitted(training, dropped))
        taken["refitted with all"] += ranks(steps, refitted(training, ())) if ablations else []
    result: dict[str, Any] = {name: measures(places) for name, places in found.items()}
    result["steps"] = len(groups)
    result["over markov+bm25, 95 %"] = interval(found["vademecum"], found["markov+bm25"], groups)
    result["fit seconds"] = [round(s, 2) for s in seconds]
    result["calibration"] = _joined(everything)
    result["ablations"] = {name: measures(places) for name, places in taken.items() if places}
    return result


def _joined(everything: Sequence[tuple[Steps, np.ndarray]]) -> dict[str, Any]:
    """Calibration over all folds."""
    steps: Steps = []
    stacked = []
    for number, (fold, weights) in enumerate(everything):
        steps += [step._replace(phase=step.phase + PHASES * number) for step in fold]
        stacked.append(weights)
    return calibration(steps, np.concatenate(stacked))


def cold_measured(one: TraceSet, home: Path) -> dict[str, Any]:
    """Cold tools over three draws, on the first fold."""
    train, test = next(iter(one.folds()))
    draws = [cold(one, train, test, home, seed) for seed in range(3)]
    return {
        name: [round(measures(draw[name])["hit@3"], 4) if draw[name] else None for draw in draws]
        for name in ("ours", "bm25", "warm")
    } | {"steps": [len(draw["ours"]) for draw in draws]}


def latency(one: TraceSet, home: Path, tools: int, traces: int) -> dict[str, float]:
    """Milliseconds of processor time of a warm answer among so many tools and traces, grown from the set by renaming."""
    grown = list(one.tools)
    while len(grown) < tools:
        part = len(grown) // len(one.tools)
        grown += [_renamed(tool, part) for tool in one.tools[: tools - len(grown)]]
    train, test = next(iter(one.folds()))
    made = capability(grown, traces_of(train)[:traces], home)
    made.predict("warm up")
    asked = [turn for task in test for turn in task.turns][:200]
    took: dict[str, list[float]] = defaultdict(list)
    calls: Mapping[str, Callable[[Any], object]] = {
        "predict": lambda turn: made.predict(turn.intent, after=turn.calls[:-1], earlier=turn.earlier),
        "search": lambda turn: made.search(turn.intent),
        "suggest": lambda turn: made.suggest(turn.intent),
    }
    for name, call in calls.items():
        for turn in asked:
            started = time.process_time()  # of this process alone: the machine may be shared
            call(turn)
            took[name].append((time.process_time() - started) * 1000)
    for new, turn in zip(traces_of(test), asked, strict=False):  # what was just observed is worked in by another thread
        made.observe([new])
        started = time.thread_time()
        calls["predict"](turn)
        took["predict after observe"].append((time.thread_time() - started) * 1000)
    made.close()
    return {
        f"{name} p{quantile}": round(float(np.quantile(t, quantile / 100)), 2)
        for name, t in took.items()
        for quantile in (50, 95)
    } | {"tools": len(grown), "traces": min(traces, len(traces_of(train)))}


def _renamed(tool: Any, part: int) -> Any:
    from dataclasses import replace

    return replace(
        tool, id=f"{tool.id}_{part}", name=f"{tool.name}_{part}", description=f"{tool.description} variant {part}"
    )


def main() -> None:
    parser = set_arguments(__doc__, "tools-next", "ultratool,bfcl_mt_base,tmdb")
    parser.add_argument("--no-ablations", action="store_true")
    parser.add_argument("--latency", action="store_true", help="also measure how long an answer takes")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        for name in filter(None, args.sets.split(",")):
            one = read_set(args.data / name)
            result = measured(one, Path(home), ablations=not args.no_ablations)
            result["cold hit@3"] = cold_measured(one, Path(home))
            show(name, result)
            keep(args.name, {name: result}, write=not args.no_write)
        if args.latency:
            one = read_set(args.data / "ultratool")
            took = [latency(one, Path(home), tools, 3000) for tools in (300, 5000)]
            print(took)
            if not args.no_write:  # a file of its own: it is measured when the machine is quiet
                print(report.write("tools-latency", {"latency": took}))


def show(name: str, result: dict[str, Any]) -> None:
    """Print the figures of one set."""
    rows = [[kind, *m.values()] for kind, m in result.items() if isinstance(m, dict) and "hit@1" in m]
    print(name, report.table(["", "hit@1", "hit@3", "mrr"], rows), sep="\n")
    for key in ("over markov+bm25, 95 %", "fit seconds", "calibration", "cold hit@3"):
        print(" ", key, result[key])
    for kind, m in result["ablations"].items():
        print(f"  {kind:28} {m['hit@1']:.3f} {m['hit@3']:.3f} {m['mrr']:.3f}", flush=True)


def keep(name: str, found: dict[str, Any], *, write: bool) -> None:
    """Add figures to the result of this commit: sets measured one after the other end in one file."""
    file = report.RESULTS / f"{name}-{report.commit()}.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known.pop("conditions", None)
    if write:
        print(report.write(name, known | found))


if __name__ == "__main__":
    main()
