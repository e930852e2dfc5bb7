"""Analyse a question: its terms, its time, its speakers and its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.when import time_asked
from vademecum.memory.words import query_keys

# All these patterns search lower-case text, which is twice as fast as ignoring case in each.
# A question about the current state: an amount, a value, a state. A question when or why something happened is not one.
_CURRENT = re.compile(
    r"\b(?:now|current(?:ly)?|latest|these days|at the moment|nowadays|still|actuel(?:le)?(?:ment)?|maintenant|désormais"
    r"|aujourd'hui|en ce moment)\b"
    r"|^\W*(?:how (?:many|much|long|often|big|large|old|far|fast)|what(?:'s| is| are)|(?:which|what(?! (?:should|can|could|would)))\b.*\b(?:is|are|am|do|does|have|has)\b|where(?:'s| is| are)|when (?:is|are|do|does|will)"
    r"|combien|(?:(?:sur|avec|dans|pour|à|de|en) )?quel(?:le)?s? .*\b(?:est|sont|utilis\w+|faut|doi\w+|avons|a-t-on)|quel(?:le)?s? (?:est|sont)|où (?:est|sont|se trouve)|quand (?:est|sont|a lieu|ont lieu|dois|doit|faut)|est-ce que|do (?:i|we)\b|is\b|are\b)",
)
_IN_FORCE = r"(?!\s+(?:is|are|do|does|will|'s|est|sont|a lieu|ont lieu|dois|doit|faut)\b)"  # the time of a plan, not of a past event
_PAST = re.compile(
    r"\b(?:originally|initially|used to|before|was|were|did|ago|earlier|previous(?:ly)?|history|avant"
    r"|auparavant|était|étaient|avait|avaient|ancien(?:ne)?s?|initialement)\b"
    rf"|^\W*(?:why|when|pourquoi|quand)\b{_IN_FORCE}",
)
# A final amount, or the last of several: the latest statement answers, although it is past.
_LAST = re.compile(
    r"^\W*(?:how (?:many|much|long|often|far)\b|combien\b)"
    r"|\b(?:most recent(?:ly)?|latest|newest|so far|to date|up to now|jusqu'ici|jusqu'à présent|à ce jour)\b"
    r"|\bwhat (?:score|grade|result|percentage|amount|price|total|number)\b",
)
_BEFORE_THAT = re.compile(
    r"\b(?:originally|initially|at first|first|used to|before|ago|earlier|previous(?:ly)?|history"
    r"|avant|auparavant|ancien(?:ne)?s?|initialement|d'abord)\b"
    rf"|^\W*(?:why|when|pourquoi|quand)\b{_IN_FORCE}",
)
# A difference or a sum of several statements: the latest statement alone does not answer.
_SEVERAL = re.compile(
    r"\b(?:days|weeks|months|years|hours|minutes|time)\b.*\b(?:between|after|passed|elapsed|apart)\b|\b(?:combined|altogether|difference)\b"
    r"|\b(?:jours|semaines|mois|ans|années|heures|minutes|temps)\b.*\b(?:entre|après|écoulée?s?)\b|\b(?:en tout|ensemble|différence)\b",
)
_LATELY = re.compile(
    r"\b(?:lately|recent(?:ly)?|now|currently|these days|at the moment|latest|newest|last thing|récemment|dernièrement"
    r"|maintenant|actuellement|en ce moment)\b",
)
# Requests for help or advice, as opposed to questions about the past.
_HELP = re.compile(
    r"\b(?:(?:can|could|would|will) you (?!tell|remind|recall)|how (?:should|can|could|would|might|do) (?:i|we|you)\b"
    r"|what (?:should|can|could|would)\b|what (?:\w+ ){1,3}(?:should|can|could|would) (?:i|we|you)\b|what are (?:my|some)\b"
    r"|suggest|recommend me|(?:show|help|teach|give|write) me|explain to me"
    r"|i(?:'m| am) (?:planning|trying|thinking|looking|preparing|organi[sz]ing|working|considering|setting)"
    r"|(?:peux|pourrais)-tu (?!(?:me |nous )?(?:dire|rappeler))|(?:pouvez|pourriez)-vous (?!(?:me |nous )?(?:dire|rappeler))"
    r"|comment (?:puis-je|pourrais-je|dois-je|devrais-je|faire|pouvons-nous|devrions-nous|faut-il)"
    r"|que (?:me |nous )?(?:conseill|sugg[èé]r|recommand|propos)\w+|(?:aide|aidez|montre|montrez|explique|expliquez)-moi"
    r"|je (?:cherche|voudrais|prévois|compte|m'apprête)\b)",
)
# Questions for a choice or a rule, which a record of work alone does not answer.
_CHOICE = re.compile(
    r"\b(?:cho(?:ose|se|sen|ice)|decid\w+|decision|agreed?|prefer\w*|should|policy|convention|choisi\w*|choix|décid\w+|décision|préf[éè]r\w+|convenu|faut|doit|devons)\b"
)
_NAME = re.compile(r"\w+")


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
    saying_when: NDArray[np.bool_]  # (T,) terms that only name the time

    @property
    def asks_choice(self) -> bool:
        """The question asks for a choice or a rule."""
        return _CHOICE.search(self.text.lower()) is not None

    @property
    def words(self) -> frozenset[str]:
        """Words of the question in lower case."""
        return frozenset(_NAME.findall(self.text.lower()))


def take_apart(text: str, now: datetime) -> Question:
    """Return a question's terms, time and kind, asked at `now`.

    `now` is an aware datetime.

    >>> noon = datetime(2026, 8, 12, 12).astimezone()
    >>> take_apart("How many sources are in my library?", noon).asks_now, take_apart("When did we choose SQLite?", noon).asks_now
    (True, False)
    >>> [take_apart(text, noon).asks_help for text in ("How should I store sessions?", "How did you store sessions?")]
    [True, False]
    >>> asked = take_apart("what did we decide last week about the cache", noon)
    >>> [datetime.fromtimestamp(end).day for end in asked.period], asked.saying_when.tolist()
    ([3, 10], [False, True, True, False])
    """
    low = text.lower()
    asks_back = _PAST.search(low) is not None
    asks_last = _LAST.search(low) is not None and _BEFORE_THAT.search(low) is None
    asks_now = asks_last or (not asks_back and _CURRENT.search(low) is not None)
    asks_now = asks_now and _SEVERAL.search(low) is None
    asked, keys = time_asked(text, now), query_keys(text)
    lately, helped = _LATELY.search(low) is not None, not asks_back and _HELP.search(low) is not None
    if asked.period is None:
        return Question(text, text, keys, asks_now, asks_back, lately, helped, None, np.zeros(len(keys), bool))
    topic = asked.question or text
    saying_when = ~np.isin(keys, query_keys(topic))
    return Question(text, topic, keys, asks_now, asks_back, lately, helped, asked.period.seconds, saying_when)


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
