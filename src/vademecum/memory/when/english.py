"""Rules for times in English."""

from __future__ import annotations

import re

from vademecum.memory.when.clock import Clock, Period
from vademecum.memory.when.rules import Language, Rule, date_rules, number_rules, numbered, one_of, part_rules, spelled

MONTHS = numbered("january february march april may june july august september october november december", 1)
SHORT = numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1) | {"sept": 9}
WEEKDAYS = numbered("monday tuesday wednesday thursday friday saturday sunday", 0)
NUMBERS = {"a": 1, "an": 1} | numbered("one two three four five six seven eight nine ten eleven twelve", 1)
UNITS = spelled(
    day="day d", week="week wk w", fortnight="fortnight", month="month mon mo", quarter="quarter", year="year yr y",
    hour="hour hr h", minute="minute min",
)  # fmt: skip
_OFFSETS = dict.fromkeys(("last", "previous", "prior"), -1) | dict.fromkeys(("this", "current"), 0)  # no future
_EXACT = frozenset({"d", "wk", "w", "mon", "mo", "yr", "y"})
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2, "day before yesterday": -2}
_NAMED_PART = {"this": 0, "yesterday": -1, "tomorrow": 1, "last": -1}
_PARTS = {
    r"(?:in )?(?:the )?(?:early(?: in)?|(?:start|beginning) of) (?:the )?": "early",
    r"(?:in )?(?:the )?(?:mid[- ]|middle of )(?:the )?": "mid",
    r"(?:in )?(?:the )?(?:late(?: in)?|end of) (?:the )?": "late",
    r"(?:in )?(?:the )?first week (?:of|in) (?:the )?": "1",
    r"(?:in )?(?:the )?second week (?:of|in) (?:the )?": "2",
    r"(?:in )?(?:the )?third week (?:of|in) (?:the )?": "3",
    r"(?:in )?(?:the )?(?:last|final) week (?:of|in) (?:the )?": "last",
}  # thirds of a month, quarter or year, or seven days
_COUNT = rf"(?P<count>\d{{1,3}}|{one_of(NUMBERS)})"
_UNIT = rf"(?P<unit>{one_of(UNITS)})s?"
_WHOLE = "(?P<unit>week|weekend|month|quarter|year)"


def _count(match: re.Match[str]) -> int:
    said = match["count"]
    return int(said) if said.isdigit() else NUMBERS[said]


def _ago(match: re.Match[str], clock: Clock) -> Period:
    """Return the period of "`count` units ago".

    An abbreviation (`2w ago`) means one exact day, a full word the whole unit.
    """
    unit, count = UNITS[match["unit"]], _count(match)
    if match["unit"] in _EXACT:
        there = clock.back(unit, count)
        return clock.span(there, there)
    return clock.ago("week", 2 * count) if unit == "fortnight" else clock.ago(unit, count)


def _some(match: re.Match[str], clock: Clock) -> Period:
    """Return the days meant by "a couple of" or "a few".

    A couple is one to three, a few is two to five.
    """
    most, least = (3, 1) if "couple" in match[0] else (5, 2)
    return clock.some(match["unit"], most, least)


def _past(match: re.Match[str], clock: Clock) -> Period:
    count = {"couple": 2, "few": 5, "several": 5}.get(match["some"] or "", 0) or (
        _count(match) if match["count"] else 1
    )
    unit = UNITS[match["unit"]]
    return clock.past("week", 2 * count) if unit == "fortnight" else clock.past(unit, count)


def _relative(match: re.Match[str], clock: Clock) -> Period:
    if match["unit"] == "weekend" and match["which"] in {"last", "previous"}:
        return clock.weekend(0 if clock.today.weekday() == 6 else -1)  # on a Sunday: the weekend that is ending
    return clock.unit(match["unit"], _OFFSETS[match["which"]])


def _weekday(match: re.Match[str], clock: Clock) -> Period:
    which, number = match["which"], WEEKDAYS[match["day"]]
    if which in {"this", "current"} or match["week"]:
        return clock.weekday(number, week=_OFFSETS[match["week"] or "this"])
    return clock.weekday(number)


def _clock_time(match: re.Match[str], clock: Clock) -> Period | None:
    if match["name"]:
        return clock.time_of_day(12 if match["name"] == "noon" else 0)
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if hour > (12 if match["half"] else 23) or minute > 59:
        return None
    return clock.time_of_day(hour % 12 + 12 * (match["half"] == "pm") if match["half"] else hour, minute)


