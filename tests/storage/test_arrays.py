"""Named arrays in one file: what is written is read, and a damaged file is said to be damaged."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import StoreCorruptError, StoreError, StoreOutdatedError
from vademecum.index.arrays import SMALL, load_arrays, packed, ranges, save_arrays, stored_arrays

ARRAYS = {
    "counts": np.arange(7, dtype=np.int64),
    "none": np.zeros((0, 4), np.uint8),
    "vectors": np.full((3, 5), 1.5, np.float32),
}


def stored(path, **expected):
    """The arrays and metadata of a file that is whole."""
    with stored_arrays(path, **expected) as found:
        return found


@pytest.fixture
def path(tmp_path):
    """A file of arrays."""
    path = tmp_path / "a.safetensors"
    save_arrays(path, ARRAYS, {"format": "1", "note": "naïve"})
    return path


def test_arrays_come_back_as_they_were(path):
    """Types, shapes, values and metadata survive."""
    for arrays, metadata in (stored(path), load_arrays(path)):
        assert metadata.items() >= {"format": "1", "note": "naïve"}.items()
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
    with pytest.raises(StoreCorruptError, match=r"a\.safetensors.*made again"):
        stored(path)


def test_every_bit_counts(path):
    """Header, arrays, filling and checksums: whichever byte changed, the file is damaged."""
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(StoreCorruptError, match="is damaged"):
            stored(path)
    path.write_bytes(content)
    assert stored(path)


def test_another_file_in_its_place_is_damage(path):
    """A whole file under another's name is not what was written there."""
    other = path.with_name("b.safetensors")
    save_arrays(other, ARRAYS, {})
    other.replace(path)
    with pytest.raises(StoreCorruptError, match="another file"):
        stored(path)


def test_a_file_of_another_version_is_not_called_damaged(path):
    """Metadata other than those expected are an error of their own."""
    assert stored(path, format="1")
    with pytest.raises(StoreOutdatedError, match="another version"):
        stored(path, format="2")


def test_a_file_without_checksums_is_damaged(tmp_path):
    """Nothing shows that it is as written."""
    path = tmp_path / "a.safetensors"
    path.write_bytes(zlib.decompress(packed(ARRAYS, {"format": "1"})))
    with pytest.raises(StoreCorruptError, match="is damaged"):
        stored(path, format="1")


def test_what_reads_like_another_shape_is_damage(path):
    """Whoever reads a name that is not there finds damage, and no crash."""
    with pytest.raises(StoreCorruptError, match="is damaged"), stored_arrays(path) as (arrays, _):
        assert arrays["nobody"] is None


def test_a_large_file_that_something_wrote_to_is_read_whole(tmp_path):
    """One changed bit anywhere is found at once, as the file's time is no longer its writer's."""
    path = tmp_path / "large.safetensors"
    save_arrays(path, {"zeros": np.zeros(4 * SMALL << 20, np.uint8)}, {})
    stored(path)
    with path.open("r+b") as file:
        file.seek(3 * SMALL << 20)
        file.write(b"\1")
    for _ in range(3):
        with pytest.raises(StoreCorruptError, match=rf"block {3 * SMALL} "):
            stored(path)


def test_a_large_file_that_the_disk_damaged_is_found_before_long(tmp_path):
    """With its writer's time, some blocks are looked at each time it is opened."""
    path = tmp_path / "large.safetensors"
    save_arrays(path, {"zeros": np.zeros(2 * SMALL << 20, np.uint8)}, {})
    then = path.stat().st_mtime_ns
    with path.open("r+b") as file:
        file.seek(SMALL << 20)
        file.write(b"\1")
    os.utime(path, ns=(then, then))
    found = 0
    for _ in range(64):  # about every second time: none of 64 is less likely than a wrong checksum
        try:
            stored(path)
        except StoreCorruptError:
            found += 1
    assert found


@pytest.mark.parametrize(
    "head", [b"[1]", b"5", b'{"x": 3}', b'{"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 8]}}', b"{"]
)
def test_a_strange_header_is_damage(tmp_path, head):
    """A header of another shape is damage, not a crash."""
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"\0" * 64)
    for read in (stored, load_arrays):
        with pytest.raises(StoreCorruptError):
            read(path)


@given(st.binary(max_size=200))
def test_garbage_never_loads(tmp_path_factory, content):
    """No bytes crash the reader."""
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(content)
    with pytest.raises(StoreCorruptError):
        stored(path)
    with contextlib.suppress(StoreCorruptError):
        load_arrays(path)


def test_a_missing_file_is_damage(tmp_path):
    """What is not there is rebuilt like what is broken."""
    with pytest.raises(StoreCorruptError, match="is missing"):
        stored(tmp_path / "nowhere")


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
