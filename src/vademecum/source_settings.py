"""The section `sources` of the settings: one table per source.

    [sources.work]
    provider = "jira"
    url = "https://example.atlassian.net"
    project = "ABC"

A source is a backlog or a collection of documents; the table's name is the source's. It names a server and a key, so only the user
may set it, never a repository. The options of a table, besides `provider` and `repos`, go to the provider, which checks them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vademecum.errors import ConfigError

SECTION = "sources"
NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
SECRET = re.compile(r"token|password|secret|api_key", re.IGNORECASE)
Option = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The settings of one source.

    Attributes:
        provider: the provider's name, as `jira` or `confluence`.
        repos: names or paths of the source's repositories, `*` for any part of them; () for all.
        options: the provider's options.
        origins: the layer each value came from.
    """

    provider: str
    repos: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # may hold a token
    origins: Mapping[str, str] = field(default_factory=dict)


def take(tables: dict[str, dict[str, tuple[Option, str]]], key: str, value: Any, origin: str, *, trusted: bool) -> None:
    """Add one layer's source settings to `tables`.

    `tables` maps name → option → value and origin.

    Args:
        tables: the settings of earlier layers.
        key: `sources.NAME` with a table as value, or `sources.name__option`, as in the environment.
        value: the table, or the option's value.
        origin: the layer.
        trusted: False for a repository's file.

    Raises:
        ConfigError: the layer is a repository's file, or the setting is malformed.
    """
    name, _, option = key.partition(".")[2].partition("__")
    if not trusted:
        raise ConfigError(
            f"{SECTION}.{name} in {origin}: a repository's own file cannot turn on or move a source; set it in your user file"
        )
    if option:
        known = {each.replace("-", "_"): each for each in tables}
        tables.setdefault(known.get(name, name), {})[option] = (value, origin)
        return
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{SECTION}.{name} in {origin}: a source's name is small letters and digits, with - or _ between"
        )
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{SECTION}.{name} in {origin} must be a table: write [{SECTION}.{name}] and provider = ... below"
        )
    for option, each in value.items():
        if not isinstance(each, Option.__args__[:4]) and not _is_texts(each):
            raise ConfigError(
                f"{SECTION}.{name}.{option} in {origin} has the wrong type: it must be text, a number or a list of texts"
            )
        tables.setdefault(name, {})[option] = (each, origin)


def settled(tables: Mapping[str, Mapping[str, tuple[Option, str]]]) -> dict[str, SourceSettings]:
    """Return the sources of all layers, by name.

    Raises:
        ConfigError: a source lacks its provider, or `repos` is no list.
    """
    found: dict[str, SourceSettings] = {}
    for name, table in tables.items():
        options = {option: value for option, (value, _) in table.items()}
        provider, repos = options.pop("provider", ""), options.pop("repos", [])
        if not isinstance(provider, str) or not provider:
            raise ConfigError(
                f'{SECTION}.{name} has no provider: set one under [{SECTION}.{name}], as in provider = "jira"'
            )
        if isinstance(repos, str):
            repos = [each.strip() for each in repos.split(",") if each.strip()]
        if not _is_texts(repos):
            raise ConfigError(f"{SECTION}.{name}.repos must be a list of names or paths of repositories")
        assert isinstance(repos, list)
        origins = {option: origin for option, (_, origin) in table.items()}
        found[name] = SourceSettings(provider, tuple(repos), options, origins)
    return found


def shown(sources: Mapping[str, SourceSettings], hidden: str) -> list[tuple[str, Any, str]]:
    """Return options as `(sources.NAME.option, value, origin)`, secrets masked.

    `hidden` replaces the value of a secret.
    """
    rows: list[tuple[str, Any, str]] = []
    for name, source in sources.items():
        values = {"provider": source.provider, "repos": list(source.repos), **source.options}
        for option, origin in source.origins.items():
            secret = SECRET.search(option) and values[option]
            rows.append((f"{SECTION}.{name}.{option}", hidden if secret else values[option], origin))
    return rows


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
