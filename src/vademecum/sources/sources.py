"""The capability as one object: what `engine.sources` offers, over the sources that are set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from vademecum.errors import Error, UsageError
from vademecum.items import SourceStatus, SyncReport
from vademecum.protocols import Progress, silent
from vademecum.source_settings import SourceSettings
from vademecum.types import Check

if TYPE_CHECKING:
    from vademecum.sources.sync import Source


class Sources:
    """Backlogs and sources of documents, by the names they have in the settings.

    Args:
        settings: what is set, by name.
        opened: opens what is kept of one; nobody is asked before a `sync`.
        remote: says whether another machine would be asked, and whether that was agreed to; raises what opening the provider does.
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
        """The names of all sources that are set."""
        return tuple(self._settings)

    def sync(
        self, name: str, progress: Progress | None = None, *, full: bool = False, dry_run: bool = False
    ) -> SyncReport:
        """Bring a source up to date with what changed since the last time.

        Args:
            name: what it is called in the settings.
            progress: told how many items came, and about indexing.
            full: ask for everything again, and drop what is gone.
            dry_run: say what would change, and keep nothing.

        Raises:
            UsageError: there is no source of this name.
            ConsentError: it is on another machine, and nobody agreed to ask there.
            SyncError: it cannot be asked; what it told until then is kept, and the next run goes on from there.
            StoreBusyError: another process is at it.
        """
        from vademecum.sources.sync import sync  # every command opens an engine, and few fetch

        return sync(self._known(name), progress or silent, full=full, dry_run=dry_run)

    def status(self) -> list[SourceStatus]:
        """Say what is known of each source; nobody is asked."""
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
        """Look at how each source is set, and say who would be asked; nobody is."""
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
