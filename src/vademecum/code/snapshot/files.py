"""One snapshot's files as arrays, in path order.

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

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import PathReader
from vademecum.index.arrays import save_arrays, stored_arrays
from vademecum.index.postings import Postings, build, merge
from vademecum.index.segment import FORMAT
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
    place = {path: i for i, path in enumerate(previous.paths)}
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
