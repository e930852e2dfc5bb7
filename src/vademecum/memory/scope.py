"""A scope of memory: one repository's, or the global one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vademecum.memory.journal import Journal
from vademecum.memory.ledger import Ledger
from vademecum.protocols import Store

REPOSITORY, GLOBAL = "repository", "global"


@dataclass(frozen=True)
class Scope:
    """Database of a scope, with its journal and ledger."""

    name: str  # REPOSITORY or GLOBAL
    repo: str  # the repository's root, "" for the global one
    directory: Path
    store: Store
    journal: Journal
    ledger: Ledger
    number: int  # its index among the open scopes


def scope_of(number: int, name: str, repo: str, directory: Path, store: Store) -> Scope:
    """Return the scope over a store; derived files go below `directory`."""
    journal = Journal(store)
    return Scope(name, repo, directory, store, journal, Ledger(store, journal), number)