def _time_on(match: re.Match[str], clock: Clock) -> Period:
    """Return the day that a time of day belongs to."""
    said = match["day"]
    return clock.day(_DAYS[said]) if said in _DAYS else clock.weekday(WEEKDAYS[said])


RULES: tuple[Rule, ...] = (
    *part_rules(MONTHS, _PARTS, rf"(?P<which>{one_of(_OFFSETS)}) (?P<unit>month|quarter|year)", _relative),
    (rf"(?:(?:at )?(?:noon|midnight)|at \d{{1,2}}(?::\d\d)? ?(?:am|pm)?|\d{{1,2}}(?::\d\d)? ?(?:am|pm)),?(?: on)? (?P<day>{one_of(_DAYS)}|{one_of(WEEKDAYS)})", _time_on),
    (r"(?:(?:over|during|on|at) )?the weekend", lambda _, c: c.last_weekend()),
    *date_rules(MONTHS, SHORT, of="of ", ordinal="st|nd|rd|th", before="in|during|of|since|last|before|after|until|till|by|between|from", joined="to|and|until|till|through"),
    (rf"{one_of(_DAYS)}(?!s\b)(?! (?:morning|afternoon|evening|night)\b)", lambda m, c: c.day(_DAYS[m[0]])),
    (r"(?P<day>this|yesterday|tomorrow|last) (?P<part>morning|afternoon|evening|night)", lambda m, c: c.part(m["part"], _NAMED_PART[m["day"]])),
    (rf"{_COUNT} (?P<day>{one_of(WEEKDAYS)})s (?:ago|back)", lambda m, c: c.weekday(WEEKDAYS[m["day"]], back=_count(m))),
    (r"earlier today", lambda _, c: Period(c.day(0).start, c.now)),
    (r"(?:the )?week before last", lambda _, c: c.week(-2)),
    (rf"(?P<which>{one_of(_OFFSETS)}) {_WHOLE}", _relative),
    (r"(?:a |an )?(?:couple(?: of)?|few|several) (?P<unit>day|week|month|quarter|year)s? (?:ago|back|earlier)", _some),
    (rf"{_COUNT} ?{_UNIT} (?:ago|back|earlier)", _ago),
    (rf"in {_COUNT} (?P<unit>day|week|month|year)s?(?: time)?", lambda m, c: c.unit(m["unit"], _count(m))),
    (rf"{_COUNT} (?P<unit>day|week|month|year)s? (?:later|from now|hence)", lambda m, c: c.unit(m["unit"], _count(m))),
    (rf"(?:(?:in|over|during|within|for) )?(?:the )?(?:last|past|previous) (?:(?P<some>couple|few|several) (?:of )?|{_COUNT} ){_UNIT}", _past),
    (r"(?:(?:in|over|during|within) )?(?:the )?(?:last|past) (?P<some>)(?P<count>)(?P<unit>hour|minute|day)", _past),
    (r"(?:(?:in|over|during|within) )?(?:the )?past (?P<some>)(?P<count>)(?P<unit>week|month|quarter|year)", _past),
    (
        rf"(?:(?P<which>last|previous|this) )?(?<!next )(?P<day>{one_of(WEEKDAYS)})(?:(?: of)? (?P<week>last|this) week)?",
        _weekday,
    ),
    (r"at (?P<name>)(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>am|pm)", _clock_time),
    (r"(?P<name>noon|midnight)", _clock_time),
    *number_rules(quarter="q", year="year", before="in|during|since|before|after|until"),
)  # fmt: skip

ENGLISH = Language(
    rules=RULES,
    since=r"since|starting|ever since|from",
    after="after",
    before="before|prior to|earlier than",
    until="until|till|up to|by",
    between="between|from",
    joined=r"and|to|until|till|through|-|\u2013|\.\.",
    leading=r"on|in|between|at|during|over|from|of|for|since|back|within|around|the|as of",
    onward=r"(?:onwards?|on)(?=\W|$)|until (?:now|today)|to (?:now|date)",
    hint="day|week|month|year|quarter|hour|minute|morning|afternoon|evening|night|noon|fortnight|tomorrow|ago|last|past|q[1-4]"
    "|january|february|march|april|may|june|july|august|september|october|november|december",
)
