"""The built-in embedder: vectors that depend on their texts alone."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from vademecum.providers.embedders.static import StaticEmbedder
from vademecum.types import Passage

WORDS = ("open", "close", "read", "write", "parse", "index", "merge", "token", "budget", "retry", "socket")
TEXTS = [" ".join(WORDS[(n * k) % len(WORDS)] for k in range(1, 4 + n % 9)) for n in range(150)]


@pytest.mark.parametrize("model", ["static-2", "prose-1"])
@pytest.mark.parametrize("kind", ["document", "query"])
def test_a_vector_is_the_same_in_any_batch(kind, model):
    """To the last bit, at any place of a batch of any size: an index that grew embeds in other batches than a new one."""
    embedder = StaticEmbedder(model)
    passages = [Passage(text, f"name{n}", "src") for n, text in enumerate(TEXTS)]
    together = embedder.embed(passages, kind).unwrap()
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for first, last in [(n, n + 1) for n in range(20)] + [(1, 8), (3, 20), (5, 70), (7, 140)]:
        assert np.array_equal(embedder.embed(passages[first:last], kind).unwrap(), together[first:last])
    assert np.array_equal(embedder.embed(passages[::-1], kind).unwrap(), together[::-1])


@pytest.mark.parametrize("kind", ["document", "query"])
def test_a_vector_is_the_same_with_any_number_of_threads(kind):
    embedder = StaticEmbedder()
    passages = [Passage(text, f"name{n}", "src") for n, text in enumerate(TEXTS)]
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, "blas"):
            found.append(embedder.embed(passages, kind).unwrap())
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@pytest.mark.parametrize(
    ("asked", "meant", "other"),
    [("forget the old supplier", "delete entities", "open entities"), ("alter my appointment", "update event", "list events"),
     ("how late is it in Tokyo", "get the current time of a timezone", "get the size of a file")],
)  # fmt: skip
def test_the_table_for_prose_knows_everyday_words(asked, meant, other):
    """A question shares no word with the text that is meant."""
    embedder = StaticEmbedder("prose-1")
    question = embedder.embed([Passage(asked)], "query").unwrap()[0]
    near, far = embedder.embed([Passage(meant), Passage(other)], "document").unwrap() @ question
    assert near > far
