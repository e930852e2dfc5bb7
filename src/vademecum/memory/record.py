"""The flow of remembering: redact, record, extract, settle facts, anchor them.

Everything that can be computed before is, so that the database is held for writing as short as possible; and one
transaction holds an event with all that was read in it, so that no crash leaves one without the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vademecum.memory.anchors import Anchoring
from vademecum.memory.extract import extract
from vademecum.memory.facts import claim_of
from vademecum.memory.records import Claim, Event, Recorded
from vademecum.memory.redact import redact
from vademecum.memory.scope import Scope

EVERYWHERE = "*"  # a statement's `where` that lifts it out of the repository


@dataclass(frozen=True)
class Recording:
    """Where events go, and what the code they speak of is."""

    scope: Scope
    everywhere: Scope  # for what is meant for all repositories
    anchoring: Anchoring


def record(events: Sequence[Event], into: Recording, recorded_at: float) -> Recorded:
    """Keep events and what they say. Recording the same event again changes nothing.

    Raises:
        StoreError: the database cannot be written; nothing of these events is kept then.
    """
    clean, redacted = _redacted(events)
    claims = {event.id: _claims(event, recorded_at) for event in clean}
    with into.scope.store.transaction():
        new = into.scope.journal.append(clean, recorded_at)
        own, wide = _by_reach([claim for event in new for claim in claims[event.id]], into)
        facts = into.scope.ledger.learn(own) if own else []
        into.anchoring.anchor(into.scope, facts)
    if wide:
        _record_everywhere(new, wide, into, recorded_at)
    return Recorded(len(new), len(events) - len(new), len(own) + len(wide), dict(redacted), tuple(e.id for e in clean))
