"""Find times in words, such as "last week" or "since Tuesday".

    what did we decide last week about the cache
                       ^^^^^^^^^  [Monday, Monday)    what did we decide about the cache

One rule of a language's table names a period; a word before the period (`since`, `before`, `between … and`) turns it into a
range. The first time named counts. Where the year or the week is left open, the latest past one is meant, since questions to
a memory concern the past. Weeks begin on Monday; "a couple of" is one to three and "a few" two to five, as in the golden
pairs of hindsight's query analyser (MIT), which the English rules are tested against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from vademecum.errors import UsageError
from vademecum.index.tokenize import lowered
from vademecum.memory.when.clock import Clock, Period
from vademecum.memory.when.rules import Language, languages

MOST_CHARACTERS = 2000  # of a question; times after these are ignored
_FRENCH = re.compile(r"\b(?:le|la|les|du|des|depuis|avant|après|en|entre|jusqu|au|nous|que|quoi)\b")
_NOW = re.compile(r"(?<![\w-])(?:right now|now|maintenant)(?![\w-])")
_QUOTED = re.compile(r"`[^`\n]*`|https?://\S+")


@dataclass(frozen=True, slots=True)
class Mention:
    """A time that a text names.

    Attributes:
        period: The range of time.
        start: Index of the first character.
        end: Index after the last character.
    """

    period: Period
    start: int
    end: int


def time_named(words: str, now: datetime) -> Period | None:
    """Return the range of time that words name, or None.

    Args:
        words: A phrase or a sentence; the first time named counts. Unlike in a sentence, a month or a year may stand alone.
        now: The current moment; results are in its time zone.

    Raises:
        UsageError: `now` does not know its zone.

    >>> from datetime import UTC
    >>> wednesday = datetime(2026, 8, 12, 14, 30, tzinfo=UTC)
    >>> for said in ("last week", "since Tuesday", "il y a 3 jours", "between May 4 and May 6", "may"):
    ...     period = time_named(said, wednesday)
    ...     print(period.start.date(), period.end.date())
    2026-08-03 2026-08-10
    2026-08-11 2026-08-12
    2026-08-09 2026-08-10
    2026-05-04 2026-05-07
    2026-05-01 2026-06-01
    """
    found, word = find_time(words, now), words.strip()
    if found is not None:
        return found.period
    if _NOW.search(_lower(words[:MOST_CHARACTERS])):
        return Clock(now).day(0)  # alone it names today; in a question "now" is no time
    named = (find_time(f"{opening} {word}", now) for opening in ("in", "en") if len(word.split()) == 1)
    return next((each.period for each in named if each and (each.start, each.end) == (0, 3 + len(word))), None)


def time_asked(question: str, now: datetime) -> tuple[Period | None, str]:
    """Return the time a question asks about, and the question without it.

    A future time does not count: "what is due next week" asks for something said before.

    >>> from datetime import UTC
    >>> time_asked("what did we discuss last week about auth?", datetime(2026, 8, 12, tzinfo=UTC))[1]
    'what did we discuss about auth?'
    """
    found = find_time(question, now)
    if found is None or found.period.start > now:
        return None, question
    before, after = question[: found.start].rstrip(), question[found.end :].lstrip()
    after = re.sub(r"^['\u2019]s\b\s*", "", after)  # yesterday's meeting
    glue = "" if not before or re.match(r"[?.!,;:]", after) else " "
    rest = (before + glue + after).strip(" ,;:")
    return found.period, rest if re.search(r"\w", rest) else ""


def find_time(text: str, now: datetime) -> Mention | None:
    """Return the first time that a text names, or None.

    Words like `since` and `before` in front of the time are part of it.

    Raises:
        UsageError: `now` does not know its zone.
    """
    if now.tzinfo is None:
        raise UsageError("`now` has no zone: give an aware datetime, as datetime.now().astimezone()")
    text = _lower(text[:MOST_CHARACTERS])
    if not any(language.hints.search(text) for language in languages()):
        return None
    text = _QUOTED.sub(lambda match: " " * len(match[0]), text)
    clock = Clock(now, day_first=_FRENCH.search(text) is not None)
    found = _first(text, 0, clock)
    if found is None:
        return None
    mention, language = found
    return _pair(text, mention, language, clock) or _bounded(text, mention, language, now)


def _lower(text: str) -> str:
    """Return a text of the same length, lower-cased, with straight apostrophes."""
    return lowered(text.replace("\u2019", "'"))


def _first(text: str, start: int, clock: Clock) -> tuple[Mention, Language] | None:
    """Return the first time named from `start` on; the longest wins."""
    found = [(mention, language) for language in languages() for mention in _mentions(text, start, language, clock)]
    return min(found, key=lambda each: (each[0].start, -each[0].end)) if found else None


def _mentions(text: str, start: int, language: Language, clock: Clock) -> Iterator[Mention]:
    """Yield the first valid match of each rule."""
    if language.hints.search(text, start) is None:
        return
    for pattern, means in language.compiled:
        for match in pattern.finditer(text, start):
            try:
                period = means(match, clock)
            except (ValueError, OverflowError):  # before the year 1 or after 9999
                period = None
            if period is not None:
                yield Mention(period, match.start(), match.end())
                break


def _pair(text: str, first: Mention, language: Language, clock: Clock) -> Mention | None:
    """Return a range like `between A and B`, or None."""
    opened = _before(language.between, text, first.start)
    joined = _pattern(rf"\s*(?:{language.joined})\s+(?:(?:{language.leading})\s+)?").match(text, first.end)
    if joined is None or (opened is None and not re.search(r"to|through|-|\u2013|\.\.|au|à", joined[0])):
        return None
    second = _first(text, joined.end(), clock)
    if second is None or second[0].start != joined.end():
        return None
    one, other = first.period, second[0].period
    whole = Period(min(one.start, other.start), max(one.end, other.end))
    return Mention(whole, first.start if opened is None else opened, second[0].end)


def _bounded(text: str, found: Mention, language: Language, now: datetime) -> Mention:
    """Return a time with the words around it.

    `since`, `after`, `before` and `until` change the period; `from` and `by` alone do not.
    """
    period, start = found.period, found.start
    earliest = datetime(1970, 1, 2, tzinfo=period.start.tzinfo)
    latest = now if period.start <= now else period.end
    meant = (
        (language.since, Period(period.start, latest)),
        (language.after, Period(period.end, max(latest, period.end))),
        (language.before, Period(earliest, period.start)),
        (language.until, Period(earliest, period.end)),
    )
    for words, changed in meant:
        begun = _before(words, text, found.start)
        if begun is not None:
            period = period if text[begun : found.start].strip() in ("from", "by") else changed
            start = begun
            break
    return Mention(period, _lead(text, start, language), _end(text, found.end, language))


def _before(words: str, text: str, end: int) -> int | None:
    """Return the start of a word right before `end`, or None.

    The word is one of `words`. An article may stand in between.
    """
    found = _pattern(rf"(?<!\w)(?:{words})\s*(?:the |le |la |les |l')?$").search(text, max(0, end - 40), end)
    return found.start() if found else None


def _lead(text: str, start: int, language: Language) -> int:
    found = _pattern(rf"(?<!\w)(?:(?:{language.leading})\s*)+$").search(text, max(0, start - 30), start)
    return found.start() if found else start


def _end(text: str, end: int, language: Language) -> int:
    found = _pattern(rf"\s+(?:{language.onward})(?!\w)").match(text, end)
    return found.end() if found else end


@lru_cache(maxsize=64)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
