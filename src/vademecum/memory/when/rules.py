"""Rules for naming times, from `languages.toml`, and their meanings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property, lru_cache, partial
from typing import Any

from vademecum.memory.forms import filled, table_of
from vademecum.memory.when.clock import Clock, Period

Meaning = Callable[[re.Match[str], Clock], Period | None]
Rule = tuple[str, Meaning]  # a lower-case pattern, and the meaning of its match: None where the match names no time


def _compiled(pattern: str) -> re.Pattern[str]:
    # The match may not be part of a longer word, a path, a version or an address.
    return re.compile(rf"(?<![\w@/])(?<!\w[.-])(?:{pattern})(?![\w@])(?!-\w)(?!/\w)")


@dataclass(frozen=True)
class Words:
    """A language's words of times, and the meanings of rules with them.

    `languages.toml` says what each field holds. A meaning raises `ValueError` for a time that no calendar has.
    """

    months: Mapping[str, int]
    short: Mapping[str, int]
    weekdays: Mapping[str, int]
    numbers: Mapping[str, int]
    some: Mapping[str, int]
    units: Mapping[str, str]
    exact: Mapping[str, int]
    offsets: Mapping[str, int]
    days: Mapping[str, int]
    part_days: Mapping[str, int]
    parts: Mapping[str, str]
    before_month: str
    before_year: str

    @cached_property
    def patterns(self) -> dict[str, str]:
        """Patterns for the words, which rules refer to."""
        named = {"month": self.months, "weekday": self.weekdays, "offset": self.offsets, "day": self.days}
        found = {name: one_of(words) for name, words in named.items()} | {"part": one_of(self.parts)}
        count = rf"(?P<count>\d{{1,3}}|{one_of(self.numbers)})"
        dated = one_of({**self.short, **self.months})
        return found | {"count": count, "unit": rf"(?P<unit>{one_of(self.units)})s?", "dated": dated}

    def _count(self, match: re.Match[str]) -> int:
        said = match["count"]
        return int(said) if said.isdigit() else self.numbers[said]

    def _unit(self, match: re.Match[str]) -> str:
        return self.units.get(match["unit"], match["unit"])

    def meaning(self, name: str) -> Meaning:
        """Return the meaning of a rule by name and part."""
        name, _, part = name.partition(" ")
        found: Callable[..., Period | None] = getattr(self, f"_{name}")
        return partial(found, part=part) if part else found

    def _relative(self, match: re.Match[str], clock: Clock) -> Period:
        """Return the current or the last unit.

        On a Sunday the last weekend is the one that is ending.
        """
        unit, offset = self._unit(match), self.offsets.get(match["which"], -1)
        if unit == "weekend" and offset < 0:
            return clock.weekend(0 if clock.today.weekday() == 6 else -1)
        return clock.unit(unit, offset)

    def _ago(self, match: re.Match[str], clock: Clock) -> Period:
        """Return the period of "`count` units ago".

        An abbreviation (`2w ago`) means one exact day, a full word the whole unit.
        """
        unit, count = self._unit(match), self._count(match)
        if match["unit"] in self.exact:
            there = clock.back(unit, count)
            return clock.span(there, there)
        return clock.ago("week", 2 * count) if unit == "fortnight" else clock.ago(unit, count)

    def _some_ago(self, match: re.Match[str], clock: Clock) -> Period:
        """Return the days meant by "a couple of" or "a few".

        A couple is one to three, a few is two to five.
        """
        most, least = (3, 1) if "couple" in match[0] else (5, 2)
        return clock.some(self._unit(match), most, least)

    def _past(self, match: re.Match[str], clock: Clock) -> Period:
        """Return the last units until now: so many, some, or one."""
        said, unit = match.groupdict(), self._unit(match)
        count = self.some.get(said.get("some") or "", 0) or (self._count(match) if said.get("count") else 1)
        return clock.past("week", 2 * count) if unit == "fortnight" else clock.past(unit, count)

    def _ahead(self, match: re.Match[str], clock: Clock) -> Period:
        return clock.unit(self._unit(match), self._count(match))

    def _weekday(self, match: re.Match[str], clock: Clock) -> Period:
        said, number = match.groupdict(), self.weekdays[match["day"]]
        if said.get("week") or self.offsets.get(said.get("which") or "", -1) == 0:
            return clock.weekday(number, week=self.offsets.get(said.get("week") or "", 0))
        return clock.weekday(number)

    def _weekday_back(self, match: re.Match[str], clock: Clock) -> Period:
        return clock.weekday(self.weekdays[match["day"]], back=self._count(match))

    def _named_day(self, match: re.Match[str], clock: Clock) -> Period:
        return clock.day(self.days[match["day"]])

    def _time_on(self, match: re.Match[str], clock: Clock) -> Period:
        """Return the day that a time of day belongs to."""
        said = match["day"]
        return clock.day(self.days[said]) if said in self.days else clock.weekday(self.weekdays[said])

    def _part(self, match: re.Match[str], clock: Clock) -> Period:
        return clock.part(self.parts[match["part"]], self.part_days.get(match["day"] or "", 0))

    def _latest(self, match: re.Match[str], clock: Clock) -> Period:
        return clock.latest(self.months[match["month"]])

    def _weekend(self, _: re.Match[str], clock: Clock) -> Period:
        return clock.weekend(0 if clock.today.weekday() >= 5 else -1)

    def _earlier_today(self, _: re.Match[str], clock: Clock) -> Period:
        return Period(clock.day(0).start, clock.now)

    def _before_last(self, _: re.Match[str], clock: Clock) -> Period:
        return clock.week(-2)

    def _clock_time(self, match: re.Match[str], clock: Clock) -> Period | None:
        said = match.groupdict()
        if "name" in said:
            return clock.time_of_day(12 if said["name"] == "noon" else 0)
        hour, minute, half = int(said["hour"]), int(said["minute"] or 0), said["half"]
        if hour > 12 or minute > 59:
            return None
        return clock.time_of_day(hour % 12 + 12 * (half == "pm"), minute)

    def _date(self, match: re.Match[str], clock: Clock) -> Period:
        said, month = match.groupdict(), {**self.short, **self.months}[match["month"]]
        day = int(said["day"]) if said.get("day") else None
        return clock.dated(int(said["year"]), month, day) if said.get("year") else clock.latest(month, day)

    def _days(self, match: re.Match[str], clock: Clock) -> Period | None:
        """Return the days from one to another of a month."""
        last = self._date(match, clock)
        first = clock.same_month(last, int(match["first"]))
        return Period(first.start, last.end) if first.start < last.start else None

    def _lone(self, match: re.Match[str], clock: Clock) -> Period | None:
        """Return a month alone, which may be another word (`may`, `march`)."""
        return self._date(match, clock) if _follows(self.before_month, match) else None

    def _year(self, match: re.Match[str], clock: Clock) -> Period | None:
        """Return a year in digits that a word calls a year."""
        named = match["word"] or _follows(self.before_year, match)
        return clock.unit("year", int(match["year"]) - clock.today.year) if named else None

    def _share(self, match: re.Match[str], clock: Clock, part: str) -> Period:
        """Return a part of a month, a quarter or a year."""
        said = match.groupdict()
        if said["unit"]:
            whole = self._relative(match, clock)
        elif said["month"]:
            whole = self._date(match, clock)
        else:
            whole = clock.dated(int(said["only"]))
        return clock.share(whole, part)

    def _digits(self, match: re.Match[str], clock: Clock) -> Period | None:
        said = match.groupdict()
        month, day = int(said["month"]), int(said["day"]) if said.get("day") else None
        if not clock.day_first and day is not None and match.start("day") < match.start("month"):
            if said["mark"] == ".":
                return None  # with dots, English writes versions
            month, day = day, month  # 01/15/2024, the American order
        return clock.dated(int(said["year"]), month, day)

    def _moment(self, match: re.Match[str], clock: Clock) -> Period | None:
        """Return the period of a date in digits, with any time.

        A time on the hour names that hour, any other its minute.
        """
        day = self._digits(match, clock)
        if day is None or match["hour"] is None:
            return day
        written = day.start.replace(hour=int(match["hour"]), minute=int(match["minute"]))
        start = written.replace(tzinfo=UTC).astimezone(written.tzinfo) if match["zulu"] else written
        return Period(start, start + (timedelta(minutes=1) if start.minute else timedelta(hours=1)))

    def _quarter(self, match: re.Match[str], clock: Clock) -> Period:
        number = int(match["quarter"])
        begun = number <= (clock.today.month + 2) // 3
        year = int(match["year"] or clock.today.year - (not begun))
        return clock.months(12 * year + 3 * number - 3, 3)


def _follows(words: str, match: re.Match[str]) -> bool:
    """Return whether a match stands behind one of some words."""
    found = re.compile(rf"(?<!\w)(?:{words}) ?(?:le |the )?$").search(match.string, 0, match.start())
    return found is not None


@dataclass(frozen=True)
class Language:
    """A language's ways to name times; `languages.toml` explains the fields."""

    rules: tuple[Rule, ...]
    since: str
    after: str
    before: str
    until: str
    between: str
    joined: str
    leading: str
    onward: str
    hint: str

    @cached_property
    def compiled(self) -> tuple[tuple[re.Pattern[str], Meaning], ...]:
        """The rules with compiled patterns, made on first use."""
        return tuple((_compiled(said), means) for said, means in self.rules)

    @cached_property
    def hints(self) -> re.Pattern[str]:
        """A pattern that matches in every text that names a time."""
        return re.compile(rf"\d|{self.hint}")


@lru_cache(maxsize=1)
def languages() -> tuple[Language, ...]:
    """Return the languages of `languages.toml`, in order."""
    tables = {name: dict(table) for name, table in table_of(__file__, "languages").items()}
    shared = {name: tables.pop(name) for name in ("patterns", "dates", "numbers")}
    return tuple(_language(table, shared) for table in tables.values())


def _language(table: dict[str, Any], shared: Mapping[str, Mapping[str, str]]) -> Language:
    words, said = Words(**table.pop("words")), table.pop("rules")
    parts = dict(words.patterns)
    for name, pattern in (table.pop("patterns") | shared["patterns"]).items():
        parts[name] = filled(pattern, parts)

    def rules() -> Iterator[Rule]:
        for pattern, means in said.items():
            for each, name in shared.get(pattern, {pattern: means}).items():
                yield filled(each, parts), words.meaning(name)

    return Language(rules=tuple(rules()), **{name: filled(text, {}) for name, text in table.items()})


def one_of(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"
