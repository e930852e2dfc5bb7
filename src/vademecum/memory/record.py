"""Record events: redact, store, extract statements, settle facts, anchor them.

All that can be computed beforehand is, so that the write lock on the database is short. An event and its claims are written in
one transaction, so that no crash leaves one without the other.

Of a very long message the middle is not read; the number of its characters is returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from vademecum.digests import blake2b
from vademecum.memory.anchors import Anchoring
from vademecum.memory.facts import FORGOTTEN, REJECTED, claim_of
from vademecum.memory.ledger import GLOBAL, Scope
from vademecum.memory.records import Claim, Event, Fact, Reading, Recorded, Role, writable
from vademecum.metrics import counter
from vademecum.protocols import Clock
from vademecum.redaction.redact import Redacted, redact

AT_ONCE = 500  # events in one transaction, to limit the wait of other writers
EVERYWHERE = "*"  # the `where` of a statement that holds in all repositories

EVENTS = counter("memory_events_total", "Events recorded, by role.")
CLAIMS = counter("memory_claims_total", "Statements read in events, by kind.")
SUPERSEDED = counter("memory_superseded_total", "Facts that another value took the place of.")
SUPERSEDED.add(0)  # exported from the start, so that the first event shows as a rise
REDACTED = counter("memory_redacted_total", "Secrets taken out before anything was written, by kind.")


Extract = Callable[[str, Role], Reading]  # reads the statements in a text


@dataclass(frozen=True)
class Recording:
    """The destination of events, with the extractor and the anchoring."""

    scope: Scope
    everywhere: Scope  # for claims meant everywhere; equals `scope` outside a repository
    extract: Extract
    anchoring: Anchoring
    key: str = ""  # the key of all claims, if known; else each key is made from its statement


def record(events: Sequence[Event], into: Recording, recorded_at: float) -> tuple[Recorded, list[Fact]]:
    """Record events and their claims, and return counts and facts.

    Known events change nothing. The facts are those of the keys that the claims touch.

    Raises:
        StoreError: the database cannot be written; nothing of these events is kept then.
    """
    clean, taken_out = redacted(events)
    readings = {event.id: into.extract(event.text, event.role) for event in clean}
    claims = {event.id: _claims(event, readings[event.id], into, recorded_at) for event in clean}
    with ExitStack() as transactions:
        transactions.enter_context(into.scope.store.transaction())
        new = into.scope.journal.append(clean, recorded_at)
        own, wide = by_reach([claim for event in new for claim in claims[event.id]], into)
        if wide:  # committed before the events: after a crash in between, the claims are made again rather than lost
            transactions.enter_context(into.everywhere.store.transaction())
        facts = _learned(into.scope, own, into) + _learned(into.everywhere, wide, into)
    told, kept = [claim for claim in (*own, *wide) if claim.confidence], {event.id for event in new}
    counts = sum((each for event, each in zip(clean, taken_out, strict=True) if event.id in kept), Counter[str]())
    _count(new, told, facts, counts)
    ids, left = tuple(event.id for event in clean), sum(readings[event.id].left for event in new)
    marks = into.scope.ledger.marks(claim.digest for claim in own) | into.everywhere.ledger.marks(
        c.digest for c in wide
    )
    kept_out = sum(marks.get(claim.digest, ("",))[0] in (FORGOTTEN, REJECTED) for claim in told)
    return Recorded(len(new), len(events) - len(new), len(told), dict(counts), ids, left, kept_out), facts


def record_all(events: Iterable[Event], into: Recording, clock: Clock) -> Recorded:
    """Record many events, in transactions of `AT_ONCE`.

    Raises `StoreError`; the events recorded before the error are kept.
    """
    total, left = Recorded(0, 0, 0), iter(events)
    while batch := list(islice(left, AT_ONCE)):
        total = total.plus(record(batch, into, clock())[0])
    return total


def _count(events: Sequence[Event], claims: Sequence[Claim], facts: Sequence[Fact], taken_out: Counter[str]) -> None:
    for event in events:
        EVENTS.add(role=str(event.role))
    for claim in claims:
        CLAIMS.add(kind=str(claim.kind))
    SUPERSEDED.add(sum(any(fact.valid_to == event.at for event in events) for fact in facts))
    for kind, count in taken_out.items():
        REDACTED.add(count, kind=kind)


def redacted(events: Sequence[Event]) -> tuple[list[Event], list[Counter[str]]]:
    """Return events without secrets, and the kinds of secrets in each."""
    clean, taken_out = [], []
    for event in events:
        found = redact(writable(event.text))
        counts = Counter(found.counts)
        metadata = without_secrets(event.metadata, counts)
        names = [_name_without_secrets(each) for each in (event.session, event.repo, event.speaker)]
        counts.update(each for _, kinds in names for each in kinds)
        id_, (session, repo, speaker) = _id_without_secrets(writable(event.id)), (name for name, _ in names)
        clean.append(Event(id_, event.at, event.role, found.text, session, repo, speaker, metadata))
        taken_out.append(counts)
    return clean, taken_out


@lru_cache(maxsize=256)  # a session has many events
def _name_without_secrets(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a name without secrets, and the kind of each secret.

    The name is that of a session, a repository or a speaker.
    """
    found = redact(writable(name))
    return found.text, tuple(Counter(found.counts).elements())


