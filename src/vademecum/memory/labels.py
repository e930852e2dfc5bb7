"""Labels of subjects, kinds of choices, and texts of the output.

A subject is a key without articles, in an order that makes "timeout of the worker" and "worker timeout" one. Its label has
the words as they stand in the text. Kinds of choices have a name in English and one in French:

    >>> label("package manager", "javascript", "Use pnpm, not npm", "instruction")
    'JavaScript package manager'
    >>> label("date limite projet", "le", "La date limite du projet est le 12 mars", "fact")
    'date limite du projet'

A question names the subject ("which package manager do we use?"), while an answer often holds only its value. So an event is
searched by the subjects of its claims too, and by their synonyms in English and French.

Known tools and styles have a kind, and one replaces another of its kind (`choices.toml`): pnpm is a package manager of
JavaScript, tabs are an indentation. The headings, hints and dates of the output are in `wording.toml`; English is the default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from vademecum.memory.forms import compiled, table_of

_SAID = compiled(__file__)
_MOST_CHARACTERS = 400  # of a text, examined for its language
_LINKS_TEXT = "at on in to of le la les à au aux sur dans en"
_LINKS = frozenset(_LINKS_TEXT.split())  # attributes that are left out of a label
_DONE = ("instruction", "decision", "preference")  # kinds whose attribute is the act done to the subject
_LANGUAGES: Mapping[str, str] = {"javascript": "JavaScript", "python": "Python"}
# What each kind of choice is called, and the known choices
KINDS: Mapping[str, Mapping[str, str]] = table_of(__file__, "choices")
IN_FRENCH, CALLED, _IN_ENGLISH = (
    {name: kind[told] for name, kind in KINDS.items() if told in kind} for told in ("french", "called", "english")
)

NAMES = (*IN_FRENCH.items(), *CALLED.items())  # of kinds of things, beside the first one
_KIND_NAMES = tuple({*KINDS, *IN_FRENCH.values(), *_IN_ENGLISH.values()})


def label(subject: str, attribute: str, text: str, kind: str) -> str:
    """Return a fact's subject and attribute in readable words.

    A fact without either is labelled by its kind. The label is French if the text is.
    """
    name = subject or attribute or kind
    shown = subject and attribute not in _LINKS and (kind not in _DONE or attribute in _LANGUAGES)
    of = attribute if shown else ""
    language = _LANGUAGES.get(of, "")
    if is_french(text):
        kind = next((each for each in IN_FRENCH if name.endswith(f" {each}")), "")  # the kind, after its purpose
        called = f"{IN_FRENCH[kind]} ({name.removesuffix(f' {kind}')})" if kind else IN_FRENCH.get(name)
        return f"{called or _as_it_stands(name, text)} {language or of}".strip()
    name = _IN_ENGLISH.get(name, name)
    return f"{language} {name}" if language else f"{name} {of}".strip()


def with_topic(topic: str, said: str) -> str:
    """Put a topic before a text, unless the text says it anyway.

    A kind of choice is always put, since it tells what the rule is about.

    >>> with_topic("indentation", "I prefer tabs for indentation"), with_topic("long lines", "I hate long lines")
    ('indentation: I prefer tabs for indentation', 'I hate long lines')
    """
    low, name = said.casefold(), topic.casefold()
    known = not name.endswith(_KIND_NAMES) and set(re.findall(r"\w+", low)).issuperset(re.findall(r"\w+", name))
    return said if known or low.startswith(name) else f"{topic}: {said}"


@lru_cache(maxsize=64)  # each clause of a sentence asks about the whole
def is_french(text: str) -> bool:
    """Return whether a text has more French small words than English ones.

    >>> is_french("Utilise toujours pnpm, pas npm"), is_french("Always use pnpm, not npm")
    (True, False)
    """
    beginning = text[:_MOST_CHARACTERS]
    return len(_SAID["french_words"].findall(beginning)) > len(_SAID["english_words"].findall(beginning))


def _as_it_stands(name: str, text: str) -> str:
    """Return a key's words as the text has them, with small words."""
    found = re.search(r"\b" + _SAID["between"].pattern.join(map(re.escape, name.split())) + r"\b", text, re.IGNORECASE)
    return found[0].lower() if found else name


