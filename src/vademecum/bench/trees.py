"""Trees to search, in temporary indexes outside of the user's home.

A tree is the content of one snapshot of a temporary index. Files are read as the index reads them. All compared systems
search the same files with the same text, because they get the index's files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import Source, read_source
from vademecum.code.checkout.walk import WalkSettings, walk
from vademecum.code.codebase import Codebase
from vademecum.code.snapshot.files import LEFT_OUT
from vademecum.code.snapshot.repository import Repository
from vademecum.config import Settings
from vademecum.matching import is_below
from vademecum.protocols import Embedder, Progress
from vademecum.types import Evidence
from vademecum.wiring.parts import Parts

EVERYTHING = WalkSettings(exclude=("!*",))  # a copy has only files that were let in, so it excludes none


@dataclass(frozen=True)
class Tree:
    """One snapshot, ready for questions."""

    repo: Repository  # of the temporary index
    commit: str  # "" for the files on disk
    files: Mapping[str, str]  # the text of every file, by path
    blobs: Mapping[str, int]  # the database ids of their contents, by path
    chunks: int
    ask: Callable[[str, int], Sequence[Evidence]]  # at most so many pieces of evidence for a question


def read_tree(root: Root, prefixes: Sequence[str], settings: Settings) -> dict[str, bytes]:
    """Return the text of every indexable file on disk, by path.

    `prefixes`, if any, narrow the tree.

    Raises:
        GitError: git failed.
    """
    limit = settings.index.max_file_bytes
    found = {}
    for entry in walk(root, WalkSettings(limit)).unwrap().entries:
        if is_below(entry.path, prefixes) and isinstance(source := read_source(root, entry, limit), Source):
            found[entry.path] = source.text
    return found


def write_tree(files: Mapping[str, bytes], directory: Path) -> Root:
    """Write files below a new directory outside of any repository."""
    for path, content in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return Root(os.path.realpath(directory))


@contextmanager
def opened(
    root: Root,
    settings: Settings,
    embedder: Embedder | str | None,
    *,
    prefixes: tuple[str, ...] = (),
    copied: bool = False,
) -> Iterator[Callable[[Progress, str], Tree]]:
    """Open a temporary index of a root.

    The index is below the home in `settings`. Yields a function that indexes a commit, or "" for the disk, and returns
    the tree. With `copied`, every file of the root is indexed, because the copy has only files that were let in.

    Raises:
        Error: the root cannot be indexed.
    """
    parts = Parts(settings, embedder=embedder)
    try:
        repo = parts.repository(root, "bench")
        repo = replace(repo, walk=EVERYTHING) if copied else repo
        codebase = Codebase([(repo, prefixes)], parts)

        def tree(progress: Progress, commit: str = "") -> Tree:
            codebase.index(progress, commit=commit)
            return tree_of(repo, codebase, prefixes, commit)

        yield tree
    finally:
        parts.close()


def tree_of(repo: Repository, codebase: Codebase, prefixes: Sequence[str], commit: str) -> Tree:
    """Return the tree of an indexed snapshot."""
    loaded = repo.catalogue.load("commit", commit) if commit else repo.catalogue.load("worktree", repo.root.path)
    assert loaded is not None
    _, view = loaded
    blobs = {
        path: blob
        for path, blob in zip(view.files.paths, view.files.blobs.tolist(), strict=True)
        if blob != LEFT_OUT and is_below(path, prefixes)
    }
    files = {path: repo.catalogue.content(blob).decode() for path, blob in blobs.items()}

    def ask(question: str, k: int) -> Sequence[Evidence]:
        return codebase.search(question, k=k, commit=commit, refresh=False).evidence

    return Tree(repo, commit, files, blobs, len(view), ask)
