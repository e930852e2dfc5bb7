"""`Engine`: every feature of vademecum, over one or several repositories.

from vademecum.engine import Engine

engine = Engine.open(".")
engine.codebase.index()
answer = engine.codebase.search("where is the token budget split?")
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vademecum import config
from vademecum.code.snapshot.repository import Repository
from vademecum.config import Settings
from vademecum.errors import Error, StoreAwayError, UnknownError, UsageError
from vademecum.protocols import Clock, Embedder, Enricher, Progress, Reranker, TokenCounter
from vademecum.types import Answer, Check, Evidence
from vademecum.wiring.parts import Parts
from vademecum.wiring.roots import OpenedRoot, distinct_names, narrow

if TYPE_CHECKING:  # imported at first use: a search needs none of these
    from vademecum.answers.pack import Context, Section, Within
    from vademecum.context.code import Makers, Unified
    from vademecum.context.map import Map
    from vademecum.memory.memory import Memory
    from vademecum.memory.records import Note
    from vademecum.memory.segment_store import Sharing
    from vademecum.sources.sources import Sources
    from vademecum.tools.tools import Tools

AROUND = 20  # results for a task that a map centres on
MOST_ITEMS = 4  # of backlogs and documents that match a task
MOST_NOTES = 5  # shown beside an answer about code


class Engine:
    """Every feature of vademecum, over one or several repositories.

    Use an engine as a context manager, or `close` it.
    """

    def __init__(self, parts: Parts, repositories: Sequence[tuple[Repository, tuple[str, ...]]]) -> None:
        self._parts = parts
        self.settings = parts.settings
        self.codebase = parts.codebase(repositories)
        self.roots = tuple(OpenedRoot(repo.name, repo.root.path) for repo, _ in repositories)
        self._repositories = [repo for repo, _ in repositories]
        self._memories: dict[tuple[str, ...], Memory] = {}

    @cached_property
    def sources(self) -> Sources:
        """The configured backlogs and document sources."""
        from vademecum.sources.sources import Sources

        return Sources(self._parts.source_settings, self._parts.source, self._parts.is_remote_source)

    @cached_property
    def tools(self) -> Tools:
        """The user's tools, to find, predict and plan, opened at first access."""
        return self._parts.tools()

    @property
    def memory(self) -> Memory:
        """The memory of the first repository.

        Its databases are opened at the first access.

        Raises:
            StoreError: a memory cannot be opened. Its file is never set aside or emptied automatically.
        """
        return self.memory_of(self.roots[0].name)

    def memory_of(self, repo: str = "") -> Memory:
        """Return the memory of one open repository, or of all.

        Without `repo`, one `Memory` covers all open repositories.

        Raises:
            UnknownError: no open repository has that name.
            StoreError: as for `memory`.
        """
        names = tuple(root.name for root in self.roots)
        if repo and repo not in names:
            raise UnknownError(f"no open repository is called {repo!r}: choose among {', '.join(sorted(names))}")
        chosen = (repo,) if repo else names
        if chosen not in self._memories:
            repos = [each for each in self._repositories if each.name in chosen]
            self._memories[chosen] = self._parts.memory(repos, self.codebase)
        return self._memories[chosen]

    @classmethod
    def open(
        cls,
        *paths: str | os.PathLike[str],
        settings: Settings | None = None,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        enricher: Enricher | str | None = None,
        counter: TokenCounter | str | None = None,
        clock: Clock = time.time,
        personal: bool = True,
        sharing: Sharing | None = None,
    ) -> Self:
        """Open the repositories of `paths`, by default the current directory's.

        A path below a repository's top narrows searches to it. Nothing is read yet.

        Args:
            paths: directories or files.
            settings: all settings. By default they are read from their layers for the first path.
            embedder: an object, or `name[:model]`; the setting `search.embedder` unless given.
            reranker: an object, or `name[:model]`; the setting `search.reranker` unless given. A search may name another.
            enricher: an object, or `name:model`; the setting `enrich.provider` unless given.
            counter: an object, or `name[:model]`; the setting `context.counter` unless given.
            clock: tells the time, in seconds since the epoch.
            personal: also open what belongs to the user and to no repository: the global memory, the tools, and other
                repositories. Without it, asking for one of these raises `AccessError`.
            sharing: state that engines of one process with the same memory share, so that memory holds it once.

        Raises:
            RootError: a path does not exist.
            ConfigError: a setting is wrong.
            StoreError: an index cannot be opened.
        """
        narrowed = narrow(paths or (".",))
        settings = settings or config.load(next(iter(narrowed)).path)
        parts = Parts(
            settings, embedder=embedder, reranker=reranker, enricher=enricher, counter=counter, clock=clock,
            personal=personal, sharing=sharing,
        )  # fmt: skip
        names = distinct_names(list(narrowed))
        with ExitStack() as opening:  # closes the earlier repositories when a later one fails to open
            opening.callback(parts.close)
            repositories = [
                (parts.repository(root, name), prefixes)
                for (root, prefixes), name in zip(narrowed.items(), names, strict=True)
            ]
            opening.pop_all()
        return cls(parts, repositories)

    def scope(self, *elsewhere: object) -> str:
        """Return the scope of a question that names none.

        The setting `search.scope` decides. A server of a shared database supports no regular expression, no other commit
        and no items: with one of these (`elsewhere`), the open repositories are searched. The same holds for a caller who
        may not see other repositories.
        """
        usual = self.settings.search.scope if self._parts.personal else "repos"
        return "repos" if usual == "shared" and any(elsewhere) else usual

    def search(
        self,
        question: str,
        budget_tokens: int | None = None,
        *,
        within: Within | None = None,
        most: int | None = None,
        lines: int | None = None,
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> Context:
        """Return the code that answers a question, as one text.

        The text fits a budget: a small `context`.

        Args:
            question: words, a name, or a whole issue.
            budget_tokens: tokens the text may take at most; the setting `search.budget` unless given.
            within: limits of the question, such as paths and languages.
            most: results at most, instead of a budget; as many as fit unless given.
            lines: lines of each result at most, 0 for places only, instead of a budget; as many as fit unless given.
            refresh: whether to take in changes first.
            progress: told about indexing.

        Raises:
            Error: says what went wrong and how to mend it. Nothing found is an answer, not an error.
        """
        from vademecum.answers.pack import ANYWHERE
        from vademecum.context.code import search, sized

        limits = within or ANYWHERE
        makers = self._makers(limits, progress, refresh=refresh)
        if not limits.commit:
            makers = replace(makers, sources=(self._remembered,))
        usual = budget_tokens is None and most is None and lines is None
        budget, most, lines = sized(self.settings.search, budget_tokens, most, lines)
        return search(makers, question, budget, most=most, lines=lines, usual=usual)

    def context(  # noqa: PLR0913 - what people narrow it by, each by its name
        self,
        task: str,
        budget_tokens: int | None = None,
        *,
        paths: Sequence[str] = (),
        exclude: Sequence[str] = (),
        commit: str = "",
        session: str = "",
        form: str = "markdown",
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> Context:
        """Return the code and notes to read for a task.

        The answer is one text within a budget.

        Args:
            task: the work to do: a line, a whole issue, or the output of a failing test.
            budget_tokens: tokens the text may take at most, never exceeded; the setting `context.budget` unless given.
            paths: globs or directories; matches for the task come from these files only.
            exclude: globs of files to leave out.
            commit: read the files of this revision instead of those on disk, without memory and items.
            session: a name; code shown under this name before is left out.
            form: of the text, "markdown" or "json".
            refresh: whether to take in changes first.
            progress: told about indexing.

        Raises:
            Error: says what went wrong and how to mend it. Nothing found is an answer, not an error.
        """
        from vademecum.answers.pack import Within
        from vademecum.code.codebase import asked_again
        from vademecum.context.code import context

        budget = self.settings.context.budget if budget_tokens is None else budget_tokens

        def ask() -> Context:
            self._bring_up_to_date(progress, commit, refresh=refresh)
            makers = self._makers(Within(tuple(paths), tuple(exclude), commit), progress)
            if not commit:
                makers = replace(makers, sources=(self._remembered, lambda shown: self._items(task, shown)))
            return context(makers, task, budget, session=session, form=form)

        return asked_again(ask)

    def map(
        self,
        paths: Sequence[str] = (),
        budget_tokens: int | None = None,
        *,
        task: str = "",
        within: Sequence[str] = (),
        session: str = "",
        form: str = "markdown",
        refresh: bool = True,
        progress: Progress | None = None,
    ) -> Map:
        """Return a map of the open repositories within a token budget.

        The map lists their files with the most central declarations.

        Args:
            paths: files, relative to a repository's top, that the map centres on.
            budget_tokens: tokens the text may take at most, never exceeded; the setting `context.map_budget` unless given.
            task: a task or question that the map centres on; a word for all of it, as "overview", centres on nothing.
            within: globs and directories to map; all open repositories unless given.
            session: a name; declarations that a map showed under this name before are left out.
            form: of the text, "markdown" or "json".
            refresh: whether to take in changes first.
            progress: told about indexing.

        Raises:
            UsageError: a path is not indexed, nothing lies in `within`, or the budget or the form makes no sense.
            Error: says what went wrong and how to mend it.
        """
        from vademecum.answers.pack import ANYWHERE
        from vademecum.context.code import turn
        from vademecum.context.map import asks_for_all, draw

        task = "" if asks_for_all(task) else task
        self._bring_up_to_date(progress, refresh=refresh)
        found = self.codebase.search(task, k=AROUND, refresh=False).evidence if task.strip() else ()
        repositories = [(root.name, self.codebase.outline(root.name, found, paths, within)) for root in self.roots]
        if within and not any(entries for _, entries in repositories):
            raise UsageError(
                f"nothing that is indexed lies in {', '.join(within)}: `vade status -v` lists what was skipped"
            )
        missing = set(paths) - {entry.path for _, entries in repositories for entry in entries}
        if missing:
            raise UsageError(
                f"{min(missing)!r} is not indexed, or not in what the map is of: name a file as `vade search` shows it"
            )
        budget = self.settings.context.map_budget if budget_tokens is None else budget_tokens
        makers = self._makers(ANYWHERE, progress)
        with turn(makers.home, session, makers.clock) as own:
            return draw(repositories, budget, makers.counter, task=task, form=form, own=own)

    def _makers(self, within: Within, progress: Progress | None, *, refresh: bool = False) -> Makers:
        several = len(self.roots) > 1
        return self._parts.makers(self.codebase, within, progress, refresh=refresh, several=several)

    def _has_memory(self) -> bool:
        scopes = [repo.root for repo in self._repositories if repo.root.common_dir]
        return any(map(self._parts.stores.has_memory, [*scopes, None] if self._parts.personal else scopes))

    def _bring_up_to_date(self, progress: Progress | None, commit: str = "", *, refresh: bool) -> None:
        """Refresh index and graphs, or index a commit, with progress."""
        with suppress(StoreAwayError):  # a context uses this machine's copy of the index then, and says so
            if refresh and not commit:
                self.codebase.refresh(progress, linked=True)
            for root in self.roots:
                self.codebase.graph(root.name, commit, refresh=False, progress=progress)

    def _remembered(self, shown: Sequence[Evidence]) -> list[Section]:
        notes = self._notes(shown)
        if not notes:
            return []
        from vademecum.answers.remembered import notes_section

        return [notes_section(notes)]

    def notes(self, answer: Answer, most: int = MOST_NOTES) -> list[Note]:
        """Return memory's notes about an answer's symbols and their callees.

        Empty when there are none, or when memory cannot be read: an answer about code does not depend on it.
        """
        return self._notes(answer.evidence)[:most]

    def _notes(self, evidence: Sequence[Evidence]) -> list[Note]:
        def symbols() -> dict[str, str]:
            calls = {called: symbol for item in evidence for symbol, called in self._calls(item)}
            return calls | {symbol: "" for item in evidence for symbol in item.symbols}

        try:
            return self._parts.code_notes(self._repositories[:1], self.codebase, symbols) if self._has_memory() else []
        except Error:
            return []

    def _calls(self, item: Evidence) -> Iterator[tuple[str, str]]:
        """Yield the evidence's symbols, each with a name it calls as written."""
        for symbol in item.symbols:
            found = self.codebase.symbol(symbol, repo=item.repo, refresh=False).evidence
            here = (each for each in (item, *found) if each.path == item.path and symbol in each.symbols)
            yield from {(symbol, name): None for each in here for name in each.metadata.get("calls", ())}

    def _items(self, task: str, shown: Sequence[Evidence]) -> list[Section]:
        """Return the items and documents for a task and its code.

        They match the task, or are linked to the shown code.
        """
        from vademecum.answers.neighbours import items_section

        linked = self.codebase.items(shown)
        found = self.codebase.documents(task, MOST_ITEMS)
        return [items_section(linked, found)] if linked or found else []

    def warm_up(self) -> None:
        """Load ahead for the first question to an existing memory. Raises `Error`."""
        if self._has_memory():
            self.memory_of().warm_up()

    def check_memory(self) -> list[Check]:
        """Check an existing memory's databases, with a fix for each problem."""
        from vademecum.memory.ledger import check_memory

        try:
            there = self._has_memory()
        except StoreAwayError as error:
            return [Check("memory", ok=False, detail=str(error), fix="start the server, or correct storage.url")]
        return check_memory(lambda: self.memory.scopes) if there else []

    def ask(self, question: str, k: int = 10) -> Unified:
        """Ask code and memory at once, and merge by rank.

        Raises the errors of `Codebase.search` and `Memory.recall`.
        """
        from vademecum.context.code import unified

        return unified(self.codebase.search(question, k=k), self.memory.recall(question, k=k), k)

    def close(self) -> None:
        """Close every database."""
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
