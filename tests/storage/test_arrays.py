"""Named arrays in one file: what is written is read, and a damaged file is said to be damaged."""

from __future__ import annotations

import contextlib
import json
import os
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import StoreCorruptError, StoreError
from vademecum.index.arrays import load_arrays, ranges, save_arrays

ARRAYS = {
    "counts": np.arange(7, dtype=np.int64),
    "none": np.zeros((0, 4), np.uint8),
    "vectors": np.full((3, 5), 1.5, np.float32),
}


@pytest.fixture
def path(tmp_path):
    """A file of arrays."""
    path = tmp_path / "a.safetensors"
    save_arrays(path, ARRAYS, {"format": "1", "note": "naïve"})
    return path


def test_arrays_come_back_as_they_were(path):
    """Types, shapes, values and metadata survive."""
    arrays, metadata = load_arrays(path)
    assert metadata == {"format": "1", "note": "naïve"}
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_arrays_are_aligned_and_read_only(path):
    """Every array begins on 64 bytes of the file and cannot be written to."""
    head = path.read_bytes()
    length = struct.unpack("<Q", head[:8])[0]
    header = json.loads(head[8 : 8 + length])
    assert all((8 + length + header[name]["data_offsets"][0]) % 64 == 0 for name in ARRAYS)
    assert not load_arrays(path)[0]["counts"].flags.writeable


@pytest.mark.parametrize("size", [0, 4, 8, 40, -1, -30])
def test_a_file_cut_short_is_damaged(path, size):
    """Wherever it was cut, the error names the file and the fix."""
    content = path.read_bytes()
    path.write_bytes(content[:size] if size >= 0 else content[: len(content) + size])
    with pytest.raises(StoreCorruptError, match=r"a\.safetensors.*--full"):
        load_arrays(path)


@pytest.mark.parametrize(
    "head", [b"[1]", b"5", b'{"x": 3}', b'{"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 8]}}', b"{"]
)
def test_a_strange_header_is_damage(tmp_path, head):
    """A header of another shape is damage, not a crash."""
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"\0" * 64)
    with pytest.raises(StoreCorruptError):
        load_arrays(path)


@given(st.binary(max_size=200))
def test_garbage_never_loads(tmp_path_factory, content):
    """No bytes crash the reader."""
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(content)
    with contextlib.suppress(StoreCorruptError):
        load_arrays(path)


def test_a_missing_file_is_damage(tmp_path):
    """What is not there is rebuilt like what is broken."""
    with pytest.raises(StoreCorruptError):
        load_arrays(tmp_path / "nowhere")


def test_a_file_that_cannot_be_written_leaves_the_old_one(path):
    """A failed write raises our error, keeps the old file and leaves nothing beside it."""
    (path.parent / f"{path.name}.{os.getpid()}.tmp").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*a\.safetensors"):
        save_arrays(path, {"x": np.zeros(1, np.int64)}, {})
    assert sorted(load_arrays(path)[0]) == sorted(ARRAYS)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6))))
def test_ranges_are_ranges(pairs):
    """`ranges` is what a loop over `range` gives."""
    starts, counts = np.array(pairs, np.int64).reshape(-1, 2).T
    assert ranges(starts, counts).tolist() == [n for start, count in pairs for n in range(start, start + count)]
