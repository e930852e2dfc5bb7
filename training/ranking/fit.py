"""Fit the ranker's weights on questions about repositories that no evaluation uses.

    python training/ranking/fit.py --data DATA --into src/vademecum/code/search/ranker-1.json [--check] [--alone history]

DATA holds `sets.json`, a list of {"name", "weight", "trees", "questions", "rooted"}: `trees/NAME` is a checkout,
`questions/NAME.jsonl` its questions, {"query", "gold": [{"path", "kind", "spans"}]}, and `roots.json` says below which
folder of it the product's code lies, which is all that is indexed where the set is `rooted`. The data is not part of
this project; ../../src/vademecum/code/search/ranker-1.md says what it was.

With --alone, one weight of the file model is fitted and all others stay: few sets come with a history.

Both models are conditional logits (softmax regression over the candidates of a question), fitted by Adam with weight decay:
the file model on which files are right, the piece model, inside right files, on which pieces share a line with the answer.
--check fits on three quarters of the repositories at a time and measures on the rest.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum import config
from vademecum.bench.measures import ndcg
from vademecum.code.search.rank import (
    FILE_FEATURES,
    PIECE_FEATURES,
    WEIGHTS,
    Model,
    Pool,
    describe,
    find_candidates,
    fitted_for,
    novelty_of,
    pool_of,
    weigh,
)
from vademecum.code.search.signals import signals_of
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import View
from vademecum.engine import Engine
from vademecum.index.query import plan_query
from vademecum.types import KINDS, Passage

Floats = NDArray[np.float32]
SECONDARY = 0.8  # what a file that helps is worth beside one that answers
STEPS, RATE = 300, 0.05
DECAY = {"file": 1e-2, "piece": 1e-3}
FOLDS = 4
EMBEDDER = "static:static-2"


@dataclass(frozen=True)
class Asked:
    """One question with its candidates described, and what is right among them."""

    repo: str
    group: str
    weight: float
    novelty: float
    pieces: Floats  # (C, len(PIECE_FEATURES))
    files: Floats  # (G, len(FILE_FEATURES))
    slot: NDArray[np.int64]
    gain: Floats  # (G,): 1 for a file that answers, SECONDARY for one that helps, 0 else
    right: NDArray[np.bool_]  # (C,): shares a line with the answer; all False where lines are not known
    wanted: int  # files that are right, among the candidates or not
    spans: list[NDArray[np.int64]]  # for each span of the answer, the candidates that touch it


@dataclass(frozen=True)
class Item:
    """One softmax: candidates, what share of the answer each is, and how much the question counts."""

    features: Floats
    target: Floats
    weight: float


def ask_all(opened: Opened, questions: Iterable[dict[str, Any]], repo: str, group: str, prefix: str) -> list[Asked]:
    """Describe the candidates of every question about one repository."""
    asked = []
    for question in questions:
        plan = plan_query(question["query"])
        gold = [
            g
            | {"path": g["path"].removeprefix(prefix), "spans": [[a, a if plan.is_bare else b] for a, b in g["spans"]]}
            for g in question["gold"]
            if g["path"].startswith(prefix)
        ]  # a name is answered where its definition begins
        vector = opened.repo.embedder().embed([Passage(plan.text)], "query").unwrap()[0]
        history = None if plan.is_bare else opened.history
        signals, _ = signals_of(opened.view, plan, vector, KINDS["all"], None, history)
        rows, fused = find_candidates(signals, None, plan, 10, WEIGHTS)
        if len(rows) and gold:
            pool = pool_of(signals, rows, fused)
            described = describe(signals, pool, is_bare=plan.is_bare)
            asked.append(replace(judged(opened.view, pool, described, gold, repo, group), novelty=novelty_of(plan)))
    return asked


def judged(
    view: View, pool: Pool, described: tuple[Floats, Floats], gold: list[dict[str, Any]], repo: str, group: str
) -> Asked:
    """Mark what is right among the candidates."""
    place = {view.files.paths[file]: slot for slot, file in enumerate(pool.files.tolist())}
    gain = np.zeros(len(pool.files), np.float32)
    right = np.zeros(len(pool.rows), bool)
    spans = []
    lines = view.lines[pool.rows]
    for target in gold:
        slot = place.get(target["path"], -1)
        if slot >= 0:
            gain[slot] = max(gain[slot], SECONDARY if target.get("kind") == "secondary" else 1.0)
        for first, last in target["spans"]:
            touching = (pool.slot == slot) & (lines[:, 0] <= last) & (lines[:, 1] >= first)
            right |= touching
            spans.append(np.flatnonzero(touching))
    return Asked(repo, group, 1.0, 1.0, *described, pool.slot, gain, right, len({t["path"] for t in gold}), spans)


def load(data: Path, home: Path) -> list[Asked]:
    """Index every repository of every set, and ask its questions."""
    roots: dict[str, str] = json.loads((data / "roots.json").read_text("utf-8"))
    settings = config.load(None, environ={"VADE_HOME": str(home), "VADE_SEARCH__EMBEDDER": EMBEDDER})
    asked: list[Asked] = []
    for group in json.loads((data / "sets.json").read_text("utf-8")):
        own: list[Asked] = []
        for path in sorted((data / group["questions"]).glob("*.jsonl")):
            questions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            root = roots[path.stem] if group["rooted"] else ""
            with Engine.open(data / group["trees"] / path.stem / root, settings=settings) as engine:
                engine.codebase.index()
                ((repo, _),) = engine.codebase._repositories  # noqa: SLF001 - candidates lie below the public surface
                found = repo.catalogue.load("worktree", repo.root.path)
                assert found is not None
                own += ask_all(Opened(repo, *found), questions, path.stem, group["name"], f"{root}/" if root else "")
        asked += [Asked(**{**vars(a), "weight": group["weight"] / len(own)}) for a in own]
        print(f"{group['name']}: {len(own)} questions", flush=True)
    return asked


def file_items(asked: Sequence[Asked]) -> list[Item]:
    """Return what the file model learns from."""
    return [Item(a.files, a.gain / a.gain.sum(), a.weight) for a in asked if a.gain.any()]


def piece_items(asked: Sequence[Asked]) -> list[Item]:
    """Return what the piece model learns from: the candidates of one right file, some of them on the answer."""
    items = []
    for a in asked:
        for slot in np.flatnonzero(a.gain):
            own = np.flatnonzero(a.slot == slot)
            hits = a.right[own].astype(np.float32)
            if 0 < hits.sum() < len(own):
                items.append(Item(a.pieces[own], hits / hits.sum(), a.weight))
    return items


def fit(items: Sequence[Item], decay: float) -> Floats:
    """Return the weights of a conditional logit, for features as they are (not standardised)."""
    every = np.concatenate([item.features for item in items])
    mean, spread = every.mean(axis=0), every.std(axis=0)
    spread[spread == 0] = np.inf  # never varies: weight 0
    most = max(len(item.features) for item in items)
    x = np.zeros((len(items), most, every.shape[1]), np.float32)
    target, absent = np.zeros((len(items), most), np.float32), np.full((len(items), most), -1e9, np.float32)
    for n, item in enumerate(items):
        size = len(item.features)
        x[n, :size], target[n, :size], absent[n, :size] = (item.features - mean) / spread, item.target, 0
    counts = np.array([item.weight for item in items], np.float32)
    weights = descend(x, target, absent, counts / counts.sum(), decay)
    return (weights / spread).astype(np.float32)


def descend(x: Floats, target: Floats, absent: Floats, counts: Floats, decay: float) -> Floats:
    """Minimise the weighted cross-entropy by Adam (Kingma and Ba, ICLR 2015)."""
    weights = np.zeros(x.shape[2], np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        logits = x @ weights + absent
        share = np.exp(logits - logits.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        gradient = np.einsum("np,npf->f", (share - target) * counts[:, None], x) + 2 * decay * weights
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def fitted(asked: Sequence[Asked]) -> Model:
    """Fit both models."""
    return Model(fit(file_items(asked), DECAY["file"]), fit(piece_items(asked), DECAY["piece"]))


def fitted_alone(asked: Sequence[Asked], model: Model, place: int) -> Model:
    """Fit one weight of the file model by Newton's method; the loss is convex in it."""
    weights = model.file.copy()
    weights[place] = 0
    items = file_items(asked)
    counts = np.array([item.weight for item in items]) / sum(item.weight for item in items)
    for _ in range(STEPS):
        slope, bend = 2 * DECAY["file"] * float(weights[place]), 2 * DECAY["file"]
        for item, count in zip(items, counts, strict=True):
            x, logits = item.features[:, place], item.features @ weights
            share = np.exp(logits - logits.max())
            share /= share.sum()
            mean = float(share @ x)
            slope += count * (mean - float(item.target @ x))
            bend += count * (float(share @ x**2) - mean**2)
        weights[place] -= slope / bend
    return Model(weights, model.piece)


