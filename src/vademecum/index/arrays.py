"""Named arrays in one file, replaced whole and read by memory map.

The format is safetensors (a little-endian uint64 header length, a JSON header of dtype, shape and offsets, then the raw
bytes), because it is a documented standard and ten lines of numpy. Offsets are aligned to 64 bytes. Strings ride in the
header's `__metadata__`.

Behind the last array stands a checksum (CRC-32, little-endian uint32) of each block of 1 MiB, and the metadata hold the
file's own name, so that another file in its place is noticed. The file's time ends in digits that come from the
checksums. A file of at most SMALL blocks is checked whole whenever it is opened, and so is a larger one whose time is
another: something wrote to it. Of a larger file that nothing wrote to, SMALL blocks chosen at random are checked, since
only the disk itself can have damaged it.
"""

from __future__ import annotations

import json
import os
import random
import re
import struct
import time
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError, StoreError, StoreFullError, StoreOutdatedError
from vademecum.private import NO_SPACE, keep_names, replacing

Integers = NDArray[np.int64]

_RUN_LIMIT = 400_000  # distinct runs remembered; a repository of a million lines has about 200,000


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of values in texts: int64 (m,), by text, then code.

    `code` numbers distinct values: `values`, uint64 (c,), has what each stands for, also those that no text here has.
    """

    text: Integers
    code: Integers
    count: Integers
    values: NDArray[np.uint64]


class RunTable:
    """Maps runs of characters to numbers, and counts the numbers in texts.

    `expand` returns the numbers of one run, each a non-negative integer below 2**64. Every distinct run is expanded once; after
    that, a text costs one regular expression and a few array operations. Safe to use from several threads, which take turns.

    >>> table = RunTable(re.compile(r"[a-z]+"), lambda run: [ord(letter) for letter in run])
    >>> counts = table.count(["ab b", "b"])
    >>> counts.text.tolist(), counts.values[counts.code].tolist(), counts.count.tolist()
    ([0, 0, 1], [97, 98, 98], [1, 2, 1])
    """

    def __init__(self, run: re.Pattern[str], expand: Callable[[str], Sequence[int]]) -> None:
        self._find = run.findall
        self._expand = expand
        self._lock = Lock()
        self._runs = self._none()

    def count(self, texts: Sequence[str]) -> Counts:
        """Count every value in every text."""
        with self._lock:
            if len(self._runs) > _RUN_LIMIT:
                self._runs = self._none()
            try:
                return self._runs.count(texts)
            except BaseException:
                self._runs = self._none()  # a run may be half known
                raise

    def _none(self) -> _Runs:
        return _Runs(self._find, self._expand)


class _Codes(dict[int, int]):
    """Numbers the values of runs, in the order of their first use."""

    def __init__(self) -> None:
        super().__init__()
        self._values = np.zeros(0, np.uint64)

    def __missing__(self, value: int) -> int:
        code = self[value] = len(self)
        return code

    def meanings(self) -> NDArray[np.uint64]:
        """Return the value of every code so far."""
        if new := len(self) - len(self._values):
            added = np.fromiter(islice(self, len(self._values), None), np.uint64, new)
            self._values = np.concatenate((self._values, added))
        return self._values


class _Runs(dict[str, int]):
    """Numbers of runs; a new run gets the next number.

    The object refers to no table, so it is freed with its own table.
    """

    def __init__(self, find: Callable[[str], list[str]], expand: Callable[[str], Sequence[int]]) -> None:
        super().__init__()
        self._find = find
        self._expand = expand
        self._codes = _Codes()
        self._starts = array("q", [0])  # run r stands for codes flat[starts[r] : starts[r + 1]]
        self._flat = array("q")
        self._nothing: int | None = (
            None  # the number of all runs that stand for nothing: the first is kept, and single characters
        )

    def count(self, texts: Sequence[str]) -> Counts:
        """Count every value in every text."""
        found = [self._find(text) for text in texts]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        numbers = np.fromiter(map(self.__getitem__, chain.from_iterable(found)), np.int64, int(lengths.sum()))
        size = max(len(self), 1)
        begins = np.frombuffer(self._starts, np.int64)  # no run can be added while these are held
        flat = np.frombuffer(self._flat or array("q", [0]), np.int64)
        pairs, times = np.unique(np.repeat(np.arange(len(texts)), lengths) * size + numbers, return_counts=True)
        text, run = np.divmod(pairs, size)
        starts = begins[run]
        widths = begins[run + 1] - starts
        code = flat[ranges(starts, widths)]
        return _summed(np.repeat(text, widths), code, np.repeat(times, widths), self._codes.meanings())

    def __missing__(self, run: str) -> int:
        number, values = len(self._starts) - 1, self._expand(run)
        if not values:
            if self._nothing is not None:
                if len(run) == 1:  # there are few, each of them everywhere
                    self[run] = self._nothing
                return self._nothing
            self._nothing = number
        self._flat.extend(map(self._codes.__getitem__, values))
        self._starts.append(len(self._flat))
        self[run] = number
        return number


def _summed(text: Integers, code: Integers, count: Integers, values: NDArray[np.uint64]) -> Counts:
    """Add up the counts of the same code in the same text."""
    codes = max(len(values), 1)
    key = text * codes + code
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if len(key) else order
    total = np.add.reduceat(count[order], first) if len(key) else count
    return Counts(*np.divmod(key[first], codes), total, values)


Arrays = dict[str, NDArray[np.generic]]
Parts = NDArray[Any] | list[NDArray[Any]]  # an array, or some of one type that follow each other, at least one

_NAMES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I8": np.dtype("i1"), "U8": np.dtype("u1"), "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"), "I64": np.dtype("<i8"), "U64": np.dtype("<u8"),
}  # fmt: skip
_CODES = {dtype: name for name, dtype in _NAMES.items()}
_ALIGN = 64
_BLOCK = 1 << 20
SMALL = 4  # blocks: they take 2 ms to check
_NOT_OURS = (OSError, ValueError, LookupError, TypeError, AttributeError)  # what reading a damaged file may raise


def save_arrays(path: Path, arrays: Mapping[str, Parts], metadata: Mapping[str, str]) -> None:
    """Write arrays to `path`, with checksums, and wait for the disk.

    A reader sees the old file or the new file, never a part. An array in pieces is written end to end.

    Raises:
        StoreFullError: no room; nothing was swapped in.
        StoreError: the file could not be written.
    """
    try:
        with replacing(path, durable=True) as file:
            _pack(file, arrays, {**metadata, "file": path.name})
            file.flush()
            sums = _sums(np.memmap(file, np.uint8, "r"))
            file.write(sums.tobytes())
            file.flush()
            now = time.time_ns() // 10**9 * 10**9 + _digits(sums)
            os.utime(file.name, ns=(now, now))
        keep_names(path.parent)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise StoreFullError(f"no room on the disk for {path}: free some space and index again") from error
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def _sums(data: NDArray[np.uint8]) -> NDArray[np.uint32]:
    return np.array([zlib.crc32(data[start : start + _BLOCK].data) for start in range(0, len(data), _BLOCK)], "<u4")


def _digits(sums: NDArray[np.uint32]) -> int:
    """Return the nanoseconds of a file's time: whole microseconds."""
    return zlib.crc32(sums.tobytes()) % 10**6 * 1000


