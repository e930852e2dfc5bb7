"""Detect statements that a later one supersedes, by facts and words.

Facts know their successors (`facts`). But most statements never become facts: "the dashboard answers in 250 ms now", "we have
secured 5 interviews". A question "how many" finds both the old and the new number, and scores cannot tell them apart: the
outdated one is above in half of such questions, and weighting by recency hardly changes that. So the words decide. A later
statement supersedes an earlier one if

- the question asks for the current state, and both statements hold a value (a number, a date, an amount),
- they share nearly all words that the earlier one has of the question, or a good part if the later one states a change
  ("now", "increased to", "instead").

The later statement is then placed right before the earlier, which is marked with its successor; all others keep their order.
The same applies where facts know the successor, unless the question looks back or names the replaced value ("why did we
choose npm").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from string import digits

from vademecum.index.stopwords import TALK
from vademecum.index.tokenize import key
from vademecum.memory.question import Question
from vademecum.memory.records import Evidence, Fact, Role
from vademecum.memory.words import IRREGULAR, beginnings, run_terms, runs, terms

NEARLY = 0.8  # share of the earlier statement's question words that the later must share
PARTLY = 0.25  # the same, if the later states a change
WORTH = 0.5  # of the highest share; a statement below is off topic
CLOSE = 10  # best events that are compared; events further down are about something else
REACH = 15  # best events among which a later statement of a change is found
READ_CHARACTERS = 3_000  # of an event; values come early

_DIGIT = re.compile(r"\d")
# Both patterns search lower-case text, which is twice as fast as ignoring case.
_VALUE = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand"
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|vingt|trente|cent|mille"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
)
_CHANGE = re.compile(
    r"\b(?:now|recent(?:ly)?|lately|currently|update[ds]?|new(?:ly)?|latest|already|instead|no longer|anymore|since then"
    r"|chang(?:ed|ing)|switch(?:ed|ing)|mov(?:ed|ing) to|shift(?:ed|ing)?|extend(?:ed|ing)|increas(?:ed|ing)|grow(?:n|ing)|grew"
    r"|improv(?:ed|ing)|reduc(?:ed|ing)|decreas(?:ed|ing)|dropp?(?:ed|ing)|r(?:ose|aised|eached|eaching)|postponed|rescheduled"
    r"|adjust(?:ed|ing|s)?|shorten(?:ed|ing)?|lower(?:ed|ing)|rais(?:ed|ing)|cut (?:back|down) to|brought (?:up|down) to|improvement|turned out|just"
    r"|additional|another|up to|down to|maintenant|désormais|récemment|nouveau|nouvelle|plutôt|finalement|passé à|changé"
    r"|augmenté|réduit|reporté|atteint|ajusté|raccourci|abaissé|relevé)\b",
)
_END = re.compile(r"[.!?]\s+|\n+")  # end of a sentence; a look-behind at each space would be slower
_PEOPLE = (Role.USER, Role.NOTE)


@dataclass(frozen=True)
class _Stated:
    """The sentence of an event with most words of the question."""

    said: Mapping[int, float]  # the question's terms in it, each with its share of the question
    sentence: str = ""

    @cached_property
    def holds_value(self) -> bool:
        return _DIGIT.search(self.sentence) is not None or _VALUE.search(self.sentence.lower()) is not None

    @cached_property
    def says_changed(self) -> bool:
        return _CHANGE.search(self.sentence.lower()) is not None

    @cached_property
    def share(self) -> float:
        """Share of the question in the sentence, 0..1."""
        return sum(self.said.values())


class AskedFor(dict[str, tuple[int, ...]]):
    """Lazy map from runs of characters to terms of the question.

    Most runs stand for no term. A run that begins like none of the terms is not split.

    >>> from vademecum.memory.words import query_keys
    >>> asked = AskedFor("how large is the cache?", {key: 1.0 for key in query_keys("how large is the cache?").tolist()})
    >>> [len(asked[run]) for run in ("caching", "cats", "fileCache", "Large")]
    [1, 0, 1, 1]
    """

    def __init__(self, text: str, idf: Mapping[int, float]) -> None:
        """Take a question, and the weight of each term by its key."""
        total = sum(idf.values()) or 1.0
        self.parts = {term: weight / total for term, weight in idf.items()}  # each term's share of the question
        self._keys = {term: number for term in terms(text) if (number := key(term)) in idf}
        self._begin = frozenset(begin for term in self._keys for begin in beginnings(term))

    def __missing__(self, run: str) -> tuple[int, ...]:
        own = self._keys
        found = () if self._is_beside(run) else tuple(own[term] for term in run_terms(run) if term in own)
        self[run] = found
        return found

    def _is_beside(self, run: str) -> bool:
        """Return whether a run certainly stands for no term of the question.

        Such a run is a number, or one word with an optional number, that begins like no term.
        """
        word, begin = run.lower(), self._begin
        if word[:3] in begin or word[:2] in begin or word[:1] in begin or not run.isascii():
            return False
        letters = word.rstrip(digits)
        if letters in IRREGULAR or word[len(letters) :] in self._keys:
            return False
        return not letters or (letters.isalpha() and (len(letters) == 1 or run[1 : len(letters)].islower()))


def collapse(question: Question, evidence: Sequence[Evidence], idf: Mapping[int, float]) -> list[Evidence]:
    """Return evidence with each successor right before the statement it replaces.

    Args:
        question: The question.
        evidence: Its evidence, best first.
        idf: The weight of each term of the question, by key.
    """
    evidence = _by_facts(question, evidence)
    if not question.asks_now:
        return evidence
    asked = AskedFor(question.text, idf)
    stated = {n: _stated(item, asked) for n, item in enumerate(evidence) if item.event.role in _PEOPLE}
    values = {n: each for n, each in stated.items() if each.said and each.holds_value}
    highest = max((each.share for each in values.values()), default=0.0)
    at = [item.event.at for item in evidence]
    ordered = list(range(len(evidence)))
    brought: set[int] = set()
    latest: dict[int, int] = {}
    for n in range(min(CLOSE, len(evidence))):
        if n not in values or values[n].share < WORTH * highest or n not in ordered[:CLOSE]:
            continue
        near = [each for each in _near(ordered, values) if _one_repository(evidence[each], evidence[n])]
        later = [each for each in near if at[each] > at[n] and _takes_place(values[each], values[n])]
        later.sort(key=lambda each: at[each], reverse=True)
        if later:
            latest[n] = later[0]
        if n not in brought:
            below = [each for each in later if each not in brought and ordered.index(each) > ordered.index(n)]
            ordered = [each for each in ordered if each not in below]
            ordered[ordered.index(n) : ordered.index(n)] = below
            brought.update(below)
    marked = {n: replace(evidence[n], superseded_by=evidence[new].event.id) for n, new in latest.items()}
    return [marked.get(n, evidence[n]) for n in ordered]


def _near(ordered: Sequence[int], values: Mapping[int, _Stated]) -> list[int]:
    """Return the statements high enough in the order.

    A statement of a change may stand lower than others.
    """
    return [n for place, n in enumerate(ordered[:REACH]) if n in values and (place < CLOSE or values[n].says_changed)]


def _one_repository(one: Evidence, other: Evidence) -> bool:
    """Return whether two statements may concern one repository.

    Statements of different repositories do not supersede each other.
    """
    return not (one.repo and other.repo) or one.repo == other.repo


def _takes_place(new: _Stated, old: _Stated) -> bool:
    """Return whether a later statement gives an earlier one's new value."""
    both = sum(part for term, part in old.said.items() if term in new.said)
    return both >= (PARTLY if new.says_changed else NEARLY) * old.share


