"""Calendar periods relative to a given moment.

Every period is half-open and lies in the zone of that moment. A day lasts from midnight to midnight local time, so 23 or 25
hours where clocks change. Weeks begin on Monday (ISO 8601).
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
MONTHS: Mapping[str, int] = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open stretch of time; both ends are aware datetimes."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> tuple[float, float]:
        """Start and end in seconds since the epoch."""
        return self.start.timestamp(), self.end.timestamp()


@dataclass(frozen=True, slots=True)
class Clock:
    """A moment, with the calendar around it.

    Attributes:
        now: The moment, an aware datetime.
        day_first: Read 03/04 as the third of April.
    """

    now: datetime
    day_first: bool = False

    @property
    def today(self) -> date:
        """The local date."""
        return self.now.date()

    def span(self, first: date, last: date) -> Period:
        """Return the days from `first` to `last`, both included."""
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
        """Return the Saturday and Sunday `offset` weeks from this week."""
        saturday = self.today + timedelta(days=7 * offset + 5 - self.today.weekday())
        return self.span(saturday, saturday + timedelta(days=1))

    def months(self, first: int, count: int) -> Period:
        """Return some months, from one that is counted from the year 0."""
        (year, month), (next_year, next_month) = divmod(first, 12), divmod(first + count, 12)
        return Period(self._midnight(date(year, month + 1, 1)), self._midnight(date(next_year, next_month + 1, 1)))

    def dated(self, year: int, month: int | None = None, day: int | None = None) -> Period:
        """Return a year, one of its months, or a day.

        Raises:
            ValueError: no calendar has it.
        """
        there = date(year, 1 if month is None else month, 1 if day is None else day)
        if day is not None:
            return self.span(there, there)
        return self.months(12 * year + there.month - 1, 12 if month is None else 1)

    def unit(self, name: str, offset: int) -> Period:
        """Return the period of a unit, `offset` units from the current one.

        Args:
            name: `day`, `week`, `weekend`, `month`, `quarter` or `year`.
            offset: Number of units, negative for the past.
        """
        if name in MONTHS:
            size = MONTHS[name]
            return self.months(((self.today.year * 12 + self.today.month - 1) // size + offset) * size, size)
        return {"day": self.day, "week": self.week, "weekend": self.weekend}[name](offset)

    def latest(self, month: int, day: int | None = None) -> Period:
        """Return the latest such month, or such day, that has begun.

        Raises:
            ValueError: no year has that day.
        """
        year = self.today.year
        if (month, day or 1) > (self.today.month, self.today.day):
            year -= 1
        while day == 29 and month == 2 and not calendar.isleap(year):
            year -= 1
        return self.dated(year, month, day)

    def same_month(self, period: Period, day: int) -> Period:
        """Return a day of the month that a period begins in.

        Raises:
            ValueError: the month has no such day.
        """
        there = period.start.date().replace(day=day)
        return self.span(there, there)

    def weekday(self, number: int, *, week: int | None = None, back: int = 1) -> Period:
        """Return a weekday before today, or in another week.

        Args:
            number: The weekday, 0 for Monday.
            week: Offset of the week from this week; None counts back from today.
            back: Which such day before today, 1 for the latest; used without `week`.
        """
        if week is None:
            return self.day(-((self.today.weekday() - number - 1) % 7 + 1) - 7 * (back - 1))
        return self.day(7 * week + number - self.today.weekday())

    def part(self, name: str, offset: int) -> Period:
        """Return a part of the day `offset` days from today."""
        midnight = self._midnight(self.today + timedelta(days=offset))
        first, last = PARTS[name]
        return Period(midnight + timedelta(hours=first), midnight + timedelta(hours=last))

    def back(self, unit: str, count: int) -> date:
        """Return the date `count` units before today.

        In a shorter month the date is the month's last day.
        """
        if unit in {"day", "week"}:
            return self.today - timedelta(days=count * (7 if unit == "week" else 1))
        year, month = divmod(self.today.year * 12 + self.today.month - 1 - count * MONTHS[unit], 12)
        return date(year, month + 1, min(self.today.day, calendar.monthrange(year, month + 1)[1]))

    def ago(self, unit: str, count: int) -> Period:
        """Return the period meant by "`count` units ago".

        "Three weeks ago" is a whole week, "three days ago" is a day.
        """
        if unit in {"hour", "minute"}:
            size = timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
            moment = self.now - count * size
            return Period(moment - size / 2, min(moment + size / 2, self.now))
        return self.unit(unit, -count)

    def some(self, unit: str, most: int, least: int) -> Period:
        """Return the days from `most` to `least` units ago.

        A month counts as 30 days, a quarter as 91 and a year as 365.
        """
        size = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}[unit]
        return self.span(self.today - timedelta(days=most * size), self.today - timedelta(days=least * size))

    def past(self, unit: str, count: int) -> Period:
        """Return the last `count` units until now.

        Hours and minutes end now; longer units are whole days and include today.
        """
        if unit in {"hour", "minute"}:
            return Period(self.now - timedelta(**{f"{unit}s": count}), self.now)
        return self.span(self.back(unit, count), self.today)

    def time_of_day(self, hour: int, minute: int = 0) -> Period:
        """Return the day on which that time of day was last reached."""
        return self.day(0 if (hour, minute) <= (self.now.hour, self.now.minute) else -1)

    def share(self, whole: Period, part: str) -> Period:
        """Return a part of a month, a quarter or a year.

        Args:
            whole: A period of whole days.
            part: `early`, `mid` or `late` for a third of the days; a number for a week, counted from the first day; `last`
                for the last seven days.

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

    def _midnight(self, day: date) -> datetime:
        return datetime.combine(day, time(), self.now.tzinfo)
