"""Times in words: what each way of naming one means, and what is left of the question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.errors import UsageError
from vademecum.memory.when import find_time, time_asked, time_named

WEDNESDAY = datetime(2026, 8, 12, 14, 30, tzinfo=UTC)


def days(said: str, now: datetime = WEDNESDAY) -> str | None:
    """The first and the last day of what is said."""
    found = time_named(said, now)
    return found and f"{found.start:%Y-%m-%d}..{found.end - timedelta(microseconds=1):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("today", "2026-08-12..2026-08-12"),
        ("the day before yesterday", "2026-08-10..2026-08-10"),
        ("this week", "2026-08-10..2026-08-16"),
        ("the week before last", "2026-07-27..2026-08-02"),
        ("last quarter", "2026-04-01..2026-06-30"),
        ("last Tuesday", "2026-08-11..2026-08-11"),
        ("on Wednesday", "2026-08-05..2026-08-05"),  # said on a Wednesday, it is the one before
        ("Friday of last week", "2026-08-07..2026-08-07"),
        ("since Tuesday", "2026-08-11..2026-08-12"),
        ("since March", "2026-03-01..2026-08-12"),
        ("in October", "2025-10-01..2025-10-31"),  # the latest that has begun
        ("3 days ago", "2026-08-09..2026-08-09"),
        ("three weeks ago", "2026-07-20..2026-07-26"),  # nobody means one day
        ("two months ago", "2026-06-01..2026-06-30"),
        ("2w ago", "2026-07-29..2026-07-29"),
        ("a fortnight ago", "2026-07-27..2026-08-02"),
        ("in the last 10 days", "2026-08-02..2026-08-12"),
        ("over the past month", "2026-07-12..2026-08-12"),
        ("Q1", "2026-01-01..2026-03-31"),
        ("Q4", "2025-10-01..2025-12-31"),
        ("Q3 2024", "2024-07-01..2024-09-30"),
        ("in 2024", "2024-01-01..2024-12-31"),
        ("since 2024", "2024-01-01..2026-08-12"),
        ("March 3rd, 2025", "2025-03-03..2025-03-03"),
        ("the 3rd of March", "2026-03-03..2026-03-03"),
        ("on the 29th of February", "2024-02-29..2024-02-29"),
        ("2026-06-10T12:30:00Z", "2026-06-10..2026-06-10"),
        ("between March 3 and March 10", "2026-03-03..2026-03-10"),
        ("from 2026-01-01 to 2026-02-15", "2026-01-01..2026-02-15"),
        ("from January to March 2026", "2026-01-01..2026-03-31"),
        ("after June 10", "2026-06-11..2026-08-12"),
        ("before June 10", "1970-01-02..2026-06-09"),
        ("until last Friday", "1970-01-02..2026-08-07"),
        ("what did we do right now", "2026-08-12..2026-08-12"),
        ("hier", "2026-08-11..2026-08-11"),
        ("avant-hier", "2026-08-10..2026-08-10"),
        ("la semaine dernière", "2026-08-03..2026-08-09"),
        ("cette semaine", "2026-08-10..2026-08-16"),
        ("l\u2019année dernière", "2025-01-01..2025-12-31"),
        ("le week-end dernier", "2026-08-08..2026-08-09"),
        ("lundi dernier", "2026-08-10..2026-08-10"),
        ("depuis mardi", "2026-08-11..2026-08-12"),
        ("depuis 2025", "2025-01-01..2026-08-12"),
        ("depuis mars", "2026-03-01..2026-08-12"),
        ("il y a trois semaines", "2026-07-20..2026-07-26"),
        ("il y a quelques jours", "2026-08-07..2026-08-10"),
        ("ces 10 derniers jours", "2026-08-02..2026-08-12"),
        ("les deux dernières semaines", "2026-07-29..2026-08-12"),
        ("le 1er mars", "2026-03-01..2026-03-01"),
        ("réunion du 15.01.2024", "2024-01-15..2024-01-15"),
        ("le 03/04/2025", "2025-04-03..2025-04-03"),
        ("entre le 3 mars et le 10 mars", "2026-03-03..2026-03-10"),
        ("du 3 mars au 10 mars", "2026-03-03..2026-03-10"),
        ("avant juin", "1970-01-02..2026-05-31"),
        ("jusqu'à hier", "1970-01-02..2026-08-11"),
        ("en 2024", "2024-01-01..2024-12-31"),
        ("octobre dernier", "2025-10-01..2025-10-31"),
        ("du 4 au 6 mai", "2026-05-04..2026-05-06"),
        ("entre le 4 et le 6 mai 2025", "2025-05-04..2025-05-06"),
        ("from the 4th to the 6th of May", "2026-05-04..2026-05-06"),
        ("between May 4 and 6", "2026-05-04..2026-05-06"),
        ("May 4-6, 2025", "2025-05-04..2025-05-06"),
        ("du 28 avril au 3 mai", "2026-04-28..2026-05-03"),
        ("les dernières 2 semaines", "2026-07-29..2026-08-12"),
        ("two Fridays ago", "2026-07-31..2026-07-31"),
        ("il y a deux vendredis", "2026-07-31..2026-07-31"),
    ],
)
def test_a_time_means_what_people_mean(said: str, meant: str) -> None:
    """Days, weeks, months, dates and ranges, in English and in French."""
    assert days(said) == meant
    assert days(f"what was said about the cache, {said}?") == meant
    assert days(said.upper()) == meant


@pytest.mark.parametrize(
    "said",
    [
        "",
        "may I ask",
        "the second step",
        "march on",
        "chunk size of 2000 tokens",
        "version 15.01.2024",
        "sat down in the sun",
        "tests/2024-01-15/report.txt",
        "`yesterday` is a variable",
        "https://example.org/2024-01-15",
        "notyesterday",
        "2020-13-45",
        "quarterly",
        "son an mois",
    ],
)
def test_no_time_is_read_into_other_words(said: str) -> None:
    """Modal verbs, paths, versions, code and impossible dates name no time."""
    assert time_named(said, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("march", "2026-03-01..2026-03-31"),
        ("Mars", "2026-03-01..2026-03-31"),
        (" may ", "2026-05-01..2026-05-31"),
        ("octobre", "2025-10-01..2025-10-31"),
        ("2025", "2025-01-01..2025-12-31"),
        ("31", None),
        ("inmarch", None),
        ("3000", None),
    ],
)
def test_a_month_or_a_year_may_stand_alone(said: str, meant: str | None) -> None:
    """Where only a time is asked for; in a question `may` is another word, and 2025 a figure."""
    found = time_named(said, WEDNESDAY)
    assert (found and f"{found.start:%Y-%m-%d}..{found.end - timedelta(microseconds=1):%Y-%m-%d}") == meant
    assert time_named(f"what {said} says", WEDNESDAY) is None


@pytest.mark.parametrize("said", ["from 6 to 4 May", "between 30 and 31 February"])
def test_days_that_no_month_has_in_that_order_are_no_range(said: str) -> None:
    found = time_named(said, WEDNESDAY)
    assert found is None or found.end - found.start <= timedelta(days=1)


@given(
    st.integers(1, 28), st.integers(1, 28), st.sampled_from(["du {} au {} mars", "from {} to {} March", "March {}-{}"])
)
def test_a_range_of_days_begins_with_the_first_and_ends_with_the_last(one: int, other: int, said: str) -> None:
    """Whatever the days and however it is said."""
    first, last = sorted((one, other))
    if first < last:
        assert days(said.format(first, last)) == f"2026-03-{first:02d}..2026-03-{last:02d}"


def test_parts_of_a_day_are_hours() -> None:
    """A morning ends at noon, and last night began yesterday."""
    morning, night = time_named("this morning", WEDNESDAY), time_named("last night", WEDNESDAY)
    assert morning is not None
    assert night is not None
    assert (morning.start.hour, morning.end.hour) == (0, 12)
    assert (night.start.isoformat(), night.end.isoformat()) == (
        "2026-08-11T18:00:00+00:00",
        "2026-08-12T06:00:00+00:00",
    )
    hours = time_named("in the last 2 hours", WEDNESDAY)
    assert hours is not None
    assert hours.end - hours.start == timedelta(hours=2)


def test_a_day_is_a_day_on_the_wall() -> None:
    """Where clocks change, a day has 23 or 25 hours."""
    now = datetime(2026, 3, 30, 9, 0, tzinfo=ZoneInfo("Europe/Paris"))
    period = time_named("hier", now)
    assert period is not None
    start, end = period.seconds
    assert end - start == 23 * 3600
    assert period.start.utcoffset() == timedelta(hours=1)


@pytest.mark.parametrize(
    ("question", "rest", "meant"),
    [
        ("what did we discuss last week about auth?", "what did we discuss about auth?", True),
        ("what did I do on 2026-06-10", "what did I do", True),
        ("yesterday's meeting notes", "meeting notes", True),
        ("since Tuesday, what changed in the parser?", "what changed in the parser?", True),
        ("which bugs did we fix between March 3 and March 10?", "which bugs did we fix?", True),
        ("qu'avons-nous décidé la semaine dernière sur le cache ?", "qu'avons-nous décidé sur le cache ?", True),
        ("last week", "", True),
        ("what is due tomorrow", "what is due tomorrow", False),
        ("what do we use now", "what do we use now", False),
        ("how does the parser work", "how does the parser work", False),
    ],
)
def test_a_question_is_taken_apart(question: str, rest: str, *, meant: bool) -> None:
    """The time goes with the small words that belong to it; a time to come is none."""
    period, left = time_asked(question, WEDNESDAY)
    assert (left, period is not None) == (rest, meant)


@pytest.mark.parametrize("before", ["İstanbul", "日本語", "👩‍👩‍👧", "Straße ŉ ǰ", "e\u0301té", "ﬃ"])
def test_the_place_of_a_time_is_in_characters(before: str) -> None:
    """Also where a lower case is longer than what it is of."""
    text = f"{before}: what happened last week at {before}?"
    found = find_time(text, WEDNESDAY)
    assert found is not None
    assert text[found.start : found.end] == "last week"


def test_a_moment_without_a_zone_is_refused() -> None:
    """Nobody knows when yesterday is without a zone."""
    with pytest.raises(UsageError, match="zone"):
        time_named("yesterday", datetime(2026, 8, 12))  # noqa: DTZ001


words = st.sampled_from(
    [
        "last",
        "this",
        "week",
        "month",
        "year",
        "day",
        "days",
        "since",
        "before",
        "after",
        "between",
        "and",
        "from",
        "to",
        "the",
        "3",
        "10",
        "march",
        "may",
        "2025",
        "2024-02-30",
        "monday",
        "ago",
        "in",
        "a",
        "few",
        "couple",
        "of",
        "q3",
        "hier",
        "depuis",
        "il",
        "y",
        "a",
        "deux",
        "semaines",
        "le",
        "mars",
        "dernier",
        "'",
        ".",
        ",",
        "`",
        "at",
        "99",
        "25:00",
        "pm",
        "0000-00-00",
        "9999",
        "0001",
    ]
)
moments = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.timezones())  # noqa: DTZ001


@given(st.lists(words, max_size=9).map(" ".join) | st.text(max_size=60), moments)
def test_whatever_is_asked_is_answered_with_a_range_or_not_at_all(text: str, now: datetime) -> None:
    """No text makes it fail; a range never ends before it starts, and its characters lie in the text."""
    found = find_time(text, now)
    time_asked(text, now)
    assert found is None or (found.period.start <= found.period.end and 0 <= found.start < found.end <= len(text))


@pytest.mark.parametrize("text", ["last " * 5000, "3 " * 5000, "from to " * 5000, "2024-01-" * 4000])
def test_a_long_text_is_no_trouble(text: str) -> None:
    """Only its beginning is read."""
    assert find_time(text, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("noon yesterday", "2025-10-07", "2025-10-07"),
        ("at 3pm yesterday", "2025-10-07", "2025-10-07"),
        ("midnight yesterday", "2025-10-07", "2025-10-07"),
        ("at noon on Monday", "2025-10-06", "2025-10-06"),
        ("the first week of September", "2025-09-01", "2025-09-07"),
        ("last week of September", "2025-09-24", "2025-09-30"),
        ("early last month", "2025-09-01", "2025-09-10"),
        ("end of last year", "2024-09-01", "2024-12-31"),
        ("mid-September", "2025-09-11", "2025-09-20"),
        ("late 2024", "2024-09-01", "2024-12-31"),
        ("over the weekend", "2025-10-04", "2025-10-05"),
        ("what broke the weekend", "2025-10-04", "2025-10-05"),
        ("la première semaine de septembre", "2025-09-01", "2025-09-07"),
        ("début septembre", "2025-09-01", "2025-09-10"),
        ("mi-septembre", "2025-09-11", "2025-09-20"),
        ("fin du mois dernier", "2025-09-21", "2025-09-30"),
        ("la fin de l'année dernière", "2024-09-01", "2024-12-31"),
        ("pendant le week-end", "2025-10-04", "2025-10-05"),
    ],
)
def test_a_part_of_a_time_is_not_the_whole_of_it(said: str, first: str, last: str) -> None:
    """A week of a month, a third of a year, and a time of another day than today."""
    period = time_named(said, datetime(2025, 10, 8, 17, 30, tzinfo=UTC))
    assert period is not None
    assert (period.start.date().isoformat(), (period.end - timedelta(seconds=1)).date().isoformat()) == (first, last)


@pytest.mark.parametrize(
    ("said", "start", "minutes"),
    [
        ("2025-10-05T10:00", "2025-10-05T10:00:00+00:00", 60),
        ("2025-10-05 10:30", "2025-10-05T10:30:00+00:00", 1),
        ("2025-10-05T10:00Z", "2025-10-05T10:00:00+00:00", 60),
    ],
)
def test_a_date_keeps_the_time_that_is_written_with_it(said: str, start: str, minutes: int) -> None:
    """An hour is an hour, a minute within it a minute."""
    period = time_named(said, datetime(2025, 10, 8, 17, 30, tzinfo=UTC))
    assert period is not None
    assert (period.start.isoformat(), period.end - period.start) == (start, timedelta(minutes=minutes))
