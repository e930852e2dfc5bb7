"""Cache of the current preferences and instructions, which every context shows.

A request rarely shares a word with the preference it would violate, so a search among all events finds one in eight. But few
preferences hold at once, and the nearest of these are mostly the relevant ones. Five with a confidence of at least 0.6 are
always shown: the surest two, and the three nearest to the message and to the files in hand. Measured on 34 questions of chats
that the weights were chosen on, one of the three nearest was the right one for 28, one of the five surest for 13.

They are cached for five minutes per user, and dropped when one is written, here or by another process. Source: Emergence's
MemoryContextBuilder.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.active import ALWAYS_ON, applies, surest, told, words_of
from vademecum.memory.ledger import Scope
from vademecum.memory.records import Fact, Role
from vademecum.memory.words import terms
from vademecum.metrics import counter
from vademecum.protocols import Clock, Embedder
from vademecum.types import Passage

CACHE_TTL_S = 300.0
SURENESS = 0.75  # chosen on questions of ten chats, where 0.5 to 1.5 tell the same
MOST_CACHED = 256  # users; the least recently used entry is dropped first

CACHE_OPERATIONS = counter("memory_cache_operations_total", "Look-ups of cached memory, by operation and type.")
_log = logging.getLogger("vademecum.memory")


@dataclass(frozen=True)
class _Cached:
    facts: tuple[Fact, ...]
    at: float
    versions: tuple[str, ...]  # of each scope's facts; a write by another process changes them
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)  # of sentences, as they are needed


class Preferences:
    """Current preferences and instructions, cached."""

    def __init__(self, scopes: Sequence[Scope], clock: Clock, embedder: Callable[[], Embedder]) -> None:
        """Take the scopes, the nearest first, the clock and the embedder."""
        self._scopes = tuple(scopes)
        self._clock = clock
        self._embedder = embedder
        self._cache: OrderedDict[str, _Cached] = OrderedDict()

    def active(
        self, user_id: str = "", files: Sequence[str] = (), message: str = "", edited: Sequence[str] = ()
    ) -> list[Fact]:
        """Return five current preferences and instructions.

        Args:
            user_id: The name of a speaker, whose own preferences are returned with those of no named speaker; "" for all.
            files: Open paths, relative to the repository. Facts limited to other files are left out, and facts limited to these
                count as near.
            message: The message they are chosen for; "" for the surest.
            edited: Paths edited last. Facts limited to these count as near too.

        Raises:
            StoreError: a database cannot be read.
            EmbedError: the message cannot be embedded.
        """
        cached = self._all(user_id)
        here = [fact for fact in cached.facts if applies(fact.place, files)]
        if not message.strip():
            return told(here)
        return told(here, lambda facts: self._nearness(facts, cached.vectors, message, [*files, *edited]))

    def _nearness(
        self, facts: Sequence[Fact], vectors: dict[str, NDArray[np.float32]], message: str, in_hand: Sequence[str]
    ) -> list[float]:
        """Return each fact's nearness to a message and the files in hand.

        It is the cosine, plus the share of the message's words, plus 1 for a fact limited to a file in hand, plus `SURENESS` times
        its confidence: what was read with doubt is often no rule.
        """
        new = [fact.text for fact in facts if fact.text not in vectors]
        embed = self._embedder().embed
        if new:
            vectors.update(zip(new, embed([Passage(text) for text in new], "document").unwrap(), strict=True))
        asked = embed([Passage(message)], "query").unwrap()[0]
        shares = shares_of(message, [f"{fact.topic} {fact.text}" for fact in facts])
        placed = [bool(in_hand) and fact.place not in ("", "*") and applies(fact.place, in_hand) for fact in facts]
        cosines = [float(vectors[fact.text] @ asked) for fact in facts]
        sure = [SURENESS * fact.confidence for fact in facts]
        columns = zip(cosines, shares, placed, sure, strict=True)
        return [cosine + share + here + surely for cosine, share, here, surely in columns]

    def invalidate(self, user_id: str) -> None:
        """Drop a user's cached preferences, and those of no user; "" for all."""
        if user_id:
            for each in (user_id, ""):
                self._cache.pop(each, None)
        else:
            self._cache.clear()

    def _all(self, user_id: str) -> _Cached:
        now = self._clock()
        versions = tuple(scope.journal.version() for scope in self._scopes)
        known = self._cache.get(user_id)
        if known is not None and now - known.at < CACHE_TTL_S and known.versions == versions:
            CACHE_OPERATIONS.add(operation="hit", type="preferences")
            _log.debug("[Cache HIT] preferences of %r, %.0f s old", user_id, now - known.at)
            self._cache.move_to_end(user_id)
            return known
        CACHE_OPERATIONS.add(operation="miss", type="preferences")
        _log.debug("[Cache MISS] preferences of %r: read from the database", user_id)
        self._collect(now)
        found = self._cache[user_id] = _Cached(tuple(read_active(self._scopes, user_id)), now, versions)
        while len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)
        return found

    def _collect(self, now: float) -> None:
        expired = [user for user, cached in self._cache.items() if now - cached.at >= CACHE_TTL_S]
        for user in expired:
            del self._cache[user]
        if expired:
            _log.debug("[Cache GC] %d expired entries dropped", len(expired))


def read_active(scopes: Sequence[Scope], user_id: str = "") -> list[Fact]:
    """Return all confident current preferences and instructions, the most confident first.

    With a `user_id`, without what only other named speakers said.
    """
    found = [_in_words(scope) for scope in scopes]
    if user_id:
        found = [_said_by(user_id, scope, facts) for scope, facts in zip(scopes, found, strict=True)]
    return surest(found)


def _in_words(scope: Scope) -> list[Fact]:
    """Return current preferences and instructions, in current words."""
    every = scope.ledger.facts(standing=False)
    past = {fact.text for fact in every if fact.valid_to is not None}
    current = (fact for fact in every if fact.valid_to is None and fact.kind in ALWAYS_ON)
    return [replace(fact, text=words_of(fact, past)) for fact in current]


def _said_by(user_id: str, scope: Scope, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that a speaker or nobody by name said."""
    own = {user_id.casefold(), *Role}
    speakers = scope.ledger.speakers_of([fact.digest for fact in facts])
    return [fact for fact in facts if any(each.casefold() in own for each in speakers.get(fact.digest, ()))]


def shares_of(message: str, texts: Sequence[str]) -> list[float]:
    """Return which share of a message's words each text has, 0..1.

    A word counts more, the fewer of the texts have it.

    >>> [round(each, 2) for each in shares_of("test the parser", ["Always test", "We use tabs", "Test each parser"])]
    [0.4, 0.0, 1.0]
    """
    asked, held = set(terms(message)), [set(terms(text)) for text in texts]
    spread = Counter(term for each in held for term in each)
    weights = {term: math.log(1 + len(texts) / (spread[term] or 0.5)) for term in asked}
    total = sum(weights.values()) or 1.0
    return [sum(weights[term] for term in asked & each) / total for each in held]
