"""What a language's table of rules is made of."""

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
"""Each with the numbers of the rules that need it."""

OPENING = r"(?:^|(?<=[,;:(])\s*|(?<=\s)"
"""How a pattern begins that matches only where a clause opens; the language's own links between clauses come next."""

# Work is counted in units of some 50 nanoseconds: so much that no text costs more for what is counted than long lists of
# rules do, measured on texts that are made of nothing but what one rule looks for.
PER_CUE, PER_OPENING = 150, 20  # each time a cue is said, each place where a clause opens

_BEHIND = 80  # characters behind a match where its author may refuse it
_BEGINNING = re.compile(r"^|\b\w|[.;]")  # of a word or a clause: no pattern that begins near its cue begins elsewhere


@dataclass(frozen=True)
class Rule:
    """One way of saying something worth keeping.

    The pattern's groups say what is what: `value` what holds, `other` what was rejected for it, `subject` what it is
    about, `topic` when it applies, `verb` and `object` of a wish, `reason` why. Each is optional.

    Attributes:
        kind: what is said.
        confidence: how often whoever says this means it to last: 0.9 where a word says so ("always", "I prefer"),
            0.75 for plain wishes, 0.6 where only the choice tells.
        cues: one of these is in every sentence that the pattern matches, in lower case; it is tried on no other.
        pattern: what is looked for in one sentence.
        besides: one of these is there as well, where one cue would let in too much.
        reach: the match begins at most so many words before a cue; without it, it is looked for everywhere.
        negative: the value is what not to do.
        corrects: it takes back something.
        problem_before: what it is a fix of stands before it.
        about: what it is always about, where the form itself says so.
        dear: how many times as much work a cue of it is as one of others; 0 where it is tried at one place alone.
        presupposed: it is said by the way, as known already, and holds in a question too: "does my preference for X help?"
        known: it counts only where the value is a choice that is known as one: "use yarn" lasts, "use that helper" may not.
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
        """The pattern, made when first needed: a process that reads one message needs few of them."""
        return re.compile(self.pattern, re.IGNORECASE)

    def has_what_it_needs(self, low: str) -> bool:
        """Return whether a sentence in lower case, which holds a cue, may match."""
        return not self.besides or any(word in low for word in self._besides)

    def matches(self, sentence: str, openings: Sequence[int]) -> Iterator[re.Match[str]]:
        """Yield what the pattern matches in a sentence, from the left, no two on the same words.

        What matches only where a clause opens is tried at those places alone, which are a twentieth of all; what begins
        near its cue is tried only there.
        """
        if self.opens:
            yield from self._at(openings, sentence)
        elif self.reach is not None:
            yield from self._at(self._near_cues(sentence, self.reach), sentence)
        else:
            yield from self.compiled.finditer(sentence)

    def work(self, length: int, times: int, openings: int) -> int:
        """Return what looking for it in a sentence costs at most, in units of work.

        Args:
            length: characters of the sentence.
            times: how often a cue is in it.
            openings: the places where a clause opens.
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
        """Yield where a word or a clause begins, in order and each once, from so many words before a cue up to it."""
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
        """Whether it matches only where a clause opens."""
        return self.pattern.startswith(OPENING)


