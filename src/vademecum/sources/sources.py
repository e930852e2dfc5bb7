"""Sources: the object behind `engine.sources`, and their providers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from vademecum.errors import ConfigError, Error, PluginError, UnknownProviderError, UsageError
from vademecum.items import SourceStatus, SyncReport
from vademecum.plugins import BUILT_IN, find, names
from vademecum.protocols import Backlog, DocumentSource, Progress, silent
from vademecum.settings import SECRET, SourceSettings
from vademecum.types import Check

if TYPE_CHECKING:
    from vademecum.sources.sync import Source


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
    """Refuse unknown options and missing ones."""
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
