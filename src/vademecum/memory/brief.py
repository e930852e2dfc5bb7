"""What an agent is told in passing, when a session opens or a message is sent: facts alone, and quickly.

`recall` reads every event with arrays and vectors, which takes longer to load than a hook may take. This reads a few columns
of the table of facts and nothing else: what holds, what was decided, what is left open, and of a message the facts that
share its telling words. Rare words tell more than common ones, counted over the facts at hand (inverse document frequency).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vademecum.memory.active import ALWAYS_ON, MAX_PREFERENCES, surest
from vademecum.memory.fitting import estimated_tokens, fitted, one_line
from vademecum.memory.kinds import FactKind
from vademecum.memory.wording import Wording, hint
from vademecum.memory.words import terms

if TYPE_CHECKING:
    from vademecum.protocols import Clock, Condition, Store

LEAST_CONFIDENCE = 0.6
MOST_OPEN = 3
MOST_TOLD = 3
MOST_FACTS = 5_000  # the newest: more take longer to look through than a hook may take
MOST_CHARACTERS = 2_000  # of a message: what is longer was pasted
_STEM_LETTERS = 4  # of a term: a stem's first letters stand in every form of its word
_COLUMNS = ("valid_to", "id", "key", "kind", "subject", "attribute", "text", "confidence", "mentions", "first_at",
            "last_at")  # fmt: skip
_KNOWLEDGE = (FactKind.DECISION, FactKind.FACT, FactKind.FIX, FactKind.TODO)


class Outline(NamedTuple):
    """Enough of a fact to choose it by and to tell it."""

    id: str
    key: str
    kind: str
    subject: str
    attribute: str
    text: str
    confidence: float
    mentions: int
    first_at: float
    last_at: float

    @property
    def words(self) -> str:
        """All its words."""
        return f"{self.subject} {self.attribute} {self.text}"

    @property
    def topic(self) -> str:
        """What it is about, as `Fact.topic`."""
        return " ".join(part for part in (self.subject, self.attribute) if part) or self.kind


class Brief:
    """Tells what the databases of some memories hold."""

    def __init__(
        self,
        stores: Sequence[Store],
        wording: Wording,
        clock: Clock,
        budget_tokens: int,
        count: Callable[[str], int] = estimated_tokens,
    ) -> None:
        """Take the databases, the nearest scope's first, the words to tell it in, and how many tokens it may take."""
        self._stores = tuple(stores)
        self._wording = wording
        self._clock = clock
        self._budget = budget_tokens
        self._count = count

    def opening(self) -> str:
        """Return what to know when a session opens: preferences and instructions, the latest decisions, what is left open."""
        held = [self._standing(store, (*ALWAYS_ON, FactKind.DECISION, FactKind.TODO)) for store in self._stores]
        active = surest([[each for each in own if each.kind in ALWAYS_ON] for own in held])[:MAX_PREFERENCES]
        known = _newest(held)
        decided = [each for each in known if each.kind == FactKind.DECISION][:MOST_TOLD]
        left = [each for each in known if each.kind == FactKind.TODO][:MOST_OPEN]
        w = self._wording
        always = [f"- {each.topic}: {one_line(each.text)}" for each in active]
        sections = [(w.preferences, always), (w.knowledge, self._lines(decided)), (w.open_work, self._lines(left))]
        return fitted(sections, self._budget, self._count)

    def answering(self, message: str) -> str:
        """Return what to know before answering a message; "" where nothing that is known concerns it."""
        known = _newest([self._standing(store, _KNOWLEDGE) for store in self._stores])[:MOST_FACTS]
        told = self._lines(relevant(message, known)[:MOST_TOLD])
        return fitted([(self._wording.knowledge, told)], self._budget, self._count)

    def _standing(self, store: Store, kinds: Sequence[FactKind]) -> list[Outline]:
        """Return what holds now."""
        where: list[Condition] = [("kind", "in", [str(kind) for kind in kinds])]
        rows = store.scan("facts", where, _COLUMNS).unwrap()
        return [Outline._make(row[1:]) for row in rows if row[0] is None]

    def _lines(self, chosen: Sequence[Outline]) -> list[str]:
        now = self._clock()
        return [
            f"- {one_line(each.text)} ({hint(self._wording, each.mentions, each.first_at, now)})" for each in chosen
        ]


def _newest(held: Sequence[Sequence[Outline]]) -> list[Outline]:
    """Return what is sure enough of all scopes, the newest first."""
    found = [each for own in held for each in own if each.confidence >= LEAST_CONFIDENCE]
    return sorted(found, key=lambda each: -each.last_at)


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