Topics = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns the topics of events by id, for events that have one."""


def nothing_known(_: Sequence[str]) -> Mapping[str, str]:
    """Return no topics, for events without claims."""
    return {}


def searched_text(text: str, topic: str) -> str:
    """Return an event's text with the words of its topic it lacks.

    >>> searched_text("Use pnpm for this package", "package manager")
    'Use pnpm for this package manager'
    """
    if not topic:
        return text
    low = text.lower()
    return " ".join([text, *(word for word in dict.fromkeys(topic.split()) if word.lower() not in low)])


@dataclass(frozen=True)
class Wording:
    """The texts of one language."""

    preferences: str
    knowledge: str
    timeline: str
    open_work: str
    about: str
    seen_before: str
    in_session: str
    survives: str
    ended: str
    edited: str
    helped: str
    committed: str
    first_mention: str
    discussed: str
    at_time: str
    was_until: str
    disputed: str
    nothing: str
    nothing_then: str
    earlier: str
    drifted: str
    orphaned: str
    page: str
    page_rules: str
    in_dispute: str
    kinds: Mapping[str, str]
    chapters: Mapping[str, str]
    months: Sequence[str]


_TEXTS = table_of(__file__, "wording")
LANGUAGES: Mapping[str, Wording] = {language: Wording(**texts) for language, texts in _TEXTS.items()}
ENGLISH, FRENCH = LANGUAGES["en"], LANGUAGES["fr"]


def date_of(wording: Wording, at: float, now: float) -> str:
    """Return a day as `5 Oct`; in another year `5 Oct 2024`.

    >>> date_of(FRENCH, datetime(2025, 10, 5, 12).timestamp(), datetime(2025, 10, 9, 12).timestamp())
    '5 oct'
    """
    day, today = datetime.fromtimestamp(at).astimezone(), datetime.fromtimestamp(now).astimezone()
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day.day} {wording.months[day.month - 1]}{year}"


def against(wording: Wording, other: str, at: float, now: float) -> str:
    """Return the note on a disputed fact, with its dated rival.

    >>> against(ENGLISH, "I prefer spaces", datetime(2025, 10, 5, 12).timestamp(), datetime(2025, 10, 9, 12).timestamp())
    'contradicted: also said 5 Oct: I prefer spaces'
    """
    return wording.disputed.format(date=date_of(wording, at, now), other=other)


def time_of(wording: Wording, at: float) -> str:
    """Return the time of day: `14:32`, in French `14h32`."""
    day = datetime.fromtimestamp(at).astimezone()
    return f"{day.hour}h{day.minute:02}" if wording is FRENCH else f"{day.hour:02}:{day.minute:02}"


def hint(wording: Wording, mentions: int, first_at: float, now: float) -> str:
    """Return the time of a fact's first mention, and its mentions.

    >>> hint(ENGLISH, 3, datetime(2025, 10, 5, 12).timestamp(), datetime(2025, 10, 9, 12).timestamp())
    'first mention: 5 Oct, 3 times'
    """
    date = date_of(wording, first_at, now)
    if mentions > 1:
        return wording.first_mention.format(date=date, times=mentions)
    return wording.discussed.format(date=date, time=time_of(wording, first_at))


class Subject(NamedTuple):
    """Subject and attribute of a statement."""

    name: str
    attribute: str = ""


# name of a choice → its kind
CHOICES: Mapping[str, Subject] = {
    each.replace("_", " "): Subject(name, language.removeprefix("any"))
    for name, kind in KINDS.items()
    for language, choices in kind.items()
    if language not in ("english", "french", "called")
    for each in choices.split()
}


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern that matches any of some names, the longest first.

    Names are grouped by their first letter, so that each word is compared with few.
    """
    by_letter: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        by_letter.setdefault(name[0], []).append(re.escape(name[1:]))
    return "|".join(
        f"{re.escape(letter)}(?:{'|'.join(rest)})".replace("\\ ", "[ _]") for letter, rest in by_letter.items()
    )


CHOICE = re.compile(rf"(?i)(?<![\w.-])(?:{_any_of(CHOICES)})(?![\w-])")


@lru_cache(maxsize=1)  # compiled on first use, since hooks have no time for it
def _other() -> re.Pattern[str]:
    """Return a pattern for a comma and another name with its verb.

    The words that follow are about that other name.
    """
    return re.compile(
        rf"(?i)[,;]\s+(?:(?:but|and|since|because|mais|et|car)\s+)?{CHOICE.pattern.removeprefix('(?i)')}\s+"
        r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|keeps?|kept|breaks?|broke|fails?|gets?|got|\w+n't|\w+ed|(?!\w*(?:ss|us|is)\b)[a-z]{3,}s|est|était|ne|n'\w+|a|avait|\w+ait|casse|plante|échoue)\b"
    )


