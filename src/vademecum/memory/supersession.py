"""Pair a value with the later one that replaces it, newest first.

Facts know their successors (`facts`). But most statements never become facts: "the dashboard answers in 250 ms now", "we have
secured 5 interviews". A question "how many" finds both the old and the new number, and scores cannot tell them apart. Two
statements are such a pair if

- the question asks how things stand, and for a value of that kind: an amount of money, a share, a date, a number of a thing,
- both state a different value of that kind, beside a word that the question has too,
- they share most of what one of them has of the question, and the later one states a change ("now", "increased to").

A question asks for one value, so words make at most one pair. All other events keep their order, and none is left out: on
weaker grounds, 284 of 290 pairs were wrong on 279 questions of chats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from vademecum.index.tokenize import TALK
from vademecum.memory.forms import compiled
from vademecum.memory.passages import AskedFor, said_in, sentences
from vademecum.memory.question import Question
from vademecum.memory.records import Evidence, Fact, Role
from vademecum.memory.reversals import VALUE
from vademecum.memory.words import terms

WORTH = 0.7  # of the highest share of the question; an earlier statement below is off topic
LEAST = 0.4  # the same for a later statement, which often names less: "it is 1,200 now"
SHARED = 0.6  # of the lower of both shares
REACH = 15  # best events that are compared
READ_CHARACTERS = 3_000  # of an event; values come early
_NEAR = 8  # words on either side of a value

_SAID = compiled(__file__)
_PEOPLE = (Role.USER, Role.NOTE)


class _Kind(NamedTuple):
    name: str
    noun: str = ""  # the stem of the counted thing


@dataclass(frozen=True)
class _Stated:
    """A value in a sentence of an event."""

    place: int  # of the event in the answer
    at: float
    said: Mapping[int, float]  # the question's terms in the sentence, each with its share of the question
    values: frozenset[str]
    near: frozenset[str]  # the question's terms beside the values
    changes: bool  # the sentence states a change

    @property
    def share(self) -> float:
        """Share of the question in the sentence, 0..1."""
        return sum(self.said.values())


def newest_first(question: Question, evidence: Sequence[Evidence], idf: Mapping[int, float]) -> list[Evidence]:
    """Return evidence with the later value of a pair before the earlier.

    The earlier names the later. All else keeps its order.

    Args:
        question: The question.
        evidence: Its evidence, best first.
        idf: The weight of each term of the question, by key.
    """
    near = evidence[:REACH]
    later = _by_facts(question, near)
    if question.asks_now and (pair := _pair(question, near, AskedFor(question.text, idf))) is not None:
        later.setdefault(*pair)
    ordered = list(range(len(evidence)))
    for old, new in later.items():
        if ordered.index(new) > ordered.index(old):
            ordered.remove(new)
            ordered.insert(ordered.index(old), new)
    marked = {old: replace(evidence[old], superseded_by=evidence[new].event.id) for old, new in later.items()}
    return [marked.get(place, evidence[place]) for place in ordered]


def _by_facts(question: Question, evidence: Sequence[Evidence]) -> dict[int, int]:
    """Return the places of ended facts' events, each with its successor's.

    Empty where the question looks back; without those whose replaced value the question names.
    """
    if question.asks_back or question.period is not None:
        return {}
    places = {item.event.id: place for place, item in reversed(list(enumerate(evidence)))}
    found = {}
    for place, item in enumerate(evidence):
        ended = bool(item.facts) and all(fact.valid_to is not None for fact in item.facts)
        new = next((places[fact.event] for fact in item.now if fact.event in places), None)
        if ended and new is not None and not any(_is_named(fact, item.now, question) for fact in item.facts):
            found[place] = new
    return found


def _is_named(fact: Fact, now: Sequence[Fact], question: Question) -> bool:
    """Return whether a question names a replaced value.

    It does by a word of the value that neither the subject nor the successors have.
    """
    shared = [fact.subject, fact.attribute, *(each.value for each in now)]
    return not question.words.isdisjoint(_words(fact.value) - TALK - _words(" ".join(shared)))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _pair(question: Question, evidence: Sequence[Evidence], asked: AskedFor) -> tuple[int, int] | None:
    """Return the places of an earlier and a later value, if any."""
    by_kind: dict[_Kind, list[_Stated]] = {}
    for place, item in enumerate(evidence):
        if item.event.role in _PEOPLE:
            for kind, stated in _stated(place, item, question, asked):
                by_kind.setdefault(kind, []).append(stated)
    highest = max((each.share for same in by_kind.values() for each in same), default=0.0)
    pairs = [
        (old.share + new.share, new.at, old.place, new.place)
        for same in by_kind.values()
        for old in same
        for new in same
        if old.share >= WORTH * highest and new.share >= LEAST * highest and _replaces(new, old)
        if len({evidence[each.place].repo for each in (new, old)} - {""}) < 2  # of one repository
    ]
    return max(pairs)[2:] if pairs else None


def _replaces(new: _Stated, old: _Stated) -> bool:
    """Return whether a later statement gives another value of the same thing."""
    if new.at <= old.at or not new.changes or not new.values.isdisjoint(old.values) or new.near.isdisjoint(old.near):
        return False
    both = sum(part for term, part in old.said.items() if term in new.said)
    return both >= SHARED * min(old.share, new.share)


def _stated(place: int, item: Evidence, question: Question, asked: AskedFor) -> Iterator[tuple[_Kind, _Stated]]:
    """Yield the values of the kinds asked for, sentence by sentence."""
    low, about = question.text.lower(), frozenset(terms(question.text))
    for sentence in sentences(item.event.text[:READ_CHARACTERS]):
        said = said_in(sentence, asked)
        if not said:  # mostly
            continue
        text = sentence.lower()
        found: dict[_Kind, tuple[set[str], set[str]]] = {}
        for match in VALUE.finditer(text):
            for kind in _kinds(match, low, about):
                values, near = found.setdefault(kind, (set(), set()))
                values.add(re.sub(r"\s", "", match[kind.name]))
                near |= about.intersection(_beside(text, match))
        changes = bool(found) and _SAID["change"].search(text) is not None
        for kind, (values, near) in found.items():
            yield kind, _Stated(place, item.event.at, said, frozenset(values), frozenset(near), changes)


def _kinds(match: re.Match[str], question: str, about: frozenset[str]) -> list[_Kind]:
    """Return the kinds of a value that a question asks for."""
    if match["count"]:
        return [_Kind("count", noun) for noun in terms(match["noun"])[:2] if noun in about]
    name = match.lastgroup or ""
    return [_Kind(name)] if _SAID[name].search(question) else []


def _beside(text: str, match: re.Match[str]) -> list[str]:
    """Return the terms of the words around a value."""
    before = text[: match.start()].split()[-_NEAR:]
    return terms(" ".join([*before, *text[match.end() :].split()[:_NEAR]]))
