"""Arrays that grow: what was handed out stays, and what grows without end lies in files without a name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vademecum.memory import columns
from vademecum.memory.columns import FILED_FROM, Column

Kept = NDArray[np.int32]


def counted(begin: int, count: int) -> Kept:
    return np.arange(begin, begin + count, dtype=np.int32)


def grown(column: Column, size: int) -> Kept:
    """A column that was given numbers, first a few and then as many again, until there are so many."""
    known = column.longer(counted(0, 0), [counted(0, 100)])
    while len(known) < size:
        known = column.longer(known, [counted(len(known), min(len(known), size - len(known)))])
    return known


def in_files(directory: Path) -> int:
    """How many files of a directory the process has mapped."""
    return sum(str(directory) in line for line in Path("/proc/self/maps").read_text().splitlines())


@pytest.mark.parametrize("place", [lambda path: path, lambda path: path / "absent", lambda _: None])
@given(sizes=st.lists(st.integers(0, 6_000), max_size=6))
def test_what_was_handed_out_stays_as_it_is_wherever_it_lies(
    tmp_path_factory: pytest.TempPathFactory, place: Callable[[Path], Path | None], sizes: list[int]
) -> None:
    column, handed = Column(place(tmp_path_factory.getbasetemp())), [counted(0, 0)]
    for size in sizes:
        known = handed[-1]
        handed.append(column.longer(known, [counted(len(known), size)]))
    for known in handed:
        assert np.array_equal(known, counted(0, len(known)))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process has mapped")
def test_what_grows_lies_in_a_file_that_goes_with_it(tmp_path: Path) -> None:
    """Room that has grown large is no memory of the process's own, and the directory shows nothing of it."""
    column = Column(tmp_path)
    small = grown(column, FILED_FROM // 16)
    assert in_files(tmp_path) == 0
    large = grown(column, FILED_FROM)
    assert in_files(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
    del small, large, column
    assert in_files(tmp_path) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process has mapped")
def test_what_a_process_asks_once_is_no_file(tmp_path: Path) -> None:
    """All that is known when it begins is put in memory: a question of a command waits for no disk."""
    found = Column(tmp_path).longer(counted(0, 0), [counted(0, FILED_FROM)])
    assert (len(found), in_files(tmp_path)) == (FILED_FROM, 0)


def test_where_no_file_can_be_made_it_grows_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is found out before anything is written to a page of it."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(columns.os, "posix_fallocate", full, raising=False)
    assert np.array_equal(grown(Column(tmp_path), 2 * FILED_FROM), counted(0, 2 * FILED_FROM))
    assert list(tmp_path.iterdir()) == []
