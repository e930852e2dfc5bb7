"""The parts of an engine: stores, embedders, providers, repositories, memory and tools.

Each part is made when it is first used, modules too, after checking consent: a search loads no memory, no tools, and no
server's client.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from vademecum.code.checkout.classify import file_kind
from vademecum.code.checkout.root import Root, index_directory
from vademecum.code.checkout.walk import WalkSettings
from vademecum.code.chunking.analyse import Plan, path_reader
from vademecum.code.codebase import NOT_OPEN, Codebase
from vademecum.code.indexing.index import Refresher
from vademecum.code.search.search import Reranking
from vademecum.code.snapshot.catalogue import Catalogue
from vademecum.code.snapshot.repository import LOCAL_VECTORS, DenseSearch, Items, Repository
from vademecum.config import Settings
from vademecum.errors import AccessError, StoreAwayError, UsageError
from vademecum.plugins import BUILT_IN, DERIVED, WITHOUT_PROVIDER, find, load
from vademecum.protocols import (
    Clock,
    Embedder,
    Enricher,
    Extractor,
    Progress,
    Reranker,
    SearchServer,
    Store,
    TokenCounter,
    VectorIndex,
)
from vademecum.types import Answer, CommitMessage, Evidence, FileKind
from vademecum.wiring.roots import consented, distinct_names, indexed_roots
from vademecum.wiring.stores import INDEX, TOOLS, Stores

if TYPE_CHECKING:
    from vademecum.answers.pack import Offer, Within
    from vademecum.code.indexing.summaries import Pace
    from vademecum.code.search.evidence import FileChunks
    from vademecum.context.code import Makers
    from vademecum.memory.anchors import Site
    from vademecum.memory.ledger import Scope
    from vademecum.memory.memory import Memory
    from vademecum.memory.records import Note, Reading, Role
    from vademecum.memory.segment_store import Sharing
    from vademecum.memory.sync import Outside
    from vademecum.protocols import Backlog, DocumentSource
    from vademecum.settings import SourceSettings
    from vademecum.sources.sources import Source
    from vademecum.tools.tools import Tools

PROSE = "static:prose-1"  # the built-in embedder of what tools say of themselves
MODELS = "models"  # folder of downloaded models, below the home directory
SCALES = "scales"  # folder of calibrations between two embedders
ON_THIS_MACHINE = frozenset({"onnx", "model2vec", "sentence-transformers"})
ON_SERVERS = frozenset({"ollama", "openai", "voyage"})
BESIDE = frozenset({"lancedb", "chroma"})  # vector indexes stored as local files beside the index


class Embedders:
    """The embedders of an engine: `given`, or those of the settings.

    Loading one raises the errors of `plugins.load`, and `ConsentError`.
    """

    def __init__(self, settings: Settings, given: Embedder | str | None) -> None:
        self._settings, self._given = settings, given
        self._spec = settings.search.embedder if given is None else given
        prose = settings.search.prose_embedder if given is None else ""
        self._prose_spec = "" if prose == self._spec else prose

    @property
    def is_dual(self) -> bool:
        """True when code and prose have one embedder each."""
        return bool(self._prose_spec)

    @property
    def derived(self) -> str:
        """The embedder beside the parser; "" when vectors come later."""
        spec = self._spec if isinstance(self._spec, str) and not self.is_dual else ""
        return spec if spec.partition(":")[0] in DERIVED else ""

    @cached_property
    def code(self) -> Embedder:
        """The embedder for code."""
        shared = self._given is None and self._settings.is_shared("search.embedder")
        found = self._loaded(self._spec) if isinstance(self._spec, str) else self._spec
        return consented("embedder", found, self._settings, shared=shared)

    @cached_property
    def prose(self) -> Embedder:
        """The embedder for prose alone, such as descriptions of tools."""
        if not self.is_dual:
            return self.code
        shared = self._settings.is_shared("search.prose_embedder")
        return consented("prose embedder", self._loaded(self._prose_spec), self._settings, shared=shared)

    @cached_property
    def tools(self) -> Embedder:
        """The embedder for tools: beside the built-in one, its table for prose."""
        return self.prose if self.is_dual or self._spec != "static" else self._loaded(PROSE)

    @cached_property
    def both(self) -> Embedder:
        """The embedder for code and documents."""
        if not self.is_dual:
            return self.code
        from vademecum.embedding import DualEmbedder

        return DualEmbedder(self.code, self.prose, self._settings.home / SCALES)

    @cached_property
    def steady(self) -> Embedder:
        """The embedder of memory; while it fails, words alone."""
        if self.derived:
            return self.prose
        from vademecum.embedding import SteadyEmbedder

        return SteadyEmbedder(self.prose)

    def _loaded(self, spec: str) -> Embedder:
        name, own = spec.partition(":")[0], dict[str, Any]()
        if name in ON_THIS_MACHINE | ON_SERVERS:
            own["settings"] = self._settings.embedding
        if name in ON_THIS_MACHINE:
            own["models"] = str(self._settings.home / MODELS)
        found: Embedder = load("embedder", spec, **own)
        return found


class Parts:
    """The parts of one engine, each made when it is first used.

    Making one raises the errors of `plugins.load`, `ConsentError` and `StoreError`. The arguments are those of
    `Engine.open`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        enricher: Enricher | str | None = None,
        counter: TokenCounter | str | None = None,
        clock: Clock = time.time,
        personal: bool = True,
        sharing: Sharing | None = None,
    ) -> None:
        self.settings, self.clock, self.personal, self.sharing = settings, clock, personal, sharing
        self.ranker = settings.search.ranker
        self.embedders = Embedders(settings, embedder)
        self.stores = Stores(settings)
        self.closing: list[Callable[[], None]] = []  # called by `close`, the last one first
        finalize(self, _close_all, self.closing)  # also before the interpreter ends, when files can still be sealed
        self._reranker, self._enricher, self._counter = reranker, enricher, counter
        self._named_rerankers: dict[str, Reranker] = {}
        self._repositories: dict[Path, Repository] = {}  # by directory
        self._memories: dict[Path, Store] = {}  # by directory
        self._sources: dict[str, Source] = {}

    def close(self) -> None:
        """Close every database that was opened."""
        _close_all(self.closing)

    # -- code ----------------------------------------------------------------------------------------------------

    def codebase(self, repositories: Sequence[tuple[Repository, tuple[str, ...]]]) -> Codebase:
        """Return a codebase of open repositories, with its configured wrappers."""
        if self.stores.shared:
            from vademecum.code.shared_index import SharedCodebase

            return SharedCodebase(repositories, self)
        if self.source_settings:
            from vademecum.code.documented_codebase import DocumentedCodebase

            return DocumentedCodebase(repositories, self)
        return Codebase(repositories, self)

    def repository(self, root: Root, name: str) -> Repository:
        """Open one repository."""
        store, directory = self.stores.code(root), index_directory(self.settings.home, root)
        embedders = self.embedders
        self.closing.append(store.close)
        catalogue = self._catalogue(store, directory)
        repo = Repository(
            name, root, catalogue, lambda: embedders.both, self._plan,
            WalkSettings(self.settings.index.max_file_bytes), self.clock, lambda: embedders.steady,
            self.settings.embedding.batch_texts, self._enricher_name, self.stores.where(directory / INDEX),
            self.stores.space(root), self._dense(catalogue, self.stores.called(root)),
        )  # fmt: skip
        self._repositories[directory] = repo
        return repo

    def everywhere(self) -> list[Repository]:
        """Return every repository indexed here, open ones first. Raises `AccessError`."""
        if not self.personal:
            raise AccessError(NOT_OPEN)
        known = self._repositories
        roots = {index_directory(self.settings.home, root): root for root in indexed_roots(self.settings)}
        others = [root for directory, root in roots.items() if directory not in known]
        for root, name in zip(others, distinct_names(others, {repo.name for repo in known.values()}), strict=True):
            self.repository(root, name)
        return list(known.values())

    @cached_property
    def refresher(self) -> Refresher:
        """Opens repositories, from a local copy while a database is away."""
        if not self.stores.shared:
            return Refresher()
        from vademecum.code.indexing.offline import OfflineRefresher

        return OfflineRefresher()

    @cached_property
    def search_server(self) -> SearchServer:
        """The search server of the shared database, or of several."""
        own, urls = self.settings.storage, self.stores.searched
        servers: list[SearchServer] = [find("searcher", own.provider)(url=url, timeout_s=own.timeout_s) for url in urls]
        if len(servers) == 1:
            return servers[0]
        from vademecum.code.shared_index import SeveralServers

        return SeveralServers(servers)

    @property
    def _plan(self) -> Plan:
        own = self.settings.index
        return Plan(self.embedders.derived, own.deadline_s, own.workers or os.cpu_count() or 1)

    def _catalogue(self, store: Store, directory: Path, kind_of: Callable[[str], FileKind] = file_kind) -> Catalogue:
        embedders = self.embedders
        return Catalogue(
            store, directory, lambda: embedders.both.name, lambda: path_reader(embedders.both, kind_of), self.stores.here
        )  # fmt: skip

    def _dense(self, catalogue: Catalogue, name: str) -> DenseSearch:
        """Return the dense search of a repository's vectors, where `search.vectors` says."""
        kind = self.settings.search.vectors
        if kind == "exact":
            return LOCAL_VECTORS
        from vademecum.code.search.dense_search import Mirror, MirroredVectors

        prefix = getattr(getattr(self.settings, kind, None), "collection", "vademecum")
        mirror = Mirror(
            kind, f"{prefix}-{name}", partial(self.vector_index, directory=catalogue.directory), catalogue=catalogue,
            repo=name, embedder=lambda: self.embedders.both, clock=self.clock,
        )  # fmt: skip
        self.closing.append(mirror.close)
        return MirroredVectors(mirror)

    def vector_index(self, collection: str, model: str, dim: int, directory: Path) -> VectorIndex:
        """Open the configured vector index for a collection."""
        settings, kind = self.settings, self.settings.search.vectors
        own: dict[str, Any] = {}
        if kind in BUILT_IN["vectors"] and hasattr(settings, kind):  # such a kind has its own section of settings
            own = asdict(getattr(settings, kind))
            own.pop("collection", None)
        if kind == "pgvector":  # the database of `storage.url`, even when records are in files
            own = {"url": settings.storage.url, "timeout_s": settings.storage.timeout_s}
        if kind in BESIDE:
            own["directory"] = directory / kind
        index: VectorIndex = load("vectors", kind, collection=collection, model=model, dim=dim, **own)
        return consented("vectors", index, settings, shared=settings.is_shared("search.vectors"))

    def makers(
        self, codebase: Codebase, within: Within, progress: Progress | None, *, refresh: bool, several: bool
    ) -> Makers:
        """Return the sources of a context, for a question's limits."""
        from vademecum.code.search.evidence import FileChunks
        from vademecum.context.code import Makers

        commit = within.commit

        def pieces(path: str, repo: str) -> FileChunks:
            return codebase.chunks(path, repo, commit) if codebase.is_open(repo) else FileChunks.of(())

        def search(task: str, k: int) -> Answer:
            return codebase.search(task, k=k, joined=False, refresh=refresh, progress=progress, **within.filters())

        def related(task: str, found: Sequence[Evidence]) -> tuple[Sequence[Offer], Sequence[Offer]]:
            from vademecum.context.related import relations

            try:
                return relations(
                    partial(codebase.graph, commit=commit, refresh=False), pieces, task, found, within.exclude
                )
            except StoreAwayError:  # the graph needs the database; the search already said that it is away
                return (), ()

        own = self.settings.context
        return Makers(
            search, pieces, self.counter, related, (), self.settings.home, (own.primary, own.related, own.graph),
            name_repos=several or within.scope in {"all", "shared"}, clock=self.clock,
        )  # fmt: skip

    # -- memory and tools ----------------------------------------------------------------------------------------

    def memory_stores(self, repos: Sequence[Repository]) -> list[tuple[Root | None, Path, Store]]:
        """Return the memories of several repositories, the nearest first: root, directory, store.

        A personal engine has the global memory too, without a root. Outside of git there is the global memory alone.
        Worktrees of one repository share a memory.

        Raises:
            AccessError: only the global memory exists, and the caller may not see it.
        """
        first = _nearest(repos)
        if not self.personal and not first.root.common_dir:
            raise AccessError(f"{first.name} is no git repository and has no memory of its own: ask about one that has")
        places: dict[Path, Root | None] = {}
        for repo in repos:
            if repo.root.common_dir:
                places.setdefault(repo.catalogue.directory, repo.root)
        places |= {self.settings.home: None} if self.personal else {}
        for directory, root in places.items():
            if directory not in self._memories:
                self._memories[directory] = self.stores.memory(root)
                self.closing.append(self._memories[directory].close)
        return [(root, directory, self._memories[directory]) for directory, root in places.items()]

    def scopes(self, repos: Sequence[Repository]) -> tuple[Scope, ...]:
        """Return the scopes of `memory_stores`, numbered in their order."""
        from vademecum.memory.ledger import GLOBAL, REPOSITORY, scope_of

        return tuple(
            scope_of(number, REPOSITORY if root else GLOBAL, root.path if root else "", directory, store)
            for number, (root, directory, store) in enumerate(self.memory_stores(repos))
        )

    def memory(self, repos: Sequence[Repository], codebase: Codebase) -> Memory:
        """Return a memory over several repositories; new events join the first."""
        from vademecum.memory.memory import Memory

        first = _nearest(repos)
        memory = Memory(
            self.scopes(repos), first.prose, extract, self.clock, look_up=partial(look_up, repos, codebase),
            language=self.settings.memory.language, outside=self._outside(first), sharing=self.sharing,
        )  # fmt: skip
        self.closing.append(memory.close)
        return memory

    def _outside(self, repo: Repository) -> Outside:
        """Return the further inputs of memory: agents' files, commits, extractor.

        Outside of git there is the extractor alone.
        """
        from vademecum.code.checkout.commits import messages
        from vademecum.code.checkout.root import worktrees
        from vademecum.memory.sync import Outside

        if not repo.root.common_dir:
            return Outside(extractor=self.extractor)  # other projects' texts must not enter the global memory

        def commits(known: str) -> list[CommitMessage]:
            return messages(repo.root, known).unwrap()

        return Outside(os.path.expanduser("~"), os.environ, tuple(worktrees(repo.root)), commits, self.extractor)

    def code_notes(
        self, repos: Sequence[Repository], codebase: Codebase, symbols: Callable[[], Mapping[str, str]]
    ) -> list[Note]:
        """Return the current facts about symbols of the code.

        Memory is loaded only where a fact is about code. `symbols` makes qualified name → the shown symbol that calls it, or ""
        for a symbol that is shown itself.
        """
        if not any(store.scan("anchors", columns=("fact",)).unwrap() for _, _, store in self.memory_stores(repos)):
            return []
        from vademecum.memory.anchors import Anchoring

        anchoring, wanted = Anchoring(partial(look_up, repos, codebase)), symbols()
        return [note for scope in self.scopes(repos) for note in anchoring.about(scope, wanted)]

    def tools(self) -> Tools:
        """Return the user's tools.

        Their database is opened when first needed. A damaged file is never set aside, because its records cannot be made
        again.
        """
        from vademecum.tools.tools import Tools

        @cache
        def opened() -> Store:
            if not self.personal:
                raise AccessError(
                    "tools and how they were used belong to the user, not to a repository: ask with the user's key"
                )
            store = self.stores.tools()
            self.closing.extend((store.close, tools.close))  # the last one is closed first
            return store

        own = self.settings.tools
        tools = Tools(
            opened, lambda: self.embedders.tools, self.clock, self.stores.where(self.settings.home / TOOLS),
            reliability=own.reliability, min_score=own.min_score,
        )  # fmt: skip
        return tools

    # -- providers -----------------------------------------------------------------------------------------------

    def reranking(self, chosen: Reranker | str) -> Reranking:
        """Return the reranking of a provider or its name.

        "" means the reranker of `Engine.open`, or else the setting.
        """
        return self._default_reranking if chosen == "" else self._reranking(chosen)

    @cached_property
    def _default_reranking(self) -> Reranking:
        if self._reranker is not None:
            return self._reranking(self._reranker)
        return self._reranking(self.settings.search.reranker, shared=self.settings.is_shared("search.reranker"))

    def _reranking(self, chosen: Reranker | str, *, shared: bool = False) -> Reranking:
        if isinstance(chosen, str):
            if chosen in WITHOUT_PROVIDER["reranker"]:
                return Reranking(chosen)
            if chosen not in self._named_rerankers:
                self._named_rerankers[chosen] = load("reranker", chosen, **self._llm_settings(chosen))
            chosen = self._named_rerankers[chosen]
        provider = consented("reranker", chosen, self.settings, shared=shared)
        return Reranking(provider.name, provider, self.settings.search.rerank_depth)

    def _llm_settings(self, spec: str) -> dict[str, Any]:
        return asdict(self.settings.llm) if spec.partition(":")[0] == "llm" else {}

    @property
    def _enricher_name(self) -> str:
        chosen = self.settings.enrich.provider if self._enricher is None else self._enricher
        return chosen if isinstance(chosen, str) else chosen.name

    @cached_property
    def enricher(self) -> tuple[Enricher, Pace]:
        """The enricher and its request rate. Raises `UsageError` where none is set."""
        from vademecum.code.indexing.summaries import Pace

        own = self.settings.enrich
        chosen = own.provider if self._enricher is None else self._enricher
        if not chosen:
            raise UsageError('no enricher is set: set enrich.provider in your user file, as in "ollama:qwen2.5-coder"')
        if isinstance(chosen, str):
            name, server = chosen.partition(":")[0], asdict(self.settings.llm)
            if server.pop("api") != name:  # another kind of server has another address and key
                server = {"timeout_s": server["timeout_s"]}
            loaded: Enricher = load("enricher", chosen, **(server if name in BUILT_IN["enricher"] else {}))
            chosen = loaded
        return consented("enricher", chosen, self.settings, shared=False), Pace(own.per_minute, own.parallel)

    def extractor(self) -> Extractor | None:
        """Return the configured extractor of memory, None without one."""
        spec = self.settings.memory.extractor
        if spec in WITHOUT_PROVIDER["extractor"]:
            return None
        found: Extractor = load("extractor", spec, **self._llm_settings(spec))
        return consented("extractor", found, self.settings, shared=self.settings.is_shared("memory.extractor"))

    @cached_property
    def counter(self) -> TokenCounter:
        """The counter of tokens."""
        chosen = self.settings.context.counter if self._counter is None else self._counter
        loaded: TokenCounter = load("counter", chosen) if isinstance(chosen, str) else chosen
        return loaded

    # -- sources -------------------------------------------------------------------------------------------------

    @property
    def source_settings(self) -> Mapping[str, SourceSettings]:
        """The settings of the user's sources; others have none."""
        return self.settings.sources if self.personal else {}

    @property
    def source_patterns(self) -> Mapping[str, Sequence[str]]:
        """Each source's repositories, as patterns; () for all."""
        return {name: own.repos for name, own in self.source_settings.items()}

    def source(self, name: str) -> Source:
        """Return one source: its opened store and a loader of its provider."""
        if name not in self._sources:
            self._sources[name] = self._opened_source(name)
        return self._sources[name]

    def _opened_source(self, name: str) -> Source:
        from vademecum.sources.fetched import Ledger
        from vademecum.sources.sources import Source, digest_of

        directory, store = self.settings.home / "sources" / name, self.stores.source(name)
        embedders = self.embedders
        self.closing.append(store.close)
        repo = Repository(
            name, Root(str(directory)), self._catalogue(store, directory, lambda _: FileKind.DOC),
            lambda: embedders.both, self._plan, WalkSettings(), self.clock, lambda: embedders.steady,
            self.settings.embedding.batch_texts, items=Items(lambda: store), database=self.stores.where(directory / INDEX),
        )  # fmt: skip
        own = self.settings.sources[name]
        provider = partial(self.source_provider, name)
        return Source(name, own.provider, digest_of(own), repo, Ledger(store), provider, self.clock)

    def source_provider(self, name: str) -> Backlog | DocumentSource:
        """Open a source's provider."""
        from vademecum.sources.sources import open_provider

        kind, found = open_provider(name, self.settings.sources[name])
        return consented(kind, found, self.settings, shared=False)

    def fetched_source(self, name: str) -> Repository | None:
        """Return a source's index; None for a source that was never fetched."""
        repo = self.source(name).repo if self.stores.has_source(name) else None
        return repo if repo is not None and repo.catalogue.load(*repo.place) is not None else None

    def is_remote_source(self, name: str) -> tuple[bool, bool]:
        """Return whether a source is remote, and allowed by the user."""
        from vademecum.sources.sources import open_provider

        found = open_provider(name, self.settings.sources[name])[1]
        return found.remote, self.settings.privacy.allow_remote or not found.remote


