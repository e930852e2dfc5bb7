"""The chunks of one file, in order, around a found chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from vademecum.code.search.evidence import evidence_as_indexed, evidence_of, stored_chunks
from vademecum.code.search.freshness import FileState, check_file
from vademecum.code.snapshot.repository import Opened
from vademecum.types import Evidence


class FileChunks:
    """The chunks of one file, in order, read on demand.

    Attributes:
        lines: first and last line of each chunk.
    """

    def __init__(self, lines: Sequence[tuple[int, int]], read: Callable[[int], Evidence]) -> None:
        """Take the lines of each chunk and a function that reads one."""
        self.lines = lines
        self._read = cache(read)

    @classmethod
    def of(cls, pieces: Sequence[Evidence]) -> FileChunks:
        """Return chunks that are already read."""
        return cls([(piece.start_line, piece.end_line) for piece in pieces], pieces.__getitem__)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.lines)

    def __getitem__(self, place: int) -> Evidence:
        """Return the chunk at a place."""
        return self._read(range(len(self))[place])

    def __iter__(self) -> Iterator[Evidence]:
        """Yield every chunk, first to last."""
        return map(self._read, range(len(self)))


def pieces_of(each: Opened, path: str) -> FileChunks:
    """Return a file's chunks as evidence, as the file is now.

    Empty for a file that is not indexed. `metadata` holds `part` and `parts` where a long declaration was cut.
    """
    files = each.view.files
    number = bisect_left(files.paths, path)
    if files.paths[number : number + 1] != [path]:
        return FileChunks.of(())
    rows = range(*np.searchsorted(each.view.row_file, [number, number + 1]).tolist())
    state = check_file(each, number)
    if state.now is not None:
        return FileChunks.of(_edited(each, rows, state))
    lines = [(first, last) for first, last in each.view.lines[rows.start : rows.stop].tolist()]
    return FileChunks(lines, evidence_as_indexed(each, number, rows.start, state.freshness))


def _edited(each: Opened, rows: range, state: FileState) -> Sequence[Evidence]:
    """Return an edited file's chunks that correspond to indexed chunks.

    Each comes once.
    """
    found: dict[str, Evidence] = {}
    for row, stored in zip(rows, stored_chunks(each, rows), strict=True):
        evidence = evidence_of(each, row, stored, 0.0, {}, state)
        found.setdefault(evidence.id, replace(evidence, metadata=stored[0].metadata))
    return tuple(found.values())
