"""Page through events, the latest first, at a constant cost per page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vademecum.memory.journal import event_of
from vademecum.memory.records import Event, role_of
from vademecum.memory.scope import Scope
from vademecum.memory.timeline import chapter_of, stretches
from vademecum.protocols import Condition

Place = tuple[float, str]  # an event's time and id; at equal times the greater id is the later


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on events: a half-open period, session, roles and metadata."""

    since: float = 0.0
    until: float = float("inf")
    session: str = ""
    roles: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChapterHead:
    """A chapter of a timeline: its period, event count and session digests."""

    name: str
    since: float
    until: float
    events: int
    digests: tuple[str, ...]


def latest(scopes: Sequence[Scope], wanted: Filter, before: Place | None, most: int) -> list[Event]:
    """Return the last `most` events before a place, the latest first.

    Without a place the latest events are returned. Raises `UsageError`, `StoreError`.
    """
    found = [
        event for scope in scopes for where in _conditions(scope, wanted) for event in _last(scope, where, before, most)
    ]
    return sorted(found, key=lambda event: (event.at, event.id), reverse=True)[:most]


def how_many(scopes: Sequence[Scope], wanted: Filter) -> int:
    """Return the number of wanted events. Raises `UsageError`, `StoreError`."""
    return sum(scope.store.count("events", where).unwrap() for scope in scopes for where in _conditions(scope, wanted))


def chapters_of(scopes: Sequence[Scope], wanted: Filter, events: Sequence[Event], now: float) -> list[ChapterHead]:
    """Return the chapters of some events, in the order of the events.

    The period of each count and of each digest is cut to the wanted one.

    Args:
        scopes: The scopes to count in.
        wanted: The conditions on events.
        events: The events on the page.
        now: The time that chapters are relative to.

    Raises:
        UsageError: there is no such role.
        StoreError: a database cannot be read.
    """
    found: dict[str, ChapterHead] = {}
    for event in events:
        name, since, until = chapter_of(event.at, now)
        if name not in found:
            own = [_within(wanted, *stretch) for stretch in stretches(name, since, until, now)]
            count = sum(how_many(scopes, part) for part in own)
            first, last = max(since, wanted.since), min(until, wanted.until)
            told = [text for scope in scopes for _, text in scope.journal.digests(first, last, wanted.session)]
            found[name] = ChapterHead(name, since, until, count, tuple(told))
    return list(found.values())


def _within(wanted: Filter, since: float, until: float) -> Filter:
    return replace(wanted, since=max(since, wanted.since), until=min(until, wanted.until))


def _conditions(scope: Scope, wanted: Filter) -> Iterator[list[Condition]]:
    """Yield the database conditions of a filter.

    The database takes one list of values at a time, so with metadata each role is a query of its own.
    """
    where: list[Condition] = [("at", ">=", wanted.since), ("at", "<", wanted.until)]
    where += [("session", "=", wanted.session)] if wanted.session else []
    where += [("number", "in", sorted(scope.journal.tagged(wanted.metadata)))] if wanted.metadata else []
    roles = sorted({str(role_of(role)) for role in wanted.roles})
    if roles and wanted.metadata:
        yield from ([*where, ("role", "=", role)] for role in roles)
    else:
        yield [*where, ("role", "in", roles)] if roles else where


def _last(scope: Scope, where: Sequence[Condition], before: Place | None, most: int) -> list[Event]:
    order = ("at", "id")
    if before is None:
        return [event_of(row) for row in scope.store.newest("events", where, order, most).unwrap()]
    at, id_ = before
    rows = scope.store.newest("events", [*where, ("at", "=", at), ("id", "<", id_)], order, most).unwrap()
    if len(rows) < most:
        rows = [*rows, *scope.store.newest("events", [*where, ("at", "<", at)], order, most - len(rows)).unwrap()]
    return [event_of(row) for row in rows]
