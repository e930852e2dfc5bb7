"""A snapshot's files joined with their segments, ready for ranking.

There are two numberings. A *chunk* is a position in the concatenated segments. A chunk may be dead (no file of the
snapshot has its blob) or lie at several paths. A *row* is one chunk at one path, in path order; search results are
rows. Signals are computed per chunk and then gathered to rows, so the order of indexing never affects the results.

One snapshot's files as arrays, in path order.

Filters, path matching and freshness checks read them.

    paths    list of F strings, ascending       blobs   int64 (F,)    database ids
    digests  uint8 (F, 20): git blob ids
    sizes    int64 (F,), mtimes int64 (F,) in nanoseconds, inodes int64 (F,): the file when it was read
    kinds    uint8 (F,)  index into FILE_KINDS   languages uint8 (F,)  index into `language_names`
    vectors  int8 (F, dim), scales float32 (F,)  each path's vector, quantised like chunks' vectors; dim 0 for no embedder
    postings over the F paths with the two fields of PATH_FIELDS

The database holds the same rows and is the truth. The table has its own file, so that a cold start maps the file instead
of reading ten thousand rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import PathReader
from vademecum.index.arrays import ranges, save_arrays, stored_arrays
from vademecum.index.bm25 import CODE, Postings, build, field_norms, merge
from vademecum.index.segment import FORMAT, INNER_TEST, NO_SEGMENT, Segment, StoredChunk
from vademecum.index.tokenize import key, run_terms, runs
from vademecum.types import FileKind

PATH_FIELDS = ("stem", "directories")
FILE_KINDS = tuple(FileKind)
LEFT_OUT = 0  # the blob of a file that was read and left out, such as a binary: the file is not read again
_MAX_LANGUAGES = 255


@dataclass(frozen=True, slots=True)
class FileTable:
    """The files of a snapshot; see the module for shapes."""

    paths: list[str]
    blobs: NDArray[np.int64]
    digests: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    mtimes: NDArray[np.int64]
    inodes: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    languages: NDArray[np.uint8]
    language_names: tuple[str, ...]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    postings: Postings

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.paths)

    @property
    def indexed(self) -> int:
        """The number of files that have content in the index."""
        return int(np.count_nonzero(self.blobs != LEFT_OUT))

    def number(self, path: str) -> int | None:
        """Return the number of a file, or None."""
        number = bisect_left(self.paths, path)
        return number if self.paths[number : number + 1] == [path] else None

    def digest(self, path: str) -> str:
        """Return the blob id of a file in hex, or ""."""
        number = self.number(path)
        return "" if number is None else self.digests[number].tobytes().hex()

    def language(self, index: int) -> str:
        """Return the language of one file."""
        return self.language_names[self.languages.item(index)]


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file; `language` and `hash` (40 hex digits) are its blob's."""

    path: str
    blob: int
    hash: str
    language: str
    size: int
    mtime_ns: int
    inode: int


def path_keys(path: str) -> dict[int, int]:
    """Return a path's term keys, with the fields that hold each.

    The value is 1 for the stem plus 256 for the directories: one byte per field.

    >>> sorted(path_keys("http/client.py").values())
    [1, 256]
    """
    directory, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    found: dict[int, int] = {}
    for text, unit in ((stem, 1), (directory, 256)):
        for term in {term for run in runs(text) for term in run_terms(run)}:
            number = key(term)
            found[number] = found.get(number, 0) + unit
    return found


def path_postings(paths: Sequence[str]) -> Postings:
    """Return the postings of paths over the fields of PATH_FIELDS."""
    keyed = [path_keys(path) for path in paths]
    keys = np.fromiter((k for found in keyed for k in found), np.uint64)
    packed = np.fromiter((v for found in keyed for v in found.values()), np.uint16)
    docs = np.repeat(np.arange(len(paths), dtype=np.int32), [len(found) for found in keyed])
    return build(keys, docs, packed.view(np.uint8).reshape(-1, 2))


def file_table(rows: Sequence[FileRow], read: PathReader, previous: FileTable | None = None) -> FileTable:
    """Return the table of `rows` by path; paths in `previous` are known."""
    rows = sorted(rows, key=lambda row: row.path)
    paths = [row.path for row in rows]
    numbers = np.array([(r.blob, r.size, r.mtime_ns, r.inode) for r in rows], np.int64).reshape(-1, 4)
    digests = np.frombuffer(bytes.fromhex("".join(row.hash for row in rows)), np.uint8).reshape(-1, 20)
    names = {name: i for i, name in enumerate(dict.fromkeys(row.language for row in rows))}
    if len(names) > _MAX_LANGUAGES:
        raise ValueError(f"{len(names)} languages in one repository; {_MAX_LANGUAGES} at most")
    languages = np.array([names[row.language] for row in rows], np.uint8)
    kinds, vectors, scales, postings = _describe(paths, read, previous)
    return FileTable(
        paths, numbers[:, 0], digests, numbers[:, 1], numbers[:, 2], numbers[:, 3], kinds, languages, tuple(names),
        vectors, scales, postings,
    )  # fmt: skip


