"""Memory goes on by words while its embedder fails, and by meaning again in the next process."""

from __future__ import annotations

import numpy as np
import pytest

from vademecum.embedding import REST_S, SteadyEmbedder
from vademecum.errors import EmbedError
from vademecum.plugins import load
from vademecum.result import Err, Ok
from vademecum.testing import FixedClock, check_embedder
from vademecum.types import Passage


class Down:
    """An embedder that can be taken down."""

    name, remote = "down-1", False

    def __init__(self, *, up=True):
        self.inner = load("embedder", "hashing:48")
        self.up = up
        self.calls = 0

    @property
    def dim(self):
        return 48

    def embed(self, passages, kind):
        self.calls += 1
        return self.inner.embed(passages, kind) if self.up else Err(EmbedError("the server is down: start it"))


def test_while_nothing_fails_it_is_the_other():
    """The same vectors under the same name."""
    check_embedder(SteadyEmbedder(Down()))
    assert SteadyEmbedder(Down()).name == "down-1"


def test_a_failure_is_nothing_and_has_another_name():
    """Zeros are near nothing; what was made with gaps is never taken for what the embedder says."""
    inner = Down()
    steady = SteadyEmbedder(inner, FixedClock())
    assert steady.embed([Passage("x")], "document").unwrap().any()
    inner.up = False
    assert not steady.embed([Passage("x")], "document").unwrap().any()
    assert steady.name == "down-1+gaps"
    assert steady.problem == "the server is down: start it"
    inner.up = True
    assert steady.name == "down-1+gaps"


def test_it_is_left_alone_for_a_while_after_a_failure():
    """Whoever asks does not wait for it each time."""
    inner, clock = Down(up=False), FixedClock()
    steady = SteadyEmbedder(inner, clock)
    for _ in range(5):
        assert steady.embed([Passage("x")], "query").unwrap().shape == (1, 1)
    assert inner.calls == 1
    clock.now += REST_S + 1
    inner.up = True
    assert steady.embed([Passage("x")], "query").unwrap().shape == (1, 1)  # a width that was begun with is kept to
    assert inner.calls == 2


def test_another_width_is_a_failure():
    """A model that changed under its name."""
    inner = Down()
    steady = SteadyEmbedder(inner)
    assert steady.dim == 48
    inner.inner = load("embedder", "hashing:32")
    assert steady.embed([Passage("x")], "query").unwrap().shape == (1, 48)
    assert "another width" in steady.problem


@pytest.mark.parametrize("known", [False, True])
def test_memory_records_and_recalls_without_its_embedder(repo, engine, known):
    """By words; whether or not the embedder ever answered. The next engine has everything by meaning."""
    made, inner = repo(), Down(up=known)
    opened = engine(made, embedder=inner)
    opened.memory.record("We decided to use pytest for the tests, because it is short.")
    if known:
        assert opened.memory.recall("which test runner").evidence
    inner.up = False
    opened.memory.record("The deployment runs on Friday evenings.")
    recalled = opened.memory.recall("when is the deployment")
    assert "Friday" in recalled.evidence[0].event.text
    opened.close()
    inner.up = True
    again = engine(made, embedder=inner)
    assert "Friday" in again.memory.recall("when is the deployment").evidence[0].event.text
    assert again.memory._embedder().name == "down-1"


def test_ok_is_all_that_comes_back():
    """Nobody needs to look for an error."""
    for passages in ([], [Passage("x")]):
        assert isinstance(SteadyEmbedder(Down(up=False)).embed(passages, "document"), Ok)
        assert SteadyEmbedder(Down()).embed(passages, "document").unwrap().dtype == np.float32
