"""Search by meaning: products are exact whole numbers, however rows are spread over segments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.checkout.classify import file_kind
from vademecum.code.chunking.analyse import PathReader
from vademecum.code.search.signals import path_cosines
from vademecum.code.snapshot.view import FileRow, file_table, view_of
from vademecum.index.segment import (
    NO_SEGMENT,
    Segment,
    StoredChunk,
    cosines,
    merge_segments,
    quantise,
    scaled_products,
    stored_of,
)

LARGEST = 1_040  # the dimension up to which a sum of products of whole numbers has room in single precision

seeds, dims = st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 31, 64, 255, 256, 257, LARGEST])


def unit(rng, count, dim):
    vectors = rng.normal(size=(count, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def segment(blob, vectors):
    """A segment of one blob with a chunk for each vector."""
    whole, scales = quantise(vectors)
    count = len(vectors)
    return Segment(
        np.array([blob], np.int64), np.array([0, count], np.int64), np.ones((count, 2), np.int32),
        np.zeros(count, np.uint8), np.zeros((count, 4), np.uint16), whole, scales,
            np.zeros(count, np.uint8), NO_SEGMENT.postings,
        stored_of([StoredChunk(0, 0, "", "", "", ())] * count),
    )  # fmt: skip


def view(segments):
    """A snapshot with a file for each blob of the segments."""
    blobs = sorted(blob for each in segments for blob in each.blobs.tolist())
    rows = [FileRow(f"{blob:03}.py", blob, f"{blob:040x}", "python", 1, 1, 1) for blob in blobs]
    return view_of(file_table(rows, PathReader(file_kind)), segments)


def product(rows, query):
    """The product of each row with a question, unscaled."""
    return scaled_products(rows, query, np.ones(len(rows), np.float32), np.ones(1, np.float32))


def exact(vectors, scales, query):
    """The cosines by whole numbers that never overflow."""
    whole, scale = quantise(query[None, :])
    found = vectors.astype(np.int64) @ whole[0].astype(np.int64)
    return found.astype(np.float32) * (scales * scale)


@given(seeds, dims, st.integers(1, 40))
def test_a_product_is_the_exact_whole_number(seed, dim, count):
    """Any whole numbers, -128 among them."""
    rng = np.random.default_rng(seed)
    rows, query = (rng.integers(-128, 128, (n, dim), np.int8) for n in (count, 1))
    expected = rows.astype(np.int64) @ query[0].astype(np.int64)
    assert product(rows, query).astype(np.int64).tolist() == expected.tolist()


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, -1)])
def test_the_largest_product_has_room(signs):
    """Every number at its end, in the largest dimension: nothing is cut off or rounded."""
    rows = np.full((3, LARGEST), 127 * signs[0], np.int8)
    query = np.full((1, LARGEST), 127 * signs[1], np.int8)
    assert product(rows, query).tolist() == [signs[0] * signs[1] * 127 * 127 * LARGEST] * 3


@given(seeds, dims, st.integers(1, 40))
def test_cosine_is_the_exact_product_by_the_scales(seed, dim, count):
    """To the last bit what whole numbers give, and near the cosine of the vectors as they were."""
    rng = np.random.default_rng(seed)
    vectors, query = unit(rng, count, dim), unit(rng, 1, dim)[0]
    held = segment(1, vectors)
    found = cosines([held], quantise(query[None]))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, exact(held.vectors, held.scales, query))
    np.testing.assert_allclose(found, vectors @ query, atol=0.05)


@given(seeds, st.lists(st.integers(0, 9), min_size=1, max_size=5), dims)
def test_several_segments_are_as_one(seed, counts, dim):
    """Segments laid end to end, empty ones among them, give the numbers that one segment of all gives."""
    rng = np.random.default_rng(seed)
    query = unit(rng, 1, dim)[0]
    several = [segment(blob, unit(rng, count, dim)) for blob, count in enumerate(counts, 1)]
    one = cosines([merge_segments(several)], quantise(query[None]))
    np.testing.assert_array_equal(cosines(several, quantise(query[None])), one)
    assert len(one) == sum(counts)
    back = cosines(several[::-1], quantise(query[None]))
    bases = np.cumsum([0, *counts[::-1]])
    pieces = [back[bases[i] : bases[i + 1]] for i in range(len(counts))][::-1]
    np.testing.assert_array_equal(np.concatenate(pieces), one)


def test_a_zero_vector_is_near_nothing():
    """Text without a vector, on either side, has cosine 0; no segments have no cosines."""
    rng = np.random.default_rng(0)
    vectors = np.concatenate((np.zeros((1, 64), np.float32), unit(rng, 2, 64)))
    held = [segment(1, vectors)]
    assert cosines(held, quantise(unit(rng, 1, 64)))[0] == 0
    assert cosines(held, quantise(np.zeros((1, 64), np.float32))).tolist() == [0, 0, 0]
    assert cosines([], quantise(unit(rng, 1, 64))).tolist() == []


@given(seeds, st.integers(0, 12), dims)
def test_paths_have_cosines_where_they_have_vectors(seed, count, dim):
    """The exact product with vectors; 0 for every path without, and for a question without."""
    rng = np.random.default_rng(seed)
    vectors, query = unit(rng, count, dim), unit(rng, 1, dim)[0]
    rows = [FileRow(f"{n:02}.py", n + 1, f"{n:040x}", "python", 1, 1, 1) for n in range(count)]
    files = file_table(rows, PathReader(file_kind, "toy", lambda paths: quantise(vectors)))
    np.testing.assert_array_equal(path_cosines(files, query), exact(files.vectors, files.scales, query))
    assert path_cosines(files, None).tolist() == [0] * count
    without = path_cosines(file_table(rows, PathReader(file_kind)), query)
    assert without.tolist() == [0] * count
    assert without.dtype == np.float32
