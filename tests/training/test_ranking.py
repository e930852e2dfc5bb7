"""From toy repositories and questions to a table of weights that names what the ranker looks at."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.chunking.analyse import FITTED
from vademecum.code.search.rank import FILE_FEATURES, PIECE_FEATURES, Model, fitted_for, rank
from vademecum.code.search.signals import signals_of
from vademecum.code.snapshot.repository import Opened
from vademecum.index.query import plan_query
from vademecum.types import KINDS, Passage

pytestmark = pytest.mark.once

SCRIPT = Path(__file__).parents[2] / "training" / "ranking" / "fit.py"
_spec = importlib.util.spec_from_file_location("ranking_fit", SCRIPT)
fitting = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = fitting  # dataclasses look their module up
_spec.loader.exec_module(fitting)

TOPICS = {
    "socket": ("close", "connection"), "cache": ("evict", "entry"), "parser": ("read", "token"),
    "router": ("match", "route"), "logger": ("write", "message"), "queue": ("retry", "task"),
}  # fmt: skip


def source(topic: str, verb: str, thing: str) -> str:
    """A file with two functions; the first, on lines 1 to 3, is what a question about it asks for."""
    return (
        f"def {verb}_{thing}({topic}):\n    '''{verb.capitalize()} the {thing} of a {topic}.'''\n    return {topic}.{thing}\n\n\n"
        f"def describe({topic}):\n    '''Say what a {topic} is.'''\n    return str({topic})\n"
    )


@pytest.fixture
def data(tmp_path, make_repo):
    """Two sets of one repository each; the second has its code below `lib`, and questions about what lies elsewhere."""
    for name, root in (("flat", ""), ("deep", "lib/")):
        files = {f"{root}src/{topic}.py": source(topic, *words) for topic, words in TOPICS.items()}
        tests = {f"{root}tests/test_{topic}.py": source(topic, *words) for topic, words in TOPICS.items()}
        make_repo(
            tmp_path / "trees" / name, files | tests | {"elsewhere.py": "def nothing(): ...\n"}, git=name == "flat"
        )
        questions = [
            {"query": text, "gold": [{"path": f"{root}src/{topic}.py", "kind": "primary", "spans": [[1, 3]]}]}
            for topic, (verb, thing) in TOPICS.items()
            for text in (f"where does the {topic} {verb} its {thing}", f"{verb}_{thing}")
        ]
        questions.append({"query": "nothing", "gold": [{"path": "elsewhere.py", "kind": "secondary", "spans": []}]})
        place = tmp_path / "questions" / name
        place.mkdir(parents=True)
        (place / f"{name}.jsonl").write_text("\n".join(map(json.dumps, questions)), "utf-8")
    sets = [
        {"name": name, "weight": 0.5, "trees": "trees", "questions": f"questions/{name}", "rooted": name == "deep"}
        for name in ("flat", "deep")
    ]  # fmt: skip
    (tmp_path / "sets.json").write_text(json.dumps(sets), "utf-8")
    (tmp_path / "roots.json").write_text(json.dumps({"flat": "", "deep": "lib"}), "utf-8")
    return tmp_path


def test_toy_repositories_make_a_table(data, capsys):
    """The table has a weight for every feature, and prefers the code over its test and the name over its mention."""
    into = data / "table.json"
    fitting.main(["--data", str(data), "--into", str(into), "--home", str(data / "home"), "--check"])
    table = json.loads(into.read_text("utf-8"))
    assert tuple(table["file"]) == FILE_FEATURES
    assert tuple(table["piece"]) == PIECE_FEATURES
    assert table["embedder"] in FITTED
    assert np.isfinite([*table["file"].values(), *table["piece"].values()]).all()
    assert table["file"]["unasked_test"] < 0
    assert table["piece"]["coverage"] > 0
    said = capsys.readouterr().out
    assert "flat: 13 questions" in said
    assert "deep: 12 questions" in said, "what lies outside the root is not asked for"
    assert "left out (NDCG@10, span recall): {'flat': (" in said
    assert json.loads(said[said.index('{\n "embedder"') :]) == table


def test_nothing_is_written_unasked(data, capsys):
    """Without --into the table is shown and no file appears beside the data."""
    before = sorted(data.rglob("*.json"))
    fitting.main(["--data", str(data)])
    assert '"unasked_test"' in capsys.readouterr().out
    assert sorted(data.rglob("*.json")) == before


def test_one_weight_can_be_fitted_alone(data, capsys):
    """All others stay those of the package's table."""
    into = data / "table.json"
    fitting.main(["--data", str(data), "--into", str(into), "--check", "--alone", "path_dense"])
    table, today = json.loads(into.read_text("utf-8")), fitted_for(fitting.EMBEDDER)
    assert list(table["piece"].values()) == pytest.approx(today.piece.tolist(), abs=1e-4)
    changed = [
        name for name, weight in zip(FILE_FEATURES, today.file, strict=True) if abs(table["file"][name] - weight) > 1e-4
    ]
    assert changed == ["path_dense"]
    assert "left out" in capsys.readouterr().out