def _pack(file: IO[bytes], arrays: Mapping[str, Parts], metadata: Mapping[str, str]) -> None:
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    pieces = {name: given if isinstance(given, list) else [given] for name, given in arrays.items()}
    offset = 0
    for name, own in pieces.items():
        offset += -offset % _ALIGN
        end = offset + sum(piece.nbytes for piece in own)
        shape = [sum(map(len, own)), *own[0].shape[1:]]
        header[name] = {"dtype": _CODES[own[0].dtype], "shape": shape, "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 8) % _ALIGN)
    file.write(struct.pack("<Q", len(head)) + head)
    position = 0
    for own in pieces.values():
        file.write(b"\0" * (-position % _ALIGN))
        position += -position % _ALIGN
        for piece in own:
            file.write(np.ascontiguousarray(piece).data)
            position += piece.nbytes


def packed(arrays: Mapping[str, NDArray[np.generic]], metadata: Mapping[str, str]) -> bytes:
    """Return arrays as the bytes of a file, compressed.

    >>> unpacked(packed({"a": np.arange(3, dtype=np.int32)}, {"of": "me"}))
    ({'a': array([0, 1, 2], dtype=int32)}, {'of': 'me'})
    """
    file = BytesIO()
    _pack(file, arrays, metadata)
    return zlib.compress(file.getvalue(), 1)


def unpacked(data: bytes) -> tuple[Arrays, dict[str, str]]:
    """Return the packed values. Raises `StoreCorruptError` for other bytes."""
    try:
        return _arrays(np.frombuffer(zlib.decompress(data), np.uint8))
    except (zlib.error, *_NOT_OURS) as error:
        raise StoreCorruptError("these arrays are damaged, or of another version") from error


@contextmanager
def stored_arrays(path: Path, **expected: str) -> Iterator[tuple[Arrays, dict[str, str]]]:
    """Give the arrays of a file that `save_arrays` wrote, and its metadata.

    The arrays are memory-mapped and read-only. An error in the block that shows the file to be of another shape is damage
    as well.

    Raises:
        StoreOutdatedError: the file is missing, as on another machine, or its metadata differs from `expected`.
        StoreCorruptError: the file's bytes are not those that were written.
    """
    try:
        found, metadata = _arrays(_whole(path))
        if metadata.pop("file", "") != path.name:
            raise ValueError("another file stands in its place")
        if any(metadata.get(name) != value for name, value in expected.items()):
            raise StoreOutdatedError(
                f"{path} was made by another version or embedder; it is made again when asked next"
            )
        yield found, metadata
    except FileNotFoundError as error:
        raise StoreOutdatedError(f"{path} is missing; it is made again when asked next") from error
    except _NOT_OURS as error:
        raise StoreCorruptError(f"{path} is damaged ({error}); it is made again when asked next") from error


def _whole(path: Path) -> NDArray[np.uint8]:
    """Return a file's bytes before its checksums, which they match."""
    status = path.stat()
    data = np.memmap(path, np.uint8, "r") if status.st_size else np.zeros(0, np.uint8)
    count = -(-len(data) // (_BLOCK + 4))  # a block and its checksum
    body, sums = data[: len(data) - 4 * count], data[len(data) - 4 * count :].copy().view("<u4")
    blocks: Iterator[int] | list[int] = iter(range(count))
    if count > SMALL and status.st_mtime_ns % 10**9 == _digits(sums):
        blocks = random.sample(range(count), SMALL)
    for block in blocks:
        if zlib.crc32(body[block * _BLOCK : (block + 1) * _BLOCK].data) != sums[block]:
            raise ValueError(f"block {block} is not as written")
    return body


def load_arrays(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return the arrays of a file, memory-mapped and read-only, and its metadata.

    The file may be any of the format, and no checksum is looked at: for files that come with the package.

    Raises:
        StoreCorruptError: the file is missing, cut short, or not of this format.
    """
    try:
        return _arrays(np.memmap(path, np.uint8, "r"))
    except _NOT_OURS as error:
        raise StoreCorruptError(f"{path} is missing or damaged: install vademecum again") from error


def _arrays(data: NDArray[np.uint8]) -> tuple[Arrays, dict[str, str]]:
    begin = 8 + int(data[:8].view("<u8")[0])
    header: dict[str, Any] = json.loads(data[8:begin].tobytes())
    metadata = header.pop("__metadata__", {})
    arrays: Arrays = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        raw = np.asarray(data[begin + start : begin + end])
        arrays[name] = raw.view(_NAMES[entry["dtype"]]).reshape(entry["shape"])
    return arrays, metadata


def ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return start, start + 1, … for each start and count, concatenated.

    >>> ranges(np.array([5, 10]), np.array([2, 3])).tolist()
    [5, 6, 10, 11, 12]
    """
    total = int(counts.sum())
    if not total:
        return np.zeros(0, np.int64)
    shift = starts - np.concatenate(([0], np.cumsum(counts)[:-1]))
    return np.arange(total, dtype=np.int64) + np.repeat(shift, counts)
