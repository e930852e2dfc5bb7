"""Known tools and styles by kind; one replaces another of its kind.

pnpm  →  package manager · javascript        tabs  →  indentation
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from vademecum.memory.labels import KINDS


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


# Names that are also words: with an article before it, as in "at the moment", the word is no name
_IS_WORD = re.compile(
    r"(?i)\b(?:the|a|le|la|les|un|une|des|du) (?:moment|rest|requests?|fetch|render|express|black|parcel|foundation|fish|hatch|squash|react)$"
)
_ANSWERS = Subject("answer language")
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
    choice = CHOICES[match[0].lower().replace("_", " ")] if match is not None else None
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
    if known := frozenset(match[0].lower().replace("_", " ") for match in named(plain)):
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
    return (each for each in CHOICE.finditer(plain) if not _IS_WORD.search(plain, 0, each.end()))
