"""Keys and callers: who may ask about which repositories.

A key is 256 random bits. Only its SHA-256 is stored, so reading the settings does not reveal the key. (A slow hash is for
passwords, which can be guessed.) An entry of `server.keys` is `NAME:DIGEST:REPOSITORIES`, entries separated by white
space. Repositories are names or paths separated by commas, or `*` for everything, the user's own memory and tools
included.

    >>> key, entry = new_key("ci", "app,lib", token="s3cret")
    >>> key
    'vade_s3cret'
    >>> [parsed] = read_keys(entry)
    >>> parsed.name, parsed.repositories
    ('ci', ('app', 'lib'))
    >>> find_key([parsed], key) is parsed, find_key([parsed], "vade_other")
    (True, None)
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from vademecum.errors import ConfigError, UsageError
from vademecum.wiring.roots import OpenedRoot

EVERYTHING = "*"
_NAME = re.compile(r"[\w.-]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of `server.keys`.

    It holds the caller's name, the SHA-256 of the key, and the repositories of the key; "*" means everything.
    """

    name: str
    digest: str = field(repr=False)
    repositories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Visitor:
    """The caller of a request: a name and the open repositories' roots.

    `personal` tells whether the global memory, tools, settings and metrics are open too.
    """

    name: str
    paths: tuple[str, ...]
    personal: bool


def new_key(name: str, repositories: str = EVERYTHING, token: str = "") -> tuple[str, str]:
    """Return a new key and its entry for `server.keys`.

    The key is shown once and not stored. Raises `UsageError`.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a key: take letters, digits, dots and dashes")
    if not repositories or re.search(r"\s|:", repositories):
        raise UsageError(
            f"{repositories!r} names no repositories: separate names by commas, without spaces, or give '*'"
        )
    key = f"vade_{token or secrets.token_urlsafe(32)}"
    return key, f"{name}:{_digest(key)}:{repositories}"


def read_keys(text: str) -> list[Key]:
    """Return the entries of `server.keys`. Raises `ConfigError`, which shows no secret."""
    keys = []
    for number, entry in enumerate(text.split(), 1):
        name, digest, repositories = (*entry.split(":", 2), "", "")[:3]
        if not (_NAME.fullmatch(name) and _DIGEST.fullmatch(digest) and repositories):
            raise ConfigError(
                f"entry {number} of server.keys is not NAME:SHA256:REPOSITORIES: make one with `vade serve --new-key NAME`"
            )
        keys.append(Key(name, digest, tuple(filter(None, repositories.split(",")))))
    names = [key.name for key in keys]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"server.keys has several keys called {min(repeated)!r}: give each a name of its own")
    return keys


def find_key(keys: Sequence[Key], given: str) -> Key | None:
    """Return the entry of the given key, or None.

    The time does not depend on which entry matches.
    """
    digest = _digest(given)
    found = None
    for key in keys:
        if hmac.compare_digest(key.digest, digest):
            found = key
    return found


def visitor(key: Key, roots: Sequence[OpenedRoot]) -> Visitor:
    """Return the caller that a key stands for.

    Raises `ConfigError` if the key names a repository that is not served.
    """
    if EVERYTHING in key.repositories:
        return Visitor(key.name, tuple(root.path for root in roots), personal=True)
    by_name = {root.name: root.path for root in roots} | {root.path: root.path for root in roots}
    wanted = [os.path.realpath(each) if os.sep in each else each for each in key.repositories]
    if missing := [each for each in wanted if each not in by_name]:
        raise ConfigError(
            f"the key {key.name!r} is for {missing[0]!r}, which is not served: there are {', '.join(r.name for r in roots)}"
        )
    return Visitor(key.name, tuple(dict.fromkeys(by_name[each] for each in wanted)), personal=False)


def _digest(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest()
