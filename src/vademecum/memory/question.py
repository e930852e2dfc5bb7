"""Analyse a question: its terms, its time, its speakers and its kind.

"What is left to do?" shares no word with "I still have to write the migration guide", so words and vectors cannot rank it.
Its answer is the events that state open todos, the latest first; so it is with "what are the rules?". A question that names a
subject ("what is left to do about the cache?") is ranked by its words like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from vademecum.index.tokenize import key
from vademecum.memory.active import ALWAYS_ON
from vademecum.memory.forms import compiled
from vademecum.memory.kinds import FactKind
from vademecum.memory.when import find_time, time_asked
from vademecum.memory.words import asked_for, query_keys, terms

_SAID = compiled(__file__)


@dataclass(frozen=True)
class Question:
    """A question, analysed."""

    text: str
    topic: str  # the text without the time it names
    keys: NDArray[np.uint64]  # (T,) distinct terms
    asks_now: bool  # for the current state
    asks_back: bool  # for an event or a state of the past
    asks_lately: bool  # about the last days, by a word
    asks_help: bool  # for help, to which preferences and instructions matter
    period: tuple[float, float] | None  # the time it names, seconds since the epoch, half-open
    only_asking: NDArray[np.bool_]  # (T,) terms that only name the time, or the kind of answer

    @property
    def asks_choice(self) -> bool:
        """The question asks for a choice or a rule."""
        return _SAID["choice"].search(self.text.lower()) is not None

    @property
    def distinctive(self) -> list[str]:
        """Names, abbreviations, identifiers and numbers in the question."""
        return _SAID["distinctive"].findall(self.topic)

    @property
    def words(self) -> frozenset[str]:
        """Words of the question in lower case."""
        return frozenset(_SAID["name"].findall(self.text.lower()))


def take_apart(text: str, now: datetime) -> Question:
    """Return a question's terms, time and kind, asked at `now`.

    `now` is an aware datetime.

    >>> noon = datetime(2026, 8, 12, 12).astimezone()
    >>> take_apart("How many sources are in my library?", noon).asks_now, take_apart("When did we choose SQLite?", noon).asks_now
    (True, False)
    >>> [take_apart(text, noon).asks_help for text in ("How should I store sessions?", "How did you store sessions?")]
    [True, False]
    >>> asked = take_apart("what did we decide last week about the cache", noon)
    >>> [datetime.fromtimestamp(end).day for end in asked.period], asked.only_asking.tolist()
    ([3, 10], [False, True, True, False])
    """
    low = text.lower()
    asks_back = _SAID["past"].search(low) is not None
    asks_last = _SAID["last"].search(low) is not None and _SAID["before_that"].search(low) is None
    asks_now = asks_last or (not asks_back and _SAID["current"].search(low) is not None)
    asks_now = asks_now and _SAID["several"].search(low) is None
    (period, rest), keys = time_asked(text, now), query_keys(text)
    lately, helped = _SAID["lately"].search(low) is not None, not asks_back and _SAID["help"].search(low) is not None
    topic = rest or text
    of_kind = [key(term) for words, _ in asked_for(text) for term in words]
    only_asking = ~np.isin(keys, query_keys(topic)) | np.isin(keys, np.array(of_kind, np.uint64))
    seconds = period.seconds if period is not None else None
    return Question(text, topic, keys, asks_now, asks_back, lately, helped, seconds, only_asking)


def named(question: Question, words: Mapping[str, Sequence[int]], count: int) -> NDArray[np.bool_] | None:
    """Return the speakers that a question names: bool (P,), or None.

    Args:
        question: The question.
        words: Words of speakers' names, each with the codes of its speakers.
        count: Number of speakers P.
    """
    called = [code for word in question.words & words.keys() for code in words[word]]
    if not called:
        return None
    found = np.zeros(count, bool)
    found[called] = True
    return found


_ANY_DAY = datetime(2025, 1, 15, 12).astimezone()  # any date, to find the words of a time


def asks_for_timeline(question: str) -> bool:
    """Return whether a question asks for a stretch of time.

    >>> asks_for_timeline("What did we discuss last week?"), asks_for_timeline("What did we talk about on Monday?")
    (True, True)
    >>> asks_for_timeline("What did we decide about the cache?"), asks_for_timeline("What did we decide last week about caching?")
    (False, False)
    """
    asked = _SAID["asks_for_it"].search(question)
    if asked is None:
        return False
    return names_nothing(question[asked.end() :], _SAID["names_nothing"])


def names_nothing(rest: str, idle: re.Pattern[str]) -> bool:
    """Return whether the rest of a question names no thing.

    A time and words that match `idle` are none.
    """
    if (mention := find_time(rest, _ANY_DAY)) is not None:
        rest = rest[: mention.start] + rest[mention.end :]
    return not terms(idle.sub(" ", rest))


def asks_for_all(question: str) -> tuple[FactKind, ...]:
    """Return the kinds of fact that a question asks for all of.

    >>> [str(kind) for kind in asks_for_all("What is left to do?")], asks_for_all("What are the rules here?") == ALWAYS_ON
    (['todo'], True)
    >>> asks_for_all("What is left to do about the cache?"), asks_for_all("What are the rules of chess?")
    ((), ())
    """
    low = question.lower().replace("\u2019", "'")
    for name, kinds in (("open", (FactKind.TODO,)), ("rules", ALWAYS_ON)):
        asked = _SAID[f"asks_{name}"].match(low)
        if asked is not None and names_nothing(low[asked.end() :], _SAID["all_names_nothing"]):
            return kinds
    return ()