def _by_facts(question: Question, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return evidence with ended facts' events right behind their successors."""
    ordered = list(evidence)
    if question.asks_back or question.period is not None:
        return ordered
    for item in evidence[:CLOSE]:
        replaced = {fact.event for fact in item.now} if all(fact.valid_to for fact in item.facts) else set()
        if not replaced or any(_is_named(fact, item.now, question) for fact in item.facts):
            continue
        place = ordered.index(item)
        later = next((at for at, each in enumerate(ordered[:CLOSE]) if each.event.id in replaced), None)
        if later is not None:
            ordered[place] = replace(item, superseded_by=ordered[later].event.id)
        if later is not None and later > place:
            ordered.insert(place, ordered.pop(later))
    return ordered


def _is_named(fact: Fact, now: Sequence[Fact], question: Question) -> bool:
    """Return whether a question names a replaced value.

    It does by a word of the value that neither the subject nor the successors have.
    """
    shared = [fact.subject, fact.attribute, *(each.value for each in now)]
    return not question.words.isdisjoint(_words(fact.value) - TALK - _words(" ".join(shared)))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _sentences(text: str) -> Iterator[str]:
    r"""Yield the sentences and lines of a text, with their end marks.

    >>> list(_sentences("Is it 3.5? Yes.\n\nGood"))
    ['Is it 3.5?', 'Yes.', 'Good']
    """
    begin = 0
    for end in _END.finditer(text):
        yield text[begin : end.start() + (text[end.start()] != "\n")]
        begin = end.end()
    yield text[begin:]


def _stated(item: Evidence, asked: AskedFor) -> _Stated:
    best, share = _Stated({}), 0.0
    for sentence in _sentences(item.event.text[:READ_CHARACTERS]):
        found = set(chain.from_iterable(map(asked.__getitem__, runs(sentence))))
        if not found:  # mostly
            continue
        said = {term: part for term, part in asked.parts.items() if term in found}
        if sum(said.values()) > share:
            best = _Stated(said, sentence)
            share = best.share
    return best
