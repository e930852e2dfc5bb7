"""One repository that is open: where it lies, what is kept of it, and how it is read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from vademecum.codebase.catalogue import Catalogue, Snapshot
from vademecum.codebase.git import Root
from vademecum.codebase.walk import WalkSettings
from vademecum.codebase.workers import Plan
from vademecum.protocols import Clock, Embedder
from vademecum.retrieval.view import View


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
    enricher: str = ""  # the name of the one whose sentences stand in the place of summaries

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


def identity(root: Root) -> str:
    """Return what decides which index a root uses: all worktrees of a repository share one.

    A part of a repository that has its own `.vade.toml` is a root by itself and has its own.
    """
    is_top = os.path.lexists(os.path.join(root.path, ".git"))
    return root.common_dir if root.common_dir and is_top else root.path


def repository_name(root: Root) -> str:
    """Return what evidence calls the repository: the main worktree's directory name, or the root's own.

    >>> repository_name(Root("/src/my app"))
    'my-app'
    """
    own = identity(root)
    folder = os.path.dirname(own) if os.path.basename(own) == ".git" else own
    name = os.path.basename(folder).removesuffix(".git")
    return re.sub(r"[^\w.-]+", "-", name) or "root"


def index_directory(home: Path, root: Root) -> Path:
    """Return the directory below `home` that holds a root's index."""
    digest = blake2b(identity(root).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return home / "repos" / f"{repository_name(root)}-{digest}"
