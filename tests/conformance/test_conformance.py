"""Every shipped provider keeps the promises that `vademecum.testing` checks, and the checks notice those who do not."""

from __future__ import annotations

import numpy as np
import pytest

from vademecum.plugins import load
from vademecum.result import Ok
from vademecum.storage.sqlite import SqliteStore
from vademecum.testing import CountingEmbedder, check_closed_store, check_embedder, check_store


@pytest.mark.parametrize("name", ["hashing", "hashing:256", "static"])
def test_embedders_keep_their_promises(name):
    """Shape, type, length, determinism, and the zero vector for empty text."""
    check_embedder(load("embedder", name))


def test_the_counting_fake_is_an_embedder():
    """A fake that third parties are given is held to the same promises."""
    check_embedder(CountingEmbedder(load("embedder", "hashing")))


def test_sqlite_keeps_the_promises_of_a_store(tmp_path):
    """Reading back, replacing, filters, order, transactions."""
    store = SqliteStore(tmp_path / "x.db")
    check_store(store)
    check_closed_store(store)


class _Unnormalised:
    name, dim, remote = "long", 4, False

    def embed(self, passages, kind):
        return Ok(np.full((len(passages), 4), 3, np.float32))


def test_a_broken_promise_is_named():
    """The check says which promise is broken."""
    with pytest.raises(AssertionError, match="unit length"):
        check_embedder(_Unnormalised())
