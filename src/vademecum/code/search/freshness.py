"""Freshness of evidence: only returned files are checked.

A worktree's file with the size, time and inode it had when it was read is taken as it is. Any other is read again: if
its content differs, it is cut anew and the piece that corresponds is shown, marked `edited`; if it is gone or no longer
text, what was indexed is shown, marked `stale`. No answer is silently out of date, and nothing has to watch the disk.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import INODE_BITS, Source, read_source
from vademecum.code.languages import language_of
from vademecum.code.snapshot.repository import Opened
from vademecum.index.tokenize import terms
from vademecum.types import Chunk, FileEntry, Freshness, ParsedFile


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it is now, compared with how it was indexed. `now` is given when its content changed."""

    freshness: Freshness
    now: ParsedFile | None = None


_AS_INDEXED = FileState(Freshness.FRESH)


def check_file(opened: Opened, number: int) -> FileState:
    """Compare one indexed file of a worktree with the disk; a commit's never changes."""
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
    """Compare a file, by its size, time and inode when it was read, with the one of its path `above` which it lies."""
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
    """Compare what is on disk with a content, by its git blob id; one that differs is cut anew, within a deadline."""
    source = read_source(root, entry, max_bytes)
    if not isinstance(source, Source):
        return FileState(Freshness.STALE)
    if source.blob == digest:
        return _AS_INDEXED
    from vademecum.code.chunking.chunk import chunk_file  # a search among files as they were indexed cuts none

    language = language_of(entry.path, source.text[:4096])
    return FileState(Freshness.EDITED, chunk_file(source.text, language, deadline_s))


def corresponding(old: Chunk, now: ParsedFile) -> Chunk | None:
    """Return the chunk of an edited file that corresponds to an indexed one, or None when nothing does.

    The same qualified name decides; without one, or with several, the most shared words do.
    """
    named = [c for c in now.chunks if old.name and (c.name, c.scope) == (old.name, old.scope)]
    words = set(terms(old.text))

    def shared(chunk: Chunk) -> float:
        own = set(terms(chunk.text))
        return len(words & own) / max(len(words | own), 1)

    best = max(named or now.chunks, key=shared, default=None)
    return best if best is not None and (named or shared(best) > 0) else None
