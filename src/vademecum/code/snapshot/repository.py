"""One open repository or source: its place, settings and store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import contained
from vademecum.code.checkout.walk import WalkSettings
from vademecum.code.snapshot.entries import Items
from vademecum.code.snapshot.mirror import Mirror
from vademecum.code.snapshot.plan import Plan
from vademecum.code.snapshot.store import Catalogue, Snapshot
from vademecum.code.snapshot.view import View
from vademecum.protocols import Clock, Embedder

COMMIT_DIGITS = 40  # of a commit's id, or 64; a tree's hash has 12


@lru_cache(maxsize=64)  # asked for every piece of evidence of an answer
def commit_of(label: str) -> str:
    """Return the commit that evidence of a state names: its label, or "" outside of git and before the first commit.

    >>> commit_of("1fb76d2285a4"), commit_of("edited"), commit_of(f"{'a' * 40}+1fb76d2285a4")[38:]
    ('', '', 'aa+1fb76d2285a4')
    """
    return label if len(label.partition("+")[0]) >= COMMIT_DIGITS else ""


@dataclass(frozen=True)
class Repository:
    """Everything the steps of `index` and `search` share about one repository."""

    name: str
    root: Root
    catalogue: Catalogue
    embedder: Callable[[], Embedder]  # loaded when first called: a refresh that finds nothing changed needs none
    plan: Plan
    walk: WalkSettings
    clock: Clock
    prose: Callable[[], Embedder]  # the one for prose alone, as memory needs it: by words while it fails
    batch: int = 64  # pieces that an embedder outside the workers is given at once: what a failure can cost
    enricher: str = ""  # the name of the one whose sentences stand in the place of summaries
    database: str = ""  # where its records are, to be shown
    space: str = ""  # what a shared database calls it
    mirror: Mirror | None = None  # the index of vectors outside this process, where there is one
    items: Items | None = None  # what it holds, where that is no directory but a backlog or a source of documents

    @property
    def place(self) -> tuple[str, str]:
        """The kind and place of the snapshot that is searched unless a commit is named."""
        return ("worktree", self.root.path) if self.items is None else ("source", self.name)

    @property
    def lock(self) -> Path:
        """The file that one indexing run at a time holds."""
        return self.catalogue.directory / "index.lock"


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository with the snapshot of it that is searched; `prefixes` narrow it to parts of the tree."""

    repo: Repository
    snapshot: Snapshot
    view: View
    prefixes: tuple[str, ...] = ()
    away: str = ""  # what is to be said where it may lack something: its database is away, or could not be written


def narrowed(opened: Opened, paths: Sequence[str]) -> Opened:
    """Return a repository narrowed to some of its directories and files; as it is where none are given.

    Raises:
        OutsideRootError: a path leads out of the repository.
    """
    parts = [contained(opened.repo.root, path).unwrap() for path in paths]
    return replace(opened, prefixes=() if "." in parts else tuple(parts)) if parts else opened
