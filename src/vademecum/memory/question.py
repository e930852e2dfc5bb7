"""What a question to memory is made of: its terms, whom it names, and whether it asks what holds now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.when import time_asked
from vademecum.memory.words import query_keys

# A question about how things stand: an amount, a value, a state. One about when or why something happened is not.
_CURRENT = re.compile(
    r"\b(?:now|current(?:ly)?|latest|these days|at the moment|nowadays|still|actuel(?:le)?(?:ment)?|maintenant|désormais"
    r"|aujourd'hui|en ce moment)\b"
    r"|^\W*(?:how (?:many|much|long|often|big|large|old|far|fast)|what(?:'s| is| are)|which\b.*\b(?:is|are|do|does)|where(?:'s| is| are)"
    r"|combien|(?:(?:sur|avec|dans|pour|à|de|en) )?quel(?:le)?s? .*\b(?:est|sont|utilis\w+|faut|doi\w+|avons|a-t-on)|quel(?:le)?s? (?:est|sont)|où (?:est|sont|se trouve)|est-ce que|do (?:i|we)\b|is\b|are\b)",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:originally|initially|used to|before|was|were|did|ago|earlier|previous(?:ly)?|history|avant"
    r"|auparavant|était|étaient|avait|avaient|ancien(?:ne)?s?|initialement)\b"
    r"|^\W*(?:why|when|pourquoi|quand)\b",
    re.IGNORECASE,
)
_LATELY = re.compile(
    r"\b(?:lately|recent(?:ly)?|now|currently|these days|at the moment|latest|newest|last thing|récemment|dernièrement"
    r"|maintenant|actuellement|en ce moment)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """A question, taken apart."""

    text: str
    topic: str  # the same without the time it names
    keys: NDArray[np.uint64]  # (T,) its distinct terms
    asks_now: bool  # what holds, not what happened
    asks_back: bool  # what happened, or held before
    asks_lately: bool  # about the last days, by a word
    period: tuple[float, float] | None  # the time it names, seconds since the epoch, half-open
    saying_when: NDArray[np.bool_]  # (T,) which of its terms only name it

    @property
    def words(self) -> frozenset[str]:
        """Its words in lower case, to see whom it names."""
        return frozenset(_NAME.findall(self.text.lower()))


def take_apart(text: str, now: datetime) -> Question:
    """Return what a question is made of, asked at `now`, which knows its zone.

    >>> noon = datetime(2026, 8, 12, 12).astimezone()
    >>> take_apart("How many sources are in my library?", noon).asks_now, take_apart("When did we choose SQLite?", noon).asks_now
    (True, False)
    >>> asked = take_apart("what did we decide last week about the cache", noon)
    >>> [datetime.fromtimestamp(end).day for end in asked.period], asked.saying_when.tolist()
    ([3, 10], [False, True, True, False])
    """
    asks_back = _PAST.search(text) is not None
    asks_now = _CURRENT.search(text) is not None and not asks_back
    asked, keys = time_asked(text, now), query_keys(text)
    lately = _LATELY.search(text) is not None
    if asked.period is None:
        return Question(text, text, keys, asks_now, asks_back, lately, None, np.zeros(len(keys), bool))
    topic = asked.question or text
    saying_when = ~np.isin(keys, query_keys(topic))
    return Question(text, topic, keys, asks_now, asks_back, lately, asked.period.seconds, saying_when)


def named(question: Question, words: Mapping[str, Sequence[int]], count: int) -> NDArray[np.bool_] | None:
    """Return which of `count` speakers the question names, by the words of their names: bool (P,); None where nobody."""
    called = [code for word in question.words & words.keys() for code in words[word]]
    if not called:
        return None
    found = np.zeros(count, bool)
    found[called] = True
    return found
