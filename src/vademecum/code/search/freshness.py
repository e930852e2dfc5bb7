"""Freshness checks of the files about to be returned.

A worktree's file is fresh if its size, time and inode are unchanged. Any other file is read again. If its content
differs, the file is cut again and the corresponding chunk is shown, marked `edited`. If the file is gone or no longer
text, the indexed chunk is shown, marked `stale`. So no answer is silently out of date, and nothing has to watch the
disk.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import INODE_BITS, Source, read_source
from vademecum.code.languages import HEAD, language_of
from vademecum.code.snapshot.repository import Opened
from vademecum.index.tokenize import terms
from vademecum.types import Chunk, FileEntry, Freshness, ParsedFile


@dataclass(frozen=True, slots=True)
class FileState:
    """A file now, compared with the index.

    `now` is given when the content changed.
    """

    freshness: Freshness
    now: ParsedFile | None = None


_AS_INDEXED = FileState(Freshness.FRESH)


def check_file(opened: Opened, number: int) -> FileState:
    """Compare one indexed file of a worktree with the disk.

    A commit's files never change.
    """
    return check_files(opened, [number])[number]


def check_files(opened: Opened, numbers: Collection[int]) -> dict[int, FileState]:
    """Compare indexed files with the disk, as `check_file` does."""
    if opened.snapshot.kind != "worktree":
        return dict.fromkeys(numbers, _AS_INDEXED)
    files, places = opened.view.files, np.fromiter(numbers, np.intp, len(numbers))
    then = zip(*(column.take(places).tolist() for column in (files.sizes, files.mtimes, files.inodes)), strict=True)
    above = f"{opened.repo.root.path}/"
    return {number: _checked(opened, number, above, known) for number, known in zip(numbers, then, strict=True)}


def _checked(opened: Opened, number: int, above: str, then: tuple[int, ...]) -> FileState:
    """Compare one file with its size, time and inode when indexed.

    `above` is the root's path with a slash.
    """
    repo, files = opened.repo, opened.view.files
    path = files.paths[number]
    try:
        status = os.lstat(above + path)
    except OSError:
        return FileState(Freshness.STALE)
    if (status.st_size, status.st_mtime_ns, status.st_ino & INODE_BITS) == then:
        return _AS_INDEXED
    entry = FileEntry(path, status.st_size, status.st_mtime_ns, status.st_ino)
    digest = files.digests[number].tobytes().hex()
    return compared(repo.root, entry, digest, max_bytes=repo.walk.max_file_bytes, deadline_s=repo.plan.deadline_s)


def compared(root: Root, entry: FileEntry, digest: str, *, max_bytes: int, deadline_s: float) -> FileState:
    """Compare a file on disk with a content's blob id.

    A file that differs is cut again, within a deadline.
    """
    source = read_source(root, entry, max_bytes)
    if not isinstance(source, Source):
        return FileState(Freshness.STALE)
    if source.blob == digest:
        return _AS_INDEXED
    from vademecum.code.chunking.chunk import chunk_file  # loaded only for changed files

    language = language_of(entry.path, source.text[:HEAD])
    return FileState(Freshness.EDITED, chunk_file(source.text, language, deadline_s))


def corresponding(old: Chunk, now: ParsedFile) -> Chunk | None:
    """Return the edited file's chunk that corresponds to an indexed one.

    The same qualified name decides. Without one, or with several, the most shared words decide. Returns None when
    nothing corresponds.
    """
    named = [c for c in now.chunks if old.name and (c.name, c.scope) == (old.name, old.scope)]
    words = set(terms(old.text))

    def shared(chunk: Chunk) -> float:
        own = set(terms(chunk.text))
        return len(words & own) / max(len(words | own), 1)

    best = max(named or now.chunks, key=shared, default=None)
    return best if best is not None and (named or shared(best) > 0) else None
