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

_FRENCH_WORDS = re.compile(
    r"(?i)\b(?:les?|la|l|une?|des?|du|d|j|je|on|nous|tu|vous|a|ont|pas|ne|n|que|qu|qui|pour|avec|dans|sur|toujours|jamais|est|sont|et|au|aux|en"
    r"|cette|ces?|mon|ma|mes|notre|nos|utilis\w+|préfère|désormais|dorénavant|faut|plutôt|sans|par|moi)\b"
)
_ENGLISH_WORDS = re.compile(
    r"(?i)\b(?:the|an|we|i|you|my|our|not|and|with|for|in|is|are|to|uses?|always|never|of|it|this|that|over|prefer|should|must|don't|from|now|no|by"
    r"|be|at|on|avoid)\b"
)
_MOST_CHARACTERS = 400  # of a text, examined for its language
_LINKS_TEXT = "at on in to of le la les à au aux sur dans en"
_LINKS = frozenset(_LINKS_TEXT.split())  # attributes that are left out of a label
_DONE = ("instruction", "decision", "preference")  # kinds whose attribute is the act done to the subject
_LANGUAGES: Mapping[str, str] = {"javascript": "JavaScript", "python": "Python"}
_ENGLISH: Mapping[str, str] = {"http client": "HTTP client", "css framework": "CSS framework", "api style": "API style"}
FRENCH: Mapping[str, str] = {
    "package manager": "gestionnaire de paquets", "test framework": "cadre de tests", "browser tests": "tests de navigateur",
    "formatter": "formateur", "type checker": "vérificateur de types", "quotes": "guillemets", "naming": "nommage",
    "database": "base de données", "frontend framework": "framework d'interface", "web framework": "framework web",
    "http client": "client HTTP", "css framework": "framework CSS", "hosting": "hébergement",
    "continuous integration": "intégration continue", "containers": "conteneurs", "editor": "éditeur",
    "commit messages": "messages de commit", "merging": "fusion", "api style": "style d'API",
    "state management": "gestion d'état", "logging": "journalisation", "date library": "bibliothèque de dates",
    "answer language": "langue des réponses", "user's name": "nom", "preference": "préférence", "instruction": "consigne",
    "decision": "décision", "fact": "fait", "todo": "à faire", "fix": "correctif",
}  # fmt: skip
_BETWEEN = r"(?:\s+(?:(?:de|du|des|la|le|les|à|au|aux|en|un|une|mon|ma|mes|ton|ta|tes|son|sa|ses|nos|notre|vos|votre|leurs?|cet?|cette|ces)\s+)*(?:de\s+)?(?:[dl]['’]\s*)?)"  # noqa: RUF001 -- as people type it


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
    return len(_FRENCH_WORDS.findall(beginning)) > len(_ENGLISH_WORDS.findall(beginning))


def _as_it_stands(name: str, text: str) -> str:
    """Return a key's words as the text has them, with small words."""
    found = re.search(r"\b" + _BETWEEN.join(map(re.escape, name.split())) + r"\b", text, re.IGNORECASE)
    return found[0].lower() if found else name


Topics = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns the topics of events by id, for events that have one."""

# subject → synonyms
CALLED: Mapping[str, str] = {
    "package manager": "dependency manager installer gestionnaire de paquets",
    "test framework": "test runner testing library framework de tests",
    "browser tests": "end-to-end e2e browser testing",
    "formatter": "formatting code style formateur formatage",
    "linter": "linting lint",
    "type checker": "type checking typing",
    "indentation": "indent indenting tabs spaces",
    "quotes": "quotation marks guillemets",
    "naming": "name naming convention case nommage",
    "database": "db datastore storage base de données",
    "bundler": "bundling build tool",
    "frontend framework": "front-end ui framework",
    "web framework": "backend server framework",
    "http client": "http requests library",
    "css framework": "styling styles",
    "hosting": "host hosted deploy deployment hébergement",
    "continuous integration": "ci pipeline intégration continue",
    "containers": "container runtime conteneurs",
    "editor": "ide éditeur",
    "commit messages": "commit message format style",
    "merging": "merge strategy pull request",
    "state management": "state store",
    "logging": "logger log library journalisation",
    "date library": "dates time",
    "answer language": "language reply respond langue répondre",
}


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
