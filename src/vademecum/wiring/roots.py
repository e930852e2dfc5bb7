"""Roots: the repositories of paths, their names, and consent.

A provider that sends text to other machines is refused unless the user chose it and set `privacy.allow_remote`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from vademecum.code.checkout.ignore import JUNK_DIRECTORIES
from vademecum.code.checkout.root import MARKER, Root, find_root, index_directory, repository_name
from vademecum.config import Settings
from vademecum.errors import ConsentError, RootError, StoreError
from vademecum.protocols import (
    Backlog,
    DocumentSource,
    Embedder,
    Enricher,
    Extractor,
    Reranker,
    ToolServer,
    VectorIndex,
)
from vademecum.wiring.stores import INDEX, Stores, roots_in_files, worktrees_in

P = TypeVar("P", Backlog | DocumentSource, Embedder, Enricher, Extractor, Reranker, ToolServer, VectorIndex)

# By kind of provider: the setting that chooses it, and the data it receives.
CHOSEN_BY = {
    "embedder": ("search.embedder", "code"),
    "prose embedder": ("search.prose_embedder", "documents and what was said"),
    "vectors": ("search.vectors", "code"),
    "reranker": ("search.reranker", "code"),
    "enricher": ("enrich.provider", "code"),
    "extractor": ("memory.extractor", "what was said"),
    "server of tools": ("its url", "the arguments of calls"),
    "backlog": ("sources", "its key and what it asks for"),
    "documents": ("sources", "its key and what it asks for"),
}


def consented(kind: str, provider: P, settings: Settings, *, shared: bool) -> P:
    """Return the provider, or refuse it for lack of consent.

    A remote provider needs the user's consent, and a repository's own file cannot choose one.

    `kind` is a key of `CHOSEN_BY`; `shared` says that a repository's file chose the provider.

    Raises:
        ConsentError: nothing was sent; the message says how to agree.
    """
    setting, what = CHOSEN_BY[kind]
    sends = f"{kind} {provider.name!r} sends {what} to another machine"
    if provider.remote and shared:
        raise ConsentError(
            f"{sends}, and a repository's own file cannot turn it on: set {setting} in your user file or environment"
        )
    if provider.remote and not settings.privacy.allow_remote:
        raise ConsentError(
            f"{sends}: set privacy.allow_remote in your user file or VADE_PRIVACY__ALLOW_REMOTE=1 to agree"
        )
    return provider


MOST_UNASKED = 5_000  # files in a folder outside of a repository; even a large project has fewer


@dataclass(frozen=True, slots=True)
class OpenedRoot:
    """An open repository: its name and its path."""

    name: str
    path: str


def narrow(paths: Sequence[str | os.PathLike[str]]) -> dict[Root, tuple[str, ...]]:
    """Return each root of the paths, with the named parts.

    () means the whole root.

    Raises:
        RootError: a path does not exist, is not UTF-8, or is a file outside of a repository: one file does not justify indexing
            its whole directory.
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
    """Return a distinct name for each root, none of them `taken`.

    Equal names get their parent directories in front.

    >>> distinct_names([Root("/a/app"), Root("/b/app"), Root("/c/lib")])
    ['a-app', 'b-app', 'lib']
    """
    names = [repository_name(root) for root in roots]
    for depth in range(2, max((root.path.count(os.sep) for root in roots), default=0) + 1):
        alike = {name for name in names if names.count(name) > 1 or name in taken}
        parents = ["-".join(root.path.split(os.sep)[-depth:]).lstrip("-") for root in roots]
        names = [
            re.sub(r"[^\w.-]+", "-", longer) if name in alike else name
            for name, longer in zip(names, parents, strict=True)
        ]
    return names


def unasked(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> dict[str, str]:
    """Return the roots that need consent before indexing, with the reason.

    These are the home directory, the whole disk, and any folder of many files. A repository, a folder with a `.vade.toml`,
    and a root that has an index need no consent.

    Raises:
        RootError: as `narrow`.
    """
    wide = {root: why for root in narrow(paths) if (why := _too_wide(root))}
    return {root.path: why for root, why in wide.items() if not _is_indexed(root, settings)}


def _too_wide(root: Root) -> str:
    if root.git_dir is not None or os.path.exists(os.path.join(root.path, MARKER)):
        return ""
    if root.path == os.path.realpath(os.path.expanduser("~")):
        return "is your home directory, not a repository"
    if root.path == os.path.abspath(os.sep):
        return "is the whole disk, not a repository"
    return f"is not a repository and holds more than {MOST_UNASKED} files" if _holds_many(root.path) else ""


def _holds_many(folder: str) -> bool:
    """Return whether a folder holds more than `MOST_UNASKED` files."""
    count, pending = 0, [folder]
    while pending and count <= MOST_UNASKED:
        try:
            children = list(os.scandir(pending.pop()))
        except OSError:
            continue
        for child in children:
            if child.is_dir(follow_symlinks=False):
                pending += [child.path] if child.name.lower() not in JUNK_DIRECTORIES else []
            else:
                count += 1
    return count > MOST_UNASKED


def _is_indexed(root: Root, settings: Settings) -> bool:
    stores = Stores(settings)
    if stores.shared:
        return root.path in {each.path for each in stores.roots_in_spaces()}
    database = index_directory(stores.home, root) / INDEX
    with suppress(StoreError):  # the first question tells of damage
        return database.exists() and root.path in dict(worktrees_in(database))
    return False


def indexed_roots(settings: Settings) -> list[Root]:
    """Return this machine's existing worktrees that have an index."""
    stores = Stores(settings)
    return stores.roots_in_spaces() if stores.shared else roots_in_files(stores.home)