def _id_without_secrets(id_: str) -> str:
    """Return an event's id, or its digest if it holds a secret."""
    if not redact(id_).counts:
        return id_
    return blake2b(id_.encode(), digest_size=16).hexdigest()


def without_secrets(metadata: Mapping[str, Any], counts: Counter[str] | None = None) -> dict[str, Any]:
    """Return metadata without secrets, and count these by kind.

    The name of a value helps to tell a secret.

    >>> without_secrets({"db_password": "hunter2!", "tags": ["ci", "postgres://ada:hunter2@db"]})
    {'db_password': '[redacted:assignment]', 'tags': ['ci', 'postgres://ada:[redacted:url-password]@db']}
    """
    taken_out = Counter[str]() if counts is None else counts
    named = {writable(str(name)): value for name, value in metadata.items()}
    return {name: _without_secrets(name, value, taken_out) for name, value in named.items()}


def _without_secrets(name: str, value: Any, counts: Counter[str]) -> Any:
    if isinstance(value, str):
        value = writable(value)
        found = redact(value)
        if not found.counts and "\n" not in value:
            assigned = redact(f'{name} = "{value}"')
            if assigned.counts:
                found = Redacted(assigned.text.removeprefix(f'{name} = "').removesuffix('"'), assigned.counts)
        counts.update(found.counts)
        return found.text
    if isinstance(value, list | tuple):
        return [_without_secrets(name, item, counts) for item in value]
    return without_secrets(value, counts) if isinstance(value, dict) else value


def _claims(event: Event, reading: Reading, into: Recording, recorded_at: float) -> list[Claim]:
    return [claim_of(each, at, event, recorded_at, into.key) for at, each in enumerate(reading.statements)]


def by_reach(claims: Sequence[Claim], into: Recording) -> tuple[list[Claim], list[Claim]]:
    """Split claims into those of the scope and those meant everywhere."""
    if into.scope.name == GLOBAL:
        return list(claims), []
    own = [claim for claim in claims if claim.place != EVERYWHERE]
    return own, [claim for claim in claims if claim.place == EVERYWHERE]


def _learned(scope: Scope, claims: Sequence[Claim], into: Recording) -> list[Fact]:
    facts = scope.ledger.learn(claims) if claims else []
    # Only the facts of these claims are anchored here; other facts of their keys were anchored when they were learned.
    said = {claim.digest for claim in claims}
    into.anchoring.anchor(scope, [fact for fact in facts if fact.digest in said])
    return facts
