"""The past by chapters: today, yesterday, this week, last week, then month by month."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from vademecum.memory.records import Chapter, Event, Role

# Questions about the course of things rather than about one thing.
_ASKS_FOR_IT = re.compile(
    r"\b(?:what (?:have|did|had) (?:we|i|you)(?: \w+)? (?:discuss|talk|work|do(?:ne)?|speak|cover|decide|accomplish)\w*"
    r"(?: (?:about|on|together))?(?: (?:so far|in|on|over|during|since|today|yesterday|last|this|the|these|recently)\b|\W*$)"
    r"|(?:summar(?:y|i[sz]e)|recap|timeline|history|chronology)\b.*\b(?:conversation|discussion|session|chat|week|month|day|work)s?"
    r"|topics? (?:we|i)(?:'ve| have)? (?:discuss|talk|cover)\w*"
    r"|(?:de quoi|qu'est-ce (?:que|qu')|quels? sujets?).{0,24}\b(?:parlé|discuté|abordé|fait|travaillé|décidé)"
    r"|qu'(?:avons-nous|a-t-on|ai-je) (?:fait|dit|décidé|abordé)"
    r"|(?:résum\w+|chronologie|historique|récapitul\w+)\b.*\b(?:conversation|discussion|session|échange|semaine|mois|jour)s?)",
    re.IGNORECASE,
)
_ABOUT_ONE = re.compile(r"\b(?:about|regarding|concerning|concernant|à propos|au sujet)\s+\w", re.IGNORECASE)
SAID = (Role.USER, Role.NOTE, Role.COMMIT)


def asks_for_timeline(question: str) -> bool:
    """Return whether a question is about the course of things.

    >>> asks_for_timeline("What did we discuss last week?"), asks_for_timeline("What did we talk about on Monday?")
    (True, True)
    >>> asks_for_timeline("What did we decide about caching?"), asks_for_timeline("What did we decide last week about caching?")
    (False, False)
    """
    asked = _ASKS_FOR_IT.search(question)
    return asked is not None and _ABOUT_ONE.search(question, asked.end()) is None


def chapters(events: Sequence[Event], digests: Sequence[tuple[float, str]], now: float) -> list[Chapter]:
    """Return what people said and committed, by chapters, the latest first; events in order of time.

    Args:
        events: in order of time.
        digests: when a session ended, and what it came to.
        now: the moment the chapters are seen from.
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
    """Return (name, since, until) of the chapter a moment belongs to, seen from `now`; months as `2025-10`.

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
    """Return what of a chapter belongs to no nearer one, half-open, in order: a month without its last week, and so on.

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
    """The chapters that have names of their own, the nearest first: of two that hold a moment it is of the first."""
    today = datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday())
    found = (
        ("today", today, today + timedelta(days=1)),
        ("yesterday", today - timedelta(days=1), today),
        ("this week", monday, today),
        ("last week", monday - timedelta(days=7), monday),
    )
    return [(name, since.timestamp(), until.timestamp()) for name, since, until in found]
