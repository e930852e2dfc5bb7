"""Read the rest of long messages when nobody waits.

Recording limits the cost of reading a message, so that nobody waits long. The number of unread characters is noted with the
event, and `sync`, `consolidate` and `export` read on. Characters that even they skip, in the middle of a long paste, are
counted.
"""

from __future__ import annotations

from contextlib import ExitStack

from vademecum.memory.facts import claim_of
from vademecum.memory.journal import WAITS
from vademecum.memory.record import Recording, by_reach
from vademecum.memory.records import Claim, Event
from vademecum.memory.scope import Scope

FIRST_POSITION = 100_000  # position of the first such statement; those read at once and those of a model come before


def read_on(into: Recording, now: float) -> int:
    """Read the waiting messages of a scope, and return their number.

    Each event is read in its own transaction. Raises `StoreError`.
    """
    ids = list(into.scope.journal.unread(WAITS))
    for id_ in ids:
        events = into.scope.journal.get([id_])
        for event in events:  # one, or none where it was deleted
            _read(event, into, now)
    return len(ids)


def _read(event: Event, into: Recording, now: float) -> None:
    reading = into.extract(event.text, event.role, later=True)
    claims = [claim_of(each, FIRST_POSITION + number, event, now) for number, each in enumerate(reading.statements)]
    own, wide = by_reach(claims, into)
    with ExitStack() as transactions:
        transactions.enter_context(into.scope.store.transaction())
        if wide:
            transactions.enter_context(into.everywhere.store.transaction())
        if into.scope.journal.get([event.id]):  # else it was deleted meanwhile
            _learn(into, into.scope, own, event, now)
            _learn(into, into.everywhere, wide, event, now)
            into.scope.journal.leave_for_good(event.id, reading.left)


def _learn(into: Recording, scope: Scope, claims: list[Claim], event: Event, now: float) -> None:
    """Add an event's new claims to a scope, and anchor their facts."""
    known = {(claim.digest, claim.text) for claim in scope.ledger.claims_of([event.id])} if claims else set()
    new = [claim for claim in claims if (claim.digest, claim.text) not in known]
    if new:
        said = {claim.digest for claim in new}
        into.anchoring.anchor(scope, [fact for fact in scope.ledger.add(new, now) if fact.digest in said])
