"""What the ranking weights are worth on repositories they were not chosen on: two folds, each chosen on the other half.

    python benchmarks/weights.py --data BENCH/code --repos CHECKOUTS

The constants were chosen on all of the `files` questions, so the figure of `quality.py` is no forecast. Here every
other repository is left out, each weight is chosen in turn on the rest, and the result is measured on those left out,
beside the weights as they were set before any question was looked at. `leave one out` takes each signal away from the
constants; `fitted leave one out` takes each feature away from the fitted model, which never saw these repositories.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import report
from data import Question
from metrics import Hit, mean_over_repositories, semble_ndcg
from quality import find_trees, load
from vademecum.code.search.rank import FILE_FEATURES, PIECE_FEATURES, WEIGHTS, Model, Weights, fitted_for, rank
from vademecum.code.search.signals import Signals, signals_of
from vademecum.code.snapshot.repository import Opened
from vademecum.engine import Engine
from vademecum.index.query import Plan, plan_query
from vademecum.types import KINDS, Passage

# As they were set first, after what is published of other tools; nothing here was looked at then.
UNTUNED = Weights(0.45, 0.2, 0.6, 1.5, 0.75, 0.2, 0.5, 200)
CHOICES: dict[str, Sequence[float]] = {
    "dense": (0.3, 0.45, 0.6, 0.7),
    "dense_symbol": (0.0, 0.1, 0.2, 0.3),
    "path": (0.3, 0.45, 0.6, 0.8, 1.0),
    "definition": (1.0, 1.5, 2.0),
    "definition_in_prose": (0.3, 0.5, 0.75, 1.0),
    "coherence": (0.1, 0.2, 0.3, 0.4),
    "decay": (0.4, 0.5, 0.6),
}
WITHOUT: dict[str, dict[str, float]] = {
    "meaning": {"dense": 0.0, "dense_symbol": 0.0},
    "words": {"dense": 1.0, "dense_symbol": 1.0},
    "path": {"path": 0.0},
    "definition": {"definition": 0.0, "definition_in_prose": 0.0},
    "coherence": {"coherence": 0.0},
    "saturation of files": {"decay": 1.0},
}


@dataclass(frozen=True)
class Asked:
    """A question with every signal computed: ranking it again costs a millisecond."""

    question: Question
    opened: Opened
    plan: Plan
    signals: Signals

    def score(self, weights: Weights, model: Model | None = None) -> float:
        """NDCG@10 by semble's rule, by the constants or by the fitted model."""
        view = self.opened.view
        ranked = rank(self.signals, self.plan, None, 10, model=model, weights=weights)
        hits = [
            Hit(view.files.paths[view.row_file[row]], int(view.lines[row, 0]), int(view.lines[row, 1]))
            for row in ranked.rows.tolist()
        ]
        return semble_ndcg(hits, self.question.targets)


def ask(engine: Engine, questions: list[Question]) -> list[Asked]:
    """Compute the signals of one repository's questions."""
    engine.codebase.index()
    ((repo, _),) = engine.codebase._repositories  # noqa: SLF001 - ranking alone is measured, below the public surface
    loaded = repo.catalogue.load("worktree", repo.root.path)
    assert loaded is not None
    opened = Opened(repo, *loaded)
    asked = []
    for question in questions:
        plan = plan_query(question.query)
        vector = repo.embedder().embed([Passage(plan.text)], "query").unwrap()[0]
        asked.append(Asked(question, opened, plan, signals_of(opened.view, plan, vector, KINDS["all"])[0]))
    return asked


def mean(asked: dict[str, list[Asked]], weights: Weights, names: Collection[str]) -> float:
    """Mean over some repositories."""
    return mean_over_repositories({name: [each.score(weights) for each in asked[name]] for name in names})


def unseen(asked: dict[str, list[Asked]]) -> dict[str, float]:
    """What the fitted model makes of candidates that the constants found as they were set before any question here was looked at."""
    model = fitted_for("static:static-2")
    return {
        name: round(
            mean_over_repositories({n: [e.score(weights, model) for e in each] for n, each in asked.items()}), 4
        )
        for name, weights in (("fitted", WEIGHTS), ("fitted_untuned", UNTUNED))
    }


def without_features(asked: dict[str, list[Asked]]) -> dict[str, float]:
    """What each feature of the fitted model is worth here: the change when its weight is 0 in both halves, largest loss first."""
    model = fitted_for("static:static-2")
    assert model is not None

    def measured(model: Model) -> float:
        return mean_over_repositories({n: [e.score(WEIGHTS, model) for e in each] for n, each in asked.items()})

    whole = measured(model)
    found = {"(everything)": round(whole, 4)}
    for name in dict.fromkeys((*FILE_FEATURES, *PIECE_FEATURES)):
        file = np.where([feature == name for feature in FILE_FEATURES], 0, model.file)
        piece = np.where([feature == name for feature in PIECE_FEATURES], 0, model.piece)
        found[name] = round(measured(replace(model, file=file, piece=piece)) - whole, 4)
    return dict(sorted(found.items(), key=lambda pair: (pair[0] != "(everything)", pair[1])))


def choose(asked: dict[str, list[Asked]], names: Collection[str]) -> Weights:
    """Choose each weight in turn on some repositories, twice over."""
    weights = UNTUNED
    for _ in range(2):
        for name, values in CHOICES.items():
            weights = max(
                (replace(weights, **{name: value}) for value in values), key=lambda w: mean(asked, w, names)
            )  # fmt: skip
    return weights


def folds(asked: dict[str, list[Asked]]) -> dict[str, Any]:
    """Choose on one half, measure on the other, both ways round."""
    names = sorted(asked)
    halves = (names[0::2], names[1::2])
    found = []
    for chosen_on, measured_on in (halves, halves[::-1]):
        weights = choose(asked, chosen_on)
        found.append({
            "weights": asdict(weights),
            "chosen_on": round(mean(asked, weights, chosen_on), 4),
            "held_out": round(mean(asked, weights, measured_on), 4),
            "held_out_repositories": measured_on,
        })  # fmt: skip
    sizes = [len(half) for half in halves[::-1]]
    held_out = sum(fold["held_out"] * size for fold, size in zip(found, sizes, strict=True)) / len(names)
    return {"held_out": round(held_out, 4), "folds": found}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--unseen", action="store_true", help="only the fitted model, with nothing chosen here")
    options = parser.parse_args(argv)
    questions = load(options.data, "files", ())
    trees = find_trees(options.repos, "files", questions)
    with tempfile.TemporaryDirectory() as home:
        from vademecum import config

        settings = config.load(None, arguments={"storage.home": home})
        engines = {name: Engine.open(trees[name], settings=settings) for name in questions}
        asked = {name: ask(engine, questions[name]) for name, engine in engines.items()}
        if options.unseen:
            print(result := unseen(asked), report.write("weights-unseen", result).name)
            return
        shipped = mean(asked, WEIGHTS, asked)
        without = {
            what: round(mean(asked, replace(WEIGHTS, **changes), asked) - shipped, 4)
            for what, changes in WITHOUT.items()
        }
        result = {
            "shipped": round(shipped, 4),
            "untuned": round(mean(asked, UNTUNED, asked), 4),
            **folds(asked),
            **unseen(asked),
            "leave_one_out": without,
            "fitted_leave_one_out": without_features(asked),
        }
        for engine in engines.values():
            engine.close()
    print(result)
    print("written:", report.write("weights", result).name)


if __name__ == "__main__":
    main()
