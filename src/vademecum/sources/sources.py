"""Sources: the object behind `engine.sources`, and their providers.

A sync fetches changes page by page, then indexes:

begin or continue → ask for a page → store it with the cursor → … → drop deleted items → (after an interruption: later changes) → index
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from typing import Any

from vademecum.code.indexing.index import index
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import ConfigError, CursorError, Error, PluginError, SyncError, UnknownProviderError, UsageError
from vademecum.items import Page, SourceStatus, SyncReport
from vademecum.plugins import BUILT_IN, find, names
from vademecum.private import exclusive
from vademecum.protocols import Backlog, Clock, DocumentSource, Progress, silent
from vademecum.settings import SECRET, SourceSettings
from vademecum.sources.fetched import Ledger, Run, State
from vademecum.types import Check

MOST_PAGES = 1_000_000  # of a run; ends a server's circle of pages


@dataclass(frozen=True)
class Source:
    """A configured source: its provider and its stored data.

    Attributes:
        name: the source's name in the settings.
        spec: the provider's name.
        asked: a digest of server and query.
        repo: the index of the source.
        ledger: the fetched items.
        provider: opens the provider; raises as `plugins.load` does, and `ConsentError`.
        clock: the time, for servers that do not state theirs.
    """

    name: str
    spec: str
    asked: str
    repo: Repository
    ledger: Ledger
    provider: Callable[[], Backlog | DocumentSource]
    clock: Clock

    @property
    def lock(self) -> Path:
        """The lock file, which one run at a time holds."""
        return self.repo.catalogue.directory / "sync.lock"


def sync(source: Source, progress: Progress, *, full: bool = False, dry_run: bool = False) -> SyncReport:
    """Fetch a source's changes and index them, as `Sources.sync` says."""
    started = time.perf_counter()
    provider = source.provider()
    with exclusive(source.lock, 0.0, doing=f"fetching source {source.name!r}"):
        state, resumed = source.ledger.begin(source.asked, full=full, anew=dry_run)
        if dry_run:
            run = rehearse(source, provider, state, progress)
        else:
            try:
                run = fetch(source, provider, state, progress)
                if resumed and state.pending and state.pending.cursor:
                    run = caught_up(source, provider, run, progress)
            finally:  # items fetched before an interruption become searchable too
                index(source.repo, progress)
    return SyncReport(
        source.name, source.spec, run.added, run.changed, run.unchanged, run.removed, source.ledger.count(), run.full,
        resumed, dry_run, time.perf_counter() - started,
    )  # fmt: skip


def fetch(source: Source, provider: Backlog | DocumentSource, state: State, progress: Progress) -> Run:
    """Fetch and store all pages; return the run."""
    for step in range(MOST_PAGES):
        try:
            state, page = _step(source, provider, state, source.ledger.keep, progress)
        except CursorError:
            # a cursor from this run cannot be an expired one
            if step or state.pending is None or not state.pending.cursor:
                raise
            state = source.ledger.start_over(state)
            continue
        run = state.pending
        assert run is not None
        if page.cursor:
            continue
        missed = source.ledger.missed(run) if run.full or page.whole else []
        if missed and not run.told:
            raise SyncError(
                f"source {source.name!r} returned nothing, but {len(missed)} of its items are stored: check that its token may "
                f"still see them, and the settings under [sources.{source.name}]; nothing was dropped"
            )
        if missed and not (run.again or page.whole):
            state = source.ledger.look_again(state)  # a deletion may have moved other items up a page
            continue
        return source.ledger.finish(state, page, source.clock())[1]
    raise SyncError(f"source {source.name!r} has no last page: report it to the author of its provider")


def caught_up(source: Source, provider: Backlog | DocumentSource, run: Run, progress: Progress) -> Run:
    """Fetch changes since a continued run began; return both runs combined.

    The continued run did not see changes to pages that it had read before the interruption.
    """
    state, _ = source.ledger.begin(source.asked, full=False)
    since = fetch(source, provider, state, progress)
    return replace(
        run, added=run.added + since.added, changed=run.changed + since.changed, removed=run.removed + since.removed
    )


def rehearse(source: Source, provider: Backlog | DocumentSource, state: State, progress: Progress) -> Run:
    """Fetch without storing, and return the run that would result."""
    seen: set[str] = set()

    def try_keep(state: State, page: Page) -> State:
        new = [item for item in page.items if item.id not in seen]
        seen.update(item.id for item in new)
        return source.ledger.try_keep(state, replace(page, items=tuple(new)))

    for _ in range(MOST_PAGES):
        state, page = _step(source, provider, state, try_keep, progress)
        run = state.pending
        assert run is not None
        if not page.cursor:
            gone = set(source.ledger.missed(run)) - seen if run.full or page.whole else set()
            return replace(run, removed=run.removed + len(gone))
    raise SyncError(f"source {source.name!r} has no last page: report it to the author of its provider")


def _step(
    source: Source,
    provider: Backlog | DocumentSource,
    state: State,
    keep: Callable[[State, Page], State],
    progress: Progress,
) -> tuple[State, Page]:
    """Ask for the next page and store it."""
    run = state.pending
    assert run is not None
    page = provider.page(run.since, run.cursor).unwrap()
    if page.cursor and page.cursor == run.cursor:
        raise SyncError(
            f"source {source.name!r} answers with the page it was just asked for: report it to the author of its provider"
        )
    kept = keep(state, page if page.at else replace(page, at=source.clock()))
    assert kept.pending is not None
    progress(f"fetching {source.name}", kept.pending.told, 0)
    return kept, page


KINDS = ("backlog", "documents")
_PATIENCE = frozenset({"timeout_s"})  # options about waiting, not about content


