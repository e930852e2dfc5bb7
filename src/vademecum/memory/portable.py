"""Export memory as JSON lines, and import them.

    {"type": "memory", "version": 1, "scope": "repository"}
    {"type": "event", "id": …, "at": …, "role": …, "text": …, …}
    {"type": "claim", "event": …, "key": …, "value": …, …}
    {"type": "mark", "digest": …, "mark": "confirmed", "at": …}
    {"type": "tombstone", "id": …, "reason": "forgotten", "at": …}

The lines hold everything with its provenance except facts, which are settled again from claims and marks. So importing a file
in any order, or twice, gives the same facts. Exported texts are searched for secrets once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vademecum.errors import UsageError
from vademecum.memory.facts import CONFIRMED, FORGOTTEN, HELD, REJECTED
from vademecum.memory.journal import MOVED
from vademecum.memory.ledger import CLAIM_COLUMNS
from vademecum.memory.record import redacted
from vademecum.memory.records import Claim, Event, FactKind, Role, is_time, writable
from vademecum.memory.scope import Scope
from vademecum.redaction.redact import redact

VERSION = 1
AT_ONCE = 1000  # records in one transaction
_DAMAGED = (KeyError, ValueError, TypeError, OverflowError, RecursionError)  # errors of reading a damaged record
_MOST_POSITION = 1 << 31
_WORDS = ("text", "value", "reason")  # fields of a claim, which may hold a secret that newer rules recognise
_MARKS = (CONFIRMED, REJECTED, FORGOTTEN, HELD)


@dataclass(frozen=True, slots=True)
class Imported:
    """Counts of one import."""

    events: int  # new events
    claims: int  # new claims
    skipped: int  # damaged lines, and lines of an unknown type


def exported(scope: Scope) -> Iterator[str]:
    """Yield a scope as JSON lines. Raises `StoreError`."""
    yield _line({"type": "memory", "version": VERSION, "scope": scope.name})
    for batch in scope.journal.after(0, AT_ONCE):
        for _, event in batch:
            yield _line({"type": "event", **asdict(redacted([event])[0][0])})
    for row in scope.store.scan("claims", order=("at", "event", "position")).unwrap():
        claim = dict(zip(CLAIM_COLUMNS, row, strict=True))
        yield _line({"type": "claim", **claim, **{name: redact(str(claim[name])).text for name in _WORDS}})
    for digest, mark, at in scope.store.scan("marks", order=("at", "digest")).unwrap():
        yield _line({"type": "mark", "digest": digest, "mark": mark, "at": at})
    for row in scope.store.scan("tombstones", columns=("id", "reason", "at"), order=("number",)).unwrap():
        if row[1] != MOVED:
            yield _line({"type": "tombstone", "id": row[0], "reason": row[1], "at": row[2]})


def imported(lines: Iterable[str], scope: Scope, now: float) -> Imported:
    """Import JSON lines into a scope.

    Known events and claims stay as they are. Events forgotten on either side stay forgotten.

    Raises:
        UsageError: a newer vademecum wrote it.
        StoreError: it could not be written; whole batches before that are kept.
    """
    total = Imported(0, 0, 0)
    batch: list[Mapping[str, Any]] = []
    for line in lines:
        record = _record(line)
        if record is None:
            total = Imported(total.events, total.claims, total.skipped + bool(line.strip()))
            continue
        batch.append(record)
        if len(batch) >= AT_ONCE:
            total = _added(total, _keep(batch, scope, now))
            batch = []
    return _added(total, _keep(batch, scope, now))


def _keep(batch: list[Mapping[str, Any]], scope: Scope, now: float) -> Imported:
    """Write a batch in one transaction, tombstones and marks first."""
    of: dict[str, list[Mapping[str, Any]]] = {}
    for record in batch:
        of.setdefault(str(record["type"]), []).append(record)
    events = [event for event in map(_event, of.get("event", ())) if event is not None]
    claims = [claim for claim in map(_claim, of.get("claim", ())) if claim is not None]
    stones = [{**r, "id": writable(r["id"])} for r in of.get("tombstone", ()) if isinstance(r.get("id"), str)]
    marks = [mark for mark in map(_mark, of.get("mark", ())) if mark is not None]
    with scope.store.transaction():
        for reason in dict.fromkeys(str(stone.get("reason")) for stone in stones):
            scope.journal.delete([s["id"] for s in stones if str(s.get("reason")) == reason], reason, now)
        scope.store.upsert("marks", marks).unwrap()
        scope.journal.welcome_back([event.id for event in events])
        new = scope.journal.append(events, now)
        standing, fresh = _standing(claims, scope), {event.id for event in new}
        kept = [(claim.event, claim.position) for claim in standing]
        told = scope.store.get("claims", list(dict.fromkeys(kept))).unwrap()
        scope.ledger.learn([claim for claim in standing if claim.event in fresh])
        scope.ledger.add([claim for claim in standing if claim.event not in fresh], now)
        digests = {mark[0] for mark in marks}
        keys = {row[0] for row in scope.store.scan("claims", [("digest", "in", list(digests))], ("key",)).unwrap()}
        scope.ledger.settle(sorted(keys))
    bad = len(events) + len(claims) + len(stones) + len(marks)
    known = sum(len(of.get(kind, ())) for kind in ("event", "claim", "mark", "tombstone"))
    return Imported(len(new), len(set(kept)) - len(told), known - bad)


def _standing(claims: list[Claim], scope: Scope) -> list[Claim]:
    """Return the claims whose events were not deleted here."""
    dead = {
        row[0] for row in scope.store.scan("tombstones", [("id", "in", [c.event for c in claims])], ("id",)).unwrap()
    }
    return [claim for claim in claims if claim.event not in dead]


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("type") not in ("memory", "event", "claim", "mark", "tombstone"):
        return None
    if record["type"] == "memory" and isinstance(record.get("version"), int) and record["version"] > VERSION:
        raise UsageError(
            f"this file has version {record['version']}, newer than {VERSION}: upgrade vademecum to read it"
        )
    return record


def _event(record: Mapping[str, Any]) -> Event | None:
    try:
        metadata = record.get("metadata") or {}
        event = Event(
            str(record["id"]), float(record["at"]), Role(record["role"]), str(record["text"]), str(record.get("session", "")),
            str(record.get("repo", "")), str(record.get("speaker", "")), metadata if isinstance(metadata, dict) else {},
        )  # fmt: skip
        return redacted([event])[0][0] if is_time(event.at) else None
    except _DAMAGED:
        return None


def _mark(record: Mapping[str, Any]) -> tuple[str, str, float] | None:
    try:
        mark = writable(str(record["digest"])), str(record["mark"]), float(record["at"])
    except _DAMAGED:
        return None
    return mark if mark[1] in _MARKS and is_time(mark[2]) else None


def _claim(record: Mapping[str, Any]) -> Claim | None:
    try:
        named = {name: record[name] for name in CLAIM_COLUMNS}
        numbers = {
            "confidence": float(named["confidence"]),
            "at": float(named["at"]),
            "position": int(named["position"]),
        }
        texts = ("event", "key", "digest", "text", "subject", "attribute", "value", "reason", "place", "speaker")
        words = {name: writable(str(named[name])) for name in texts}
        words |= {name: redact(words[name]).text for name in _WORDS}
        kind, corrects = FactKind(named["kind"]), bool(named["corrects"])
        claim = Claim(**words, **numbers, kind=kind, corrects=corrects, recorded_at=float(named["recorded_at"]))  # type: ignore[arg-type]
        sound = 0 <= claim.confidence <= 1 and 0 <= claim.position < _MOST_POSITION
        return claim if sound and is_time(claim.at) and is_time(claim.recorded_at) else None
    except _DAMAGED:
        return None


def _added(one: Imported, other: Imported) -> Imported:
    return Imported(one.events + other.events, one.claims + other.claims, one.skipped + other.skipped)


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