def test_what_is_fitted_is_ranked_as_searches_rank(repo, engine):
    """The order that is measured is the order that is shown, and what is right is what the question says."""
    codebase = engine(repo("app", {f"src/{topic}.py": source(topic, *words) for topic, words in TOPICS.items()}), embedder="static").codebase  # fmt: skip
    codebase.index()
    ((opened, _),) = codebase._repositories
    snapshot, view = opened.catalogue.load("worktree", opened.root.path)
    model = fitted_for(opened.embedder().name)
    for text in ("where does the cache evict its entry", "retry_task", "say what a router is"):
        gold = [{"path": "src/cache.py", "kind": "primary", "spans": [[1, 3]]}]
        [question] = fitting.ask_all(Opened(opened, snapshot, view), [{"query": text, "gold": gold}], "app", "set", "")
        vector = opened.embedder().embed([Passage(text)], "query").unwrap()[0]
        plan = plan_query(text)
        history = None if plan.is_bare else Opened(opened, snapshot, view).history
        signals, _ = signals_of(view, plan, vector, KINDS["all"], None, history)
        shown = rank(signals, plan, None, 10, model=model).rows
        named = [(view.files.paths[view.row_file[row]], view.lines[row].tolist()) for row in shown.tolist()]
        right = [path == "src/cache.py" and lines[0] <= 3 for path, lines in named]
        assert question.right[fitting.order(model, question)].tolist() == right
        assert question.gain.sum() == any(path == "src/cache.py" for path, _ in named)


def items(rng, sign, planted, width=5, count=40):
    """Questions whose answer is the candidate with the most, or least, of one feature; the rest is noise."""
    for _ in range(count):
        features = rng.normal(size=(int(rng.integers(2, 9)), width)).astype(np.float32)
        target = np.zeros(len(features), np.float32)
        target[np.argmax(sign * features[:, planted])] = 1
        yield fitting.Item(features, target, float(rng.uniform(0.5, 2)))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, -1]), st.integers(0, 4))
def test_a_planted_feature_is_found_with_its_sign(seed, sign, planted):
    """It gets the largest weight of all, and the sign it was planted with."""
    weights = fitting.fit(list(items(np.random.default_rng(seed), sign, planted)), 1e-2)
    assert int(np.argmax(np.abs(weights))) == planted
    assert weights[planted] * sign > 0


def test_the_scale_of_a_feature_does_not_matter():
    """Weights are for features as they are: ten times the feature, a tenth of the weight."""
    plain = list(items(np.random.default_rng(1), 1, 2))
    scaled = [fitting.Item(item.features * np.float32(10), item.target, item.weight) for item in plain]
    np.testing.assert_allclose(fitting.fit(scaled, 1e-2) * 10, fitting.fit(plain, 1e-2), rtol=1e-2, atol=1e-3)


def test_what_never_varies_gets_no_weight():
    """A feature that is the same everywhere says nothing."""
    constant = [
        fitting.Item(np.insert(item.features, 0, 3, axis=1), item.target, item.weight)
        for item in items(np.random.default_rng(2), 1, 1)
    ]
    weights = fitting.fit(constant, 1e-2)
    assert weights[0] == 0
    assert np.isfinite(weights).all()


def asked(rng, gain, right, slot, wanted=1, spans=()):
    """A question with candidates of random features."""
    return fitting.Asked(
        "repo", "set", 1.0, 0.85, rng.normal(size=(len(slot), len(PIECE_FEATURES))).astype(np.float32),
        rng.normal(size=(len(gain), len(FILE_FEATURES))).astype(np.float32), np.array(slot), np.array(gain, np.float32),
        np.array(right), wanted, [np.array(span, np.int64) for span in spans],
    )  # fmt: skip


def test_what_the_models_learn_from():
    """Files from every question with a right one among the candidates, pieces only from right files with right and wrong."""
    rng = np.random.default_rng(0)
    answered = asked(rng, [1, 0, 0.8], [True, False, False, False, True], [0, 0, 1, 1, 2])
    [item] = fitting.file_items([answered, asked(rng, [0, 0], [False, False], [0, 1])])
    np.testing.assert_allclose(item.target, np.array([1, 0, 0.8]) / 1.8, rtol=1e-6)
    [piece] = fitting.piece_items([answered])
    assert piece.target.tolist() == [1, 0]
    np.testing.assert_array_equal(piece.features, answered.pieces[:2])


def test_measures_follow_their_definitions():
    """A right file at the second rank is worth 1 / log2(3); a span counts when any result touches it."""
    rng = np.random.default_rng(0)
    question = asked(rng, [0, 1], [False, False, True], [0, 0, 1], spans=[[2], []])
    weights = Model(np.zeros(len(FILE_FEATURES), np.float32), np.zeros(len(PIECE_FEATURES), np.float32))
    question.files[:, 0], weights.file[0] = [2, 0], 1
    ndcg, recall = fitting.measures(weights, question)
    assert fitting.order(weights, question).tolist()[0] == 0
    position = list(question.slot[fitting.order(weights, question)]).index(1) + 1
    assert ndcg == pytest.approx(1 / np.log2(position + 1))
    assert recall == 0.5
