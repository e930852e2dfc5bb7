"""Chapters of the past (today, this week, months), and its pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from vademecum.memory.journal import event_of
from vademecum.memory.ledger import Scope
from vademecum.memory.records import Chapter, Event, Role, member_of
from vademecum.protocols import Condition

SAID = (Role.USER, Role.NOTE, Role.COMMIT)


def chapters(events: Sequence[Event], digests: Sequence[tuple[float, str]], now: float) -> list[Chapter]:
    """Return events of people by chapters, the latest first.

    Args:
        events: Events in order of time.
        digests: The end and the digest of each session.
        now: The time that chapters are relative to.
    """
    found: dict[str, tuple[float, float]] = {}
    by_name: dict[str, list[Event]] = {}
    of_day: dict[date, tuple[str, float, float]] = {}  # chapters begin and end at midnight
    for event in events:
        if event.role in SAID and event.text.strip():
            day = date.fromtimestamp(event.at)  # noqa: DTZ012 - a day is the user's own
            if day not in of_day:
                of_day[day] = chapter_of(event.at, now)
            name, since, until = of_day[day]
            found[name] = (since, until)
            by_name.setdefault(name, []).append(event)
    ordered = sorted(by_name, key=lambda name: -found[name][0])
    told = {name: tuple(text for at, text in digests if found[name][0] <= at < found[name][1]) for name in ordered}
    return [Chapter(name, *found[name], tuple(by_name[name]), told[name]) for name in ordered]


def chapter_of(at: float, now: float) -> tuple[str, float, float]:
    """Return (name, since, until) of a time's chapter; months are `2025-10`.

    >>> noon = datetime(2025, 10, 9, 12).timestamp()
    >>> [chapter_of(noon - days * 86400, noon)[0] for days in (0, 1, 2, 5, 40)]
    ['today', 'yesterday', 'this week', 'last week', '2025-08']
    """
    for name, since, until in _near(now):
        if since <= at < until:
            return name, since, until
    first = datetime.fromtimestamp(at).astimezone().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    after = (first + timedelta(days=32)).replace(day=1)
    return f"{first.year}-{first.month:02}", first.timestamp(), after.timestamp()


def stretches(name: str, since: float, until: float, now: float) -> list[tuple[float, float]]:
    """Return the parts of a chapter that no nearer chapter covers.

    The parts are half-open and in order: a month without last week, for example.

    >>> noon = datetime(2025, 10, 9, 12).timestamp()  # a Thursday
    >>> [(end - begin) / 86400 for begin, end in stretches(*chapter_of(noon - 8 * 86400, noon), noon)]
    [7.0]
    >>> [(end - begin) / 86400 for begin, end in stretches(*chapter_of(noon - 2 * 86400, noon), noon)]
    [2.0]
    """
    left = [(since, until)]
    for nearer, begin, end in _near(now):
        if nearer == name:
            break
        left = [part for first, last in left for part in ((first, min(last, begin)), (max(first, end), last))]
        left = [(first, last) for first, last in left if first < last]
    return left


def _near(now: float) -> list[tuple[str, float, float]]:
    """Return the named chapters, the nearest first.

    A time belongs to the first one that contains it.
    """
    today = datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday())
    found = (
        ("today", today, today + timedelta(days=1)),
        ("yesterday", today - timedelta(days=1), today),
        ("this week", monday, today),
        ("last week", monday - timedelta(days=7), monday),
    )
    return [(name, since.timestamp(), until.timestamp()) for name, since, until in found]


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
            parts = stretches(name, since, until, now)
            own = [replace(wanted, since=max(a, wanted.since), until=min(z, wanted.until)) for a, z in parts]
            count = sum(how_many(scopes, part) for part in own)
            first, last = max(since, wanted.since), min(until, wanted.until)
            told = [text for scope in scopes for _, text in scope.journal.digests(first, last, wanted.session)]
            found[name] = ChapterHead(name, since, until, count, tuple(told))
    return list(found.values())


def _conditions(scope: Scope, wanted: Filter) -> Iterator[list[Condition]]:
    """Yield the database conditions of a filter.

    The database takes one list of values at a time, so with metadata each role is a query of its own.
    """
    where: list[Condition] = [("at", ">=", wanted.since), ("at", "<", wanted.until)]
    where += [("session", "=", wanted.session)] if wanted.session else []
    where += [("number", "in", sorted(scope.journal.tagged(wanted.metadata)))] if wanted.metadata else []
    roles = sorted({str(member_of(Role, role, "role")) for role in wanted.roles})
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
