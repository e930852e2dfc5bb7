"""The code capability: `engine.codebase`, over the open repositories."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from vademecum.code.indexing.index import Refresher, cover, covered_said, index
from vademecum.code.languages import named_language
from vademecum.code.search.evidence import FileChunks, pieces_of
from vademecum.code.search.search import Reranking, search
from vademecum.code.snapshot.repository import Opened, Repository, narrowed
from vademecum.errors import StoreAwayError, StoreCorruptError, UnknownError, UsageError
from vademecum.protocols import Enricher, Progress, Reranker, silent
from vademecum.types import Answer, Check, EnrichReport, Evidence, GcReport, IndexReport, Neighbours, Query, RepoStatus

if TYPE_CHECKING:  # loaded where they are used, so that a search starts fast
    from vademecum.code.graph.graph import Graph
    from vademecum.code.graph.outline import Entry
    from vademecum.code.indexing.summaries import Pace
    from vademecum.code.indexing.watch import Hook
    from vademecum.code.search.open import FileFacts
    from vademecum.items import NamedItem

T = TypeVar("T")
TRIES = 4  # of a question, while another process changes the index
NOT_OPEN = "other repositories on this machine are not open to this caller: ask about the open ones"
Below = Sequence[str]  # directories and files that limit declarations, from the repository's top; () for no limit
ALL = "all"  # names every source
SCOPES = ("repo", "repos", "all", "shared")


@dataclass(frozen=True, slots=True)
class Where:
    """The place of a search, as in `Codebase.search`."""

    commit: str = ""
    repos: Sequence[str] = ()
    scope: str = "repo"
    sources: Sequence[str] = ()
    refresh: bool = True
    progress: Progress = silent


class Parts(Protocol):
    """The parts of a codebase, made when needed: see `wiring.parts`."""

    ranker: str  # the default ranker

    @property
    def refresher(self) -> Refresher:
        """Opens repositories for a question."""

    @property
    def enricher(self) -> tuple[Enricher, Pace]:
        """The enricher and its request rate."""

    def reranking(self, chosen: Reranker | str) -> Reranking:
        """Return a provider's reranking; "" stands for the default."""

    def everywhere(self) -> Sequence[Repository]:
        """Return every repository with an index on this machine."""