def order(model: Model, a: Asked) -> NDArray[np.int64]:
    """Return the ten best candidates."""
    return np.argsort(-weigh(model, a.pieces, a.files, a.slot, a.novelty).score, kind="stable")[:10]


def measures(model: Model, a: Asked) -> tuple[float, float | None]:
    """Return NDCG@10 by semble's rule over whole files, and the share of the answer's spans that ten results touch."""
    shown = order(model, a)
    slots = a.slot[shown].tolist()
    ranks = [slots.index(slot) + 1 for slot in np.flatnonzero(a.gain).tolist() if slot in slots]
    touched = [bool(np.isin(span, shown).any()) for span in a.spans]
    return ndcg(ranks, a.wanted), sum(touched) / len(touched) if touched else None


def means(asked: Sequence[Asked], model_of: Callable[[Asked], Model]) -> dict[str, tuple[float, float]]:
    """Return both measures for each set, every repository weighing the same."""
    found: dict[str, dict[str, list[tuple[float, float | None]]]] = defaultdict(lambda: defaultdict(list))
    for a in asked:
        found[a.group][a.repo].append(measures(model_of(a), a))

    def mean(rows: Iterable[list[float]]) -> float:
        each = [sum(row) / len(row) for row in rows if row]
        return round(sum(each) / len(each), 4) if each else 0.0

    return {
        group: (
            mean([n for n, _ in rows] for rows in repos.values()),
            mean([s for _, s in rows if s is not None] for rows in repos.values()),
        )
        for group, repos in found.items()
    }


