"""Scopes of memory, and the check of their databases.

The check repairs nothing, since the content exists nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vademecum.errors import Error, StoreError
from vademecum.memory.journal import LEFT, WAITS, Journal
from vademecum.memory.ledger import Ledger
from vademecum.protocols import Store
from vademecum.result import Err
from vademecum.types import Check

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


FIX = "put back a copy of it, or move it away and `vade memory import` what was exported; `vade memory sync` reads transcripts anew"


def check_memory(opened: Callable[[], Sequence[Scope]]) -> list[Check]:
    """Return one check for each scope, or the error that prevents opening."""
    try:
        scopes = opened()
    except Error as error:
        return [Check("memory", False, str(error), FIX)]
    return [_check(scope) for scope in scopes]


def _check(scope: Scope) -> Check:
    name = f"memory, {scope.name}"
    try:
        found = scope.store.check()
        if isinstance(found, Err):
            return Check(name, False, str(found.error), FIX)
        if found.value != "ok":
            return Check(name, False, found.value, FIX)
        away = scope.journal.archived()
        waits, left = (len(scope.journal.unread(which)) for which in (WAITS, LEFT))
        counts = {family: len(scope.store.scan(family, columns=("id",)).unwrap()) for family in ("events", "facts")}
    except StoreError as error:
        return Check(name, False, str(error), FIX)
    archived = f", {away} events archived in {scope.directory / 'memory'}" if away else ""
    waiting = f", long messages that `vade memory consolidate` reads to their end: {waits}" if waits else ""
    passed = f", messages without what no rule reads of a long paste: {left}" if left else ""
    return Check(name, True, f"{counts['events']} events, {counts['facts']} facts{archived}{waiting}{passed}")
