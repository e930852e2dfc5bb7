"""Opening a source's provider from the settings."""

from __future__ import annotations

import inspect
import json
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any

from vademecum.errors import ConfigError, PluginError, UnknownProviderError
from vademecum.plugins import BUILT_IN, find, names
from vademecum.protocols import Backlog, DocumentSource
from vademecum.settings import SECRET, SourceSettings

KINDS = ("backlog", "documents")
_PATIENCE = frozenset({"timeout_s"})  # options about waiting, not about content


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