def check(asked: Sequence[Asked], fitted: Callable[[Sequence[Asked]], Model]) -> dict[str, tuple[float, float]]:
    """Measure on repositories that were left out of the fit, a quarter at a time."""
    repos = sorted({a.repo for a in asked})
    fold = {repo: n % FOLDS for n, repo in enumerate(repos)}
    models = [fitted([a for a in asked if fold[a.repo] != n]) for n in range(FOLDS)]
    return means(asked, lambda a: models[fold[a.repo]])


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--into", type=Path, help="where the table goes; nothing is written without it")
    parser.add_argument("--home", type=Path, help="keep the indexes here between runs")
    parser.add_argument("--check", action="store_true", help="measure on repositories left out")
    parser.add_argument("--alone", choices=FILE_FEATURES, help="fit this weight of the package's table, and no other")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        asked = load(arguments.data, arguments.home or Path(scratch))
    fit_all: Callable[[Sequence[Asked]], Model] = fitted
    if arguments.alone and (today := fitted_for(EMBEDDER)):
        fit_all = partial(fitted_alone, model=today, place=FILE_FEATURES.index(arguments.alone))
    if arguments.check:
        print("left out (NDCG@10, span recall):", check(asked, fit_all))
    model = fit_all(asked)
    table = {
        "embedder": EMBEDDER,
        "file": {name: round(float(w), 4) for name, w in zip(FILE_FEATURES, model.file, strict=True)},
        "piece": {name: round(float(w), 4) for name, w in zip(PIECE_FEATURES, model.piece, strict=True)},
    }
    print(json.dumps(table, indent=1))
    if arguments.into:
        arguments.into.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
