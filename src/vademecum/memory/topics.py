"""Search words for an event's subject: "use pnpm" concerns the package manager.

A question names the subject ("which package manager do we use?"), while an answer often holds only its value. The extraction
rules know the kind of a value, so an event is searched by the subjects of its claims too, and by their synonyms in English and
French.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from vademecum.memory.ledger import Ledger

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


def topics_of(ledgers: Iterable[Ledger], events: Sequence[str]) -> dict[str, str]:
    """Return the topics of events by id, from all ledgers.

    A claim meant for everywhere is in another ledger than its event. Raises `StoreError`.
    """
    found: dict[str, dict[str, None]] = {}
    for ledger in ledgers:
        for event, subject, attribute in ledger.subjects_of(events):
            named = (subject, attribute, CALLED.get(subject, ""))
            found.setdefault(event, {}).update(dict.fromkeys(name for name in named if name))
    return {event: " ".join(names) for event, names in found.items()}


def searched_text(text: str, topic: str) -> str:
    """Return an event's text with the words of its topic it lacks.

    >>> searched_text("Use pnpm for this package", "package manager")
    'Use pnpm for this package manager'
    """
    if not topic:
        return text
    low = text.lower()
    return " ".join([text, *(word for word in dict.fromkeys(topic.split()) if word.lower() not in low)])