def _nearest(repos: Sequence[Repository]) -> Repository:
    """Return the first git repository; without one, the first folder."""
    return next((repo for repo in repos if repo.root.common_dir), repos[0])


def extract(text: str, role: Role) -> Reading:
    """Read the statements in a text; the first call loads the reader."""
    from vademecum.memory.extract import read

    return read(text, role)


def look_up(repos: Sequence[Repository], codebase: Codebase, names: Sequence[str]) -> dict[str, list[Site]] | None:
    """Return the places of names, refreshed; None without an index."""
    indexed = [repo for repo in repos if repo.catalogue.load("worktree", repo.root.path) is not None]
    if not indexed:
        return None
    codebase.refresh()
    return {name: [site for repo in indexed for site in _defined(codebase, repo, name)] for name in names}


def _defined(codebase: Codebase, repo: Repository, name: str) -> list[Site]:
    from vademecum.memory.anchors import MOST_SITES, Site

    try:
        found = codebase.symbol(name, k=MOST_SITES + 1, repo=repo.name, refresh=False, nearest=False)
    except UsageError:  # no language allows such a name
        return []
    return [Site(each.symbols[0], each.path, each.id.rpartition(":")[2]) for each in found.evidence]


def _close_all(closing: list[Callable[[], None]]) -> None:
    while closing:
        closing.pop()()