@dataclass(frozen=True)
class Language:
    """How one language says what is worth keeping.

    Attributes:
        rules: the first that applies to a clause is what it says.
        hedges: words that take back half of what is said, in lower case.
        asks: what makes a clause a question or a condition, seen at its start.
        wonders: what makes a question of what follows it: "I don't know if".
        reason: `because …`, in the group `reason`.
        takes_back: words that make a correction of the sentence they open, or of the next.
        taken_back: the same, wherever in a sentence they stand.
        back: one of these is in every sentence that `taken_back` finds something in, in lower case.
        links: what may stand between two clauses, seen where it begins.
        lead: a clause starts behind this.
        unsaid: what stands before a clause that is not so: "I never said that", "imagine", seen at the clause's end.
        denied: a verb with its denial right before a value: "have not decided to use".
        refused: behind what others say, what makes it no word of the author's: "which is wrong", "but I don't care".
        head_first: a noun stands before what describes it ("fonctions courtes").
        no: what stands before a value that is denied.
        limits: where it holds.
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
        """Return whether what a rule matched in a clause, which begins at `start`, is said to be so by who writes it.

        Neither is what was denied, nor what is only imagined, nor what others say and the author refuses.
        """
        value = match.start("value") if match.groupdict().get("value") else match.end()
        if self.unsaid.search(sentence, start, match.start()) or self.unsaid.search(sentence, start, value):
            return False
        if self.refused.search(sentence, value, match.end() + _BEHIND):
            return False
        return negative or self.denied.search(sentence, start, value) is None

    def cues_in(self, low: str) -> Cues:
        """Return the cues that a message in lower case holds, and some more: no other is in any of its sentences."""
        words, sought = _said_once(low), self._sought
        said = map(self._by_three.__getitem__, self._threes.intersection(_threes(words)))
        near = [sought[number] for number in sorted(chain(self._short, *said))]
        return tuple((cue, rules) for part, cue, rules in near if part in words and (part == cue or cue in low))

    def openings(self, sentence: str, rules: Iterable[Rule]) -> list[int]:
        """Return where a clause may open, for those of the rules that match there alone."""
        if not any(rule.opens for rule in rules):
            return []
        return [0, *(match.end() for match in self._openings.finditer(sentence))]

    def rules_for(self, low: str, cues: Cues) -> list[tuple[Rule, int]]:
        """Return the rules that a sentence in lower case holds a cue of, in their order, each with how often it does."""
        times: dict[int, int] = {}
        for cue, rules in cues:
            if count := low.count(cue):
                for number in rules:
                    times[number] = times.get(number, 0) + count
        return [
            (rule, times[number]) for number in sorted(times) if (rule := self.rules[number]).has_what_it_needs(low)
        ]

    def clause_ends(self, sentence: str) -> list[int]:
        """Return where each clause of a sentence starts, behind what it opens with, ascending; the first at 0."""
        return _clause_ends(self.clause, sentence)

    def takes_something_back(self, sentence: str, low: str) -> bool:
        """Return whether a sentence, also given in lower case, takes back what was said."""
        if self.takes_back.match(sentence) is not None:
            return True
        return any(word in low for word in self.back) and self.taken_back.search(sentence) is not None

    @cached_property
    def _sought(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """Each cue behind the part of it that is looked for first: of several words the longest, which may stand alone."""
        return tuple(
            (max(cue.split(), key=len) if " " in cue.strip() else cue, cue, rules) for cue, rules in self._cued
        )

    @cached_property
    def _by_three(self) -> dict[tuple[str, str, str], list[int]]:
        """The places of `_sought` whose part has three letters, by those of them that fewest other parts have.

        What a message has none of these letters of need not be looked for in it.
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
        """The places of `_sought` whose part has not even three letters."""
        return tuple(number for number, (part, _, _) in enumerate(self._sought) if len(part) < 3)

    def hedged(self, low: str) -> list[tuple[int, int]]:
        """Return where a sentence in lower case holds words that take back half of what is said."""
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


@lru_cache(maxsize=1)  # each language asks for the same message
def _said_once(low: str) -> str:
    """The words of a text, each once, with blanks around them: shorter by what is said more than once."""
    return f" {' '.join(set(low.split()))} "


def _threes(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield every three letters that follow each other in a text.

    >>> ["".join(three) for three in _threes("never")]
    ['nev', 'eve', 'ver']
    """
    return zip(text, text[1:], text[2:], strict=False)


@lru_cache(maxsize=4)  # every match in a sentence asks
def _clause_ends(clause: re.Pattern[str], sentence: str) -> list[int]:
    return [0, *(boundary.end() for boundary in clause.finditer(sentence))]
