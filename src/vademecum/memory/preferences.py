"""Cache of the current preferences and instructions, which every context shows.

A request rarely shares a word with the preference it would violate (similarity finds one in eight). So the preferences are
not searched for, but always shown: those with a confidence of at least 0.6, the five most confident. They are cached for five
minutes per user, and dropped when one is written, here or by another process. Source: Emergence's MemoryContextBuilder.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from vademecum.memory.active import ALWAYS_ON, surest, told
from vademecum.memory.records import Fact
from vademecum.memory.scope import Scope
from vademecum.metrics import counter
from vademecum.protocols import Clock

CACHE_TTL_S = 300.0
MOST_CACHED = 256  # users; the least recently used entry is dropped first

CACHE_OPERATIONS = counter("memory_cache_operations_total", "Look-ups of cached memory, by operation and type.")
_log = logging.getLogger("vademecum.memory")

_LANGUAGE_SUFFIXES = {
    "python": (".py", ".pyi"), "javascript": (".js", ".mjs", ".cjs", ".jsx"), "typescript": (".ts", ".tsx"),
    "go": (".go",), "rust": (".rs",), "java": (".java",), "c": (".c", ".h"), "c++": (".cpp", ".cc", ".hpp"),
    "cpp": (".cpp", ".cc", ".hpp"), "c#": (".cs",), "csharp": (".cs",), "ruby": (".rb",), "php": (".php",),
    "kotlin": (".kt",), "scala": (".scala",), "swift": (".swift",), "lua": (".lua",), "bash": (".sh", ".bash"),
    "shell": (".sh", ".bash"), "elixir": (".ex", ".exs"), "haskell": (".hs",), "sql": (".sql",), "markdown": (".md",),
    "css": (".css",), "html": (".html", ".htm"),
}  # fmt: skip


@dataclass(frozen=True)
class _Cached:
    facts: tuple[Fact, ...]
    at: float
    versions: tuple[str, ...]  # of each scope's facts; a write by another process changes them


class Preferences:
    """Current preferences and instructions, cached."""

    def __init__(self, scopes: Sequence[Scope], clock: Clock) -> None:
        """Take the scopes, the nearest first, and the clock."""
        self._scopes = tuple(scopes)
        self._clock = clock
        self._cache: OrderedDict[str, _Cached] = OrderedDict()

    def active(self, user_id: str = "", files: Sequence[str] = ()) -> list[Fact]:
        """Return the five most confident current preferences and instructions.

        Args:
            user_id: The user of the cache entry; a memory on one's own machine has one user, "".
            files: Open paths, relative to the repository. Facts limited to other files are left out; with no paths, none are.
        """
        return told(fact for fact in self._all(user_id) if applies(fact.place, files))

    def invalidate(self, user_id: str) -> None:
        """Drop a user's cached preferences, and those of no user; "" for all."""
        if user_id:
            for each in (user_id, ""):
                self._cache.pop(each, None)
        else:
            self._cache.clear()

    def _all(self, user_id: str) -> tuple[Fact, ...]:
        now = self._clock()
        versions = tuple(scope.journal.version() for scope in self._scopes)
        known = self._cache.get(user_id)
        if known is not None and now - known.at < CACHE_TTL_S and known.versions == versions:
            CACHE_OPERATIONS.add(operation="hit", type="preferences")
            _log.debug("[Cache HIT] preferences of %r, %.0f s old", user_id, now - known.at)
            self._cache.move_to_end(user_id)
            return known.facts
        CACHE_OPERATIONS.add(operation="miss", type="preferences")
        _log.debug("[Cache MISS] preferences of %r: read from the database", user_id)
        self._collect(now)
        facts = tuple(read_active(self._scopes))
        self._cache[user_id] = _Cached(facts, now, versions)
        while len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)
        return facts

    def _collect(self, now: float) -> None:
        expired = [user for user, cached in self._cache.items() if now - cached.at >= CACHE_TTL_S]
        for user in expired:
            del self._cache[user]
        if expired:
            _log.debug("[Cache GC] %d expired entries dropped", len(expired))


def read_active(scopes: Sequence[Scope]) -> list[Fact]:
    """Return all confident current preferences and instructions, the most confident first."""
    return surest([scope.ledger.facts(ALWAYS_ON) for scope in scopes])


def applies(place: str, files: Sequence[str]) -> bool:
    """Return whether a fact limited to a place concerns any open file.

    >>> applies("language:python", ["src/app.py"]), applies("docs/**", ["src/app.py"]), applies("", [])
    (True, False, True)
    """
    if place in ("", "*") or not files:
        return True
    if place.startswith("language:"):
        suffixes = _LANGUAGE_SUFFIXES.get(place.removeprefix("language:").lower(), ())
        return any(file.lower().endswith(suffixes) for file in files) if suffixes else True
    return any(fnmatch(file, place) or file.startswith(place.rstrip("*/") + "/") for file in files)
