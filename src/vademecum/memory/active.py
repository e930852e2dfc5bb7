"""Select the preferences and instructions that every context shows.

A hook has outlines, a few columns of each fact, and other callers have whole facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatch
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vademecum.memory.forms import table_of
from vademecum.memory.kinds import FactKind
from vademecum.memory.labels import CALLED, label, with_topic

if TYPE_CHECKING:
    from vademecum.memory.records import Fact

PREFERENCE_CONFIDENCE_THRESHOLD = 0.6
MAX_PREFERENCES = 5
NEAREST = 3  # of these, chosen for a message
ALWAYS_ON = (FactKind.PREFERENCE, FactKind.INSTRUCTION)
_LANGUAGE_SUFFIXES = {language: tuple(endings.split()) for language, endings in table_of(__file__).items()}


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
    value: str
    place: str = ""

    @property
    def words(self) -> str:
        """Words of the fact, with other names of its kind."""
        return " ".join(filter(None, (self.subject, self.attribute, CALLED.get(self.subject), self.text)))

    @property
    def topic(self) -> str:
        """Label of the subject, as `Fact.topic`."""
        return label(self.subject, self.attribute, self.text, self.kind)


F = TypeVar("F", bound="Fact | Outline")


def surest(by_scope: Sequence[Sequence[F]]) -> list[F]:
    """Return the facts with enough confidence, the most confident first.

    Args:
        by_scope: Current facts of each scope, the nearest scope first. A nearer scope hides facts of a wider one on the same
            subject.
    """
    found: list[F] = []
    spoken_of: set[str] = set()  # subjects of nearer scopes
    for facts in by_scope:
        own = [fact for fact in facts if _thing(fact) not in spoken_of]
        found += [fact for fact in own if fact.confidence >= PREFERENCE_CONFIDENCE_THRESHOLD]
        spoken_of |= {_thing(fact) for fact in own}
    return sorted(found, key=lambda fact: (-fact.confidence, -fact.mentions, -fact.last_at, fact.id))


def told(facts: Iterable[F], nearness: Callable[[Sequence[F]], Sequence[float]] | None = None) -> list[F]:
    """Return five facts, at most one for each sentence.

    These are the surest preference, the surest instruction, and the three nearest to a message; without a message, the surest
    two of each kind and one more.

    Args:
        facts: Facts, the surest first.
        nearness: Returns how near each of some facts is to a message; higher is nearer.
    """
    left = by_sentence(facts)
    if len(left) <= MAX_PREFERENCES:
        return left
    sure = MAX_PREFERENCES - NEAREST if nearness is not None else MAX_PREFERENCES
    chosen = _of_both_kinds(left, sure)
    left = [fact for fact in left if fact not in chosen]
    if nearness is None:
        return chosen
    near = dict(zip([fact.id for fact in left], nearness(left), strict=True))
    return [*chosen, *sorted(left, key=lambda fact: -near[fact.id])[:NEAREST]]


def words_of(fact: F, past: Collection[str]) -> str:
    """Return a fact's sentence, or topic and value of one partly past.

    `past` are the sentences of facts that ended.
    """
    return with_topic(fact.topic, fact.value) if fact.text in past else fact.text


def by_sentence(facts: Iterable[F]) -> list[F]:
    """Return the first fact of each sentence, which is shown whole."""
    found: dict[str, F] = {}
    for fact in facts:
        found.setdefault(fact.text, fact)
    return list(found.values())


def _of_both_kinds(facts: Sequence[F], count: int) -> list[F]:
    """Return the surest facts, with half the places kept for each kind."""
    kept = [fact for kind in ALWAYS_ON for fact in [each for each in facts if each.kind == kind][: count // 2]]
    others = [fact for fact in facts if fact not in kept]
    chosen = [*kept, *others[: count - len(kept)]]
    return [fact for fact in facts if fact in chosen]


def _thing(fact: Fact | Outline) -> str:
    """Return a fact's subject, without the place it applies to."""
    return fact.key.rpartition("|")[0]


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
