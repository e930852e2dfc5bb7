"""What took the place of what, among the events that answer a question about how things stand.

Facts know it by themselves (`facts`). But most of what is said never becomes a fact: "the dashboard answers in 250 ms now",
"we have secured 5 interviews". Asked "how many", both the old number and the new one are found, and scores cannot tell
which is which: the outdated one is above in half of such questions, and recency as a weight hardly changes that. So it is
read off the words. A later statement takes the place of an earlier one where

- the question asks how things stand, and both statements hold a value (a number, a date, an amount),
- both are about what is asked: the sentence shares the question's words nearly as much as the earlier one's does,
  or it says itself that something changed ("now", "increased to", "instead") and shares a good part of them.

The later one is then shown first, and the earlier right behind it, marked with what took its place. The same holds where
facts know it, unless the question looks back or names what was replaced ("why did we choose npm").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vademecum.memory.question import Question
from vademecum.memory.records import Evidence, Fact, Role
from vademecum.memory.words import STOP_WORDS, query_keys

NEARLY = 0.8  # of the earlier statement's share of the question: as much about it
PARTLY = 0.3  # the same where something else links the two
ALIKE = 0.4  # share of the shorter sentence's words that the other has too
WORTH = 0.5  # of the highest share any statement has: below, a statement is beside the question
CLOSE = 10  # of the best: what stands further down is about something else, and an answer shows about so many
REACH = 15  # of the best: so far down a later statement is looked for, and brought up
READ_CHARACTERS = 3_000  # of an event: what states a value does so early

_VALUE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand"
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|vingt|trente|cent|mille"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:now|recent(?:ly)?|lately|currently|update[ds]?|new(?:ly)?|latest|already|instead|no longer|anymore|since then"
    r"|chang(?:ed|ing)|switch(?:ed|ing)|mov(?:ed|ing) to|shift(?:ed|ing)?|extend(?:ed|ing)|increas(?:ed|ing)|grow(?:n|ing)|grew"
    r"|improv(?:ed|ing)|reduc(?:ed|ing)|decreas(?:ed|ing)|dropp?(?:ed|ing)|r(?:ose|aised|eached|eaching)|postponed|rescheduled"
    r"|adjust(?:ed|ing|s)?|shorten(?:ed|ing)?|lower(?:ed|ing)|rais(?:ed|ing)|cut (?:back|down) to|brought (?:up|down) to|improvement|turned out|just"
    r"|additional|another|up to|down to|maintenant|désormais|récemment|nouveau|nouvelle|plutôt|finalement|passé à|changé"
    r"|augmenté|réduit|reporté|atteint|ajusté|raccourci|abaissé|relevé)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_PEOPLE = (Role.USER, Role.NOTE)


@dataclass(frozen=True)
class _Stated:
    """The sentence of an event that says most of what is asked."""

    share: float
    holds_value: bool
    says_changed: bool
    words: frozenset[int]


def collapse(question: Question, evidence: Sequence[Evidence], idf: Mapping[int, float]) -> list[Evidence]:
    """Return evidence with outdated statements right behind what took their place.

    Args:
        question: what is asked.
        evidence: what answers it, best first.
        idf: what each term of the question weighs, by its key.
    """
    evidence = _by_facts(question, evidence)
    if not question.asks_now:
        return evidence
    stated = {item.event.id: _stated(item, idf) for item in evidence if item.event.role in _PEOPLE}
    values = {id_: each for id_, each in stated.items() if each.holds_value and each.share}
    highest = max((each.share for each in values.values()), default=0.0)
    ordered = list(evidence)
    placed: set[str] = set()
    for item in evidence[:CLOSE]:
        own = values.get(item.event.id)
        if own is None or item.event.id in placed or own.share < WORTH * highest or item not in ordered[:CLOSE]:
            continue
        places = [
            place
            for place, other in enumerate(ordered[:REACH])
            if other.event.id not in placed and (other.event.id == item.event.id or _same_thing(item, other, values))
        ]
        places = _brought_up(
            ordered, [place for place in places if place < CLOSE or _says_changed(ordered[place], values)]
        )
        placed |= {ordered[place].event.id for place in places}
        for place, each in zip(places, _latest_first([ordered[place] for place in places]), strict=True):
            ordered[place] = each
    return ordered


def _brought_up(ordered: list[Evidence], places: list[int]) -> list[int]:
    """Move the latest of some statements before the first of them where it stands too far down, and return where they stand.

    The others that stand too far down are left there: what is shown goes down by one place only.
    """
    latest = max(places, key=lambda place: ordered[place].event.at)
    near = [place for place in places if place < CLOSE]
    if latest < CLOSE:
        return near
    ordered.insert(near[0], ordered.pop(latest))
    return [near[0], *(place + 1 for place in near)]


def _by_facts(question: Question, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return evidence with what nothing holds of any more right behind the event that says what holds now."""
    ordered = list(evidence)
    if question.asks_back or question.period is not None:
        return ordered
    for item in evidence[:CLOSE]:
        replaced = {fact.event for fact in item.now} if all(fact.valid_to for fact in item.facts) else set()
        if any(_is_named(fact, item.now, question) for fact in item.facts):
            continue
        place = ordered.index(item)
        later = next((at for at, each in enumerate(ordered[:CLOSE]) if each.event.id in replaced), None)
        if later is not None:
            ordered[place] = replace(item, superseded_by=ordered[later].event.id)
        if later is not None and later > place:
            ordered.insert(place, ordered.pop(later))
    return ordered


def _is_named(fact: Fact, now: Sequence[Fact], question: Question) -> bool:
    """Whether a question names a value: by a word that neither what it is about nor what holds in its place has."""
    shared = [fact.subject, fact.attribute, *(each.value for each in now)]
    return not question.words.isdisjoint(_words(fact.value) - STOP_WORDS - _words(" ".join(shared)))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _says_changed(item: Evidence, values: Mapping[str, _Stated]) -> bool:
    return item.event.id in values and values[item.event.id].says_changed


def _latest_first(group: Sequence[Evidence]) -> list[Evidence]:
    """Return statements of one thing, the latest first, the others marked with it."""
    latest, *older = sorted(group, key=lambda item: item.event.at, reverse=True)
    return [latest, *(replace(item, superseded_by=latest.event.id) for item in older)]


def _same_thing(one: Evidence, other: Evidence, values: Mapping[str, _Stated]) -> bool:
    """Whether two statements, of different times, say a value of the same thing."""
    if one.repo and other.repo and one.repo != other.repo:  # what holds in one repository says nothing of another
        return False
    older, newer = sorted((one, other), key=lambda item: item.event.at)
    old, new = values.get(older.event.id), values.get(newer.event.id)
    if old is None or new is None:
        return False
    if newer.event.at == older.event.at:
        return False
    if min(old.share, new.share) >= NEARLY * max(old.share, new.share):
        return True
    alike = len(old.words & new.words) >= ALIKE * max(1, min(len(old.words), len(new.words)))
    return new.share >= PARTLY * old.share and (new.says_changed or alike)


def _stated(item: Evidence, idf: Mapping[int, float]) -> _Stated:
    total = sum(idf.values()) or 1.0
    best = _Stated(0.0, holds_value=False, says_changed=False, words=frozenset())
    for sentence in _SENTENCE.split(item.event.text[:READ_CHARACTERS]):
        words = frozenset(query_keys(sentence).tolist())
        share = sum(idf.get(number, 0.0) for number in words) / total
        if share > best.share:
            best = _Stated(share, _VALUE.search(sentence) is not None, _CHANGE.search(sentence) is not None, words)
    return best
