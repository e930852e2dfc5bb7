"""The flow that brings a source up to date: what changed since the last run, page by page, into the index.

begin, or go on → ask for a page → keep it with the cursor → … → drop what is gone → (gone on: what changed meanwhile) → index
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

MOST_PAGES = 1_000_000  # of a run: a server that leads in circles is not followed for ever


@dataclass(frozen=True)
class Source:
    """A source that is set: its provider, and what is kept of it.

    Attributes:
        name: what it is called in the settings.
        spec: its provider's name.
        asked: a digest of where it is asked and for what.
        repo: what is indexed of it.
        ledger: what it told.
        provider: opens who tells; raises what `plugins.load` does, and `ConsentError`.
        clock: tells the time where its server does not.
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
        """The file that one run at a time holds."""
        return self.repo.catalogue.directory / "sync.lock"


def sync(source: Source, progress: Progress, *, full: bool = False, dry_run: bool = False) -> SyncReport:
    """Bring a source up to date.

    Args:
        source: the source.
        progress: told how many items came, and about indexing.
        full: ask for everything, and drop what is gone.
        dry_run: say what would change, and keep nothing.

    Raises:
        ConsentError: it is on another machine, and nobody agreed to ask there.
        SyncError: it cannot be asked, or answers with what is no answer; what it told until then is kept.
        StoreBusyError: another process is at it.
    """
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
            finally:  # what came until it was cut short is found as well
                index(source.repo, progress)
    return SyncReport(
        source.name, source.spec, run.added, run.changed, run.unchanged, run.removed, source.ledger.count(), run.full,
        resumed, dry_run, time.perf_counter() - started,
    )  # fmt: skip


def fetch(source: Source, provider: Backlog | DocumentSource, state: State, progress: Progress) -> Run:
    """Ask for page after page and keep each, until the last; what a full run missed twice is dropped. Returns the run."""
    for step in range(MOST_PAGES):
        try:
            state, page = _step(source, provider, state, source.ledger.keep, progress)
        except CursorError:
            if step or state.pending is None or not state.pending.cursor:  # one that was given just now is no old one
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
                f"source {source.name!r} told of nothing at all, and {len(missed)} items are known of it: check that its token may "
                f"still see them, and what is set under [sources.{source.name}]; nothing was dropped"
            )
        if missed and not (run.again or page.whole):
            state = source.ledger.look_again(state)  # others may have moved up a page when one was deleted
            continue
        return source.ledger.finish(state, page, source.clock())[1]
    raise SyncError(f"source {source.name!r} leads from page to page without end: report it to who wrote its provider")


def caught_up(source: Source, provider: Backlog | DocumentSource, run: Run, progress: Progress) -> Run:
    """Ask for what changed since a run began that was cut short: it went on behind the pages that it had read. Returns both as one."""
    state, _ = source.ledger.begin(source.asked, full=False)
    since = fetch(source, provider, state, progress)
    return replace(
        run, added=run.added + since.added, changed=run.changed + since.changed, removed=run.removed + since.removed
    )


def rehearse(source: Source, provider: Backlog | DocumentSource, state: State, progress: Progress) -> Run:
    """Ask as `fetch` does and keep nothing. Returns what a run would have done."""
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
    raise SyncError(f"source {source.name!r} leads from page to page without end: report it to who wrote its provider")


def _step(
    source: Source,
    provider: Backlog | DocumentSource,
    state: State,
    keep: Callable[[State, Page], State],
    progress: Progress,
) -> tuple[State, Page]:
    """Ask for the next page and keep it."""
    run = state.pending
    assert run is not None
    page = provider.page(run.since, run.cursor).unwrap()
    if page.cursor and page.cursor == run.cursor:
        raise SyncError(
            f"source {source.name!r} answers with the page it was just asked for: report it to who wrote its provider"
        )
    kept = keep(state, page if page.at else replace(page, at=source.clock()))
    assert kept.pending is not None
    progress(f"fetching {source.name}", kept.pending.told, 0)
    return kept, page
