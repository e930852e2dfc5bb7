"""Fast notes for hooks, at session start and for each message.

`recall` loads arrays and vectors of every event, which takes longer than a hook may take. This module reads a few columns of
the table of facts and nothing else: current preferences, decisions, open work, and the facts that share a message's telling
words. Rare words weigh more than common ones, counted over these facts (inverse document frequency).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vademecum.index.token_estimate import estimated_tokens
from vademecum.memory.active import ALWAYS_ON, surest, told
from vademecum.memory.fitting import fitted, one_line
from vademecum.memory.kinds import FactKind
from vademecum.memory.labels import label, with_topic
from vademecum.memory.wording import Wording, against, hint
from vademecum.memory.words import terms

if TYPE_CHECKING:
    from vademecum.protocols import Clock, Condition, Store

LEAST_CONFIDENCE = 0.6
MOST_OPEN = 3
MOST_TOLD = 3
MOST_FACTS = 5_000  # the newest of a database; a hook has no time to search more
TOLD_SINCE = "told_since"  # the row of `meta` with the time of the oldest of these; `consolidate` updates it
MOST_CHARACTERS = 2_000  # of a message; a longer message is mostly a paste
_CAPITAL = re.compile(r"[A-Z]+\w*")
_OPENS = re.compile(r"(?:^|[.!?:\n])[\W_]*$")  # the text before the first word of a sentence
_STEM_LETTERS = 4  # first letters of a stem, which every form of its word has
_COLUMNS = ("valid_to", "id", "key", "kind", "subject", "attribute", "text", "confidence", "mentions", "first_at",
            "last_at", "disputed")  # fmt: skip
_KNOWLEDGE = (FactKind.DECISION, FactKind.FACT, FactKind.FIX, FactKind.TODO)


class Outline(NamedTuple):
    """Columns of a fact that select and show it."""

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
        """All words of the fact."""
        return f"{self.subject} {self.attribute} {self.text}"

    @property
    def topic(self) -> str:
        """Label of the subject, as `Fact.topic`."""
        return label(self.subject, self.attribute, self.text, self.kind)


class Brief:
    """Summarises the facts of some databases for hooks."""

    def __init__(
        self,
        stores: Sequence[Store],
        wording: Wording,
        clock: Clock,
        budget_tokens: int,
        count: Callable[[str], int] = estimated_tokens,
    ) -> None:
        """Take the databases, the wording and the budget.

        Args:
            stores: Databases, that of the nearest scope first.
            wording: The language of headings and hints.
            clock: Returns the current time.
            budget_tokens: Most tokens of a result.
            count: Counts the tokens of a text.
        """
        self._stores = tuple(stores)
        self._wording = wording
        self._clock = clock
        self._budget = budget_tokens
        self._count = count

    def opening(self) -> str:
        """Return preferences, latest decisions and open work for a new session."""
        active = told(surest([_standing(store, ALWAYS_ON) for store in self._stores]))
        known = self._known((FactKind.DECISION, FactKind.TODO))
        decided = [each for each in known if each.kind == FactKind.DECISION][:MOST_TOLD]
        left = [each for each in known if each.kind == FactKind.TODO][:MOST_OPEN]
        w = self._wording
        always = [f"- {with_topic(each.topic, self._preference(each))}" for each in active]
        sections = [(w.preferences, always), (w.knowledge, self._lines(decided)), (w.open_work, self._lines(left))]
        return fitted(sections, self._budget, self._count)

    def answering(self, message: str) -> str:
        """Return the facts that concern a message as Markdown, or ""."""
        lines = self._lines(relevant(message, self._known(_KNOWLEDGE))[:MOST_TOLD])
        return fitted([(self._wording.knowledge, lines)], self._budget, self._count)

    def _known(self, kinds: Sequence[FactKind]) -> list[Outline]:
        """Return confident facts of all databases, the newest first."""
        held = [_standing(store, kinds, told_since(store)) for store in self._stores]
        found = [each for own in held for each in own if each.confidence >= LEAST_CONFIDENCE]
        return sorted(found, key=lambda each: -each.last_at)[:MOST_FACTS]

    def _preference(self, one: Outline) -> str:
        """Return a preference's sentence, with a rival one where disputed."""
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
    """Return the current facts last stated at `since` or later."""
    where: list[Condition] = [("kind", "in", [str(kind) for kind in kinds]), ("last_at", ">=", since)]
    rows = store.scan("facts", where, _COLUMNS).unwrap()
    return [Outline._make(row[1:]) for row in rows if row[0] is None]


def told_since(store: Store) -> float:
    """Return the time from which facts are searched, 0 for all.

    With many facts, a hook searches only the newest.
    """
    rows = store.scan("meta", [("name", "=", TOLD_SINCE)], ("value",)).unwrap()
    return float(rows[0][0]) if rows else 0.0


def mark_told_since(store: Store) -> None:
    """Store the time from which hooks search facts.

    Preferences and instructions are searched from any time. Raises `StoreError`.
    """
    where: list[Condition] = [("kind", "in", [str(kind) for kind in _KNOWLEDGE])]
    newest = sorted(
        (at for at, end in store.scan("facts", where, ("last_at", "valid_to")).unwrap() if end is None), reverse=True
    )
    since = newest[MOST_FACTS - 1] if len(newest) > MOST_FACTS else 0.0
    store.upsert("meta", [(TOLD_SINCE, repr(since))]).unwrap()


def relevant(message: str, facts: Sequence[Outline]) -> list[Outline]:
    """Return the facts that concern a message, best first.

    Such a fact shares two of the message's words, or one word that few facts have. Facts of equal weight keep their order, which
    is the newest first.
    """
    asked = set(terms(message[:MOST_CHARACTERS]))
    holding = {fact.id: shared for fact in facts if (shared := _shared(asked, fact.words))}
    spread = Counter(term for shared in holding.values() for term in shared)
    weights = {term: math.log(1 + len(facts) / count) for term, count in spread.items()}
    chosen = [fact for fact in facts if fact.id in holding and _concerns(holding[fact.id], spread, fact.words)]
    return sorted(chosen, key=lambda fact: -sum(weights[term] for term in holding[fact.id]))


def _shared(asked: set[str], text: str) -> set[str]:
    """Return the terms that occur in a text.

    Only a text that holds the first letters of a term is split into terms.
    """
    low = text.lower()
    near = {term for term in asked if term[:_STEM_LETTERS] in low}
    return near & set(terms(text)) if near else set()


def _concerns(shared: Collection[str], spread: Mapping[str, int], text: str) -> bool:
    """Return whether shared terms are enough: two, or a rare long one.

    A rare short term counts if it is a name.
    """
    return len(shared) >= 2 or any(spread[term] <= 2 and (len(term) >= 5 or _is_name(term, text)) for term in shared)


def _is_name(term: str, text: str) -> bool:
    """Return whether a short term is a name.

    A name has no vowel ("npm"), or a capital that does not open a sentence ("Vue").
    """
    if not any(letter in "aeiouy" for letter in term):
        return len(term) >= 2
    named = re.compile(rf"(?<!\w){re.escape(term)}", re.IGNORECASE)
    said = (match for match in named.finditer(text))
    return any(_CAPITAL.match(text, each.start()) and not _OPENS.search(text, 0, each.start()) for each in said)