# Names that are also words: with an article before it, as in "at the moment", or in "pull requests", the word is no name
_IS_WORD = re.compile(
    r"(?i)\b(?:(?:the|a|le|la|les|un|une|des|du) (?:moment|rest|requests?|fetch|render|express|black|parcel|foundation|fish|hatch|squash|react|nose|tape)"
    r"|(?:\d+|pull|merge|feature|change|support|user|client|server|api|web|network|https?|get|post|put|patch|delete)[ -]requests?)$"
)
# Spaces and tabs elsewhere than before a line: "spaces in file names", "a space between words"
_WITHIN = re.compile(
    r"(?i)\s+(?:around|between|inside|autour|entre)\b"
    r"|\s+(?:in|within|dans)\s+(?:[\w'\u2019-]+\s+){0,3}?(?:(?:file)?names?|paths?|urls?|keys?|titles?|labels?|tags?|noms?|chemins?|titres?)\b"
)
_ANSWERS, _INDENTATION = Subject("answer language"), Subject("indentation")
# Other words beside a language: "comments in English" is not about the language of answers
_ELSE = re.compile(
    r"(?i)\b(?!(?:in|en|to|me|moi|us|nous|always|toujours|only|uniquement|all|tout|every|everything|please|answer\w*|repl\w+|respond\w*|response\w*"
    r"|speak\w*|talk\w*|write|use|using|language|langue|réponds|répondez|répondre|réponses?|parle[rz]?|parlons|écris|écrivez|utilise[rz]?|not|pas"
    r"|the|le|la|les|l|et|and|or|ou|over|than|rather|instead|of|de|que|plutôt|au|lieu|british|american|simple|plain|clear)\b)[^\W\d_]+"
)


# One name alone, perhaps with a denial before it and a purpose after it: "not Kafka for events"
_NAME = re.compile(
    r"(?:(?i:not|no|never|pas|jamais|ne pas)\s+)*(?:(?i:to|de)\s+)?(?:(?i:use|using|utiliser)\s+)?(?P<name>[A-Z][\w.+#-]*)"
    r"(?:,?\s+(?i:for|pour|as|comme|in|dans|here|ici|any ?more|either|now)\b.*)?"
)


def is_known(value: str) -> bool:
    """Return whether a value names a known choice."""
    return choice_of(value) is not None


@lru_cache(maxsize=64)  # each clause is looked up several times
def choice_of(text: str) -> Subject | None:
    """Return the kind of the first choice in a text, or None."""
    plain = without_marks(text)
    match = next(named(plain), None)
    choice = CHOICES[_name(match)] if match is not None else None
    if match is not None and choice == _ANSWERS and _ELSE.search(f"{plain[: match.start()]} {plain[match.end() :]}"):
        return None
    return choice


def names_in(value: str) -> frozenset[str]:
    """Return the known choices in a value, or its only name, lower-cased.

    The set is empty for any other value.

    >>> names_in("not npm either"), names_in("not Kafka for events"), names_in("not push to main")
    (frozenset({'npm'}), frozenset({'kafka'}), frozenset())
    """
    plain = without_marks(value)
    if known := frozenset(map(_name, named(plain))):
        return known
    name = _NAME.fullmatch(plain)
    return frozenset((name["name"].lower(),)) if name else frozenset()


def up_to_another(clause: str) -> str:
    """Return a clause up to a statement about another name.

    >>> up_to_another("yarn now, pnpm broke on CI"), up_to_another("pnpm, not npm, for the frontend")
    ('yarn now', 'pnpm, not npm, for the frontend')
    """
    other = _other().search(clause) if "," in clause or ";" in clause else None
    return clause[: other.start()] if other is not None else clause


def without_marks(text: str) -> str:
    """Return a text without marks of code and quotation."""
    return text.replace("`", "").replace("*", "").replace('"', "")


def named(plain: str) -> Iterator[re.Match[str]]:
    """Yield the known choices in a text, left to right."""
    found = (each for each in CHOICE.finditer(plain) if not _IS_WORD.search(plain, 0, each.end()))
    return (each for each in found if CHOICES[_name(each)] != _INDENTATION or not _WITHIN.match(plain, each.end()))


def _name(choice: re.Match[str]) -> str:
    return choice[0].lower().replace("_", " ")
