"""What an event is about, where it does not say so: "use pnpm" is about the package manager.

A question names the thing ("which package manager do we use?"), an answer often only its value. The rules that read claims
know what a value is a choice of, so the words of a claim's subject are searched with the event that makes it, and with them
what else the thing is called, in English and French.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from vademecum.memory.ledger import Ledger

Topics = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns by id what events are about, for those of which it is known."""

# subject → what people call it besides
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
    """Know of no event what it is about."""
    return {}


def topics_of(ledgers: Iterable[Ledger], events: Sequence[str]) -> dict[str, str]:
    """Return by id what the claims of events are about; claims meant for everywhere are in another ledger than their event.

    Raises `StoreError`.
    """
    found: dict[str, dict[str, None]] = {}
    for ledger in ledgers:
        for event, subject, attribute in ledger.subjects_of(events):
            named = (subject, attribute, CALLED.get(subject, ""))
            found.setdefault(event, {}).update(dict.fromkeys(name for name in named if name))
    return {event: " ".join(names) for event, names in found.items()}


def searched_text(text: str, topic: str) -> str:
    """Return what an event is searched by: its text, and the words of its topic that it does not say itself.

    >>> searched_text("Use pnpm for this package", "package manager")
    'Use pnpm for this package manager'
    """
    if not topic:
        return text
    low = text.lower()
    return " ".join([text, *(word for word in dict.fromkeys(topic.split()) if word.lower() not in low)])
