"""Which preferences and instructions are always told: those that hold and are sure enough, surest first.

A hook reads them off bare rows and everything else off whole facts, so this asks of a fact no more than both have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from vademecum.memory.kinds import FactKind

PREFERENCE_CONFIDENCE_THRESHOLD = 0.6
MAX_PREFERENCES = 5
ALWAYS_ON = (FactKind.PREFERENCE, FactKind.INSTRUCTION)


class Said(Protocol):
    """What is needed of a fact to tell how sure it is."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def key(self) -> str:
        """What it is about, and where."""
        ...

    @property
    def text(self) -> str:
        """The sentence that says it."""
        ...

    @property
    def confidence(self) -> float:
        """How sure it is, 0..1."""
        ...

    @property
    def mentions(self) -> int:
        """How often it was said."""
        ...

    @property
    def last_at(self) -> float:
        """When it was said last."""
        ...


F = TypeVar("F", bound=Said)


def surest(by_scope: Sequence[Sequence[F]]) -> list[F]:
    """Return the facts that are sure enough, surest first, of those that hold in each scope, the nearest scope first.

    What a nearer scope says of a thing stands before what a wider one says of it.
    """
    found: list[F] = []
    spoken_of: set[str] = set()  # by nearer scopes
    for facts in by_scope:
        own = [fact for fact in facts if _thing(fact) not in spoken_of]
        found += [fact for fact in own if fact.confidence >= PREFERENCE_CONFIDENCE_THRESHOLD]
        spoken_of |= {_thing(fact) for fact in own}
    return sorted(found, key=lambda fact: (-fact.confidence, -fact.mentions, -fact.last_at, fact.id))


def told(facts: Iterable[F]) -> list[F]:
    """Return the first five facts; of several that one sentence states only the first, since the sentence is told whole."""
    by_sentence: dict[str, F] = {}
    for fact in facts:
        by_sentence.setdefault(fact.text, fact)
    return list(by_sentence.values())[:MAX_PREFERENCES]


def _thing(fact: Said) -> str:
    """What a fact is about, wherever it applies."""
    return fact.key.rpartition("|")[0]
