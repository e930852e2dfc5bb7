"""The calendar as one sees it from a given moment: days, weeks, months, and how far back each is.

Every period is half-open and lies in the zone of that moment: a day is from midnight to midnight on the wall, 23 or 25
hours long where clocks change. Weeks begin on Monday (ISO 8601).
"""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

PARTS: Mapping[str, tuple[int, int]] = {  # hours of the day; a night ends on the next day
    "morning": (0, 12),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, 30),
}


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, half-open; both ends know their zone."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> tuple[float, float]:
        """Start and end in seconds since the epoch."""
        return self.start.timestamp(), self.end.timestamp()


@dataclass(frozen=True, slots=True)
class Clock:
    """A moment, and what is near it.

    Attributes:
        now: the moment; it must know its zone.
        day_first: whether 03/04 is the third of April.
    """

    now: datetime
    day_first: bool = False

    @property
    def today(self) -> date:
        """The date on the wall."""
        return self.now.date()

    def span(self, first: date, last: date) -> Period:
        """Return the days from `first` to `last`, both whole."""
        return Period(self._midnight(first), self._midnight(last + timedelta(days=1)))

    def day(self, offset: int) -> Period:
        """Return the day `offset` days from today."""
        there = self.today + timedelta(days=offset)
        return self.span(there, there)

    def week(self, offset: int) -> Period:
        """Return the week `offset` weeks from this one."""
        monday = self.today + timedelta(days=7 * offset - self.today.weekday())
        return self.span(monday, monday + timedelta(days=6))

    def weekend(self, offset: int) -> Period:
        """Return the Saturday and Sunday of the week `offset` weeks from this one."""
        saturday = self.today + timedelta(days=7 * offset + 5 - self.today.weekday())
        return self.span(saturday, saturday + timedelta(days=1))

    def month(self, offset: int) -> Period:
        """Return the month `offset` months from this one."""
        year, month = divmod(self.today.year * 12 + self.today.month - 1 + offset, 12)
        return self.month_of(year, month + 1)

    def month_of(self, year: int, month: int) -> Period:
        """Return a month of a year."""
        return self.span(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))

    def quarter(self, offset: int) -> Period:
        """Return the quarter `offset` quarters from this one."""
        year, quarter = divmod(self.today.year * 4 + (self.today.month - 1) // 3 + offset, 4)
        return self.quarter_of(year, quarter + 1)

    def quarter_of(self, year: int, quarter: int) -> Period:
        """Return a quarter of a year, 1 to 4."""
        last = 3 * quarter
        return self.span(date(year, last - 2, 1), date(year, last, calendar.monthrange(year, last)[1]))

    def year(self, offset: int) -> Period:
        """Return the year `offset` years from this one."""
        return self.span(date(self.today.year + offset, 1, 1), date(self.today.year + offset, 12, 31))

    def unit(self, name: str, offset: int) -> Period:
        """Return the day, week, weekend, month, quarter or year that is `offset` of them away."""
        there: Period = getattr(self, name)(offset)
        return there

    def latest(self, month: int, day: int | None = None) -> Period:
        """Return the latest such month, or such day of it, that has begun.

        Raises:
            ValueError: no year has that day.
        """
        year = self.today.year
        if (month, day or 1) > (self.today.month, self.today.day):
            year -= 1
        while day == 29 and month == 2 and not calendar.isleap(year):
            year -= 1
        return self.month_of(year, month) if day is None else self.span(date(year, month, day), date(year, month, day))

    def same_month(self, period: Period, day: int) -> Period:
        """Return a day of the month that a period begins in. Raises `ValueError` where it has none."""
        there = period.start.date().replace(day=day)
        return self.span(there, there)

    def weekday(self, number: int, *, week: int | None = None, back: int = 1) -> Period:
        """Return the `back`-th such day before today, or the one of the week `week` weeks from this one."""
        if week is None:
            return self.day(-((self.today.weekday() - number - 1) % 7 + 1) - 7 * (back - 1))
        return self.day(7 * week + number - self.today.weekday())

    def part(self, name: str, offset: int) -> Period:
        """Return a part of the day `offset` days from today."""
        midnight = self._midnight(self.today + timedelta(days=offset))
        first, last = PARTS[name]
        return Period(midnight + timedelta(hours=first), midnight + timedelta(hours=last))

    def back(self, unit: str, count: int) -> date:
        """Return the date `count` days, weeks, months or years before today; a month's last day where it is shorter."""
        if unit in {"day", "week"}:
            return self.today - timedelta(days=count * (7 if unit == "week" else 1))
        months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        year, month = divmod(self.today.year * 12 + self.today.month - 1 - months, 12)
        return date(year, month + 1, min(self.today.day, calendar.monthrange(year, month + 1)[1]))

    def ago(self, unit: str, count: int) -> Period:
        """Return what "`count` units ago" means: the day for days, the whole week, month or year for these.

        Nobody who says "three weeks ago" means one day.
        """
        if unit in {"hour", "minute"}:
            size = timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
            moment = self.now - count * size
            return Period(moment - size / 2, min(moment + size / 2, self.now))
        return self.unit(unit, -count)

    def some(self, unit: str, most: int, least: int) -> Period:
        """Return the days from `most` to `least` units ago, a month counted as 30 days and a year as 365."""
        size = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}[unit]
        return self.span(self.today - timedelta(days=most * size), self.today - timedelta(days=least * size))

    def past(self, unit: str, count: int) -> Period:
        """Return the `count` hours, days, weeks… that end now: whole days, but for hours and minutes."""
        if unit in {"hour", "minute"}:
            return Period(self.now - timedelta(**{f"{unit}s": count}), self.now)
        return self.span(self.back(unit, count), self.today)

    def time_of_day(self, hour: int, minute: int = 0) -> Period:
        """Return the day on which it was that time last."""
        return self.day(0 if (hour, minute) <= (self.now.hour, self.now.minute) else -1)

    def share(self, whole: Period, part: str) -> Period:
        """Return a part of a month, a quarter or a year.

        Args:
            whole: of whole days.
            part: `early`, `mid` or `late`, a third of its days each; a number for that week of it, seven days counted from
                its first, or `last` for its last seven days.

        >>> from datetime import UTC
        >>> october = Clock(datetime(2026, 8, 12, tzinfo=UTC)).latest(10)
        >>> [(each.start.day, each.end.day) for each in (Clock(october.start).share(october, p) for p in ("early", "mid", "2", "last"))]
        [(1, 11), (11, 22), (8, 15), (25, 1)]
        """
        first, last = whole.start.date(), whole.end.date() - timedelta(days=1)
        third = timedelta(days=((last - first).days + 1) // 3)
        week, day = timedelta(days=7), timedelta(days=1)
        if part.isdigit():
            begin = first + (int(part) - 1) * week
            return self.span(begin, min(begin + week - day, last))
        spans = {
            "early": (first, first + third - day),
            "mid": (first + third, last - third),
            "late": (last - third + day, last),
            "last": (last - week + day, last),
        }
        return self.span(*spans[part])

    def last_weekend(self) -> Period:
        """Return the weekend that began last: on a Saturday or a Sunday the one that it is."""
        return self.weekend(0 if self.today.weekday() >= 5 else -1)

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.now.tzinfo)
