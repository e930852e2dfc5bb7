"""Compare the arms: what each cost, what it solved, and how sure the differences are.

    PYTHONPATH=benchmarks python -m agents.report RUNS

Only tasks that every arm has finished count. Intervals are 95 %, from a bootstrap over tasks that keeps a task's arms
together. What a run did not tell counts as the most that any run of its task took: tokens of a run without a bill, and
tokens until a gold line of a run that never saw one.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import report
from agents.make_tasks import Row
from agents.measure import billed
from agents.run import ARMS, read_rows
from metrics import paired_interval

AGAINST = "nothing"
ROUNDS, SEED = 5000, 7
BILLED, UNTIL, SOLVED, ONE = range(4)


def finished(rows: list[Row]) -> dict[str, list[Row]]:
    """Return each arm's rows, of the tasks that all arms have finished, in one order."""
    by_arm: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        by_arm[row["arm"]][row["task"]] = row
    common = sorted(set.intersection(*(set(found) for found in by_arm.values())))
    if not common:
        raise SystemExit("no task is finished in every arm: go on with agents.run")
    return {arm: [by_arm[arm][task] for task in common] for arm in ARMS if arm in by_arm}


def amounts(arms: dict[str, list[Row]]) -> dict[str, np.ndarray]:
    """Return tokens billed, tokens read until gold, solved, and 1, by arm; what is missing is the most of its task."""
    told = [[(billed(row), row["read_until_gold"], row["solved"], 1) for row in rows] for rows in arms.values()]
    found = np.array(told, dtype=float)  # arms, tasks, 4; None is NaN
    read = np.array([[row["read"] for row in rows] for rows in arms.values()], dtype=float)
    worst = np.stack([np.nan_to_num(found[:, :, 0]).max(axis=0), read.max(axis=0)], axis=-1)
    found[:, :, :2] = np.where(np.isnan(found[:, :, :2]), worst, found[:, :, :2])
    return dict(zip(arms, found.transpose(0, 2, 1), strict=True))


def ratio(ours: np.ndarray, theirs: np.ndarray, amount: int, by: int) -> tuple[float, float, float] | None:
    """Return how many times an amount for each unit is that of the other arm, with its interval.

    None where a side has no unit; rounds of the bootstrap that drew none are left out.
    """
    sides = np.stack([ours[[amount, by]], theirs[[amount, by]]])  # arms, (amount, unit), tasks
    drawn = sides[:, :, np.random.default_rng(SEED).integers(sides.shape[2], size=(ROUNDS, sides.shape[2]))].sum(axis=3)
    every = np.concatenate([sides.sum(axis=2)[:, :, None], drawn], axis=2)  # the first is the whole
    if not every[:, 1, 0].all() or not every[1, 0, 0]:
        return None
    (mine, units), (other, others) = every[:, :, every[:, 1].all(axis=0) & (every[1, 0] > 0)]
    ratios = mine / units / (other / others)
    return float(ratios[0]), *(float(end) for end in np.quantile(ratios[1:], [0.025, 0.975]))


def summary(rows: list[Row], found: np.ndarray) -> Row:
    """Return an arm's measures."""
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    calls = sum((Counter(row["calls"]) for row in rows), Counter[str]())
    outcomes = Counter(row["outcome"] for row in rows)
    tokens, until, solved, _ = found.sum(axis=1)

    def mean(name: str) -> float:
        return round(sum(row[name] or 0 for row in rows) / len(rows), 1)

    return {
        "tasks": len(rows), "solved": int(solved), "errors": outcomes["error"], "timeouts": outcomes["timeout"],
        "billed/solved": round(tokens / solved) if solved else None, "until gold": round(until / len(rows)),
        "saw gold": sum(row["read_until_gold"] is not None for row in rows), "input": mean("input"),
        "cached": mean("cached"), "output": mean("output"), "USD": round(sum(costs), 4) if costs else None,
        "calls": round(calls.total() / len(rows), 1), "asked vade": sum(row["vade_calls"] > 0 for row in rows),
        "vade calls": mean("vade_calls"), "seconds": mean("seconds"), "by tool": dict(calls.most_common()),
    }  # fmt: skip


def compared(rows: list[Row]) -> Row:
    """Return the summary of every arm and its differences to the arm that has nothing."""
    arms = finished(rows)
    found = amounts(arms)
    result: Row = {"arms": {arm: summary(own, found[arm]) for arm, own in arms.items()}, "differences": {}}
    for arm in set(arms) - {AGAINST} if AGAINST in arms else ():
        solved = ({"tasks": found[side][SOLVED].tolist()} for side in (arm, AGAINST))
        result["differences"][arm] = {
            "billed/solved, ratio": ratio(found[arm], found[AGAINST], BILLED, SOLVED),
            "until gold, ratio": ratio(found[arm], found[AGAINST], UNTIL, ONE),
            "solved, difference": paired_interval(*solved, seed=SEED),
        }
    return result


def main(argv: Sequence[str] | None = None) -> None:
    """Print tables for each client and model, and write them beside the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder that agents.run wrote to")
    arguments = parser.parse_args(argv)
    by_client: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read_rows(arguments.out):
        by_client[row["client"], row["model"]].append(row)
    for (client, model), rows in sorted(by_client.items()):
        result = compared(rows)
        print(f"\n{client} {model or '(its default model)'}")
        columns = [name for name in next(iter(result["arms"].values())) if name != "by tool"]
        print(report.table(["arm", *columns], [[arm, *(of[c] for c in columns)] for arm, of in result["arms"].items()]))
        for arm, gaps in sorted(result["differences"].items()):
            told = [f"{name} {_interval(gap)}" for name, gap in gaps.items()]
            print(f"{arm} against {AGAINST}: " + "; ".join(told))
        name = "-".join(filter(None, ("agents", client, model.replace("/", "+"))))
        print("written:", report.write(name, {"client": client, "model": model, **result}, arguments.out).name)


def _interval(gap: tuple[float, float, float] | None) -> str:
    return "unknown" if gap is None else f"{gap[0]:.3f} [{gap[1]:.3f}, {gap[2]:.3f}]"


if __name__ == "__main__":
    main()
