"""From a toy repository with a history to a model that the runtime loads, on one core in seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))

import bags
import pairs
import torch
import train
import vocabulary

from vademecum.index.arrays import RunTable, load_arrays, save_arrays
from vademecum.providers.embedders import static
from vademecum.types import Passage

TOPICS = {
    "socket": ("close", "connection", "after timeout"), "cache": ("evict", "entry", "when full"),
    "parser": ("read", "token", "from stream"), "router": ("match", "path", "against pattern"),
    "logger": ("write", "message", "into file"), "queue": ("retry", "task", "with backoff"),
}  # fmt: skip


def _source(topic: str, verb: str, thing: str, how: str, body: str) -> str:
    return (
        f"def {verb}_{thing}({topic}, {thing}):\n"
        f'    """{verb.capitalize()} the {thing} of a {topic} {how}."""\n'
        f"    # make sure that every {thing} is known before the {topic} goes on\n"
        f"    state = {topic}.{thing}_state\n    {body}\n    return state\n"
    )


@pytest.fixture(scope="module")
def pair_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three repositories of six files each, whose second commits change one function each."""
    base = tmp_path_factory.mktemp("toy")
    for number in range(3):
        root = base / f"repo{number}"
        root.mkdir()
        _git(root, "init", "-q")
        for topic, (verb, thing, how) in TOPICS.items():
            (root / f"{topic}.py").write_text(_source(topic, verb, thing, how, f"state.{thing}{number} = 1"))
        _git(root, "add", ".")
        _git(root, "commit", "-qm", "First")
        for topic, (verb, thing, how) in TOPICS.items():
            (root / f"{topic}.py").write_text(_source(topic, verb, thing, how, f"state.{thing}{number} = 2"))
            _git(root, "commit", "-qam", f"Fix crash when the {topic} loses its {thing} {how}")
        harvest = pairs.harvest_of(str(root / ".git"), "HEAD")
        pairs.write(harvest, base / f"repo{number}.jsonl.gz")
    return base


def _git(root: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=root, check=True, env={**os.environ, **who})


def test_pairs_hold_docstrings_comments_and_commits(pair_files: Path) -> None:
    passages, found = bags.read(pair_files / "repo0.jsonl.gz")
    by_kind = {kind: [pair for pair in found if pair["kind"] == kind] for kind in bags.KINDS}
    assert {pair["query"] for pair in by_kind["doc"]} >= {"Close the connection of a socket after timeout."}
    assert "make sure that every token is known before the parser goes on" in {p["query"] for p in by_kind["comment"]}
    [commit] = [pair for pair in by_kind["commit"] if "queue" in pair["query"]]
    [passage] = commit["passages"]
    assert passages[passage]["name"] == "retry_task"
    assert "state.task0 = 1" in passages[passage]["text"], "the function as it was before the commit"


def test_a_trained_model_is_loaded_by_the_runtime_and_finds_what_it_was_taught(
    pair_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    paths = sorted(pair_files.glob("*.jsonl.gz"))
    often, widely = vocabulary.count(paths)
    words = vocabulary.choose(often, widely, 400, 2)
    known: dict[str, NDArray[Any]] = {
        "words": np.frombuffer("\n".join(words).encode(), np.uint8),
        "logp": np.array(vocabulary.log_probabilities(words, often), np.float32),
    }
    cut = static.WordPieces(words, known["logp"].tolist())
    arrays = bags.collect(paths, RunTable(bags.RUN, cut))
    settings = train.Settings(epochs=25, block=16, blocks=1, table_rate=0.02)
    data = train.Data(arrays, len(words), train.frames_of(cut, len(words)), settings)
    frequency = np.bincount(data.matrix["text"].indices, minlength=len(words))
    model = train.fresh(frequency, data.matrix["text"].shape[0], 0)
    train.train(model, data, settings)
    train.write(model, known, tmp_path / "toy.safetensors", "toy")
    monkeypatch.setattr(static, "MODELS", tmp_path)
    embedder = static.StaticEmbedder("toy")
    topics = list(TOPICS.items())
    documents = [Passage(_source(t, *w, "pass"), f"{w[0]}_{w[1]}") for t, w in topics]
    vectors = embedder.embed(documents, "document").unwrap()
    for number, (topic, (_, thing, how)) in enumerate(topics):
        asked = embedder.embed([Passage(f"crash when the {topic} loses its {thing} {how}")], "query").unwrap()[0]
        assert int((vectors @ asked).argmax()) == number, topic


def test_training_goes_on_from_the_model_it_wrote(tmp_path: Path) -> None:
    known: dict[str, NDArray[Any]] = {
        "words": np.frombuffer(b"read\nfile\nnow", np.uint8),
        "logp": np.zeros(3, np.float32),
    }
    model = train.fresh(np.ones(3, np.int64), 3, 0)
    train.write(model, known, tmp_path / "a.safetensors", "")
    train.write(train.loaded(load_arrays(tmp_path / "a.safetensors")[0]), known, tmp_path / "b.safetensors", "")
    first, second = (load_arrays(tmp_path / f"{name}.safetensors")[0] for name in "ab")
    whole = [
        np.asarray(a["table"], np.float32) * np.asarray(a["query_weight"], np.float32)[:, None] for a in (first, second)
    ]
    np.testing.assert_allclose(whole[0], whole[1], rtol=0.02, atol=0.02 * float(np.abs(whole[0]).max()))
    save_arrays(tmp_path / "c.safetensors", dict(second), {})
