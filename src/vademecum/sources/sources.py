"""The object behind `engine.sources`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from vademecum.errors import Error, UsageError
from vademecum.items import SourceStatus, SyncReport
from vademecum.protocols import Progress, silent
from vademecum.settings import SourceSettings
from vademecum.types import Check

if TYPE_CHECKING:
    from vademecum.sources.sync import Source


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
        from vademecum.sources.sync import sync  # imported late: every command opens an engine, and few fetch

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
