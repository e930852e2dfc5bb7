"""Whether a search knows that no tool fits: its probability on questions of the same catalogue and of others.

    python benchmarks/tools_found.py --data BENCH/tools --sets ultratool,livemcp,tmdb,bfcl_mt_base --history 0,15,200

Each catalogue is asked its own questions, and as many that were written for the other catalogues, evenly. Some of these fit by
chance: two catalogues may both send mail. `auc` says how well the probability separates the two kinds, `ece` how far it is off from
how often a right tool was shown, over ten bins, `not_found` the share of own and of foreign questions of which that is said, and
`right` how often that is right where as many questions fit as do not. `--fit` prints the weights of `vademecum.tools.confidence`,
with each set's figures by the weights of all others.
"""

from __future__ import annotations

# ruff: noqa: SLF001 - the fit reads what the search reads
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import report
from tools_data import Task, TraceSet, capability, read_set, set_arguments, traces_of
from vademecum.tools import confidence
from vademecum.tools.features import Asked
from vademecum.types import Verdict

ASKED, SEED = 150, 3
WITHOUT_HISTORY = ("livemcp",)
Rows = NDArray[np.float64]


def questions(test: list[Task]) -> list[tuple[str, frozenset[str]]]:
    """Some tasks, with their tools."""
    return [(task.intent, task.gold) for task in random.Random(SEED).sample(test, min(ASKED, len(test)))]


def foreign(sets: list[TraceSet], one: TraceSet, many: int) -> list[tuple[str, frozenset[str]]]:
    """So many questions of the other sets, of each in turn."""
    asked = [questions(other.tasks) for other in sets if other is not one]
    turns = (each[n][0] for n in range(ASKED) for each in asked if n < len(each))
    return [(text, frozenset()) for text, _ in zip(turns, range(many), strict=False)]


def rows(sets: list[TraceSet], one: TraceSet, traces: int, home: Path, spec: str) -> Iterator[dict[str, Any]]:
    """Yield what a search says of each question, with its signals."""
    train, test = next(iter(one.folds()))
    if not traces:
        train, test = [], one.tasks
    drawn = random.Random(SEED).sample(train, min(traces, len(train)))
    made = capability(one.tools, traces_of(drawn), home, spec)
    known = made._now()
    own = questions(test)
    for text, gold in [*own, *foreign(sets, one, len(own))]:
        found = made.search(text)
        asked = Asked(known.view, known.view.read(text))
        yield {
            "own": bool(gold),
            "right": bool(gold.intersection(match.id for match in found.matches if match.kind == "tool")),
            "probability": found.probability,
            "none": found.verdict is Verdict.NOT_FOUND,
            "text": confidence.text_signals(asked, known.view.live),
        }
    made.close()


def measured(found: list[dict[str, Any]]) -> dict[str, float]:
    """The figures of a catalogue."""
    p, own, right, none = (
        np.array([row[key] for row in found], float) for key in ("probability", "own", "right", "none")
    )
    own_none, foreign_none = none[own > 0].mean(), none[own == 0].mean()
    bins = np.minimum((p * 10).astype(int), 9)
    wins = (p[own > 0][:, None] > p[own == 0]).mean() + (p[own > 0][:, None] == p[own == 0]).mean() / 2
    return {
        "auc": float(wins),
        "ece": float(sum(abs(p[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins))),
        "not_found own": float(own_none),
        "not_found foreign": float(foreign_none),
        "right": float(foreign_none / max(own_none + foreign_none, 1e-9)),
    }


def logistic(x: Rows, y: Rows, offset: Rows | float = 0.0, strength: float = 1.0) -> Rows:
    """Return the weights of a logistic regression, by Newton's method; a constant column is its bias."""
    spread = np.where(x.std(0) > 0, x.std(0), 1)
    z, w = x / spread, np.zeros(x.shape[1])
    keep = strength * (x.std(0) > 0)
    for _ in range(50):
        p = 1 / (1 + np.exp(-(z @ w + offset)))
        w -= np.linalg.solve((z * (p * (1 - p))[:, None]).T @ z + np.diag(keep), z.T @ (p - y) + keep * w)
    return w / spread


def cold_weights(found: list[dict[str, Any]], columns: slice) -> Rows:
    """Weights of the text signals."""
    x = np.array([[1.0, *row["text"][columns]] for row in found])
    return logistic(x, np.array([float(row["right"]) for row in found]))


def fitted(cold: dict[str, list[dict[str, Any]]]) -> None:
    """Print weights of text, and each set's figures by those of the others."""
    for name, asked in cold.items():
        others = [row for other, found in cold.items() if other != name for row in found]
        w = cold_weights(others, slice(None))
        p = [1 / (1 + np.exp(-(w[0] + w[1:] @ row["text"]))) for row in asked]
        below = [{**row, "probability": q, "none": q < confidence.FOUND_FROM} for row, q in zip(asked, p, strict=True)]
        print(name, {key: round(value, 3) for key, value in measured(below).items()})
    every = [row for found in cold.values() for row in found]
    for kind, columns in (("text", slice(None)), ("words", slice(1, 2))):
        print(kind, cold_weights(every, columns).round(2).tolist())


def main() -> None:
    parser = set_arguments(__doc__, "tools-found", "ultratool,livemcp,tmdb,bfcl_mt_base")
    parser.add_argument("--history", default="0,15,200", help="how many tasks were observed")
    parser.add_argument("--embedder", default="static:prose-1")
    parser.add_argument("--fit", action="store_true")
    args = parser.parse_args()
    sets = [read_set(args.data / name) for name in args.sets.split(",")]
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with tempfile.TemporaryDirectory() as home:
        for traces in args.history.split(","):
            asked = [one for one in sets if traces == "0" or one.name not in WITHOUT_HISTORY]
            found[traces] = {one.name: list(rows(sets, one, int(traces), Path(home), args.embedder)) for one in asked}
            table = [[name, *(f"{v:.3f}" for v in measured(each).values())] for name, each in found[traces].items()]
            print(
                f"{traces} observed",
                report.table(["", "auc", "ece", "own", "foreign", "right"], table),
                sep="\n",
                flush=True,
            )
    if args.fit:
        fitted(found["0"])
    elif not args.no_write:
        print(report.write(args.name, {t: {n: measured(r) for n, r in s.items()} for t, s in found.items()}))


if __name__ == "__main__":
    main()
