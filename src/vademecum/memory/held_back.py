"""Hold back preferences and instructions that an agent took from fetched text.

A page that an agent fetches may tell the agent what to do, and the agent may keep that in memory, where every later session
would be told it as the user's wish. So a preference or instruction that an agent noted is held back where a text fetched shortly
before says most of its words in one line, and no message of a person at that time does. It is listed with what was rejected.
It holds as soon as a person confirms it, restores it, or says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vademecum.memory.active import ALWAYS_ON
from vademecum.memory.facts import HELD
from vademecum.memory.journal import Journal
from vademecum.memory.records import Event, Role
from vademecum.memory.scope import Scope
from vademecum.memory.words import terms

FETCHED = {"fetched": True}  # the metadata of an output that comes from outside
NOTED = {"by": "agent"}  # the metadata of an agent's note
SHARE = 0.7  # of a statement's words, in one line of a text
NEAR_S = 7200.0  # between a text and the note
_DONE = "held_to"  # the row of `meta` with the number of the last note that was looked at


def hold_back(scopes: Sequence[Scope], now: float) -> int:
    """Hold back notes of agents from fetched text, and return the number.

    Each note is looked at once, after the texts of its time were recorded. Notes and texts are those of the first scope; what a
    note states may hold in any of them. Raises `StoreError`.
    """
    journal, store = scopes[0].journal, scopes[0].store
    rows = store.scan("meta", [("name", "=", _DONE)], ("value",)).unwrap()
    before = int(rows[0][0]) if rows else 0
    notes = journal.read(sorted(number for number in journal.tagged(NOTED) if number > before))
    if not notes:
        return 0
    at = [event.at for event in notes.values()]
    fetched = journal.between(min(at) - NEAR_S, max(at) + 60, metadata=FETCHED)
    ids = [event.id for event in notes.values()]
    held = sum(_hold_back(scope, ids, fetched, journal, now) for scope in scopes) if fetched else 0
    store.upsert("meta", [(_DONE, str(max(notes)))]).unwrap()
    return held


def _hold_back(scope: Scope, notes: Sequence[str], fetched: Sequence[Event], said: Journal, now: float) -> int:
    claims = scope.ledger.claims_of(notes)
    marked = scope.ledger.marks(claim.digest for claim in claims)
    held = [
        claim
        for claim in claims
        if claim.kind in ALWAYS_ON
        and claim.digest not in marked
        and _says(claim.text, (text for text in fetched if -60 <= claim.at - text.at <= NEAR_S))
        and not _says(
            claim.text, (each for each in said.between(claim.at - NEAR_S, claim.at + NEAR_S) if each.role is Role.USER)
        )
    ]
    if held:
        with scope.store.transaction():
            scope.store.upsert("marks", [(claim.digest, HELD, now) for claim in held]).unwrap()
            scope.ledger.settle([claim.key for claim in held])
    return len(held)


def _says(statement: str, texts: Iterable[Event]) -> bool:
    """Return whether a line of some texts makes a statement."""
    words = set(terms(statement))
    lines = (set(terms(line)) for text in texts for line in text.text.splitlines())
    return bool(words) and any(len(words & line) >= SHARE * len(words) for line in lines)
