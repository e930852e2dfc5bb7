"""The files of a snapshot, with size, complexity and freshness."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vademecum.code.checkout.git import commit_times
from vademecum.code.checkout.root import Root
from vademecum.code.search.freshness import check_file
from vademecum.code.snapshot.files import FILE_KINDS, LEFT_OUT
from vademecum.code.snapshot.repository import Opened
from vademecum.errors import GitError
from vademecum.types import Freshness


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One indexed file."""

    path: str
    language: str
    file_kind: str
    bytes: int  # when it was read
    lines: int  # up to the last line of a chunk
    chunks: int
    complexity: int  # cyclomatic, of all its functions together
    freshness: Freshness
    # The time of the last commit that changed the file, in seconds since the epoch, or for a file that no recent commit
    # changed, the modification time when the file was read; 0 in a snapshot of a commit.
    modified_at: float


def inventory(opened: Opened, after: str = "", most: int = 1000) -> list[FileFacts]:
    """Return up to `most` files in path order, after a path."""
    files, view = opened.view.files, opened.view
    first = bisect_right(files.paths, after) if after else 0
    chosen = [number for number in range(first, len(files)) if files.blobs[number] != LEFT_OUT][:most]
    starts = np.searchsorted(view.row_file, chosen)
    ends = np.searchsorted(view.row_file, chosen, side="right")
    complexity = _complexity(opened, files.blobs[chosen].tolist())
    committed: dict[str, int] = {}
    if opened.snapshot.kind == "worktree":
        with suppress(GitError):  # as outside git
            committed = _commit_times(opened.repo.root, opened.snapshot.commit)
    return [
        FileFacts(
            files.paths[number], files.language(number), FILE_KINDS[view.file_kinds[number]].value, int(files.sizes[number]),
            int(view.lines[start:end, 1].max(initial=0)), int(end - start), complexity.get(int(files.blobs[number]), 0),
            check_file(opened, number).freshness, committed.get(files.paths[number], int(files.mtimes[number]) / 1e9),
        )
        for number, start, end in zip(chosen, starts, ends, strict=True)
    ]  # fmt: skip


@lru_cache(maxsize=4)
def _commit_times(root: Root, commit: str) -> dict[str, int]:
    """Return the files' commit times as of a commit.

    Raises `GitError`, which is not cached.
    """
    return commit_times(root, commit).unwrap()


def _complexity(opened: Opened, blobs: Sequence[int]) -> dict[int, int]:
    """Return the sum of the functions' complexity, by content."""
    total: dict[int, int] = {}
    rows = opened.repo.catalogue.store.scan("chunks", [("blob", "in", list(blobs))], ("blob", "metadata")).unwrap()
    for blob, metadata in rows:
        if metadata:
            total[blob] = total.get(blob, 0) + int(json.loads(metadata).get("cyclomatic", 0))
    return total
