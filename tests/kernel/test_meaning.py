"""The compiled vector of a question, and whole-number products: as numpy and SimSIMD make them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vademecum.kernel import compiled
from vademecum.providers.embedders.static import StaticEmbedder
from vademecum.retrieval import dense
from vademecum.retrieval.segment import quantise, quantised
from vademecum.types import Passage

pytestmark = pytest.mark.skipif(compiled is None, reason="nothing was compiled: no C compiler, or VADE_KERNEL=off")
EMBEDDER = StaticEmbedder()


def by_numpy(text: str) -> np.ndarray:
    return EMBEDDER._head(EMBEDDER._questions([text])[:, None], "query")[0, 0]


@given(
    st.text(max_size=200) | st.sampled_from(["where are requests retried", "how is the token budget split", "4", ""])
)
def test_a_questions_vector_is_that_of_numpy(text: str) -> None:
    """But for the last places, and the same to the last bit whatever else is asked."""
    alone = EMBEDDER.embed([Passage(text)], "query").unwrap()
    beside = EMBEDDER.embed([Passage("open a file"), Passage(text)], "query").unwrap()
    np.testing.assert_array_equal(alone[0], beside[1])
    np.testing.assert_allclose(alone[0], by_numpy(text), atol=2e-6)
    assert alone.dtype == np.float32


@given(arrays(np.float32, st.integers(0, 300), elements=st.floats(-4, 4, width=32)))
def test_a_vector_is_made_whole_as_several_are(vector: np.ndarray) -> None:
    """The same numbers and the same scale, to the last bit; of a vector of zeros, zeros."""
    whole, scale = quantised(vector)
    expected, scales = quantise(vector[None])
    np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(scale, scales)
    assert (whole.dtype, scale.dtype, whole.shape) == (np.int8, np.float32, (1, len(vector)))


def test_what_is_no_number_is_made_zero() -> None:
    """A vector that a provider spoiled is no reason to crash."""
    whole, _ = quantised(np.array([np.nan, 1.0, -np.inf], np.float32))
    assert whole.tolist() == [[0, 0, 0]]


@pytest.mark.skipif(not (compiled and compiled.HAS_HALVES), reason="this processor reads no half precision")
def test_half_precision_gives_the_same_bits() -> None:
    """What is kept in two bytes stands for the same numbers."""
    w_in, bias, w_out = EMBEDDER._network("query", np.float16)
    pieces = np.array([3, 7, 7, 4000], np.int32)
    made = [
        bytes(compiled.question(EMBEDDER._table, EMBEDDER._weight["query"], a, bias, b, pieces, 16.0))
        for a, b in ((w_in, w_out), (w_in.astype(np.float32), w_out.astype(np.float32)))
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize("pieces", [[-1], [32_000]])
def test_a_piece_that_there_is_not_is_refused(pieces: list[int]) -> None:
    """Never read."""
    arrays = (EMBEDDER._table, EMBEDDER._weight["query"], *EMBEDDER._network("query"))
    with pytest.raises(ValueError, match="piece"):
        compiled.question(*arrays, np.array(pieces, np.int32), 16.0)
    with pytest.raises(ValueError, match="fit"):
        compiled.question(arrays[0], arrays[1][:-1], *arrays[2:], np.array([0], np.int32), 16.0)


@given(st.lists(st.sampled_from([1, 2, 7, 8, 9, 20, 129, 130, 400]), max_size=5), st.integers(0, 2**32 - 1))
def test_bags_are_those_of_numpy(sizes: list[int], seed: int) -> None:
    """Texts of few and of many pieces, and some that have none; the bits agree with the numpy that this was written by."""
    random = np.random.default_rng(seed)
    text = np.repeat(np.arange(len(sizes)) * 2, sizes)
    piece = random.integers(0, len(EMBEDDER._table), len(text))
    weight = random.random(len(text), np.float32)
    number = 2 * len(sizes) + 1
    made = compiled.bags(EMBEDDER._table, EMBEDDER.dim, text, piece, weight, number)
    np.testing.assert_allclose(
        np.frombuffer(made, np.float32).reshape(-1, EMBEDDER.dim),
        EMBEDDER._sums(text, piece, weight, number),
        rtol=1e-5,
        atol=1e-3,
    )


@pytest.mark.parametrize(("texts", "pieces"), [([0], [-1]), ([0], [32_000]), ([-1], [0]), ([2], [0]), ([1, 0], [0, 0])])
def test_bags_of_what_there_is_not_are_refused(texts: list[int], pieces: list[int]) -> None:
    """Nothing outside is read or written."""
    table, dim = EMBEDDER._table, EMBEDDER.dim
    weights = np.ones(len(texts), np.float32)
    with pytest.raises(ValueError, match="not in the table"):
        compiled.bags(table, dim, np.array(texts), np.array(pieces), weights, 2)
    for other in (
        (0, weights, 2),
        (dim, weights[:0], 2),
        (dim + 1, weights, 2),
        (dim, weights, -1),
        (dim, weights, 2**62),
    ):
        with pytest.raises(ValueError, match="fit"):
            compiled.bags(table, other[0], np.array([0] * len(texts)), np.array([0] * len(texts)), *other[1:])


@pytest.mark.skipif(not dense._IN_KERNEL, reason="this processor has no AVX2: SimSIMD multiplies")
@given(
    st.integers(1, 100) | st.sampled_from([32, 96, 256]),
    st.integers(0, 40),
    st.sampled_from([-128, -127]),
    st.integers(0, 2**32 - 1),
)
def test_products_are_exact(dim: int, count: int, lowest: int, seed: int) -> None:
    """Whole numbers of any width, the lowest among them, and any number of rows."""
    random = np.random.default_rng(seed)
    rows = random.choice([-128, -127, 0, 5, 127], (count, dim)).astype(np.int8)
    question = random.choice([lowest, 3, 127], (1, dim)).astype(np.int8)
    scales, scale = random.random(count, np.float32), random.random(1, np.float32)
    whole = (rows.astype(np.int64) @ question[0].astype(np.int64)).astype(np.float32)
    np.testing.assert_array_equal(dense.products(rows, question), whole)
    np.testing.assert_array_equal(dense.scaled_products(rows, question, scales, scale), scales * scale * whole)


def test_products_of_what_does_not_fit_are_refused() -> None:
    """Rows that end in the middle, or scales of other rows."""
    with pytest.raises(ValueError, match="fit"):
        compiled.products(np.zeros(7, np.int8), np.zeros(2, np.int8), None, 1.0)
    with pytest.raises(ValueError, match="fit"):
        compiled.products(np.zeros(8, np.int8), np.zeros(2, np.int8), np.zeros(3, np.float32), 1.0)
