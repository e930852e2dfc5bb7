"""An open repository or source: its place, store and settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import contained
from vademecum.code.checkout.walk import WalkSettings
from vademecum.code.snapshot.catalogue import Catalogue, Snapshot
from vademecum.code.snapshot.entries import Items
from vademecum.code.snapshot.past_commits import FileHistory
from vademecum.code.snapshot.plan import Plan
from vademecum.code.snapshot.view import View
from vademecum.index.segment import quantise
from vademecum.index.vectors import cosines
from vademecum.protocols import Clock, Embedder, Progress
from vademecum.types import Check, Query

Alone = Callable[[], AbstractContextManager[None]]  # a lock against other processes
COMMIT_DIGITS = 40  # a commit's id has 40 or 64 digits, a tree's hash 12


@lru_cache(maxsize=64)  # called for every piece of evidence
def commit_of(label: str) -> str:
    """Return the commit in a snapshot's label, or "".

    A label has no commit outside git and before the first commit.

    >>> commit_of("1fb76d2285a4"), commit_of("edited"), commit_of(f"{'a' * 40}+1fb76d2285a4")[38:]
    ('', '', 'aa+1fb76d2285a4')
    """
    return label if len(label.partition("+")[0]) >= COMMIT_DIGITS else ""


class DenseSearch:
    """Dense search in the segments of the index itself.

    `dense_search.MirroredVectors` searches an external index instead.
    """

    def cosines(
        self,
        view: View,
        vector: NDArray[np.float32],
        query: Query,  # noqa: ARG002 - the filters, for an index that returns its nearest alone
        mask: NDArray[np.bool_] | None,  # noqa: ARG002
    ) -> tuple[NDArray[np.float32], str]:
        """Return each chunk's cosine, float32 (N,), and a note.

        `mask`, bool (R,), holds the rows that pass the query's filters; None for all. The note is "" without problems.
        """
        return cosines(view.segments, quantise(vector[None])), ""

    def catch_up(self, alone: Alone, progress: Progress) -> str:  # noqa: ARG002 - the segments are written with the index
        """Take in the catalogue's changes, and return a note on problems.

        `alone` keeps other processes from writing. Raises `StoreError` when the database fails.
        """
        return ""

    def checks(self, alone: Alone, *, repair: bool) -> list[Check]:  # noqa: ARG002 - the index has its own check
        """Return the checks for `doctor`, after a requested repair."""
        return []


LOCAL_VECTORS = DenseSearch()


@dataclass(frozen=True)
class Repository:
    """The state shared by the steps of `index` and `search`."""

    name: str
    root: Root
    catalogue: Catalogue
    embedder: Callable[[], Embedder]  # loads when first called: a refresh without changes needs none
    plan: Plan
    walk: WalkSettings
    clock: Clock
    prose: Callable[[], Embedder]  # the embedder for prose, as memory needs it; words alone decide while it fails
    batch: int = 64  # texts per request to an embedder outside the workers: a failure costs at most these
    enricher: str = ""  # the enricher whose sentences replace summaries
    database: str = ""  # the database's address, for display
    space: str = ""  # the repository's name in a shared database
    dense: DenseSearch = LOCAL_VECTORS
    items: Items | None = None  # the items of a backlog or document source; None for a directory

    @property
    def place(self) -> tuple[str, str]:
        """The kind and place of the snapshot that searches use by default."""
        return ("worktree", self.root.path) if self.items is None else ("source", self.name)

    @property
    def lock(self) -> Path:
        """The lock file, held by one indexing run at a time."""
        return self.catalogue.directory / "index.lock"


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository and its snapshot to search, narrowed to `prefixes`."""

    repo: Repository
    snapshot: Snapshot
    view: View
    prefixes: tuple[str, ...] = ()
    note: str = ""  # on the index's problems, shown with every answer

    @property
    def history(self) -> FileHistory | None:
        """The commits behind the snapshot; None where none are known."""
        return self.repo.catalogue.histories.of(self.snapshot.commit, self.view.files, self.repo.root.prefix)


def narrowed(opened: Opened, paths: Sequence[str]) -> Opened:
    """Return a repository narrowed to some directories and files.

    Without paths the repository is unchanged.

    Raises:
        OutsideRootError: a path leads out of the repository.
    """
    parts = [contained(opened.repo.root, path).unwrap() for path in paths]
    return replace(opened, prefixes=() if "." in parts else tuple(parts)) if parts else opened
