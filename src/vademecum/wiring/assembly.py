"""Assembly of the engine's parts: stores and providers, with consent.

`assemble_repository`, `assemble_memory` and `assemble_tools` make the parts of the three capabilities; `reading` makes
the sources of a context. Everything is loaded when first needed, modules too: a search imports no memory and no tools.
The functions append cleanup callbacks to `closing`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from vademecum.code.checkout.commits import Message, messages
from vademecum.code.checkout.identity import index_directory
from vademecum.code.checkout.root import Root, worktrees
from vademecum.code.checkout.walk import WalkSettings
from vademecum.code.chunking.analyse import path_reader
from vademecum.code.codebase import Codebase
from vademecum.code.indexing.summaries import Pace
from vademecum.code.search.chunks import FileChunks
from vademecum.code.search.rerank import Reranking
from vademecum.code.snapshot.plan import Plan
from vademecum.code.snapshot.repository import Repository
from vademecum.code.snapshot.store import Catalogue
from vademecum.config import Settings
from vademecum.errors import AccessError, StoreAwayError, UsageError
from vademecum.plugins import BUILT_IN, WITHOUT_PROVIDER, load
from vademecum.protocols import (
    Clock,
    Embedder,
    Enricher,
    Extractor,
    Progress,
    Reranker,
    Store,
    TokenCounter,
)
from vademecum.types import Answer, Evidence
from vademecum.wiring.consent import consented
from vademecum.wiring.embedding import embedding
from vademecum.wiring.mirroring import mirror_of
from vademecum.wiring.stores import INDEX, TOOLS, Stores

if TYPE_CHECKING:
    from vademecum.answers.piece import Offer, Within
    from vademecum.context.code import Makers
    from vademecum.memory.anchors import LookUp, Site
    from vademecum.memory.memory import Memory
    from vademecum.memory.records import Reading, Role
    from vademecum.memory.shared_view import Sharing
    from vademecum.memory.sync import Outside
    from vademecum.tools.tools import Tools


def assemble_repository(
    root: Root,
    name: str,
    settings: Settings,
    embedder: Embedder | str | None,
    clock: Clock,
    closing: list[Callable[[], None]],
    *,
    enricher: str = "",
) -> Repository:
    """Return one repository with its store, snapshot store and embedder.

    Cleanup callbacks are appended to `closing`. `enricher` names the enricher whose sentences replace summaries.
    """
    chosen = embedding(settings, embedder)
    directory = index_directory(settings.home, root)
    stores = Stores(settings)
    store = stores.code(root)
    closing.append(store.close)
    plan = Plan(chosen.derived, settings.index.deadline_s, settings.index.workers or os.cpu_count() or 1)
    catalogue = Catalogue(
        store, directory, lambda: chosen.loaded().name, lambda: path_reader(chosen.loaded()), stores.here
    )
    mirror = mirror_of(catalogue, stores.called(root), settings, chosen.loaded, clock, closing)
    return Repository(
        name, root, catalogue, chosen.loaded, plan, WalkSettings(settings.index.max_file_bytes), clock,
        chosen.steady, settings.embedding.batch_texts, enricher, mirror=mirror,
        database=stores.where(directory / INDEX), space=stores.space(root),
    )  # fmt: skip


def assemble_memory(
    repos: Sequence[Repository],
    codebase: Codebase,
    settings: Settings,
    clock: Clock,
    closing: list[Callable[[], None]],
    *,
    personal: bool = True,
    sharing: Sharing | None = None,
) -> Memory:
    """Return one memory for several repositories.

    With `personal` it includes the global memory. Outside of git there is the global memory alone.

    New events go to the first repository. Repositories are numbered in their order, and worktrees of one repository share
    a memory.

    Raises:
        AccessError: only the global memory exists, and `personal` is false.
    """
    first = next((repo for repo in repos if repo.root.common_dir), repos[0])
    if not personal and not first.root.common_dir:
        raise AccessError(f"{first.name} is no git repository and has no memory of its own: ask about one that has")
    from vademecum.memory.memory import Memory
    from vademecum.memory.scope import GLOBAL, REPOSITORY, scope_of

    stores = Stores(settings)
    own: dict[Path, Root] = {}
    for repo in repos:
        if repo.root.common_dir:
            own.setdefault(repo.catalogue.directory, repo.root)
    places: list[tuple[str, Root | None, Path]] = [(REPOSITORY, root, at) for at, root in own.items()]
    places += [(GLOBAL, None, settings.home)] if personal else []
    scopes = []
    for number, (name, root, directory) in enumerate(places):
        store = stores.memory(root)
        closing.append(store.close)
        scopes.append(scope_of(number, name, root.path if root else "", directory, store))
    memory = Memory(
        scopes,
        first.prose,
        extract,
        clock,
        look_up=sites(repos, codebase),
        language=settings.memory.language,
        outside=surroundings(first, settings),
        sharing=sharing,
    )
    closing.append(memory.close)
    return memory


def assemble_tools(
    settings: Settings,
    embedder: Embedder | str | None,
    clock: Clock,
    closing: list[Callable[[], None]],
    *,
    personal: bool = True,
) -> Tools:
    """Return the user's tools.

    Their database is opened when first needed. A damaged file is never set aside, because its records cannot be made
    again.
    """
    from vademecum.tools.tools import Tools

    chosen = embedding(settings, embedder)
    stores = Stores(settings)

    @cache
    def opened() -> Store:
        if not personal:
            raise AccessError(
                "tools and how they were used belong to the user, not to a repository: ask with the user's key"
            )
        store = stores.tools()
        closing.extend((store.close, tools.close))  # the last one is closed first
        return store

    tools = Tools(opened, chosen.prose, clock, stores.where(settings.home / TOOLS))
    return tools


def extract(text: str, role: Role, *, later: bool = False) -> Reading:
    """Read the statements in a text.

    The tables of rules are loaded at the first call.
    """
    from vademecum.memory.extract import read

    return read(text, role, later=later)


def extractor(settings: Settings) -> Extractor | None:
    """Return the configured extractor, None without one.

    Raises the errors of `plugins.load`, and `ConsentError`.
    """
    spec = settings.memory.extractor
    if spec in WITHOUT_PROVIDER["extractor"]:
        return None
    own = asdict(settings.llm) if spec.partition(":")[0] == "llm" else {}
    found: Extractor = load("extractor", spec, **own)
    return consented("extractor", found, settings, shared=settings.is_shared("memory.extractor"))


def surroundings(repo: Repository, settings: Settings) -> Outside:
    """Return a repository's surroundings: agents' files, commits and extractor.

    Memory reads these besides recorded events. Outside of git there is the extractor alone.
    """
    from vademecum.memory.sync import Outside

    def reads() -> Extractor | None:
        return extractor(settings)

    if not repo.root.common_dir:
        return Outside(extractor=reads)  # other projects' texts must not enter the global memory

    def told(known: str) -> list[Message]:
        return messages(repo.root, known).unwrap()

    return Outside(os.path.expanduser("~"), os.environ, tuple(worktrees(repo.root)), told, reads)


def sites(repos: Sequence[Repository], codebase: Codebase) -> LookUp:
    """Return a function that finds where names are defined.

    It refreshes the indexes first, and returns None when no repository has an index.
    """

    def look_up(names: Sequence[str]) -> dict[str, list[Site]] | None:
        indexed = [repo for repo in repos if repo.catalogue.load("worktree", repo.root.path) is not None]
        if not indexed:
            return None
        codebase.refresh()
        return {name: [site for repo in indexed for site in _defined(codebase, repo, name)] for name in names}

    return look_up


def _defined(codebase: Codebase, repo: Repository, name: str) -> list[Site]:
    from vademecum.memory.anchors import MOST_SITES, Site

    try:
        found = codebase.symbol(name, k=MOST_SITES + 1, repo=repo.name, refresh=False, nearest=False)
    except UsageError:  # no language allows such a name
        return []
    return [Site(each.symbols[0], each.path, each.id.rpartition(":")[2]) for each in found.evidence]


def reading(
    codebase: Codebase, settings: Settings, counter: TokenCounter | str | None, clock: Clock, *, several: bool
) -> Callable[[Within, bool, Progress | None], Makers]:
    """Return a function that makes context sources for a question's limits.

    The token counter is loaded once.
    """

    @cache
    def counting() -> TokenCounter:
        chosen = settings.context.counter if counter is None else counter
        loaded: TokenCounter = load("counter", chosen) if isinstance(chosen, str) else chosen
        return loaded

    def makers(within: Within, refresh: bool, progress: Progress | None) -> Makers:
        from vademecum.context.code import Makers

        commit = within.commit
        graph = partial(codebase.graph, commit=commit, refresh=False)

        def pieces(path: str, repo: str) -> FileChunks:
            return codebase.chunks(path, repo, commit) if codebase.is_open(repo) else FileChunks.of(())

        def search(task: str, k: int) -> Answer:
            return codebase.search(task, k=k, joined=False, refresh=refresh, progress=progress, **within.filters())

        def related(task: str, found: Sequence[Evidence]) -> tuple[Sequence[Offer], Sequence[Offer]]:
            from vademecum.context.related import relations

            try:
                return relations(graph, pieces, task, found, within.exclude)
            except StoreAwayError:  # the graph needs the database; the search already said that it is away
                return (), ()

        own = settings.context
        return Makers(
            search, pieces, counting(), related, (), settings.home, (own.primary, own.related, own.graph),
            name_repos=several or within.scope in {"all", "shared"}, clock=clock,
        )  # fmt: skip

    return makers


def rerankers(settings: Settings, opened_with: Reranker | str | None) -> Callable[[Reranker | str], Reranking]:
    """Return a function from a provider or its name to `Reranking`.

    "" means the reranker of `Engine.open`, or else the setting. Providers loaded by name are cached. The function raises
    the errors of `plugins.load`, and `ConsentError`.
    """
    default = settings.search.reranker if opened_with is None else opened_with
    depth = settings.search.rerank_depth

    def of(chosen: Reranker, *, shared: bool = False) -> Reranking:
        return Reranking(chosen.name, consented("reranker", chosen, settings, shared=shared), depth)

    @cache
    def named(spec: str, *, shared: bool) -> Reranking:
        if spec in WITHOUT_PROVIDER["reranker"]:
            return Reranking(spec)
        own = (
            asdict(settings.llm) if spec.partition(":")[0] == "llm" else {}
        )  # that provider has its own section of settings
        return of(load("reranker", spec, **own), shared=shared)

    def reranking(chosen: Reranker | str) -> Reranking:
        shared = chosen == "" and opened_with is None and settings.is_shared("search.reranker")
        which = default if chosen == "" else chosen
        return named(which, shared=shared) if isinstance(which, str) else of(which)

    return reranking


def enriching(settings: Settings, opened_with: Enricher | str | None) -> Callable[[], tuple[Enricher, Pace]]:
    """Return a function that gives the enricher and its pace.

    The function raises the errors of `plugins.load`, `UsageError` and `ConsentError`.
    """
    own = settings.enrich

    @cache
    def chosen() -> tuple[Enricher, Pace]:
        spec = own.provider if opened_with is None else opened_with
        if not spec:
            raise UsageError('no enricher is set: set enrich.provider in your user file, as in "ollama:qwen2.5-coder"')
        if isinstance(spec, str):
            server = asdict(settings.llm)
            same = server.pop("api") == spec.partition(":")[0]  # another kind of server has another address and key
            arguments = server if same else {"timeout_s": server["timeout_s"]}
            spec = load("enricher", spec, **(arguments if spec.partition(":")[0] in BUILT_IN["enricher"] else {}))
        assert not isinstance(spec, str)
        return consented("enricher", spec, settings, shared=False), Pace(own.per_minute, own.parallel)

    return chosen
