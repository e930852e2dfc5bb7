"""Compare the arms: what each cost, what it solved, and how sure the differences are.

    PYTHONPATH=benchmarks python -m agents.report RUNS

Only tasks that every arm has finished count. Intervals are 95 %, from a bootstrap over tasks that keeps a task's arms
together. What a run did not tell counts as the most that any run of its task took: tokens of a run without a bill, and
tokens until a gold line of a run that never saw one.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import report
from agents.measure import billed
from agents.run import ARMS, Row, read_rows
from metrics import paired_interval

AGAINST = "nothing"
ROUNDS = 5000


def finished(rows: list[Row]) -> dict[str, list[Row]]:
    """Return each arm's rows, of the tasks that all arms have finished, in one order."""
    by_arm: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        by_arm[row["arm"]][row["task"]] = row
    common = sorted(set.intersection(*(set(found) for found in by_arm.values())))
    return {arm: [by_arm[arm][task] for task in common] for arm in ARMS if arm in by_arm}


def filled(
    arms: dict[str, list[Row]], value: Callable[[Row], float | None], most: Callable[[Row], float | None]
) -> dict[str, list[float]]:
    """Return a value of each run; one that is missing counts as the most of its task's runs."""
    worst = [max(most(row) or 0 for row in runs) for runs in zip(*arms.values(), strict=True)]
    found = {arm: [value(row) for row in rows] for arm, rows in arms.items()}
    return {
        arm: [high if one is None else float(one) for one, high in zip(values, worst, strict=True)]
        for arm, values in found.items()
    }


def per_solved(tokens: Sequence[float], solved: Sequence[float]) -> float | None:
    """Return tokens for each solved task, failures' tokens among them; None if nothing was solved.

    >>> per_solved([10, 30], [1, 0])
    40.0
    """
    return float(np.sum(tokens)) / float(np.sum(solved)) if np.sum(solved) else None


def ratio_interval(ours: np.ndarray, theirs: np.ndarray, seed: int = 7) -> tuple[float, float, float] | None:
    """Return the ratio of two arms' sums by their solved, with its interval; rows of an arm: amounts, solved.

    None where a side solved nothing; rounds that drew no solved task of a side are left out.
    """
    chosen = np.random.default_rng(seed).integers(ours.shape[1], size=(ROUNDS, ours.shape[1]))
    drawn = [[side[row][chosen].sum(axis=1) for row in (0, 1)] for side in (ours, theirs)]
    whole = [side.sum(axis=1) for side in (ours, theirs)]
    if any(side[1] == 0 or side[0] == 0 for side in whole):
        return None
    usable = (drawn[0][1] > 0) & (drawn[1][1] > 0) & (drawn[1][0] > 0)
    ratios = (drawn[0][0] / drawn[0][1] / (drawn[1][0] / drawn[1][1]))[usable]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(whole[0][0] / whole[0][1] / (whole[1][0] / whole[1][1])), float(low), float(high)


def summary(rows: list[Row], cost: float | None, until: float) -> Row:
    """Return an arm's measures."""
    costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    calls = sum((Counter(row["calls"]) for row in rows), Counter[str]())
    outcomes = Counter(row["outcome"] for row in rows)

    def mean(name: str) -> float:
        return sum(row[name] or 0 for row in rows) / len(rows)

    return {
        "tasks": len(rows), "solved": sum(row["solved"] for row in rows), "errors": outcomes["error"],
        "timeouts": outcomes["timeout"], "billed/solved": cost and round(cost), "until gold": round(until),
        "saw gold": sum(row["read_until_gold"] is not None for row in rows), "input": round(mean("input")),
        "cached": round(mean("cached")), "output": round(mean("output")), "USD": round(sum(costs), 4) if costs else None,
        "calls": round(calls.total() / len(rows), 2), "asked vade": sum(row["vade_calls"] > 0 for row in rows),
        "vade calls": round(mean("vade_calls"), 2), "seconds": round(mean("seconds"), 1), "by tool": dict(calls.most_common()),
    }  # fmt: skip


def compared(rows: list[Row]) -> Row:
    """Return the summary of every arm and its differences to the arm that has nothing."""
    arms = finished(rows)
    solved = {arm: [float(row["solved"]) for row in own] for arm, own in arms.items()}
    tokens = filled(arms, billed, billed)
    until = filled(arms, lambda row: row["read_until_gold"], lambda row: row["read"])
    found: Row = {"arms": {}, f"against {AGAINST}": {}}
    for arm, own in arms.items():
        found["arms"][arm] = summary(own, per_solved(tokens[arm], solved[arm]), float(np.mean(until[arm])))
        if arm != AGAINST and AGAINST in arms:
            ones = np.ones(len(own))
            found[f"against {AGAINST}"][arm] = {
                "billed/solved, ratio": ratio_interval(*(np.array([tokens[a], solved[a]]) for a in (arm, AGAINST))),
                "until gold, ratio": ratio_interval(*(np.array([until[a], ones]) for a in (arm, AGAINST))),
                "solved, difference": paired_interval({"tasks": solved[arm]}, {"tasks": solved[AGAINST]}),
            }
    return found


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
        for arm, gaps in result[f"against {AGAINST}"].items():
            told = [f"{name} {_interval(gap)}" for name, gap in gaps.items()]
            print(f"{arm} against {AGAINST}: " + "; ".join(told))
        name = "-".join(filter(None, ("agents", client, model.replace("/", "+"))))
        print("written:", report.write(name, {"client": client, "model": model, **result}, arguments.out).name)


def _interval(gap: tuple[float, float, float] | None) -> str:
    return "unknown" if gap is None else f"{gap[0]:.3f} [{gap[1]:.3f}, {gap[2]:.3f}]"


if __name__ == "__main__":
    main()
