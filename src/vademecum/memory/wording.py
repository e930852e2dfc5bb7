"""Texts of memory's output in each language: headings, hints, dates.

English is the default, French the alternative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


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
    months: tuple[str, ...]


ENGLISH = Wording(
    preferences="Active preferences",
    knowledge="Relevant knowledge",
    timeline="Timeline",
    open_work="Left open",
    about="About {path}",
    seen_before="This error before",
    in_session="Said in this session",
    survives="Keep in the summary, word for word:",
    ended="{moment}: `{command}` failed with `{line}`, and no longer after {steps}",
    edited="an edit of {paths}",
    helped="; that helped {helped} of {times} times",
    committed='; committed as "{title}"',
    first_mention="first mention: {date}, {times} times",
    discussed="discussed on {date} at {time}",
    at_time="{date} at {time}",
    was_until="now {now}; was {was} until {date}",
    disputed="contradicted: also said {date}: {other}",
    nothing="Nothing in memory answers this.",
    nothing_then="Nothing is recorded for {period}: assume no conversation and no date.",
    earlier="and {count} earlier",
    drifted="the code has changed since",
    orphaned="the code is gone",
    page="Memory",
    page_rules="change a line to correct it, delete one to forget it, add one to note it; then run `vade memory page`",
    in_dispute="disputed",
    kinds={
        "preference": "Preference", "instruction": "Instruction", "decision": "Decision", "fact": "Fact", "todo": "Todo",
        "fix": "Fix",
    },
    chapters={
        "today": "Today", "yesterday": "Yesterday", "this week": "This week", "last week": "Last week",
        "this month": "This month", "all": "all time",
    },
    months=("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)  # fmt: skip
FRENCH = Wording(
    preferences="Préférences actives",
    knowledge="Connaissances pertinentes",
    timeline="Chronologie",
    open_work="Reste à faire",
    about="À propos de {path}",
    seen_before="Cette erreur auparavant",
    in_session="Dit dans cette session",
    survives="À garder mot pour mot dans le résumé :",
    ended="{moment} : `{command}` a échoué avec `{line}`, et plus après {steps}",
    edited="une modification de {paths}",
    helped=" ; cela a aidé {helped} fois sur {times}",
    committed=" ; commit « {title} »",
    first_mention="1ère mention: {date}, {times} fois",
    discussed="abordé le {date} à {time}",
    at_time="{date} à {time}",
    was_until="maintenant {now} ; c'était {was} jusqu'au {date}",
    disputed="contredit : aussi dit le {date} : {other}",
    nothing="Rien en mémoire ne répond à cela.",
    nothing_then="Rien n'est enregistré pour {period} : ne supposer ni conversation ni date.",
    earlier="et {count} plus tôt",
    drifted="le code a changé depuis",
    orphaned="le code n'existe plus",
    page="Mémoire",
    page_rules="modifier une ligne la corrige, en effacer une l'oublie, en ajouter une la note ; puis lancer `vade memory page`",
    in_dispute="contesté",
    kinds={
        "preference": "Préférences", "instruction": "Consignes", "decision": "Décisions", "fact": "Faits", "todo": "À faire",
        "fix": "Correctifs",
    },
    chapters={
        "today": "Aujourd'hui", "yesterday": "Hier", "this week": "Cette semaine", "last week": "La semaine dernière",
        "this month": "Ce mois-ci", "all": "toute la période",
    },
    months=("janv", "févr", "mars", "avr", "mai", "juin", "juil", "août", "sept", "oct", "nov", "déc"),
)  # fmt: skip
LANGUAGES: Mapping[str, Wording] = {"en": ENGLISH, "fr": FRENCH}


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
