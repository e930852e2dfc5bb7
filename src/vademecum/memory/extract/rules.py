"""Types for a language's table of extraction rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from vademecum.memory.extract.scope import Limit
from vademecum.memory.records import FactKind

Cues = tuple[tuple[str, tuple[int, ...]], ...]
"""Cues, each with the numbers of the rules that need it."""

OPENING = r"(?:^|(?<=[,;:(])\s*|(?<=\s)"
"""The beginning of a pattern that matches only at the start of a clause; the language's own links come next."""

# A unit of work is about 50 nanoseconds. The figures are upper bounds, measured on texts that hold nothing but the cues of
# one rule.
PER_CUE, PER_OPENING = 150, 20  # for each occurrence of a cue, and for each start of a clause

_BEHIND = 80  # characters after a match in which its author may reject it
_BEGINNING = re.compile(r"^|\b\w|[.;]")  # the start of a word or a clause; patterns with a `reach` begin nowhere else


@dataclass(frozen=True)
class Rule:
    """A form of sentence that states something lasting.

    Each group of the pattern is optional: `value` (the thing that holds), `other` (the rejected alternative), `subject`,
    `attribute`, `part` (the part of the work), `topic` (the condition), `object` (of the verb), `reason`.

    Attributes:
        kind: The kind of the statement.
        confidence: The probability that the speaker means the statement to last: 0.9 where a word says so ("always",
            "I prefer"), 0.75 for plain wishes, 0.6 where only a choice shows it.
        cues: Lower-case words, separated by commas. Every matching sentence holds one; other sentences are not tried.
        pattern: The regular expression to match in one sentence.
        besides: More words, of which a matching sentence also holds one.
        reach: The match begins at most so many words before a cue. None: the whole sentence is searched.
        negative: The value is a thing not to do.
        corrects: The statement takes back an earlier one.
        problem_before: The problem that a fix solved stands before the match.
        about: The subject, where the form itself implies one.
        dear: Work for one cue, as a multiple of the usual; 0 where the pattern is tried at one place only.
        presupposed: The statement is taken for granted, so it holds in a question too: "does my preference for X help?"
        known: The value must be a known choice: "use yarn" lasts, "use that helper" may not.
    """

    kind: FactKind
    confidence: float
    cues: str
    pattern: str
    besides: str = ""
    reach: int | None = None
    negative: bool = False
    corrects: bool = False
    problem_before: bool = False
    presupposed: bool = False
    known: bool = False
    about: str = ""
    dear: int = 1

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled pattern, made on first use.

        A process that reads one message needs few patterns.
        """
        return re.compile(self.pattern, re.IGNORECASE)

    def has_what_it_needs(self, low: str) -> bool:
        """Return whether a lower-case sentence that holds a cue may match."""
        return not self.besides or any(word in low for word in self._besides)

    def matches(self, sentence: str, openings: Sequence[int]) -> Iterator[re.Match[str]]:
        """Yield the pattern's matches in a sentence, left to right, without overlaps.

        A pattern for the start of a clause is tried only at `openings`, a twentieth of all places. A pattern with a `reach` is
        tried only near its cues.
        """
        if self.opens:
            yield from self._at(openings, sentence)
        elif self.reach is not None:
            yield from self._at(self._near_cues(sentence, self.reach), sentence)
        else:
            yield from self.compiled.finditer(sentence)

    def work(self, length: int, times: int, openings: int) -> int:
        """Return the highest cost of searching a sentence, in units of work.

        Args:
            length: Characters in the sentence.
            times: Occurrences of the rule's cues in the sentence.
            openings: Places where a clause opens.
        """
        return length // 2 + PER_CUE * self.dear * times + (PER_OPENING * openings if self.opens else 0)

    def _at(self, places: Iterable[int], sentence: str) -> Iterator[re.Match[str]]:
        end = 0
        for place in places:
            match = self.compiled.match(sentence, place) if place >= end else None
            if match is not None:
                end = match.end()
                yield match

    def _near_cues(self, sentence: str, words: int) -> Iterator[int]:
        """Yield the starts of words and clauses near each cue, ascending.

        The search begins so many words before a cue. Each start is yielded once.
        """
        done = 0
        for cue in self._cue.finditer(sentence):
            first = cue.start()
            for _ in range(words):
                while first > done and sentence[first - 1].isspace():
                    first -= 1
                first = sentence.rfind(" ", done, first) + 1 or done
            yield from (place.start() for place in _BEGINNING.finditer(sentence, first, cue.start() + 1))
            done = cue.start() + 1

    @cached_property
    def _cue(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.cues.split(","))), re.IGNORECASE)

    @cached_property
    def _besides(self) -> tuple[str, ...]:
        return tuple(self.besides.split(","))

    @cached_property
    def opens(self) -> bool:
        """True if the pattern matches only at the start of a clause."""
        return self.pattern.startswith(OPENING)


@dataclass(frozen=True)
class Language:
    """A language's ways to state something lasting.

    Attributes:
        rules: The table; the first rule that applies to a clause wins.
        hedges: Lower-case words that halve the confidence.
        asks: The opening of a question or a condition.
        wonders: Words that make a question of the rest: "I don't know if".
        reason: `because …`, with the group `reason`.
        takes_back: An opening that makes its sentence, or the next, a correction.
        taken_back: Words that make their sentence a correction from any place.
        back: Lower-case words; every sentence that `taken_back` matches holds one.
        links: Words between two clauses.
        clause: A boundary; a clause starts after it.
        limits: Limits that a sentence may name.
        unsaid: Words before a clause that the author does not assert: "I never said that", "imagine".
        denied: A negated verb right before a value: "have not decided to use".
        refused: Words after an opinion that reject it: "which is wrong", "but I don't care".
        head_first: A noun stands before its adjective ("fonctions courtes").
        no: The word put before a negated value.
    """

    rules: tuple[Rule, ...]
    hedges: tuple[str, ...]
    asks: re.Pattern[str]
    wonders: re.Pattern[str]
    reason: re.Pattern[str]
    takes_back: re.Pattern[str]
    taken_back: re.Pattern[str]
    back: tuple[str, ...]
    links: str
    clause: re.Pattern[str]
    limits: tuple[Limit, ...]
    unsaid: re.Pattern[str]
    denied: re.Pattern[str]
    refused: re.Pattern[str]
    head_first: bool = False
    no: str = "not"

    def is_meant(self, sentence: str, start: int, match: re.Match[str], *, negative: bool) -> bool:
        """Return whether the author asserts the matched clause that begins at `start`.

        Denied and imagined clauses are not asserted, nor are opinions of others that the author rejects.
        """
        value = match.start("value") if match.groupdict().get("value") else match.end()
        if self.unsaid.search(sentence, start, match.start()) or self.unsaid.search(sentence, start, value):
            return False
        if self.refused.search(sentence, value, match.end() + _BEHIND):
            return False
        return negative or self.denied.search(sentence, start, value) is None

    def cues_in(self, low: str) -> Cues:
        """Return at least all cues that occur in a lower-case message.

        Some of the cues returned may be missing from the message; no cue that it holds is left out.
        """
        words, sought = _said_once(low), self._sought
        said = map(self._by_three.__getitem__, self._threes.intersection(_threes(words)))
        near = [sought[number] for number in sorted(chain(self._short, *said))]
        return tuple((cue, rules) for part, cue, rules in near if part in words and (part == cue or cue in low))

    def openings(self, sentence: str, rules: Iterable[Rule]) -> list[int]:
        """Return the places where a clause may open.

        The list is empty where none of the rules needs it.
        """
        if not any(rule.opens for rule in rules):
            return []
        return [0, *(match.end() for match in self._openings.finditer(sentence))]

    def rules_for(self, low: str, cues: Cues) -> list[tuple[Rule, int]]:
        """Return the rules with a cue in a sentence, with cue counts.

        The rules keep the order of the table.
        """
        times: dict[int, int] = {}
        for cue, rules in cues:
            if count := low.count(cue):
                for number in rules:
                    times[number] = times.get(number, 0) + count
        return [
            (rule, times[number]) for number in sorted(times) if (rule := self.rules[number]).has_what_it_needs(low)
        ]

    def clause_ends(self, sentence: str) -> list[int]:
        """Return the start of each clause in a sentence, ascending, 0 first."""
        return _clause_ends(self.clause, sentence)

    def takes_something_back(self, sentence: str, low: str) -> bool:
        """Return whether a sentence takes back an earlier one.

        Args:
            sentence: The sentence.
            low: The same sentence in lower case.
        """
        if self.takes_back.match(sentence) is not None:
            return True
        return any(word in low for word in self.back) and self.taken_back.search(sentence) is not None

    @cached_property
    def _sought(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """The cues, each with its longest word, which is searched first."""
        return tuple(
            (max(cue.split(), key=len) if " " in cue.strip() else cue, cue, rules) for cue, rules in self._cued
        )

    @cached_property
    def _by_three(self) -> dict[tuple[str, str, str], list[int]]:
        """Places in `_sought` by the rarest three letters of their first part.

        A cue whose three letters are missing from a message need not be searched there.
        """
        threes = [tuple(_threes(part)) for part, _, _ in self._sought]
        common = Counter(chain.from_iterable(threes))
        found: dict[tuple[str, str, str], list[int]] = {}
        for number, own in enumerate(threes):
            if own:
                found.setdefault(min(own, key=common.__getitem__), []).append(number)
        return found

    @cached_property
    def _threes(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(self._by_three)

    @cached_property
    def _short(self) -> tuple[int, ...]:
        """Places in `_sought` whose first part is shorter than three letters."""
        return tuple(number for number, (part, _, _) in enumerate(self._sought) if len(part) < 3)

    def hedged(self, low: str) -> list[tuple[int, int]]:
        """Return the spans of hedges in a lower-case sentence."""
        said = [word for word in self.hedges if word in low]
        return [match.span() for word in said for match in self._hedges[word].finditer(low)]

    @cached_property
    def _hedges(self) -> dict[str, re.Pattern[str]]:
        return {word: re.compile(rf"\b{re.escape(word)}\b") for word in self.hedges}

    @cached_property
    def _openings(self) -> re.Pattern[str]:
        return re.compile(rf"[,;:(\s](?:(?<=\S)|(?={self.links}))", re.IGNORECASE)

    @cached_property
    def _cued(self) -> Cues:
        by_cue: dict[str, list[int]] = {}
        for number, rule in enumerate(self.rules):
            for cue in rule.cues.split(","):
                by_cue.setdefault(cue, []).append(number)
        return tuple((cue, tuple(rules)) for cue, rules in by_cue.items())


@lru_cache(maxsize=1)  # all languages ask for the same text
def _said_once(low: str) -> str:
    """Return each word of a text once, with a space around each.

    Repeated words are dropped, so the result is shorter to search.
    """
    return f" {' '.join(set(low.split()))} "


def _threes(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield every three consecutive letters of a text.

    >>> ["".join(three) for three in _threes("never")]
    ['nev', 'eve', 'ver']
    """
    return zip(text, text[1:], text[2:], strict=False)


@lru_cache(maxsize=4)  # every match in a sentence asks for the same list
def _clause_ends(clause: re.Pattern[str], sentence: str) -> list[int]:
    return [0, *(boundary.end() for boundary in clause.finditer(sentence))]
