"""What an agent is told in passing, when a session opens or a message is sent: facts alone, and quickly.

`recall` reads every event with arrays and vectors, which takes longer to load than a hook may take. This reads the table of
facts and nothing else: what holds, what was decided, what is left open, and of a message the facts that share its telling
words. Rare words tell more than common ones, counted over the facts at hand (inverse document frequency).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vademecum.memory.context import estimated_tokens, fitted, one_line
from vademecum.memory.preferences import Preferences
from vademecum.memory.records import FactKind
from vademecum.memory.scope import Scope
from vademecum.memory.wording import Wording, hint
from vademecum.memory.words import terms
from vademecum.protocols import Clock, Condition

LEAST_CONFIDENCE = 0.6
MOST_OPEN = 3
MOST_TOLD = 3
MOST_FACTS = 5_000  # the newest: more take longer to look through than a hook may take
MOST_CHARACTERS = 2_000  # of a message: what is longer was pasted
_STEM_LETTERS = 4  # of a term: a stem's first letters stand in every form of its word
_COLUMNS = ("last_at", "confidence", "valid_to", "id", "subject", "attribute", "text")
_KNOWLEDGE = (FactKind.DECISION, FactKind.FACT, FactKind.FIX, FactKind.TODO)


class Outline(NamedTuple):
    """Enough of a fact to choose it by."""

    last_at: float
    scope: int  # its place among the scopes
    id: str
    subject: str
    attribute: str
    text: str

    @property
    def words(self) -> str:
        """All its words."""
        return f"{self.subject} {self.attribute} {self.text}"


@dataclass(frozen=True)
class Brief:
    """What is told, in which words, and of how many tokens at most."""

    scopes: Sequence[Scope]
    wording: Wording
    clock: Clock
    budget_tokens: int
    count: Callable[[str], int] = estimated_tokens

    def opening(self) -> str:
        """Return what to know when a session opens: preferences and instructions, the latest decisions, what is left open."""
        decided = self._latest(FactKind.DECISION, MOST_TOLD)
        left = self._latest(FactKind.TODO, MOST_OPEN)
        w = self.wording
        sections = [(w.preferences, self._preferences()), (w.knowledge, decided), (w.open_work, left)]
        return fitted(sections, self.budget_tokens, self.count)

    def answering(self, message: str) -> str:
        """Return what to know before answering a message; "" where nothing that is known concerns it."""
        told = self._lines(relevant(message, self._outlines(_KNOWLEDGE))[:MOST_TOLD])
        return fitted([(self.wording.knowledge, told)], self.budget_tokens, self.count)

    def _preferences(self) -> list[str]:
        active = Preferences(self.scopes, self.clock).active()
        return [f"- {fact.topic}: {one_line(fact.text)}" for fact in active]

    def _outlines(self, kinds: Sequence[FactKind]) -> list[Outline]:
        """What holds and is sure enough, the newest first: little of each, since a memory may hold thousands."""
        where: list[Condition] = [("kind", "in", [str(kind) for kind in kinds])]
        found = [
            Outline(at, number, *row)
            for number, scope in enumerate(self.scopes)
            for at, sure, until, *row in scope.store.scan("facts", where, _COLUMNS).unwrap()
            if until is None and sure >= LEAST_CONFIDENCE
        ]
        return sorted(found, key=lambda each: -each.last_at)[:MOST_FACTS]

    def _latest(self, kind: FactKind, most: int) -> list[str]:
        return self._lines(self._outlines([kind])[:most])

    def _lines(self, chosen: Sequence[Outline]) -> list[str]:
        known = {
            fact.id: fact
            for number, scope in enumerate(self.scopes)
            for fact in scope.ledger.get([each.id for each in chosen if each.scope == number])
        }
        now = self.clock()
        told = [known[each.id] for each in chosen if each.id in known]
        return [f"- {one_line(fact.text)} ({hint(self.wording, fact.mentions, fact.first_at, now)})" for fact in told]


def relevant(message: str, facts: Sequence[Outline]) -> list[Outline]:
    """Return the facts that concern a message, best first: they share two of its words, or one that few facts have.

    Facts of equal weight stay in the order they come in, which is the newest first.
    """
    asked = set(terms(message[:MOST_CHARACTERS]))
    holding = {fact.id: shared for fact in facts if (shared := _shared(asked, fact.words))}
    spread = Counter(term for shared in holding.values() for term in shared)
    weights = {term: math.log(1 + len(facts) / count) for term, count in spread.items()}
    chosen = [fact for fact in facts if fact.id in holding and _concerns(holding[fact.id], spread)]
    return sorted(chosen, key=lambda fact: -sum(weights[term] for term in holding[fact.id]))


def _shared(asked: set[str], text: str) -> set[str]:
    """The terms that a text has of those asked for; only a text that has their letters is cut into terms."""
    low = text.lower()
    near = {term for term in asked if term[:_STEM_LETTERS] in low}
    return near & set(terms(text)) if near else set()


def _concerns(shared: Collection[str], spread: Mapping[str, int]) -> bool:
    return len(shared) >= 2 or any(spread[word] <= 2 and len(word) >= 5 for word in shared)
