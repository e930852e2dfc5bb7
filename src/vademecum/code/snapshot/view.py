"""A snapshot's files joined with their segments, ready for ranking.

There are two numberings. A *chunk* is a position in the concatenated segments. A chunk may be dead (no file of the
snapshot has its blob) or lie at several paths. A *row* is one chunk at one path, in path order; search results are
rows. Signals are computed per chunk and then gathered to rows, so the order of indexing never affects the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.code.snapshot.files import FILE_KINDS, LEFT_OUT, FileTable
from vademecum.index.arrays import ranges
from vademecum.index.bm25 import CODE, field_norms
from vademecum.index.segment import NO_SEGMENT, Segment
from vademecum.index.stored_fields import StoredChunk
from vademecum.types import FileKind

_PRODUCT, _GENERATED = FILE_KINDS.index(FileKind.PRODUCT), FILE_KINDS.index(FileKind.GENERATED)


@dataclass(frozen=True)
class View:
    """A snapshot's rows over its segments.

    Attributes:
        files: the snapshot's F files.
        segments: segments that together hold every blob of the files, except the missing ones.
        row_chunk: int64 (R,), the chunk of each row. row_file: int32 (R,), the file of each row.
        contents: int32 (N,), the content each chunk belongs to, ascending. file_content: int32 (F,), that of each file.
        missing: blobs that no segment holds; their files have no rows until they are analysed again.
    """

    files: FileTable
    segments: tuple[Segment, ...]
    row_chunk: NDArray[np.int64] = field(repr=False)
    row_file: NDArray[np.int32] = field(repr=False)
    bases: NDArray[np.int64] = field(repr=False)
    contents: NDArray[np.int32] = field(repr=False)
    file_content: NDArray[np.int32] = field(repr=False)
    missing: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.row_chunk)

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """The number of paths of each chunk, int64 (N,); 0 for dead."""
        return np.bincount(self.row_chunk, minlength=int(self.bases[-1]))

    @cached_property
    def alive(self) -> NDArray[np.float32]:
        """float32 (N,): 1 for chunks at some path, 0 for dead."""
        return (self.copies > 0).astype(np.float32)

    @cached_property
    def lines(self) -> NDArray[np.int32]:
        """First and last line of each row, int32 (R, 2)."""
        return self._joined("lines")[self.row_chunk]

    @cached_property
    def pending(self) -> NDArray[np.bool_]:
        """The rows whose vector is still missing, Bool (R,)."""
        return self._joined("scales")[self.row_chunk] < 0

    @cached_property
    def awaiting(self) -> int:
        """The number of pending rows."""
        return int(self.pending.sum())

    @cached_property
    def file_kinds(self) -> NDArray[np.uint8]:
        """The kind code of each file, uint8 (F,).

        The path decides, except that product code is generated where its content says so.
        """
        kinds = self.files.kinds.copy()
        written = self.row_file[self._joined("generated")[self.row_chunk] == 1]
        kinds[written[kinds[written] == _PRODUCT]] = _GENERATED
        return kinds

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """Chunk kind codes, uint8 (N,)."""
        return self._joined("kinds")

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """Terms per field of each chunk, float32 (N, 4)."""
        return self._joined("lengths").astype(np.float32)

    @cached_property
    def file_lengths(self) -> NDArray[np.float32]:
        """Terms in the bodies of each file's chunks, float32 (F,)."""
        return np.bincount(self.row_file, self.lengths[self.row_chunk, 0], len(self.files)).astype(np.float32)

    @cached_property
    def mean_lengths(self) -> NDArray[np.float64]:
        """Mean terms per field over the rows, at least 1, float64."""
        total = (self.lengths.astype(np.int64) * self.copies[:, None]).sum(axis=0)
        mean: NDArray[np.float64] = np.maximum(total / max(len(self), 1), 1.0)
        return mean

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """The weight of one occurrence per field, float32 (N, 4)."""
        return field_norms(CODE, self.lengths, self.mean_lengths)

    def ordinals(self, rows: Sequence[int]) -> NDArray[np.int64]:
        """Return each row's position among its file's chunks, int64 (len(rows),)."""
        return np.asarray(rows, np.int64) - np.searchsorted(self.row_file, self.row_file[rows])

    def said(self, rows: Sequence[int]) -> list[StoredChunk]:
        """Return the stored fields of the rows' chunks."""
        chunks = self.row_chunk.take(rows)
        if len(self.segments) == 1:
            return self.segments[0].stored.read(chunks.tolist())
        which = np.searchsorted(self.bases, chunks, side="right") - 1
        return [
            self.segments[own].stored.read([chunk - int(self.bases[own])])[0]
            for own, chunk in zip(which.tolist(), chunks.tolist(), strict=True)
        ]

    def _joined(self, name: str) -> NDArray:  # type: ignore[type-arg]
        pieces = [getattr(segment, name) for segment in self.segments or (NO_SEGMENT,)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def view_of(files: FileTable, segments: Sequence[Segment]) -> View:
    """Join a snapshot's files with segments, of which the first counts."""
    bases = np.concatenate(([0], np.cumsum([segment.size for segment in segments]))).astype(np.int64)
    blobs = np.concatenate([s.blobs for s in segments]) if segments else np.zeros(0, np.int64)
    starts = np.concatenate([s.starts[:-1] + b for s, b in zip(segments, bases, strict=False)] or [blobs])
    counts = np.concatenate([np.diff(s.starts) for s in segments] or [blobs])
    known, first = np.unique(blobs, return_index=True)
    slot = np.searchsorted(known, files.blobs)
    slot[slot == len(known)] = 0
    here = known[slot] == files.blobs if len(known) else np.zeros(len(files), bool)
    missing = tuple(sorted(set(files.blobs[~here & (files.blobs != LEFT_OUT)].tolist())))
    present = np.flatnonzero(here)
    chosen = first[slot[present]] if len(known) else present
    row_chunk = ranges(starts[chosen], counts[chosen])
    row_file = np.repeat(present.astype(np.int32), counts[chosen])
    contents = np.repeat(np.arange(len(blobs), dtype=np.int32), counts)
    file_content = np.full(len(files), -1, np.int32)
    file_content[present] = chosen
    return View(files, tuple(segments), row_chunk, row_file, bases, contents, file_content, missing)
