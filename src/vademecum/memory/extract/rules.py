"""What a language's table of rules is made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from vademecum.memory.records import FactKind

Cues = tuple[tuple[str, tuple[int, ...]], ...]
"""Each with the numbers of the rules that need it."""


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
        negative: the value is what not to do.
        corrects: it takes back something.
        problem_before: what it is a fix of stands before it.
        about: what it is always about, where the form itself says so.
        known: it counts only where the value is a choice that is known as one: "use yarn" lasts, "use that helper" may not.
    """

    kind: FactKind
    confidence: float
    cues: str
    pattern: str
    negative: bool = False
    corrects: bool = False
    problem_before: bool = False
    known: bool = False
    about: str = ""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, made when first needed: a process that reads one message needs few of them."""
        return re.compile(self.pattern, re.IGNORECASE)


@dataclass(frozen=True)
class Language:
    """How one language says what is worth keeping.

    Attributes:
        rules: the first that applies to a clause is what it says.
        hint: a sentence without one of these words is read no further.
        hedges: words that take back half of what is said.
        asks: what makes a clause a question or a condition, seen at its start.
        reason: `because …`, in the group `reason`.
        takes_back: words that make a correction of the sentence they open, or of the next.
        lead: a clause starts behind this.
        head_first: a noun stands before what describes it ("fonctions courtes").
        limits: where it holds: a pattern with the group `name`, and what the name becomes.
    """

    rules: tuple[Rule, ...]
    hint: re.Pattern[str]
    hedges: re.Pattern[str]
    asks: re.Pattern[str]
    reason: re.Pattern[str]
    takes_back: re.Pattern[str]
    clause: re.Pattern[str]
    limits: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]
    head_first: bool = False

    def cues_in(self, low: str) -> Cues:
        """Return the cues that a message in lower case holds: no other is in any of its sentences."""
        return tuple(each for each in self._cued if each[0] in low)

    def rules_for(self, low: str, cues: Cues) -> list[Rule]:
        """Return the rules that a sentence in lower case holds a cue of, in their order; each cue is looked for once."""
        numbers = {number for cue, rules in cues if cue in low for number in rules}
        return [self.rules[number] for number in sorted(numbers)]

    @cached_property
    def _cued(self) -> Cues:
        by_cue: dict[str, list[int]] = {}
        for number, rule in enumerate(self.rules):
            for cue in rule.cues.split(","):
                by_cue.setdefault(cue, []).append(number)
        return tuple((cue, tuple(rules)) for cue, rules in by_cue.items())
