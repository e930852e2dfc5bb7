"""Label the subjects of facts, and list their synonyms.

A subject is a key without articles, in an order that makes "timeout of the worker" and "worker timeout" one. Its label has
the words as they stand in the text. Kinds of choices have a name in English and one in French:

    >>> label("package manager", "javascript", "Use pnpm, not npm", "instruction")
    'JavaScript package manager'
    >>> label("date limite projet", "le", "La date limite du projet est le 12 mars", "fact")
    'date limite du projet'

A question names the subject ("which package manager do we use?"), while an answer often holds only its value. So an event is
searched by the subjects of its claims too, and by their synonyms in English and French.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from vademecum.memory.forms import compiled, table_of

_SAID = compiled(__file__)
_MOST_CHARACTERS = 400  # of a text, examined for its language
_LINKS_TEXT = "at on in to of le la les à au aux sur dans en"
_LINKS = frozenset(_LINKS_TEXT.split())  # attributes that are left out of a label
_DONE = ("instruction", "decision", "preference")  # kinds whose attribute is the act done to the subject
_LANGUAGES: Mapping[str, str] = {"javascript": "JavaScript", "python": "Python"}
# What each kind of choice is called, and the known choices
KINDS: Mapping[str, Mapping[str, str]] = table_of(__file__, "choices")
FRENCH, CALLED, _ENGLISH = (
    {name: kind[told] for name, kind in KINDS.items() if told in kind} for told in ("french", "called", "english")
)


def label(subject: str, attribute: str, text: str, kind: str) -> str:
    """Return a fact's subject and attribute in readable words.

    A fact without either is labelled by its kind. The label is French if the text is.
    """
    name = subject or attribute or kind
    shown = subject and attribute not in _LINKS and (kind not in _DONE or attribute in _LANGUAGES)
    of = attribute if shown else ""
    language = _LANGUAGES.get(of, "")
    if is_french(text):
        kind = next((each for each in FRENCH if name.endswith(f" {each}")), "")  # the kind, after its purpose
        called = f"{FRENCH[kind]} ({name.removesuffix(f' {kind}')})" if kind else FRENCH.get(name)
        return f"{called or _as_it_stands(name, text)} {language or of}".strip()
    name = _ENGLISH.get(name, name)
    return f"{language} {name}" if language else f"{name} {of}".strip()


def with_topic(topic: str, said: str) -> str:
    """Put a topic before a text, unless the text only repeats it.

    >>> with_topic("indentation", "tabs"), with_topic("ripgrep", "Ripgrep.")
    ('indentation: tabs', 'Ripgrep.')
    """
    return said if topic.casefold() == said.strip(" .!`").casefold() else f"{topic}: {said}"


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
