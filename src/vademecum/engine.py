"""The only place where parts meet: `Engine`, and `assemble`, which hands each part what it needs.

from vademecum.engine import Engine

engine = Engine.open(".")
engine.codebase.index()
answer = engine.codebase.search("where is the token budget split?")
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from vademecum import config
from vademecum.codebase.analyse import path_reader
from vademecum.codebase.catalogue import Catalogue
from vademecum.codebase.codebase import Codebase
from vademecum.codebase.git import Root, find_root
from vademecum.codebase.repository import Repository, index_directory, repository_name
from vademecum.codebase.rerank import Reranking
from vademecum.codebase.walk import WalkSettings
from vademecum.codebase.workers import Plan
from vademecum.config import Settings
from vademecum.errors import ConsentError, Error, RootError
from vademecum.plugins import WITHOUT_PROVIDER, load
from vademecum.protocols import Clock, Embedder, Reranker, Store
from vademecum.tools.tools import Tools

P = TypeVar("P", Embedder, Reranker)


@dataclass(frozen=True, slots=True)
class OpenedRoot:
    """A repository that is open: what it is called and where it lies."""

    name: str
    path: str


class Engine:
    """Everything vademecum can do, over one or several repositories. Use it as a context manager, or `close` it."""

    def __init__(
        self, codebase: Codebase, tools: Tools, roots: Sequence[OpenedRoot], closing: list[Callable[[], None]]
    ) -> None:
        self.codebase = codebase
        self.tools = tools
        self.roots = tuple(roots)
        self._closing = closing  # it grows: scope "all" opens more

    @classmethod
    def open(
        cls,
        *paths: str | os.PathLike[str],
        settings: Settings | None = None,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        clock: Clock = time.time,
    ) -> Self:
        """Open the repositories that `paths` lie in; the current directory's unless given.

        A path below a repository's top narrows searches to it. Nothing is read yet.

        Args:
            paths: directories or files.
            settings: all settings; read from their layers for the first path unless given.
            embedder: an object, or `name[:model]`; the setting `search.embedder` unless given.
            reranker: an object, or `name[:model]`; the setting `search.reranker` unless given. A search may name another.
            clock: tells the time, in seconds since the epoch.

        Raises:
            RootError: a path does not exist.
            ConfigError: a setting is wrong.
            StoreError: an index cannot be opened.
        """
        narrowed = narrow(paths or (".",))
        settings = settings or config.load(next(iter(narrowed)).path)
        with ExitStack() as opening:  # what was opened is closed again when something after it cannot be
            closing: list[Callable[[], None]] = []
            opening.callback(lambda: [close() for close in closing])
            assembled = [
                (assemble(root, name, settings, embedder, clock, closing), prefixes)
                for (root, prefixes), name in zip(narrowed.items(), distinct_names(list(narrowed)), strict=True)
            ]
            opening.pop_all()
        known = {repo.catalogue.directory: repo for repo, _ in assembled}

        def everywhere() -> list[Repository]:
            others = {index_directory(settings.home, root): root for root in indexed_roots(settings)}
            others = {directory: root for directory, root in others.items() if directory not in known}
            names = distinct_names(list(others.values()), {repo.name for repo in known.values()})
            for (directory, root), name in zip(others.items(), names, strict=True):
                known[directory] = assemble(root, name, settings, embedder, clock, closing)
            return list(known.values())

        codebase = Codebase(assembled, everywhere, settings.search.ranker, rerankers(settings, reranker))
        tools = assemble_tools(settings, embedder, clock, closing)
        return cls(codebase, tools, [OpenedRoot(repo.name, repo.root.path) for repo, _ in assembled], closing)

    def close(self) -> None:
        """Let go of every database."""
        while self._closing:
            self._closing.pop()()

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def assemble(
    root: Root,
    name: str,
    settings: Settings,
    embedder: Embedder | str | None,
    clock: Clock,
    closing: list[Callable[[], None]],
) -> Repository:
    """Return one repository with its store, catalogue and embedder; what must be closed is added to `closing`."""
    spec, loaded = embedding(settings, embedder)
    directory = index_directory(settings.home, root)
    store: Store = open_store(directory / "index.db")
    closing.append(store.close)
    plan = Plan(
        spec if isinstance(spec, str) else "", settings.index.deadline_s, settings.index.workers or os.cpu_count() or 1
    )
    catalogue = Catalogue(store, directory, lambda: loaded().name, lambda: path_reader(loaded()))
    return Repository(name, root, catalogue, loaded, plan, WalkSettings(settings.index.max_file_bytes), clock)


def assemble_tools(
    settings: Settings, embedder: Embedder | str | None, clock: Clock, closing: list[Callable[[], None]]
) -> Tools:
    """Return the user's tools. Their database is opened when first needed, and is never set aside: nothing remakes it."""
    _, loaded = embedding(settings, embedder)

    @cache
    def opened() -> Store:
        store: Store = load("store", "sqlite", path=settings.home / "user.db")
        closing.append(store.close)
        return store

    return Tools(opened, loaded, clock, str(settings.home / "user.db"))


