"""Texts of memory's output in each language: headings, hints, dates.

`wording.toml` has them. English is the default, French the alternative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vademecum.memory.forms import table_of


@dataclass(frozen=True)
class Wording:
    """The texts of one language."""

    preferences: str
    knowledge: str
    timeline: str
    open_work: str
    about: str
    seen_before: str
    in_session: str
    survives: str
    ended: str
    edited: str
    helped: str
    committed: str
    first_mention: str
    discussed: str
    at_time: str
    was_until: str
    disputed: str
    nothing: str
    nothing_then: str
    earlier: str
    drifted: str
    orphaned: str
    page: str
    page_rules: str
    in_dispute: str
    kinds: Mapping[str, str]
    chapters: Mapping[str, str]
    months: Sequence[str]


_TEXTS = table_of(__file__)
LANGUAGES: Mapping[str, Wording] = {language: Wording(**texts) for language, texts in _TEXTS.items()}
ENGLISH, FRENCH = LANGUAGES["en"], LANGUAGES["fr"]


def date_of(wording: Wording, at: float, now: float) -> str:
    """Return a day as `5 Oct`; in another year `5 Oct 2024`.

    >>> date_of(FRENCH, datetime(2025, 10, 5, 12).timestamp(), datetime(2025, 10, 9, 12).timestamp())
    '5 oct'
    """
    day, today = datetime.fromtimestamp(at).astimezone(), datetime.fromtimestamp(now).astimezone()
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day.day} {wording.months[day.month - 1]}{year}"


def against(wording: Wording, other: str, at: float, now: float) -> str:
    """Return the note on a disputed fact, with its dated rival.

    >>> against(ENGLISH, "I prefer spaces", datetime(2025, 10, 5, 12).timestamp(), datetime(2025, 10, 9, 12).timestamp())
    'contradicted: also said 5 Oct: I prefer spaces'
    """
    return wording.disputed.format(date=date_of(wording, at, now), other=other)


def time_of(wording: Wording, at: float) -> str:
    """Return the time of day: `14:32`, in French `14h32`."""
    day = datetime.fromtimestamp(at).astimezone()
    return f"{day.hour}h{day.minute:02}" if wording is FRENCH else f"{day.hour:02}:{day.minute:02}"


def hint(wording: Wording, mentions: int, first_at: float, now: float) -> str:
    """Return the time of a fact's first mention, and its mentions.

    >>> hint(ENGLISH, 3, datetime(2025, 10, 5, 12).timestamp(), datetime(2025, 10, 9, 12).timestamp())
    'first mention: 5 Oct, 3 times'
    """
    date = date_of(wording, first_at, now)
    if mentions > 1:
        return wording.first_mention.format(date=date, times=mentions)
    return wording.discussed.format(date=date, time=time_of(wording, first_at))
