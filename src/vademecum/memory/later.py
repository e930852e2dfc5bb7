"""What was left unread of long messages while they were recorded, read when nobody waits.

Recording has a bound on what reading one message costs, so that it never keeps anybody waiting; what that leaves is noted
with the event, and read by `sync`, `consolidate` and `export`. What even they leave, the middle of a long paste, is counted.
"""

from __future__ import annotations

from contextlib import ExitStack

from vademecum.memory.facts import claim_of
from vademecum.memory.journal import WAITS
from vademecum.memory.record import Recording, by_reach
from vademecum.memory.records import Claim, Event
from vademecum.memory.scope import Scope

FIRST_POSITION = 100_000  # among an event's statements: behind those that were read at once, and a model's


def read_on(into: Recording, now: float) -> int:
    """Read what waits in a scope, each event in a transaction of its own; return how many events. Raises `StoreError`."""
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
    """Add what is new of an event's claims, and tie it to code."""
    known = {(claim.digest, claim.text) for claim in scope.ledger.claims_of([event.id])} if claims else set()
    new = [claim for claim in claims if (claim.digest, claim.text) not in known]
    if new:
        said = {claim.digest for claim in new}
        into.anchoring.anchor(scope, [fact for fact in scope.ledger.add(new, now) if fact.digest in said])
