"""Segments and postings: however content was batched and joined, the result is that of building it at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import StoreCorruptError
from vademecum.index.arrays import save_arrays
from vademecum.index.bm25 import build, merge
from vademecum.index.segment import (
    BlobArrays,
    StoredChunk,
    load_segment,
    merge_segments,
    quantise,
    save_segment,
    segment_of,
    stored_of,
)

FIELDS = ("blobs", "starts", "lines", "kinds", "lengths", "vectors", "scales", "generated")


def told(rng, chunks):
    """What would be said of made-up chunks."""
    stored = stored_of(
        [StoredChunk(n, n + 1, f"{rng.integers(99)}", "é" * int(rng.integers(3)), "", ("a.b",)) for n in range(chunks)]
    )
    return stored.offsets, stored.told


def blob(seed: int, chunks: int) -> BlobArrays:
    """Return made-up arrays of a blob; equal for equal arguments."""
    rng = np.random.default_rng([seed, chunks])
    pairs = sorted(
        {
            (int(d), int(k))
            for d, k in zip(rng.integers(0, max(chunks, 1), 5 * chunks), rng.integers(0, 12, 5 * chunks), strict=True)
        }
    )
    docs, keys = np.array(pairs, np.int64).reshape(-1, 2).T
    return BlobArrays(
        rng.integers(1, 9, (chunks, 2)).astype(np.int32), rng.integers(0, 9, chunks).astype(np.uint8),
        rng.integers(0, 99, (chunks, 4)).astype(np.uint16), keys.astype(np.uint64), docs.astype(np.int32),
        rng.integers(0, 9, (len(pairs), 4)).astype(np.uint8), rng.integers(-127, 127, (chunks, 3)).astype(np.int8),
        rng.random(chunks).astype(np.float32), rng.integers(0, 2, chunks).astype(np.uint8), *told(rng, chunks),
    )  # fmt: skip


def same(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("keys", "offsets", "docs", "tf"):
        np.testing.assert_array_equal(getattr(one.postings, name), getattr(other.postings, name), name)
    for name in ("offsets", "told"):
        np.testing.assert_array_equal(getattr(one.stored, name), getattr(other.stored, name), name)


blobs = st.dictionaries(st.integers(1, 60), st.integers(0, 5), min_size=1, max_size=14)


@given(blobs, st.data())
def test_joined_segments_equal_one_built_at_once(sizes, data):
    """Any division into segments, in any order, with blobs in two of them, joins to the same arrays."""
    everything = {number: blob(number, chunks) for number, chunks in sizes.items()}
    places = {number: data.draw(st.sets(st.integers(0, 3), min_size=1, max_size=2)) for number in everything}
    pieces = [[(n, arrays) for n, arrays in everything.items() if place in places[n]] for place in range(4)]
    segments = data.draw(st.permutations([segment_of(piece) for piece in pieces if piece]))
    same(merge_segments(segments), segment_of(list(everything.items())))


@given(blobs, st.data())
def test_joining_drops_what_is_not_kept(sizes, data):
    """Dropping blobs while joining equals never having had them."""
    everything = [(number, blob(number, chunks)) for number, chunks in sizes.items()]
    kept = data.draw(st.sets(st.sampled_from(sorted(sizes)), min_size=1))
    joined = merge_segments([segment_of([pair]) for pair in everything], np.array(sorted(kept), np.int64))
    same(joined, segment_of([pair for pair in everything if pair[0] in kept]))


def test_dropping_everything_leaves_an_empty_segment():
    """No blob kept is a segment of no chunks."""
    assert merge_segments([segment_of([(1, blob(1, 3))])], np.zeros(0, np.int64)).size == 0


def test_a_saved_segment_is_the_same(tmp_path):
    """What is written is what is mapped back."""
    segment = segment_of([(3, blob(3, 4)), (9, blob(9, 0)), (7, blob(7, 2))])
    save_segment(tmp_path / "s", segment, "hashing")
    same(load_segment(tmp_path / "s", "hashing"), segment)


def test_vectors_of_another_embedder_are_not_mixed(tmp_path):
    """A segment of other vectors, or of another format, is rebuilt, never read."""
    save_segment(tmp_path / "s", segment_of([(3, blob(3, 4))]), "hashing")
    with pytest.raises(StoreCorruptError, match="another version or embedder"):
        load_segment(tmp_path / "s", "static")
    save_arrays(tmp_path / "t", {"blobs": np.zeros(0, np.int64)}, {"format": "0", "embedder": "static"})
    with pytest.raises(StoreCorruptError):
        load_segment(tmp_path / "t", "static")


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), unique=True), st.lists(st.integers(0, 8), unique=True))
def test_postings_find_what_a_scan_finds(pairs, asked):
    """`find` returns exactly the documents of each term asked for, term by term, in ascending order."""
    pairs.sort(key=lambda pair: pair[1])
    keys, docs = np.array(pairs, np.int64).reshape(-1, 2).T
    postings = build(keys.astype(np.uint64), docs.astype(np.int32), np.ones((len(pairs), 1), np.uint8))
    docs, tf, which = postings.find(np.array(asked, np.uint64))
    expected = [(n, doc) for n, key in enumerate(asked) for doc in sorted(d for k, d in pairs if k == key)]
    assert list(zip(which.tolist(), docs.tolist(), strict=True)) == expected
    assert tf.tolist() == [[1]] * len(expected)


def test_merging_keeps_documents_ascending():
    """Documents that interleave after renumbering are in ascending order again."""
    one = build(np.array([5, 5], np.uint64), np.array([0, 1], np.int32), np.array([[1], [2]], np.uint8))
    joined = merge([one, one], [np.array([1, 3], np.int32), np.array([0, 2], np.int32)])
    assert joined.docs.tolist() == [0, 1, 2, 3]
    assert joined.tf[:, 0].tolist() == [1, 1, 2, 2]


@given(st.lists(st.lists(st.integers(-1000, 1000), min_size=4, max_size=4), min_size=1, max_size=5))
def test_whole_number_vectors_are_near_the_real_ones(rows):
    """No number is off by more than half a step, and zeros stay zeros."""
    vectors = np.array(rows, np.float32) / 1000
    whole, scale = quantise(vectors)
    step = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(whole * scale[:, None] - vectors) <= step * 0.51).all()


@pytest.mark.parametrize("damage", [b"\0" * 12, b"\xff" * 12, b"[1,2,3]     ", b'{"a":1}     ', b" "])
def test_damaged_words_about_a_chunk_are_named(damage):
    """What an answer says is never made up of damaged bytes, nor does it end in an error that is not ours."""
    stored = stored_of([StoredChunk(0, 9, "a1", "", "", ())])
    told = np.frombuffer(damage + b" " * (len(stored.told) - len(damage)), np.uint8)
    with pytest.raises(StoreCorruptError, match="vade index --full"):
        replace(stored, told=told).read([0])


@pytest.mark.parametrize("spoiled", [np.nan, np.inf, -np.inf])
def test_a_spoiled_vector_is_made_zero(spoiled):
    """A number that is none, from a provider, makes a vector of zeros."""
    assert quantise(np.array([[spoiled, 1.0], [0.0, 1.0]], np.float32))[0].tolist() == [[0, 0], [0, 127]]
