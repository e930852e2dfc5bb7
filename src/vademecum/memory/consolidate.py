"""Maintenance: merge facts, digest sessions, archive events, hold back notes.

Nothing is lost. A merged fact keeps the claims of both; a digest is stored beside its events; archived events are in a file
beside the database that `vade memory import` reads, and are still counted.

After a sync, preferences and instructions that an agent took from fetched text are held back. A page that an agent fetches may
tell the agent what to do, and the agent may keep that in memory, where every later session would be told it as the user's wish.
So a note is held back where a text fetched shortly before says most of its words in one line, and no message of a person at
that time does. It is listed with what was rejected, and holds as soon as a person confirms it, restores it, or says the same.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from vademecum.errors import StoreFullError
from vademecum.memory.active import ALWAYS_ON
from vademecum.memory.facts import HELD, digest_of
from vademecum.memory.journal import ARCHIVED, Journal
from vademecum.memory.ledger import Ledger, Scope
from vademecum.memory.records import Event, Fact, FactKind, Role
from vademecum.memory.words import is_denied, terms
from vademecum.private import private_folder, replacing

ALIKE = 0.8  # Jaccard similarity of words from which two facts are duplicates
LEAST_WORDS = 4  # in a fact that may be merged; shorter facts share words by chance
QUIET_S = 1800.0  # a session without events for this long has ended
DIGEST_LINES = 5  # items in each part of a digest
MOST_DIGESTS = 2_000  # sessions in one run; the next run takes the rest
EVERY_S = 86_400.0  # between automatic runs
ARCHIVED_TO = 0.9  # share of `max_events` that stays, so that not every run archives
_DONE = "consolidated_at"  # the row of `meta` with the time of the last run


@dataclass(frozen=True, slots=True)
class Consolidated:
    """Counts of one maintenance run."""

    merged: int
    digests: int
    archived: int
    archive: str = ""  # the file, "" where nothing was archived
    scope: str = ""  # "repository" or "global"


def consolidate(scope: Scope, now: float, max_events: int) -> Consolidated:
    """Merge, digest and archive. Raises `StoreError`; each step is atomic."""
    merged = merge_duplicates(scope)
    digests = digest_sessions(scope, now)
    archived, archive = archive_oldest(scope, now, max_events)
    scope.store.upsert("meta", [(_DONE, repr(now))]).unwrap()
    return Consolidated(merged, digests, archived, archive, scope=scope.name)


def is_our_turn(scope: Scope, now: float) -> bool:
    """Return whether a scope is due, and claim the run if so.

    A scope is due a day after its last run. The claim keeps other processes from running too. Raises `StoreError`.
    """
    with scope.store.transaction():
        rows = scope.store.scan("meta", [("name", "=", _DONE)], ("value",)).unwrap()
        if rows and 0 <= now - float(rows[0][0]) < EVERY_S:
            return False
        scope.store.upsert("meta", [(_DONE, repr(now))]).unwrap()
    return True


def merge_duplicates(scope: Scope) -> int:
    """Merge near-duplicate facts, and return how many were merged away.

    Facts of one kind and place are compared without a lock, and each pair is merged in its own transaction, so that writers do
    not wait.
    """
    merged = 0
    for kind in FactKind:
        facts = [fact for fact in scope.ledger.facts([kind]) if fact.key.startswith(f"{kind}|")]
        for fact, into in duplicates(facts):
            with scope.store.transaction():
                if len(scope.ledger.get([fact.id, into.id])) == 2:  # else another process has just changed one
                    _join(scope.ledger, fact, into)
                    merged += 1
    return merged


def duplicates(facts: Sequence[Fact]) -> list[tuple[Fact, Fact]]:
    """Return each near-duplicate fact with the earlier fact that it repeats.

    Only facts that share one of their rarest words are compared: two sets of n words that share four in five have one in
    common among the n - ceil(0.8 n) + 1 that come first in any order (Chaudhuri, Ganti and Kaushik, "A primitive operator
    for similarity joins in data cleaning", ICDE 2006).
    """
    words = [frozenset(terms(fact.text)) for fact in facts]
    spread = Counter(word for each in words for word in each)
    holding: dict[tuple[str, str], list[int]] = {}
    found = []
    for number, fact in enumerate(facts):
        ranked = sorted(words[number], key=lambda word: (spread[word], word))
        rarest = [(fact.place, word) for word in ranked[: len(ranked) - math.ceil(ALIKE * len(ranked)) + 1]]
        near = sorted({other for each in rarest for other in holding.get(each, ())})
        denied = is_denied(fact.text)
        same = next((o for o in near if alike(words[number], words[o]) and is_denied(facts[o].text) == denied), None)
        if same is None:
            for each in rarest:
                holding.setdefault(each, []).append(number)
        else:
            found.append((fact, facts[same]))
    return found


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sets of words mean the same.

    Numbers must be equal: at most 3 retries are not at most 5.

    >>> words = lambda text: frozenset(terms(text))
    >>> alike(words("remember to rotate the api keys monthly"), words("rotate the api keys monthly, remember"))
    True
    >>> alike(words("allow at most 3 retries per request"), words("allow at most 5 retries per request"))
    False
    """
    if min(len(one), len(other)) < LEAST_WORDS or any(word.isdigit() for word in one ^ other):
        return False
    return len(one & other) >= ALIKE * len(one | other)


def _join(ledger: Ledger, fact: Fact, into: Fact) -> None:
    """Move one fact's claims to another, with words and events unchanged."""
    value = into.value
    digest = digest_of(into.key, value)
    rows = ledger.store.scan("claims", [("key", "=", fact.key)]).unwrap()
    moved = [(*row[:2], into.key, digest, *row[4:]) for row in rows]
    ledger.store.upsert("claims", moved).unwrap()
    ledger.settle([fact.key, into.key])


def digest_sessions(scope: Scope, now: float) -> int:
    """Digest sessions that ended and have grown since, and return their number.

    At most `MOST_DIGESTS` sessions are digested in one run.
    """
    known = {row[0]: row[1] for row in scope.store.scan("digests", columns=("session", "covers")).unwrap()}
    last: dict[str, tuple[int, float]] = {}
    for session, number, at in scope.store.scan("events", columns=("session", "number", "at")).unwrap():
        before = last.get(session, (0, 0.0))
        last[session] = max(before[0], number), max(before[1], at)
    over = [
        session
        for session, (number, at) in last.items()
        if session and number > known.get(session, 0) and now - at > QUIET_S
    ][:MOST_DIGESTS]
    still_open = {fact.key for fact in scope.ledger.facts([FactKind.TODO])} if over else set()
    for session in over:
        numbered = scope.journal.of_session(session)
        events = [event for _, event in numbered]
        text = digest_of_session(events, scope.ledger, still_open)
        covers = max(number for number, _ in numbered)
        row = (session, covers, events[0].at, events[-1].at, text, now)
        scope.store.upsert("digests", [row]).unwrap()
    return len(over)


def digest_of_session(events: Sequence[Event], ledger: Ledger, still_open: Collection[str]) -> str:
    """Return a session's digest: decisions, work done and open work.

    The digest is a few lines of Markdown. `still_open` holds the keys of open todos.
    """
    claims = ledger.claims_of([event.id for event in events])

    def said(*kinds: FactKind) -> list[str]:
        return list(dict.fromkeys(_as_item(claim.text) for claim in claims if claim.kind in kinds))

    done = [event.text.strip().splitlines()[0] for event in events if event.role is Role.COMMIT and event.text.strip()]
    edited = list(dict.fromkeys(event.path for event in events if event.role is Role.EDIT and event.path))
    left = [_as_item(c.text) for c in claims if c.kind is FactKind.TODO and c.key in still_open]
    parts = {
        "Decided": said(FactKind.DECISION, FactKind.INSTRUCTION, FactKind.PREFERENCE),
        "Done": [*done, *said(FactKind.FIX), *([f"edited {_listed(edited, ', ')}"] if edited else [])],
        "Left open": list(dict.fromkeys(left)),
    }
    lines = [f"{name}: {_listed(items, '; ')}" for name, items in parts.items() if items]
    return "\n".join(lines)


def _as_item(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _listed(items: Sequence[str], between: str) -> str:
    """Return the first items joined, with the number of the others."""
    more = len(items) - DIGEST_LINES
    return between.join([*items[:DIGEST_LINES], *([f"and {more} more"] if more > 0 else [])])


def archive_oldest(scope: Scope, now: float, max_events: int) -> tuple[int, str]:
    """Archive the oldest events above `max_events`, and return count and file.

    The file is complete and synced to disk before any event leaves the database. Facts and their claims stay.
    """
    rows = scope.store.scan("events", columns=("id", "number"), order=("at", "number")).unwrap()
    if len(rows) <= max_events:
        return 0, ""
    going = rows[: len(rows) - int(max_events * ARCHIVED_TO)]
    numbers = [number for _, number in going]
    path = scope.directory / "memory" / f"archive-{int(now)}-{len(going)}.jsonl.gz"
    _write(path, lambda: [scope.journal.read(numbers[i : i + 500]).values() for i in range(0, len(numbers), 500)])
    with scope.store.transaction():
        scope.journal.delete([id_ for id_, _ in going], ARCHIVED, now, with_claims=False)
    return len(going), str(path)


def _write(path: Path, batches: Callable[[], Sequence[Iterable[Event]]]) -> None:
    try:
        private_folder(path.parent)
        with replacing(path, durable=True) as file, gzip.open(file, "wt", encoding="utf-8") as text:
            for batch in batches():
                for event in batch:
                    record = {"type": "event", **asdict(event), "metadata": dict(event.metadata)}
                    text.write(json.dumps(record, ensure_ascii=False) + "\n")
    except OSError as error:
        raise StoreFullError(
            f"the archive {path} cannot be written: {error.strerror}: nothing was taken out"
        ) from error


FETCHED = {"fetched": True}  # the metadata of an output that comes from outside
NOTED = {"by": "agent"}  # the metadata of an agent's note
SHARE = 0.7  # of a statement's words, in one line of a text
NEAR_S = 7200.0  # between a text and the note
_HELD_TO = "held_to"  # the row of `meta` with the number of the last note that was looked at


def hold_back(scopes: Sequence[Scope], now: float) -> int:
    """Hold back notes of agents from fetched text, and return the number.

    Each note is looked at once, after the texts of its time were recorded. Notes and texts are those of the first scope; what a
    note states may hold in any of them. Raises `StoreError`.
    """
    journal, store = scopes[0].journal, scopes[0].store
    rows = store.scan("meta", [("name", "=", _HELD_TO)], ("value",)).unwrap()
    before = int(rows[0][0]) if rows else 0
    notes = journal.read(sorted(number for number in journal.tagged(NOTED) if number > before))
    if not notes:
        return 0
    at = [event.at for event in notes.values()]
    fetched = journal.between(min(at) - NEAR_S, max(at) + 60, metadata=FETCHED)
    ids = [event.id for event in notes.values()]
    held = sum(_hold_back(scope, ids, fetched, journal, now) for scope in scopes) if fetched else 0
    store.upsert("meta", [(_HELD_TO, str(max(notes)))]).unwrap()
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
