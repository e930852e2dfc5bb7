"""The sync of a source: fetch changes page by page, then index.

begin or continue → ask for a page → store it with the cursor → … → drop deleted items → (after an interruption: later changes) → index
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from vademecum.code.checkout.lock import exclusive
from vademecum.code.indexing.index import index
from vademecum.code.snapshot.repository import Repository
from vademecum.errors import CursorError, SyncError
from vademecum.items import Page, SyncReport
from vademecum.protocols import Backlog, Clock, DocumentSource, Progress
from vademecum.sources.ledger import Ledger, Run, State

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