def embedding(settings: Settings, embedder: Embedder | str | None) -> tuple[Embedder | str, Callable[[], Embedder]]:
    """Return which embedder is to be used, and what loads it when first called.

    That raises what `plugins.load` does, and `ConsentError`.
    """
    spec = settings.search.embedder if embedder is None else embedder
    shared = embedder is None and settings.is_shared("search.embedder")

    @cache
    def loaded() -> Embedder:
        found = load("embedder", spec) if isinstance(spec, str) else spec
        return consented("embedder", found, settings, shared=shared)

    return spec, loaded


def open_store(path: Path) -> Store:
    """Open a database. A damaged one is set aside, never deleted: all it held can be read from the disk again."""
    store: Store = load("store", "sqlite", path=path, set_aside=True)
    return store


def rerankers(settings: Settings, opened_with: Reranker | str | None) -> Callable[[Reranker | str], Reranking]:
    """Return what gives the way to rerank for a provider or its name, for "" what was opened with or is set.

    What is loaded by name is kept. It raises what `plugins.load` does, and `ConsentError`.
    """
    default = settings.search.reranker if opened_with is None else opened_with
    depth = settings.search.rerank_depth

    def of(chosen: Reranker, *, shared: bool = False) -> Reranking:
        return Reranking(chosen.name, consented("reranker", chosen, settings, shared=shared), depth)

    @cache
    def named(spec: str, *, shared: bool) -> Reranking:
        if spec in WITHOUT_PROVIDER["reranker"]:
            return Reranking(spec)
        own = asdict(settings.llm) if spec.partition(":")[0] == "llm" else {}  # that provider has a section of its own
        return of(load("reranker", spec, **own), shared=shared)

    def reranking(chosen: Reranker | str) -> Reranking:
        shared = chosen == "" and opened_with is None and settings.is_shared("search.reranker")
        which = default if chosen == "" else chosen
        return named(which, shared=shared) if isinstance(which, str) else of(which)

    return reranking


def consented(kind: str, provider: P, settings: Settings, *, shared: bool) -> P:
    """Return the provider, unless it sends text elsewhere and nobody agreed to that, or only a repository's own file did.

    `shared` says that such a file chose it.
    """
    sends = f"{kind} {provider.name!r} sends code to another machine"
    if provider.remote and not settings.privacy.allow_remote:
        raise ConsentError(
            f"{sends}: set privacy.allow_remote in your user file or VADE_PRIVACY__ALLOW_REMOTE=1 to agree"
        )
    if provider.remote and shared:
        raise ConsentError(
            f"{sends}, and a repository's own file cannot turn it on: set search.{kind} in your user file or environment"
        )
    return provider


def narrow(paths: Sequence[str | os.PathLike[str]]) -> dict[Root, tuple[str, ...]]:
    """Return each root that paths lie in, with the parts of it they name; () where one names the whole.

    Raises:
        RootError: a path does not exist.
    """
    found: dict[Root, list[str]] = {}
    for path in paths:
        real = os.path.realpath(path)
        if not os.path.exists(real):
            raise RootError(f"{os.fspath(path)!r} does not exist: name a directory or a file")
        if not real.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in real):
            raise RootError(f"{os.fspath(path)!r} is not UTF-8: rename the directory, its path could not be stored")
        root = find_root(real if os.path.isdir(real) else os.path.dirname(real))
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
    """Return the worktrees that have an index below the home directory and are still there."""
    found: dict[str, Root] = {}
    for database in sorted((settings.home / "repos").glob("*/index.db")):
        try:
            store: Store = load("store", "sqlite", path=database)
            rows = store.scan("snapshots", [("kind", "=", "worktree")], ("place",), ("id",))
            store.close()
            roots = [find_root(place) for (place,) in rows.unwrap() if os.path.isdir(place)]
        except Error:
            continue  # another process may be making it, or `doctor` will tell
        found |= {root.path: root for root in roots if index_directory(settings.home, root) == database.parent}
    return list(found.values())
