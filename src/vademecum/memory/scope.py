"""One scope of memory: a repository's, or the one for everything a person does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vademecum.memory.journal import Journal
from vademecum.memory.kinds import DATABASE
from vademecum.memory.ledger import Ledger
from vademecum.protocols import Embedder, Store

__all__ = ["DATABASE", "GLOBAL", "REPOSITORY", "Embedding", "Scope", "scope_of"]

REPOSITORY, GLOBAL = "repository", "global"


@dataclass(frozen=True)
class Scope:
    """Everything kept of one scope."""

    name: str  # REPOSITORY or GLOBAL
    repo: str  # the repository's root, "" for the global one
    directory: Path
    store: Store
    journal: Journal
    ledger: Ledger
    number: int  # among the scopes that are open


def scope_of(number: int, name: str, repo: str, directory: Path, store: Store) -> Scope:
    """Return the scope whose database is `store`; derived files go below `directory`."""
    journal = Journal(store)
    return Scope(name, repo, directory, store, journal, Ledger(store, journal), number)


Embedding = Callable[[], Embedder]