class Codebase:
    """A finder of code, with evidence, in one or more repositories.

    Each comes with the path prefixes it was narrowed to; the first is the default.
    """

    def __init__(self, repositories: Sequence[tuple[Repository, tuple[str, ...]]], parts: Parts) -> None:
        self._repositories = list(repositories)
        self._parts = parts
        self._refresher = parts.refresher

    def index(
        self,
        progress: Progress | None = None,
        *,
        full: bool = False,
        commit: str = "",
        scip: Sequence[str] = (),
        only: Sequence[str] = (),
    ) -> IndexReport:
        """Bring the first repository's index up to date.

        `full` reads every file again, `commit` indexes a revision. `scip` are files that a SCIP indexer wrote: what they say
        goes before what the graph finds by itself, in files that have not changed since; "none" forgets those before.
        `only` are files and folders that this index of the checkout keeps to from now on; its root lifts the limit.

        Raises:
            Error: the problem and its fix; the previous index is intact.
            UsageError: `scip` or `only` with `commit`: both are about the files on disk; or `only` holds no file.
        """
        if (scip or only) and commit:
            raise UsageError("--scip and --only are about the files on disk: leave --commit out")
        repo = self._repositories[0][0]
        if only:
            cover(repo, only)
        return asked_again(lambda: self._index(repo, progress or silent, commit, full=full, scip=scip))

    def index_all(self, progress: Progress | None = None, *, full: bool = False, commit: str = "") -> list[IndexReport]:
        """Bring every open repository's index up to date."""
        return [self._index(repo, progress or silent, commit, full=full) for repo, _ in self._repositories]

    def refresh(self, progress: Progress | None = None, *, linked: bool = False) -> list[IndexReport]:
        """Index the changes, as every search does first.

        With `linked` references are indexed too, as a context needs. Waits briefly for another process.
        """
        return [self._refresher.refresh(repo, progress or silent, linked=linked) for repo, _ in self._repositories]

    def search(  # noqa: PLR0913 - the filters people type, each by its name
        self,
        text: str,
        *,
        k: int = 10,
        languages: Sequence[str] = (),
        paths: Sequence[str] = (),
        exclude: Sequence[str] = (),
        kind: str = "all",
        symbol: str = "",
        pattern: str = "",
        commit: str = "",
        repos: Sequence[str] = (),
        scope: str = "repos",
        sources: Sequence[str] = (),
        ranker: str = "",
        reranker: Reranker | str = "",
        joined: bool = True,
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> Answer:
        """Answer a question about code, or find a name.

        See `types.Query` for the filters.

        Args:
            text: the question, in words or as a name.
            k: the most pieces of evidence.
            languages: only files in one of these languages; aliases like "ts" are known.
            paths: only files that match one of these globs, or lie below one of these directories.
            exclude: no files that match one of these globs or directories.
            kind: only files of one kind, a key of `types.KINDS`.
            symbol: only chunks that define this name.
            pattern: only chunks in which this regular expression matches.
            commit: search this revision instead of the worktree; the revision is indexed first if needed.
            repos: names of open repositories to search, or of sources; all repositories unless given.
            scope: "repo" for the first repository, "repos" for the open ones, "all" for every repository indexed on this
                machine, "shared" for every repository in the shared database, searched by its server without a checkout here.
            sources: names of backlogs and document sources to search, alone unless `repos` are named too. Where `kind` is
                "doc", the sources that belong to the repositories are searched with them.
            ranker: the ranker, one of `code.search.rank.RANKERS`; the setting's unless given.
            reranker: the reranker: "built-in", "none" for the first step of ranking alone, or a provider, as an object or
                as `name[:model]`.
            joined: whether nearby chunks of a file become one piece of evidence.
            refresh: whether to index changes first.
            progress: receives the progress of indexing.

        Raises:
            Error: the problem and its fix. An empty result is an answer, not an error. If a reranker fails, the answer
                stays as ranked, and its `reason` says so.
        """
        query = Query(
            text, k, tuple(map(named_language, languages)), tuple(paths), tuple(exclude), kind, symbol, pattern, joined
        )  # fmt: skip
        where = Where(commit, repos, scope, sources, refresh, progress or silent)
        return self._answer(query, where, ranker or self._parts.ranker, self._parts.reranking(reranker))

    def _answer(self, query: Query, where: Where, ranker: str, reranking: Reranking) -> Answer:
        return asked_again(lambda: self._search(query, where, ranker, reranking))

    def _search(self, query: Query, where: Where, ranker: str, reranking: Reranking) -> Answer:
        if where.sources:
            raise no_source(where.sources)
        return search(self._opened(where), query, ranker, reranking)

    def symbol(
        self, name: str, k: int = 10, repo: str = "", *, below: Below = (), refresh: bool = True, nearest: bool = True
    ) -> Answer:
        """Find where a name is defined: exact, inherited, or not found.

        `Class.method`, `module::Type` and paths narrow the search.
        """
        from vademecum.code.graph.symbol import find_inherited, find_symbol

        where = Where(repos=(repo,) if repo else (), scope="repos", refresh=refresh)

        def ask() -> Answer:
            opened = [narrowed(each, below) for each in self._opened(where)]
            answer = find_symbol(opened, name, k, nearest=nearest)
            return answer or find_inherited(opened, name, k, answer, silent)

        return asked_again(ask)

    def items(self, evidence: Sequence[Evidence]) -> list[NamedItem]:  # noqa: ARG002 - of `DocumentedCodebase`
        """Return the backlog items and documents that evidence references.

        Lines reference items, and so do commits that changed the file. Empty where no source was synced.
        """
        return []

    def graph(
        self,
        repo: str = "",
        commit: str = "",
        *,
        below: Below = (),
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> Graph:
        """Return a repository's graph, by default the first's, brought up to date."""
        from vademecum.code.graph.graph import graph_of

        opened = self._opened_one(repo, commit, refresh=refresh, progress=progress or silent)
        return graph_of(opened, progress or silent, below=narrowed(opened, below).prefixes if below else ())

    def callers(
        self, name: str, depth: int = 1, *, repo: str = "", below: Below = (), guesses: bool = False
    ) -> Neighbours:
        """Return the callers of a declaration, up to `depth` steps away.

        `depth` is 1 to 3. The answer is "unknown" where the callers cannot be known.

        Raises:
            UsageError: `depth` is not 1, 2 or 3.
        """
        return self._told(repo, below, lambda asked, graph: asked.callers(graph, name, depth, guesses=guesses))

    def callees(
        self, name: str, depth: int = 1, *, repo: str = "", below: Below = (), guesses: bool = False
    ) -> Neighbours:
        """Return the declarations that one uses, up to `depth` steps away."""
        return self._told(repo, below, lambda asked, graph: asked.callees(graph, name, depth, guesses=guesses))

    def impact(
        self, name: str = "", depth: int = 2, *, diff: str = "", repo: str = "", below: Below = ()
    ) -> Neighbours:
        """Return code and tests affected by changing a declaration or git range."""
        if not diff:
            return self._told(repo, below, lambda asked, graph: asked.impact(graph, graph.named(name), name, depth))
        before = partial(self.graph, repo, refresh=False)
        return self._told(repo, below, lambda asked, graph: asked.impact_of_diff(graph, diff, before, depth))

    def path(self, source: str, target: str, depth: int = 2, *, repo: str = "", below: Below = ()) -> Neighbours:
        """Return how one declaration leads to another, `depth` steps from each end."""
        return self._told(repo, below, lambda asked, graph: asked.path(graph, source, target, depth))

    def related(
        self, location: str, question: str = "", depth: int = 2, *, repo: str = "", below: Below = ()
    ) -> Neighbours:
        """Return code related to `path:line`, the most relevant first.

        These are callers, tests, contracts and neighbours, ordered by relevance to a question.
        """
        return self._told(repo, below, lambda asked, graph: asked.related(graph, location, question, depth))

    def _told(self, repo: str, below: Below, ask: Callable[[Any, Graph], Neighbours]) -> Neighbours:
        """Answer a question about a graph; `code.graph.questions` is loaded here.

        Without `repo`, the first open repository answers that knows the name.
        """
        from vademecum.code.graph import questions

        def asked(of: str) -> Neighbours:
            graph = self.graph(of, below=below)
            return questions.as_it_stands(graph, ask(questions, graph))

        *others, last = [own.name for own, _ in self._chosen((repo,) if repo else ())]
        for name in others:
            with suppress(UsageError):  # a path that is in another repository
                if (answer := asked_again(partial(asked, name))).verdict != "not_found":
                    return answer
        return asked_again(partial(asked, last))

    def documents(self, text: str, k: int) -> tuple[Evidence, ...]:  # noqa: ARG002 - of `DocumentedCodebase`
        """Return the evidence that documents and backlogs give on a question.

        Only sources that belong to the open repositories are searched.
        """
        return ()

    def items_at(self, answer: Neighbours) -> list[NamedItem]:
        """Return the items that an answer's declarations reference, as `items` does."""
        return self.items([
            Evidence("", of.repo, "", "", of.path, of.start_line, of.end_line, "", 0.0, "", "") for of in answer.of
        ])  # fmt: skip

    def open(self, location: str, commit: str = "", repo: str = "") -> Evidence:
        """Read lines of one file or item as evidence.

        A file is `path`, `path:10` or `path:10-40`, an item `source:KEY`.

        Raises:
            OutsideRootError: the path leads out of the repository.
            UsageError, SourceError: there is nothing to show.
        """
        from vademecum.code.search.open import open_location

        chosen, _ = self._chosen((repo,) if repo else ())[0]
        return open_location(chosen, location, commit)

    def is_open(self, repo: str) -> bool:
        """Return whether a repository of this name is open."""
        return any(repo == own.name for own, _ in self._repositories)

    def chunks(self, path: str, repo: str = "", commit: str = "") -> FileChunks:
        """Return every chunk of one indexed file, in order.

        The index is not refreshed. Empty for a file that is not indexed.
        """
        return pieces_of(self._opened_one(repo, commit), path)

    def outline(
        self, repo: str = "", found: Sequence[Evidence] = (), paths: Sequence[str] = (), within: Sequence[str] = ()
    ) -> list[Entry]:
        """Return a repository's declarations, the most central first.

        Centrality is seen from evidence or files. `within` limits the result to globs.
        """
        from vademecum.code.graph.outline import outline

        def drawn() -> list[Entry]:
            graph = self.graph(repo, refresh=False)
            return outline(graph, [item for item in found if item.repo == graph.opened.repo.name], paths, within)

        return asked_again(drawn)

    def files(self, repo: str = "", after: str = "", most: int = 1000) -> tuple[list[FileFacts], int]:
        """Return up to `most` files after a path, and the total, unrefreshed."""
        from vademecum.code.search.open import inventory

        opened = self._opened_one(repo)
        return inventory(opened, after, most), opened.view.files.indexed

    def states(self, repos: Sequence[str] = ()) -> tuple[str, ...]:
        """Return each repository's indexed state as a string.

        Equal strings mean equal states; "" means that nothing is indexed.
        """
        loaded = (repo.catalogue.load("worktree", repo.root.path) for repo, _ in self._chosen(repos))
        return tuple("" if found is None else f"{found[0].label} {found[0].table_file}" for found in loaded)

    def status(self) -> list[RepoStatus]:
        """Return the index status of each open repository, without a change."""
        from vademecum.code.indexing.status import status_of

        return [status_of(repo) for repo, _ in self._repositories]

    def gc(self) -> GcReport:
        """Delete unneeded content in every open repository."""
        from vademecum.code.indexing.status import collect_garbage

        reports = [collect_garbage(repo) for repo in self._kept()]
        note = "; ".join(filter(None, (report.note for report in reports)))
        return GcReport(
            sum(r.blobs for r in reports), sum(r.chunks for r in reports), sum(r.bytes for r in reports), note
        )

    def doctor(self, *, repair: bool = False) -> list[Check]:
        """Check everything the index needs, with a fix for each problem.

        `repair` fixes an external vector index: missing points are written, and orphans deleted.
        """
        from vademecum.code.indexing.status import check_repository

        return [check for repo, _ in self._repositories for check in check_repository(repo, repair=repair)]

    def hooks(self, action: Literal["status", "install", "uninstall"] = "status") -> list[Hook]:
        """Install, uninstall or list git hooks in every open repository.

        The hooks index in the background.

        Raises:
            UsageError: a repository is not a git repository.
            SourceError: a hook cannot be written.
        """
        from vademecum.code.indexing import watch

        act = {"status": watch.status, "install": watch.install, "uninstall": watch.uninstall}[action]
        return [hook for repo, _ in self._repositories for hook in act(repo.root)]

    def catch_up(self) -> None:
        """Index the first repository, unless another process is about to."""
        from vademecum.code.indexing import watch

        watch.catch_up(self._repositories[0][0])

    def enrich(self, progress: Progress | None = None, stop: threading.Event | None = None) -> list[EnrichReport]:
        """Request a language model's sentence about each chunk.

        Covers every open repository. Stored sentences are not requested again. `stop` ends the run after the pending answers; all
        answers are stored.

        Raises:
            UsageError: no enricher is set.
            ConsentError: the enricher would send code to another machine without consent.
            StoreBusyError: another process is enriching the repository.
        """
        from vademecum.code.indexing.summaries import enrich

        enricher, pace = self._parts.enricher
        self.refresh(progress)
        stop = stop or threading.Event()
        return [enrich(repo, enricher, pace, progress or silent, stop) for repo, _ in self._repositories]

    def watch(self, on_report: Callable[[IndexReport | EnrichReport], None], stop: threading.Event) -> None:
        """Keep the open repositories indexed until `stop` is set.

        Needs the extra `watch`. With an enricher, a separate process requests sentences for new chunks.
        """
        from vademecum.code.indexing import watch

        watch.watch([repo for repo, _ in self._repositories], on_report, stop)

    def _opened(self, where: Where) -> list[Opened]:
        if where.scope not in SCOPES:
            raise UsageError(f"scope {where.scope!r} is not one of {', '.join(SCOPES)}")
        if where.scope == "shared":
            raise UsageError("scope 'shared' needs a shared database: set storage.provider and storage.url")
        chosen = self._chosen(where.repos)[: 1 if where.scope == "repo" else None]
        if where.scope == "all":
            own = {repo.root.path for repo, _ in chosen}
            chosen += [(repo, ()) for repo in self._parts.everywhere() if repo.root.path not in own]
        open_one = partial(self._refresher.opened, commit=where.commit, progress=where.progress, refresh=where.refresh)
        return [open_one(repo, prefixes) for repo, prefixes in chosen]

    def _opened_one(
        self, repo: str = "", commit: str = "", *, refresh: bool = False, progress: Progress = silent
    ) -> Opened:
        """Return one open repository, the first unless named."""
        [opened] = self._opened(Where(commit, (repo,) if repo else (), refresh=refresh, progress=progress))
        return opened

    def _kept(self) -> list[Repository]:
        """Return the repositories whose index `gc` cleans."""
        return [repo for repo, _ in self._repositories]

    def _index(
        self, repo: Repository, progress: Progress, commit: str, *, full: bool, scip: Sequence[str] = ()
    ) -> IndexReport:
        """Bring a repository's index and its graph up to date."""
        started = time.perf_counter()
        from vademecum.code.graph.graph import graph_of
        from vademecum.code.graph.proofs import take
        from vademecum.heaps import give_back

        report = index(repo, progress, revision=commit, full=full, references=True)
        if report.added:
            give_back()  # analysing leaves freed memory that the processes that link may want
        anew = repo.catalogue.damaged()
        opened = self._refresher.opened(repo, (), commit, progress, refresh=False)
        for file in scip:
            take(opened, file, progress)
        graph = graph_of(opened, progress)
        part = "" if commit else covered_said(repo)
        notes = tuple(filter(None, (*report.notes, part, *anew, *graph.proofs.notes)))
        return replace(report, notes=notes, seconds=time.perf_counter() - started)

    def _chosen(self, names: Sequence[str]) -> list[tuple[Repository, tuple[str, ...]]]:
        if not names:
            return list(self._repositories)
        known = {repo.name: (repo, prefixes) for repo, prefixes in self._repositories}
        for name in names:
            if name not in known:
                raise UnknownError(f"no open repository is called {name!r}: choose among {', '.join(sorted(known))}")
        return [known[name] for name in dict.fromkeys(names)]


def asked_again(ask: Callable[[], T]) -> T:
    """Ask, and ask again where the index changed meanwhile.

    Another process may write, or delete contents that nobody needs any more, between two steps of a question. `ask` opens
    the index again each time. An index that is damaged fails each time.
    """
    for _ in range(TRIES - 1):
        with suppress(StoreCorruptError, StoreAwayError):
            return ask()
    return ask()


def no_source(names: Sequence[str], known: Collection[str] = ()) -> UsageError:
    """Return the error for a source that is not there."""
    if ALL in names:
        return UsageError("no source was ever fetched: set one up and run `vade sync --all`")
    name = next(name for name in names if name not in known)
    advice = f"choose among {', '.join(sorted(known))}" if known else "`vade sync` lists the sources"
    return UsageError(f"no source of the open repositories is called {name!r}: {advice}")
