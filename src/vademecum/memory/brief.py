"""What an agent is told in passing, when a session opens or a message is sent: facts alone, and quickly.

`recall` reads every event with arrays and vectors, which takes longer to load than a hook may take. This reads a few columns
of the table of facts and nothing else: what holds, what was decided, what is left open, and of a message the facts that
share its telling words. Rare words tell more than common ones, counted over the facts at hand (inverse document frequency).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vademecum.memory.active import ALWAYS_ON, surest, told
from vademecum.memory.fitting import estimated_tokens, fitted, one_line
from vademecum.memory.kinds import FactKind
from vademecum.memory.labels import label, with_topic
from vademecum.memory.wording import Wording, against, hint
from vademecum.memory.words import terms

if TYPE_CHECKING:
    from vademecum.protocols import Clock, Condition, Store

LEAST_CONFIDENCE = 0.6
MOST_OPEN = 3
MOST_TOLD = 3
MOST_FACTS = 5_000  # the newest of a database: more take longer to look through than a hook may take
TOLD_SINCE = "told_since"  # the row of `meta` that says since when they are; kept by whoever has time to look at all
MOST_CHARACTERS = 2_000  # of a message: what is longer was pasted
_CAPITAL = re.compile(r"[A-Z]+\w*")
_OPENS = re.compile(r"(?:^|[.!?:\n])[\W_]*$")  # before a word that has a capital because it opens a sentence
_STEM_LETTERS = 4  # of a term: a stem's first letters stand in every form of its word
_COLUMNS = ("valid_to", "id", "key", "kind", "subject", "attribute", "text", "confidence", "mentions", "first_at",
            "last_at", "disputed")  # fmt: skip
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
    disputed: int

    @property
    def words(self) -> str:
        """All its words."""
        return f"{self.subject} {self.attribute} {self.text}"

    @property
    def topic(self) -> str:
        """What it is about, as `Fact.topic`."""
        return label(self.subject, self.attribute, self.text, self.kind)


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
        active = told(surest([_standing(store, ALWAYS_ON) for store in self._stores]))
        known = self._known((FactKind.DECISION, FactKind.TODO))
        decided = [each for each in known if each.kind == FactKind.DECISION][:MOST_TOLD]
        left = [each for each in known if each.kind == FactKind.TODO][:MOST_OPEN]
        w = self._wording
        always = [f"- {with_topic(each.topic, self._preference(each))}" for each in active]
        sections = [(w.preferences, always), (w.knowledge, self._lines(decided)), (w.open_work, self._lines(left))]
        return fitted(sections, self._budget, self._count)

    def answering(self, message: str) -> str:
        """Return what to know before answering a message; "" where nothing that is known concerns it."""
        lines = self._lines(relevant(message, self._known(_KNOWLEDGE))[:MOST_TOLD])
        return fitted([(self._wording.knowledge, lines)], self._budget, self._count)

    def _known(self, kinds: Sequence[FactKind]) -> list[Outline]:
        """Return what is sure enough of all databases, the newest first."""
        held = [_standing(store, kinds, told_since(store)) for store in self._stores]
        found = [each for own in held for each in own if each.confidence >= LEAST_CONFIDENCE]
        return sorted(found, key=lambda each: -each.last_at)[:MOST_FACTS]

    def _preference(self, one: Outline) -> str:
        """Return a preference as it was said; where another was said and nothing decides between them, both, dated."""
        if not one.disputed:
            return one_line(one.text)
        where: list[Condition] = [("key", "=", one.key), ("disputed", "=", 1)]
        rows = [row for store in self._stores for row in store.scan("facts", where, _COLUMNS).unwrap()]
        others = (other for other in (Outline._make(row[1:]) for row in rows) if other.id != one.id)
        w, now = self._wording, self._clock()
        stands = [against(w, one_line(other.text), other.last_at, now) for other in islice(others, 1)]
        return f"{one_line(one.text)} ({'; '.join([hint(w, one.mentions, one.first_at, now), *stands])})"

    def _lines(self, chosen: Sequence[Outline]) -> list[str]:
        now = self._clock()
        return [
            f"- {one_line(each.text)} ({hint(self._wording, each.mentions, each.first_at, now)})" for each in chosen
        ]


def _standing(store: Store, kinds: Sequence[FactKind], since: float = 0.0) -> list[Outline]:
    """Return what holds now of what was said since a moment."""
    where: list[Condition] = [("kind", "in", [str(kind) for kind in kinds]), ("last_at", ">=", since)]
    rows = store.scan("facts", where, _COLUMNS).unwrap()
    return [Outline._make(row[1:]) for row in rows if row[0] is None]


def told_since(store: Store) -> float:
    """Return the moment before which facts are too many to be looked through in passing; 0 where they are few."""
    rows = store.scan("meta", [("name", "=", TOLD_SINCE)], ("value",)).unwrap()
    return float(rows[0][0]) if rows else 0.0


def mark_told_since(store: Store) -> None:
    """Work out that moment again; preferences and instructions are looked through whenever they were said.

    Raises `StoreError`.
    """
    where: list[Condition] = [("kind", "in", [str(kind) for kind in _KNOWLEDGE])]
    newest = sorted(
        (at for at, end in store.scan("facts", where, ("last_at", "valid_to")).unwrap() if end is None), reverse=True
    )
    since = newest[MOST_FACTS - 1] if len(newest) > MOST_FACTS else 0.0
    store.upsert("meta", [(TOLD_SINCE, repr(since))]).unwrap()


def relevant(message: str, facts: Sequence[Outline]) -> list[Outline]:
    """Return the facts that concern a message, best first: they share two of its words, or one that few facts have.

    Facts of equal weight stay in the order they come in, which is the newest first.
    """
    asked = set(terms(message[:MOST_CHARACTERS]))
    holding = {fact.id: shared for fact in facts if (shared := _shared(asked, fact.words))}
    spread = Counter(term for shared in holding.values() for term in shared)
    weights = {term: math.log(1 + len(facts) / count) for term, count in spread.items()}
    chosen = [fact for fact in facts if fact.id in holding and _concerns(holding[fact.id], spread, fact.words)]
    return sorted(chosen, key=lambda fact: -sum(weights[term] for term in holding[fact.id]))


def _shared(asked: set[str], text: str) -> set[str]:
    """The terms that a text has of those asked for; only a text that has their letters is cut into terms."""
    low = text.lower()
    near = {term for term in asked if term[:_STEM_LETTERS] in low}
    return near & set(terms(text)) if near else set()


def _concerns(shared: Collection[str], spread: Mapping[str, int], text: str) -> bool:
    """Whether the terms that a message shares with a fact tell that it concerns it: two, or a rare one that says something."""
    return len(shared) >= 2 or any(spread[term] <= 2 and (len(term) >= 5 or _is_name(term, text)) for term in shared)


def _is_name(term: str, text: str) -> bool:
    """Whether a short word is a name and no common word: no vowel, a figure, or written as one, as in "TLS", "npm", "Vue"."""
    if not any(letter in "aeiouy" for letter in term):
        return len(term) >= 2
    named = re.compile(rf"(?<!\w){re.escape(term)}", re.IGNORECASE)
    said = (match for match in named.finditer(text))
    return any(_CAPITAL.match(text, each.start()) and not _OPENS.search(text, 0, each.start()) for each in said)
