"""Rules for naming times, from `languages.toml`, and their meanings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property, lru_cache
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

    Attributes:
        months: The months' names, with their numbers.
        short: Their abbreviations, which need a day or a year beside them.
        weekdays: The days of the week, 0 for Monday.
        numbers: Numbers in words.
        some: Words for a few, with the most that they mean.
        units: Each spelling of a unit, with the unit.
        exact: Units for which "2w ago" means one exact day.
        offsets: Words that name a unit beside the current one; any other word names the last.
        days: Words for a day, with its distance from today.
        part_days: Words for the day of a part of a day; other words name today.
        parts: Parts of a day.
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

    @cached_property
    def patterns(self) -> dict[str, str]:
        """Patterns for the words, which rules refer to."""
        named = {"month": self.months, "weekday": self.weekdays, "offset": self.offsets, "day": self.days}
        found = {name: one_of(words) for name, words in named.items()} | {"part": one_of(self.parts)}
        count = rf"(?P<count>\d{{1,3}}|{one_of(self.numbers)})"
        return found | {"count": count, "unit": rf"(?P<unit>{one_of(self.units)})s?"}

    def _count(self, match: re.Match[str]) -> int:
        said = match["count"]
        return int(said) if said.isdigit() else self.numbers[said]

    def _unit(self, match: re.Match[str]) -> str:
        return self.units.get(match["unit"], match["unit"])

    def meaning(self, name: str) -> Meaning:
        """Return the meaning of a rule by its name."""
        found: Meaning = getattr(self, f"_{name}")
        return found

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
        return clock.last_weekend()

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


@dataclass(frozen=True)
class Language:
    """A language's ways to name times.

    Attributes:
        rules: The rules that name a period; the more specific first where two begin at the same place.
        since: Words that extend a period until now.
        after: Words for the time after a period.
        before: Words for all time before a period.
        until: Words for all time up to the end of a period.
        between: Words that open a pair.
        joined: Words between the two times of a pair.
        leading: Small words before a time that belong to it.
        onward: Small words after a time that belong to it.
        hint: Parts of words; a text with none of these and no digit names no time.
    """

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
    return tuple(_language(dict(table)) for table in table_of(__file__, "languages").values())


def _language(table: dict[str, Any]) -> Language:
    words, said, thirds = Words(**table.pop("words")), table.pop("rules"), table.pop("thirds")
    dates, numbers, last = table.pop("dates"), table.pop("numbers"), table.pop("last", "")
    parts = {**words.patterns, "last": last}
    relative = filled(table.pop("relative"), parts)
    shared = {
        "thirds": part_rules(words, thirds, relative),
        "dates": date_rules(words, *dates),
        "numbers": number_rules(*numbers),
    }

    def rules() -> Iterator[Rule]:
        for pattern, means in said.items():
            yield from shared[pattern] if pattern in shared else ((filled(pattern, parts), words.meaning(means)),)

    return Language(rules=tuple(rules()), **{name: filled(text, {}) for name, text in table.items()})


def one_of(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


def date_rules(words: Words, of: str, ordinal: str, before: str, joined: str) -> tuple[Rule, ...]:
    """Return the rules for dates in words and in digits.

    Args:
        words: The language's words.
        of: Optional pattern between day and month.
        ordinal: Endings of a day's number.
        before: Words that must stand before a month on its own, since it may be another word (`may`, `march`).
        joined: Words between two days of one month.
    """
    named = {**words.short, **words.months}
    preposition = re.compile(rf"(?<!\w)(?:{before}) ?(?:le |the )?$")
    month = rf"(?P<month>{one_of(named)})\.?"
    day = rf"(?P<day>\d{{1,2}})(?:{ordinal})?"
    year = r"(?:,? ?(?P<year>\d{4}))"

    def meaning(match: re.Match[str], clock: Clock) -> Period | None:
        groups = match.groupdict()
        number, on = named[groups["month"]], groups.get("day")
        if groups.get("year"):
            return _date(clock, groups["year"], number, on)
        return _valid(lambda: clock.latest(number, int(on) if on else None))

    def days(match: re.Match[str], clock: Clock) -> Period | None:
        last = meaning(match, clock)
        first = last and _valid(lambda: clock.same_month(last, int(match["first"])))
        return Period(first.start, last.end) if first and last and first.start < last.start else None

    def lone(match: re.Match[str], clock: Clock) -> Period | None:
        return meaning(match, clock) if preposition.search(match.string, 0, match.start()) else None

    to = rf" ?(?:{joined}|-|\u2013) ?(?:the |le )?"
    return (
        (rf"(?:the |le )?(?P<first>\d{{1,2}})(?:{ordinal})?{to}{day} (?:{of})?{month}{year}?", days),
        (rf"{month} (?P<first>\d{{1,2}})(?:{ordinal})?{to}{day}(?!\d|:){year}?", days),
        (r"(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?:[t ](?P<hour>\d\d):(?P<minute>\d\d)(?::\d\d)?(?:\.\d+)?(?P<zulu>z)?)?", _moment),
        (r"(?P<day>\d{1,2})(?P<mark>[./])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4})", _digits),
        (r"(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])", _digits),
        (rf"(?:the |le )?{day} (?:{of})?{month}{year}?", meaning),
        (rf"{month} {day}(?!\d|:){year}?", meaning),
        (rf"{month}{year.removesuffix(')')})", meaning),
        (rf"(?P<month>{one_of(words.months)})", lone),
    )  # fmt: skip


def number_rules(quarter: str, year: str, before: str) -> tuple[Rule, ...]:
    """Return the rules for quarters, and for years written in digits.

    A bare number is a year only after one of the words in `before`.
    """
    preposition = re.compile(rf"(?<!\w)(?:{before}) ?$")

    def meaning(match: re.Match[str], clock: Clock) -> Period | None:
        named = match["word"] or preposition.search(match.string, 0, match.start())
        return clock.unit("year", int(match["year"]) - clock.today.year) if named else None

    return (
        (rf"{quarter}(?P<quarter>[1-4])(?:[ -]?(?P<year>(?:19|20)\d\d))?", _quarter),
        (rf"(?P<word>(?:the |l')?{year} )?(?P<year>(?:19|20)\d\d)", meaning),
    )


def _moment(match: re.Match[str], clock: Clock) -> Period | None:
    """Return the period of a date in digits, with any time.

    A time on the hour names that hour, any other its minute.
    """
    day = _digits(match, clock)
    if day is None or match["hour"] is None:
        return day

    def found() -> Period:
        written = day.start.replace(hour=int(match["hour"]), minute=int(match["minute"]))
        start = written.replace(tzinfo=UTC).astimezone(written.tzinfo) if match["zulu"] else written
        return Period(start, start + (timedelta(minutes=1) if start.minute else timedelta(hours=1)))

    return _valid(found)


def part_rules(words: Words, parts: Mapping[str, str], relative: str) -> tuple[Rule, ...]:
    """Return the rules for parts of months, quarters and years.

    Examples are "early last month" and "first week of October".

    Args:
        words: The language's words.
        parts: Patterns for a part, each with the part's name (`Clock.share`).
        relative: A pattern that names a month, a quarter or a year relative to today.
    """
    month = rf"(?P<month>{one_of(words.months)})(?:,? (?P<of>\d{{4}}))?"

    def of_month(match: re.Match[str], clock: Clock) -> Period | None:
        number = words.months[match["month"]]
        return _date(clock, match["of"], number, None) if match["of"] else clock.latest(number)

    def of_year(match: re.Match[str], clock: Clock) -> Period | None:
        return clock.unit("year", int(match["year"]) - clock.today.year)

    def shared(means: Meaning, part: str) -> Meaning:
        def meaning(match: re.Match[str], clock: Clock) -> Period | None:
            whole = means(match, clock)
            return clock.share(whole, part) if whole is not None else None

        return meaning

    wholes = ((month, of_month), (relative, words.meaning("relative")), (r"(?P<year>(?:19|20)\d\d)", of_year))
    return tuple((f"{said}{whole}", shared(means, part)) for said, part in parts.items() for whole, means in wholes)


def _digits(match: re.Match[str], clock: Clock) -> Period | None:
    groups = match.groupdict()
    month, day = groups["month"], groups.get("day")
    if not clock.day_first and day is not None and match.start("day") < match.start("month"):
        if groups["mark"] == ".":
            return None  # with dots, English writes versions
        month, day = day, month  # 01/15/2024, the American order
    return _date(clock, groups["year"], int(month or 0), day)


def _quarter(match: re.Match[str], clock: Clock) -> Period:
    number = int(match["quarter"])
    if match["year"]:
        return clock.quarter_of(int(match["year"]), number)
    begun = number <= (clock.today.month + 2) // 3
    return clock.quarter_of(clock.today.year - (not begun), number)


def _date(clock: Clock, year: str, month: int, day: str | None) -> Period | None:
    def found() -> Period:
        if day is None:
            return clock.month_of(int(year), month)
        there = clock.today.replace(year=int(year), month=month, day=int(day))
        return clock.span(there, there)

    return _valid(found)


def _valid(found: Callable[[], Period]) -> Period | None:
    try:
        return found()
    except (ValueError, OverflowError):  # the 31st of February, the year 0
        return None
