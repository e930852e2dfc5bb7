"""Write memory as JSON lines or a page, and read both.

    {"type": "memory", "version": 1, "scope": "repository"}
    {"type": "event", "id": …, "at": …, "role": …, "text": …, …}
    {"type": "claim", "event": …, "key": …, "value": …, …}
    {"type": "mark", "digest": …, "mark": "confirmed", "at": …}
    {"type": "tombstone", "id": …, "reason": "forgotten", "at": …}

The lines hold everything with its provenance except facts, which are settled again from claims and marks. So importing a file
in any order, or twice, gives the same facts. Exported texts are searched for secrets once more.

Each line of the page states a sentence, then its evidence and the ids of its facts. Read back, a changed line corrects its fact, a line that is
gone forgets its fact, and a new line is a note of the kind of its heading. Only the page that was written last is read back: its
first line holds a stamp that memory knows too. So a page that came with a repository says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vademecum.digests import blake2b
from vademecum.errors import UsageError
from vademecum.memory.facts import CONFIRMED, FORGOTTEN, HELD, REJECTED
from vademecum.memory.journal import MOVED
from vademecum.memory.labels import LANGUAGES, Wording, date_of
from vademecum.memory.ledger import CLAIM_COLUMNS, Scope
from vademecum.memory.record import redacted
from vademecum.memory.records import Claim, Event, Fact, FactKind, Role, is_time, writable
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


WRITTEN = "page "  # prefix in `meta` of the pages written, by path
_STAMP = re.compile(r"<!-- vademecum ([0-9a-f]{16})")
_LINE = re.compile(r"[ \t]*(?:[-*]|\d+[.)])\s+(?P<text>.*?)(?: — [^—]*?(?P<ids>(?:`[0-9a-f]{10}`\s*)+))?")
_ID = re.compile(r"[0-9a-f]{10}")
_WRAPPED = re.compile(r"\n[ \t]+(?!(?:[-*]|\d+[.)])\s)(?=\S)")  # where a line goes on in the next one
_KINDS = {name.casefold(): FactKind(kind) for each in LANGUAGES.values() for kind, name in each.kinds.items()}


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes that a person made to a page."""

    corrected: Mapping[str, str]  # fact → its new sentence
    forgotten: tuple[str, ...] = ()  # facts
    replaced: tuple[str, ...] = ()  # other facts of a changed line
    noted: tuple[tuple[FactKind, str], ...] = ()  # new sentences, with the kind of their heading


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be written, and the edits read back."""

    text: str
    facts: int
    edits: Edits


def written(scope: Scope, wording: Wording, now: float, name: str = "") -> tuple[str, int]:
    """Return the page of a scope's current facts, and their number.

    Facts are ordered by kind and confidence; those of one sentence share a line. With the `name` of its file the page can be read
    back. Raises `StoreError`.
    """
    lines: list[str] = []
    facts = scope.ledger.facts()
    by_text: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda f: (-f.confidence, f.first_at)):
        by_text.setdefault(_flat(fact.text), []).append(fact)
    for kind in FactKind:
        own = {text: said for text, said in by_text.items() if said[0].kind is kind}
        if own:
            lines += [f"## {wording.kinds.get(kind, kind.capitalize())}", ""]
            lines += [f"- {text} — {_evidence(said, wording, now)}" for text, said in own.items()] + [""]
    body = "\n".join(lines).rstrip() + "\n"
    if not name:
        return f"# {wording.page}\n\n{body}", len(facts)
    stamp = _digest(f"{name}\0{now!r}\0{body}")
    state = {"stamp": stamp, "lines": {fact.id: _digest(_flat(fact.text)) for fact in facts}}
    scope.store.upsert("meta", [(WRITTEN + name, json.dumps(state))]).unwrap()
    return f"<!-- vademecum {stamp}: {wording.page_rules} -->\n# {wording.page}\n\n{body}", len(facts)


def edits_of(text: str, scope: Scope, name: str) -> Edits:
    """Return the edits that a person made to a page.

    Raises:
        UsageError: the page is not the one written last, nothing is left of it, or a line is no heading or item.
        StoreError: memory cannot be read.
    """
    rows = scope.store.scan("meta", [("name", "=", WRITTEN + name)], ("value",)).unwrap()
    known: dict[str, Any] = json.loads(rows[0][0]) if rows else {"stamp": "", "lines": {}}
    stamp = _STAMP.match(text)
    if stamp is None or stamp[1] != known["stamp"]:
        raise UsageError(f"{name} is not as `vade memory page` last wrote it: move it away, or name another file")
    before: dict[str, str] = known["lines"]
    kind, seen, corrected, noted = FactKind.FACT, set[str](), dict[str, str](), list[tuple[FactKind, str]]()
    replaced: list[str] = []
    for number, line in enumerate(_WRAPPED.sub(" ", text).splitlines(), 1):
        if line.startswith("#"):
            kind = _KINDS.get(line.lstrip("# ").casefold(), FactKind.FACT)
        if not line.strip() or line.startswith(("#", "<!--")):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise UsageError(f"line {number} of {name} is no heading or item: begin it with `- `: {line.strip()[:80]}")
        said = found["text"].strip()
        digest, ids = _digest(said), _ID.findall(found["ids"] or "")
        ids = [id_ for id_ in ids or before if id_ in before and (ids or before[id_] == digest)]
        if not ids and not found["ids"] and said:
            noted.append((kind, said))
        seen.update(ids)
        changed = [id_ for id_ in ids if before[id_] != digest]
        corrected |= dict.fromkeys(changed[:1], said)
        replaced += changed[1:]
    gone = tuple(id_ for id_ in before if id_ not in seen)
    if gone and not seen:
        raise UsageError(f"nothing is left of {name}: `vade memory forget` forgets facts by id")
    return Edits(corrected, gone, tuple(replaced), tuple(noted))


def _evidence(said: Sequence[Fact], wording: Wording, now: float) -> str:
    """Return a sentence's evidence, with the ids of its facts."""
    fact = said[0]
    parts = [f"`{fact.place}`"] if fact.place not in ("", "*") else []
    parts += [_flat(fact.reason)] if fact.reason and fact.reason not in fact.text else []
    parts += [date_of(wording, fact.first_at, now), f"{fact.mentions} x", f"{fact.confidence:.2f}"]
    parts += [wording.in_dispute] if fact.disputed else []
    return f"{', '.join(parts)}, {' '.join(f'`{each.id}`' for each in said)}"


def _flat(text: str) -> str:
    return " ".join(text.replace("—", "-").split())


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
