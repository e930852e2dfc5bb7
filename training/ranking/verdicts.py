"""Fit the constants that turn what the best results matched into a probability that they hold the answer.

    python training/ranking/verdicts.py --data DATA [--home INDEXES]

DATA is as `fit.py` describes it. Every question of the sets asked of product code is asked of its own repository, where
it counts as answered if one of ten results is in a right file, and of two others, where it has no answer (some may have
one all the same: that is noise, and the fit has to live with it). Printed are the constants of `code/search/verdict.py`,
with the bias for even odds, and the area under the ROC curve on repositories left out.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum import config
from vademecum.code.search.rank import Ranked, fitted_for, rank
from vademecum.code.search.signals import signals_of
from vademecum.code.search.verdict import indications
from vademecum.code.snapshot.repository import Opened
from vademecum.engine import Engine
from vademecum.index.query import plan_query
from vademecum.types import KINDS, Passage

EMBEDDER = "static:static-2"
OTHERS = 2
STEPS, DECAY = 50, 1e-3
Table = NDArray[np.float64]


def ask(opened: Opened, text: str, *, words_only: bool) -> Ranked | None:
    """Rank as a search does; None when nothing matches at all, or for a name, which is judged by its definitions."""
    plan = plan_query(text)
    if plan.is_symbol:
        return None
    vector = None if words_only else opened.repo.embedder().embed([Passage(plan.text)], "query").unwrap()[0]
    signals, _ = signals_of(opened.view, plan, vector, KINDS["all"])
    ranked = rank(signals, plan, None, 10, model=None if words_only else fitted_for(EMBEDDER))
    return ranked if len(ranked.rows) else None


def is_answered(opened: Opened, ranked: Ranked, question: dict[str, Any], root: str) -> bool:
    """Whether one of the results is in a right file."""
    files = opened.view.files.paths
    shown = {f"{root}{files[opened.view.row_file[row]]}" for row in ranked.rows.tolist()}
    return any(target["path"] in shown for target in question["gold"])


def examples(data: Path, home: Path, *, words_only: bool) -> tuple[Table, NDArray[np.bool_], list[str]]:
    """Return indications (n, 4), whether the question was answered, and the question's repository."""
    roots: dict[str, str] = json.loads((data / "roots.json").read_text("utf-8"))
    groups = [g for g in json.loads((data / "sets.json").read_text("utf-8")) if g["rooted"]]
    settings = config.load(None, environ={"VADE_HOME": str(home), "VADE_SEARCH__EMBEDDER": EMBEDDER})
    chance = random.Random(7)
    rows, right, names = [], [], []
    with ExitStack() as stack:
        opened = {}
        for name, root in sorted(roots.items()):
            engine = stack.enter_context(Engine.open(data / groups[0]["trees"] / name / root, settings=settings))
            engine.codebase.index()
            ((repo, _),) = engine.codebase._repositories  # noqa: SLF001 - verdicts are fitted below the public surface
            found = repo.catalogue.load("worktree", repo.root.path)
            assert found is not None
            opened[name] = Opened(repo, *found)
        for group in groups:
            for name in opened:
                path = data / group["questions"] / f"{name}.jsonl"
                for question in map(json.loads, path.read_text("utf-8").splitlines() if path.exists() else ()):
                    others = chance.sample([other for other in opened if other != name], OTHERS)
                    for place in (name, *others):
                        ranked = ask(opened[place], question["query"], words_only=words_only)
                        if ranked is not None:
                            root = f"{roots[name]}/" if roots[name] else ""
                            rows.append(indications(ranked))
                            right.append(place == name and is_answered(opened[place], ranked, question, root))
                            names.append(name)
    return np.array(rows), np.array(right), names


def fit(x: Table, y: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return bias and weights of a logistic regression, both classes weighing the same, by Newton's method."""
    design = np.column_stack((np.ones(len(x)), x))
    counts = np.where(y, 0.5 / max(y.mean(), 1e-9), 0.5 / max((~y).mean(), 1e-9))
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (counts * (p - y)) + DECAY * len(x) * np.r_[0, weights[1:]]
        curvature = (design.T * (counts * p * (1 - p))) @ design + DECAY * len(x) * np.eye(design.shape[1])
        weights -= np.linalg.solve(curvature, gradient)
    return weights


def area(score: Table, y: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: how often an answered question scores above an unanswered one.

    >>> area(np.array([0.1, 0.9, 0.5]), np.array([False, True, True]))
    1.0
    """
    place = np.empty(len(score))
    place[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
    positive = int(y.sum())
    return float((place[y].sum() - positive * (positive + 1) / 2) / (positive * (len(y) - positive)))


def left_out(x: Table, y: NDArray[np.bool_], names: Sequence[str], folds: int = 4) -> float:
    """Return the area on repositories that the constants were not fitted on."""
    number = {name: n % folds for n, name in enumerate(sorted(set(names)))}
    fold = np.array([number[name] for name in names])
    score = np.empty(len(y))
    for n in range(folds):
        weights = fit(x[fold != n], y[fold != n])
        score[fold == n] = weights[0] + x[fold == n] @ weights[1:]
    return area(score, y)


def main(argv: Sequence[str] | None = None) -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, help="keep the indexes here between runs")
    arguments = parser.parse_args(argv)
    for words_only in (False, True):
        with tempfile.TemporaryDirectory() as scratch:
            x, y, names = examples(arguments.data, arguments.home or Path(scratch), words_only=words_only)
        what = "by words alone" if words_only else EMBEDDER
        print(what, f"{len(y)} questions asked, {int(y.sum())} answered; area left out {left_out(x, y, names):.4f}")
        print("  bias, coverage, dense, definition, certainty:", np.round(fit(x, y), 2).tolist())


if __name__ == "__main__":
    main()
