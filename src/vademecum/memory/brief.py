"""What an agent is told in passing, when a session opens or a message is sent: facts alone, and quickly.

`recall` reads every event with arrays and vectors, which takes longer to load than a hook may take. This reads the table of
facts and nothing else: what holds, what was decided, what is left open, and of a message the facts that share its telling
words. Rare words tell more than common ones, counted over the facts at hand (inverse document frequency).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vademecum.memory.context import estimated_tokens, fitted, one_line
from vademecum.memory.preferences import Preferences
from vademecum.memory.records import Fact, FactKind
from vademecum.memory.scope import Scope
from vademecum.memory.wording import Wording, hint
from vademecum.memory.words import terms
from vademecum.protocols import Clock

LEAST_CONFIDENCE = 0.6
MOST_OPEN = 3
MOST_TOLD = 3
MOST_FACTS = 5_000  # the newest: more take longer to look through than a hook may take
MOST_CHARACTERS = 2_000  # of a message: what is longer was pasted
_KNOWLEDGE = (FactKind.DECISION, FactKind.FACT, FactKind.FIX, FactKind.TODO)


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
        told = [self._line(fact) for fact in relevant(message, self._known())[:MOST_TOLD]]
        return fitted([(self.wording.knowledge, told)], self.budget_tokens, self.count)

    def _preferences(self) -> list[str]:
        active = Preferences(self.scopes, self.clock).active()
        return [f"- {fact.topic}: {one_line(fact.text)}" for fact in active]

    def _known(self) -> list[Fact]:
        found = [fact for scope in self.scopes for fact in scope.ledger.facts(_KNOWLEDGE)]
        found = [fact for fact in found if fact.confidence >= LEAST_CONFIDENCE]
        return sorted(found, key=lambda fact: -fact.last_at)[:MOST_FACTS]

    def _latest(self, kind: FactKind, most: int) -> list[str]:
        return [self._line(fact) for fact in self._known() if fact.kind is kind][:most]

    def _line(self, fact: Fact) -> str:
        said = hint(self.wording, fact.mentions, fact.first_at, self.clock())
        return f"- {one_line(fact.text)} ({said})"


def relevant(message: str, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that concern a message, best first: they share two of its words, or one that few facts have.

    Facts of equal weight stay in the order they come in, which is the newest first.
    """
    asked = set(terms(message[:MOST_CHARACTERS]))
    if not asked:
        return []
    holding = {fact.id: asked & set(terms(f"{fact.subject} {fact.attribute} {fact.text}")) for fact in facts}
    spread = Counter(term for shared in holding.values() for term in shared)
    weights = {term: math.log(1 + len(facts) / count) for term, count in spread.items()}
    chosen = [fact for fact in facts if _concerns(holding[fact.id], spread)]
    return sorted(chosen, key=lambda fact: -_weight(holding[fact.id], weights))


def _concerns(shared: Iterable[str], spread: Mapping[str, int]) -> bool:
    words = list(shared)
    return len(words) >= 2 or any(spread[word] <= 2 and len(word) >= 5 for word in words)


def _weight(shared: Iterable[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] for term in shared)
