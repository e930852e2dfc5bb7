"""Rule types for naming times, and rules shared by all languages.

The shared rules cover dates, quarters and years.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property

from vademecum.memory.when.clock import Clock, Period

Meaning = Callable[[re.Match[str], Clock], Period | None]
Rule = tuple[str, Meaning]  # a lower-case pattern, and the meaning of its match: None where the match names no time


def _compiled(pattern: str) -> re.Pattern[str]:
    # The match may not be part of a longer word, a path, a version or an address.
    return re.compile(rf"(?<![\w@/])(?<!\w[.-])(?:{pattern})(?![\w@])(?!-\w)(?!/\w)")


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


def numbered(words: str, first: int) -> dict[str, int]:
    """Return each word's place, counted from `first`."""
    return {word: at for at, word in enumerate(words.split(), first)}


def spelled(**units: str) -> dict[str, str]:
    """Return each spelling's unit, from the spellings of each unit."""
    return {word: unit for unit, words in units.items() for word in words.split()}


def one_of(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


def date_rules(
    months: Mapping[str, int], short: Mapping[str, int], *, of: str, ordinal: str, before: str, joined: str
) -> tuple[Rule, ...]:
    """Return the rules for dates in words and in digits.

    Args:
        months: The months' names, with their numbers.
        short: Their abbreviations, which need a day or a year beside them.
        of: Optional pattern between day and month.
        ordinal: Endings of a day's number.
        before: Words that must stand before a month on its own, since it may be another word (`may`, `march`).
        joined: Words between two days of one month.
    """
    named = {**short, **months}
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
        (rf"(?P<month>{one_of(months)})", lone),
    )  # fmt: skip


def number_rules(*, quarter: str, year: str, before: str) -> tuple[Rule, ...]:
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


def part_rules(months: Mapping[str, int], parts: Mapping[str, str], relative: str, named: Meaning) -> tuple[Rule, ...]:
    """Return the rules for parts of months, quarters and years.

    Examples are "early last month" and "first week of October".

    Args:
        months: The months' names, with their numbers.
        parts: Patterns for a part, each with the part's name (`Clock.share`).
        relative: A pattern that names a month, a quarter or a year relative to today.
        named: The meaning of `relative`.
    """
    month = rf"(?P<month>{one_of(months)})(?:,? (?P<of>\d{{4}}))?"

    def of_month(match: re.Match[str], clock: Clock) -> Period | None:
        number = months[match["month"]]
        return _date(clock, match["of"], number, None) if match["of"] else clock.latest(number)

    def of_year(match: re.Match[str], clock: Clock) -> Period | None:
        return clock.unit("year", int(match["year"]) - clock.today.year)

    def shared(means: Meaning, part: str) -> Meaning:
        def meaning(match: re.Match[str], clock: Clock) -> Period | None:
            whole = means(match, clock)
            return clock.share(whole, part) if whole is not None else None

        return meaning

    wholes = ((month, of_month), (relative, named), (r"(?P<year>(?:19|20)\d\d)", of_year))
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