class Sources:
    """Backlogs and sources of documents, by their names in the settings.

    Args:
        settings: the configured sources, by name.
        opened: opens a source's stored data; no server is asked before a `sync`.
        remote: returns whether the source is on another machine, and whether the user agreed to that; raises as opening the provider does.
    """

    def __init__(
        self,
        settings: Mapping[str, SourceSettings],
        opened: Callable[[str], Source],
        remote: Callable[[str], tuple[bool, bool]],
    ) -> None:
        self._settings = settings
        self._opened = opened
        self._remote = remote

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all configured sources."""
        return tuple(self._settings)

    def sync(
        self, name: str, progress: Progress | None = None, *, full: bool = False, dry_run: bool = False
    ) -> SyncReport:
        """Fetch a source's changes since the last run, and index them.

        Args:
            name: the source's name in the settings.
            progress: told the number of items fetched, and about indexing.
            full: fetch everything again, and drop deleted items.
            dry_run: report the changes without storing them.

        Raises:
            UsageError: there is no source of this name.
            ConsentError: the source is on another machine, and the user did not agree to ask it.
            SyncError: the source cannot be asked; items fetched so far stay, and the next run continues from there.
            StoreBusyError: another process is syncing the source.
        """
        return sync(self._known(name), progress or silent, full=full, dry_run=dry_run)

    def status(self) -> list[SourceStatus]:
        """Return the status of each source, without asking a server."""
        found = []
        for name, own in self._settings.items():
            source = self._opened(name)
            items = source.repo.items
            assert items is not None
            try:
                remote = self._remote(name)[0]
            except Error:  # `doctor` says what is wrong with it
                remote = True
            place = str(own.options.get("url") or own.options.get("path") or "")
            state = source.ledger.state()
            found.append(
                SourceStatus(
                    name,
                    own.provider,
                    place,
                    remote,
                    source.ledger.count(),
                    items.synced_at(),
                    state.pending is not None,
                    own.repos,
                )
            )
        return found

    def doctor(self) -> list[Check]:
        """Check the settings of each source, without asking a server."""
        return [self._check(name) for name in self._settings]

    def _check(self, name: str) -> Check:
        title = f"source {name}"
        try:
            remote, agreed = self._remote(name)
        except Error as error:
            return Check(title, ok=False, detail=str(error), fix=f"mend [sources.{name}] in your user file")
        provider = self._settings[name].provider
        if not remote:
            return Check(title, ok=True, detail=f"{provider}, on this machine")
        place = self._settings[name].options.get("url") or "where its provider says"
        refused = "" if agreed else "; not yet: set privacy.allow_remote in your user file"
        return Check(title, ok=True, detail=f"{provider} at {place}, asked in `vade sync` alone{refused}")

    def _known(self, name: str) -> Source:
        if name not in self._settings:
            known = (
                f"choose among {', '.join(sorted(self._settings))}"
                if self._settings
                else "set one up, see `vade help sources`"
            )
            raise UsageError(f"no source is called {name!r}: {known}")
        return self._opened(name)


def open_provider(name: str, source: SourceSettings) -> tuple[str, Backlog | DocumentSource]:
    """Return a source's kind and provider, without asking a server yet.

    Raises:
        UnknownProviderError, MissingExtraError, PluginError: as `plugins.load` does.
        ConfigError: the provider does not take an option, or an option is missing.
    """
    kind = kind_of(source.provider)
    make = find(kind, source.provider)
    _check_options(name, source, make)
    provider = make(name=name, **source.options)
    assert isinstance(provider, Backlog | DocumentSource)
    return kind, provider


def kind_of(provider: str) -> str:
    """Return a provider's kind, "backlog" or "documents".

    Raises:
        UnknownProviderError: no provider has this name.
        PluginError: a provider of each kind has this name.
    """
    own = [kind for kind in KINDS if provider in BUILT_IN[kind]]
    found = own or [kind for kind in KINDS if provider in names(kind)]
    if len(found) > 1:
        raise PluginError(f"a backlog and a source of documents are both called {provider!r}: uninstall one")
    if not found:
        known = sorted(each for kind in KINDS for each in names(kind))
        close = get_close_matches(provider, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
        raise UnknownProviderError(f"no backlog or source of documents is called {provider!r}: {hint}")
    return found[0]


def digest_of(source: SourceSettings) -> str:
    """Return a digest of a source's server and query, without its key."""
    asked = {name: value for name, value in source.options.items() if name not in _PATIENCE and not SECRET.search(name)}
    return blake2b(json.dumps([source.provider, asked], sort_keys=True).encode(), digest_size=8).hexdigest()


def _check_options(name: str, source: SourceSettings, make: Any) -> None:
    takes = inspect.signature(make).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in takes.values()):
        return
    own = {
        option: each
        for option, each in takes.items()
        if option != "name" and (each.default is each.empty or not callable(each.default))
    }
    for option, value in source.options.items():
        if option not in own:
            close = get_close_matches(option, own, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(own)}"
            raise ConfigError(f"sources.{name}.{option} is no option of {source.provider}: {hint}")
        default = own[option].default
        if isinstance(default, float) and isinstance(value, str | int) and not isinstance(value, bool):
            continue
        if isinstance(default, str) and not isinstance(value, str):
            raise ConfigError(f"sources.{name}.{option} has the wrong type: it must be text in quotes")
    missing = [option for option, each in own.items() if each.default is each.empty and option not in source.options]
    if missing:
        raise ConfigError(
            f"sources.{name}.{missing[0]} is not set, and {source.provider} needs it: set it in your user file"
        )