def file_rows(table: FileTable) -> list[FileRow]:
    """Return the rows of a table."""
    digests = table.digests.tobytes().hex()
    hashes = [digests[i : i + 40] for i in range(0, len(digests), 40)]
    languages = [table.language_names[code] for code in table.languages.tolist()]
    columns = (
        table.blobs.tolist(),
        hashes,
        languages,
        table.sizes.tolist(),
        table.mtimes.tolist(),
        table.inodes.tolist(),
    )
    return [FileRow(*row) for row in zip(table.paths, *columns, strict=True)]


def changed_table(
    previous: FileTable, changed: Sequence[FileRow], gone: Collection[str], read: PathReader
) -> FileTable:
    """Return `previous` with rows replaced, added and removed."""
    place = {row.path: number for row in changed if (number := previous.number(row.path)) is not None}
    names = {name: i for i, name in enumerate(previous.language_names)}
    if gone or any(row.path not in place or row.language not in names for row in changed):
        new = {row.path: row for row in changed}
        kept = [row for row in file_rows(previous) if row.path not in new and row.path not in gone]
        return file_table([*kept, *changed], read, previous)
    table = replace(
        previous, **{name: getattr(previous, name).copy() for name in ("blobs", "digests", "sizes", "mtimes", "inodes", "languages")}
    )  # fmt: skip
    for row in changed:
        i = place[row.path]
        table.blobs[i], table.sizes[i], table.mtimes[i], table.inodes[i] = row.blob, row.size, row.mtime_ns, row.inode
        table.digests[i] = np.frombuffer(bytes.fromhex(row.hash), np.uint8)
        table.languages[i] = names[row.language]
    return table


def _describe(
    paths: list[str], read: PathReader, previous: FileTable | None
) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.float32], Postings]:
    """Return paths' kinds, vectors, scales and postings, some from `previous`."""
    if previous is None:
        kinds = np.array([FILE_KINDS.index(read.kind(path)) for path in paths], np.uint8)
        return kinds, *read.embed(paths), path_postings(paths)
    if previous.paths == paths:
        return previous.kinds, previous.vectors, previous.scales, previous.postings
    old = {path: i for i, path in enumerate(previous.paths)}
    known = np.array([old.get(path, -1) for path in paths], np.int64)
    fresh = np.flatnonzero(known < 0)
    added = [paths[i] for i in fresh]
    new_vectors, new_scales = read.embed(added)
    new_kinds = np.array([FILE_KINDS.index(read.kind(path)) for path in added], np.uint8)
    place = np.where(known >= 0, known, len(old) + np.cumsum(known < 0) - 1)  # the old ones, then the new
    kinds = np.concatenate((previous.kinds, new_kinds))[place]
    vectors = np.concatenate((previous.vectors, new_vectors))[place]
    scales = np.concatenate((previous.scales, new_scales))[place]
    renumber = np.full(len(old), -1, np.int32)
    renumber[known[known >= 0]] = np.flatnonzero(known >= 0)
    return kinds, vectors, scales, merge([previous.postings, path_postings(added)], [renumber, fresh.astype(np.int32)])


def save_files(path: Path, table: FileTable, embedder: str = "") -> None:
    """Write a table and its embedder's name. Raises `StoreError`."""
    postings = table.postings
    save_arrays(
        path,
        {
            "blobs": table.blobs, "digests": table.digests, "sizes": table.sizes, "mtimes": table.mtimes, "inodes": table.inodes,
            "kinds": table.kinds, "languages": table.languages, "vectors": table.vectors, "scales": table.scales,
            "paths": np.frombuffer("\0".join(table.paths).encode("utf-8", "surrogatepass"), np.uint8),
            "keys": postings.keys, "offsets": postings.offsets, "docs": postings.docs, "tf": postings.tf,
        },
        {"format": FORMAT, "embedder": embedder, "languages": "\0".join(table.language_names)},
    )  # fmt: skip


def load_files(path: Path, embedder: str = "") -> FileTable:
    """Load a table. Raises `StoreCorruptError` for a damaged or foreign one."""
    with stored_arrays(path, format=FORMAT, embedder=embedder) as (arrays, metadata):
        a: dict[str, Any] = dict(arrays)
        text = a["paths"].tobytes().decode("utf-8", "surrogatepass")
        return FileTable(
            text.split("\0") if text else [], a["blobs"], a["digests"], a["sizes"], a["mtimes"], a["inodes"], a["kinds"], a["languages"],
            tuple(metadata["languages"].split("\0")), a["vectors"], a["scales"], Postings(a["keys"], a["offsets"], a["docs"], a["tf"]),
        )  # fmt: skip


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
    def inner_tests(self) -> NDArray[np.bool_]:
        """The chunks that are tests among product code, bool (N,)."""
        return np.asarray(self._joined("generated") == INNER_TEST)

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
