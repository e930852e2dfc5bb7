"""Which repositories paths lie in, what they are called, and which have an index on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vademecum.codebase.identity import repository_name
from vademecum.codebase.root import MARKER, Root, find_root
from vademecum.config import Settings
from vademecum.errors import RootError
from vademecum.stores import Stores, roots_in_files


@dataclass(frozen=True, slots=True)
class OpenedRoot:
    """A repository that is open: what it is called and where it lies."""

    name: str
    path: str


def narrow(paths: Sequence[str | os.PathLike[str]]) -> dict[Root, tuple[str, ...]]:
    """Return each root that paths lie in, with the parts of it they name; () where one names the whole.

    Raises:
        RootError: a path does not exist, or is a file of no repository: a whole directory is not indexed for the sake of it.
    """
    found: dict[Root, list[str]] = {}
    for path in paths:
        real = os.path.realpath(path)
        if not os.path.exists(real):
            raise RootError(f"{os.fspath(path)!r} does not exist: name a directory or a file")
        if not real.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in real):
            raise RootError(f"{os.fspath(path)!r} is not UTF-8: rename the directory, its path could not be stored")
        folder = real if os.path.isdir(real) else os.path.dirname(real)
        root = find_root(folder)
        if folder != real and root.git_dir is None and not os.path.exists(os.path.join(root.path, MARKER)):
            raise RootError(
                f"{os.fspath(path)!r} is a file outside of git: name the directory that is to be indexed with it, {folder}"
            )
        below = os.path.relpath(real, root.path)
        found.setdefault(root, []).append("" if below == "." else below.replace(os.sep, "/"))
    return {root: () if "" in parts else tuple(dict.fromkeys(parts)) for root, parts in found.items()}


def distinct_names(roots: Sequence[Root], taken: Collection[str] = ()) -> list[str]:
    """Return a name for each root, none of them `taken`; those that would be alike get their parent directories in front.

    >>> distinct_names([Root("/a/app"), Root("/b/app"), Root("/c/lib")])
    ['a-app', 'b-app', 'lib']
    """
    names = [repository_name(root) for root in roots]
    for depth in range(2, max((root.path.count(os.sep) for root in roots), default=0) + 1):
        alike = {name for name in names if names.count(name) > 1 or name in taken}
        names = [path_name(root, depth) if name in alike else name for root, name in zip(roots, names, strict=True)]
    return names


def path_name(root: Root, depth: int) -> str:
    """Return the last parts of a root's path as a name."""
    return re.sub(r"[^\w.-]+", "-", "-".join(root.path.split(os.sep)[-depth:]).lstrip("-"))


def indexed_roots(settings: Settings) -> list[Root]:
    """Return the worktrees on this machine that have an index and are still there."""
    stores = Stores(settings)
    return stores.roots_in_spaces() if stores.shared else roots_in_files(stores.home)
