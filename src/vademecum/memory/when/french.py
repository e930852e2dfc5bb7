"""Rules for times in French."""

from __future__ import annotations

import re

from vademecum.memory.when.clock import Clock, Period
from vademecum.memory.when.rules import Language, Rule, date_rules, number_rules, numbered, one_of, part_rules, spelled

MONTHS = numbered("janvier février mars avril mai juin juillet août septembre octobre novembre décembre", 1)
MONTHS |= {"fevrier": 2, "aout": 8, "decembre": 12}  # typed without accents
SHORT = {"janv": 1, "févr": 2, "fevr": 2, "avr": 4, "juil": 7, "sept": 9, "oct": 10, "nov": 11, "déc": 12, "dec": 12}
WEEKDAYS = numbered("lundi mardi mercredi jeudi vendredi samedi dimanche", 0)
NUMBERS = {"une": 1} | numbered("un deux trois quatre cinq six sept huit neuf dix onze douze", 1) | {"quinze": 15}
UNITS = spelled(
    day="jour", week="semaine", weekend="week-end weekend", month="mois", quarter="trimestre", year="an année annee",
    hour="heure", minute="minute",
)  # fmt: skip
_DAYS = {"aujourd'hui": 0, "hier": -1, "avant-hier": -2, "avant hier": -2, "demain": 1, "après-demain": 2}
_PARTS = {"matin": "morning", "après-midi": "afternoon", "apres-midi": "afternoon", "soir": "evening", "nuit": "night"}
_THIRDS = {
    r"(?:au |en |le )?(?:tout )?début (?:de |d'|du )?(?:l'|la |le )?": "early",
    r"(?:à la |en |au )?(?:mi-|milieu (?:de |d'|du )(?:l'|la |le )?)": "mid",
    r"(?:à la |en |la )?fin (?:de |d'|du )?(?:l'|la |le )?": "late",
    r"(?:la |le )?(?:première|1re|1ère) semaine (?:de |d'|du )(?:l'|la |le )?": "1",
    r"(?:la )?(?:deuxième|seconde|2e) semaine (?:de |d'|du )(?:l'|la |le )?": "2",
    r"(?:la )?(?:troisième|3e) semaine (?:de |d'|du )(?:l'|la |le )?": "3",
    r"(?:la )?dernière semaine (?:de |d'|du )(?:l'|la |le )?": "last",
}  # thirds of a month, quarter or year, or seven days
_COUNT = rf"(?P<count>\d{{1,3}}|{one_of(NUMBERS)})"
_UNIT = rf"(?P<unit>{one_of(UNITS)})s?"
_WHOLE = r"(?P<unit>semaine|mois|trimestre|an|année|annee|week-end|weekend)"
_LAST = r"derni(?:er|ère|ere)s?|pass[ée]e?s?|pr[ée]c[ée]dente?s?"


def _count(match: re.Match[str]) -> int:
    said = match["count"]
    return int(said) if said.isdigit() else NUMBERS[said]


def _this(match: re.Match[str], clock: Clock) -> Period:
    return clock.unit(UNITS[match["unit"]], 0)


def _last(match: re.Match[str], clock: Clock) -> Period:
    unit = UNITS[match["unit"]]
    return clock.weekend(0 if clock.today.weekday() == 6 else -1) if unit == "weekend" else clock.unit(unit, -1)


def _weekday(match: re.Match[str], clock: Clock) -> Period:
    number = WEEKDAYS[match["day"]]
    return clock.weekday(number, week=0) if match["here"] else clock.weekday(number)


RULES: tuple[Rule, ...] = (
    *part_rules(MONTHS, _THIRDS, rf"(?P<unit>mois|trimestre|an|année|annee) (?:{_LAST})", _last),
    (r"(?:(?:pendant|durant|sur) )?le week-?end(?! (?:prochain|derni|pass|pr[ée]c))", lambda _, c: c.last_weekend()),
    *date_rules(MONTHS, SHORT, of="", ordinal="er", before="en|depuis|avant|après|jusqu'en|fin|début|mois de|mois d'|courant|entre|de", joined="au|et|à"),
    (rf"(?P<day>{one_of(_DAYS)})(?! (?:matin|apr[èe]s-midi|soir)\b)", lambda m, c: c.day(_DAYS[m["day"]])),
    (
        rf"(?:(?:ce|cet|cette) |(?P<hier>hier )(?:dans l')?)(?P<part>{one_of(_PARTS)})",
        lambda m, c: c.part(_PARTS[m["part"]], -1 if m["hier"] else 0),
    ),
    (rf"(?P<month>{one_of(MONTHS)}) (?:{_LAST})", lambda m, c: c.latest(MONTHS[m["month"]])),
    (rf"il y a {_COUNT} (?P<day>{one_of(WEEKDAYS)})s", lambda m, c: c.weekday(WEEKDAYS[m["day"]], back=_count(m))),
    (rf"(?:(?:ces|les) )?(?:{_LAST}) {_COUNT} {_UNIT}", lambda m, c: c.past(UNITS[m["unit"]], _count(m))),
    (rf"(?:la |cette |l')(?:{_LAST}) (?P<unit>heure|minute)", lambda m, c: c.past(m["unit"], 1)),
    (rf"(?:ce|cet|cette) {_WHOLE}", _this),
    (rf"(?:le |la |l'|au |en )?{_WHOLE} (?:{_LAST})", _last),
    (r"il y a (?:quelques) (?P<unit>jour|semaine|mois|an|année)s?", lambda m, c: c.some(UNITS[m["unit"]], 5, 2)),
    (rf"il y a {_COUNT} {_UNIT}", lambda m, c: c.ago(UNITS[m["unit"]], _count(m))),
    (
        rf"(?:(?:ces|les|des|durant les|au cours des|pendant les|sur les) )?(?P<count>\d{{1,3}}|{one_of(NUMBERS)}) (?:{_LAST}) {_UNIT}",
        lambda m, c: c.past(UNITS[m["unit"]], _count(m)),
    ),
    (rf"(?:ces|les) (?:{_LAST}) {_UNIT}", lambda m, c: c.past(UNITS[m["unit"]], 5)),
    (rf"dans {_COUNT} (?P<unit>jour|semaine|mois|an)s?", lambda m, c: c.unit(UNITS[m["unit"]], _count(m))),
    (
        rf"(?:(?P<here>ce) |(?:le )?)(?P<day>{one_of(WEEKDAYS)})(?: dernier| passé|(?! prochain))",
        _weekday,
    ),
    *number_rules(quarter="t", year="année", before="en|depuis|avant|après|courant|jusqu'en"),
)  # fmt: skip


FRENCH = Language(
    rules=RULES,
    since="depuis|à partir d[eu]|dès",
    after="après",
    before="avant|antérieurement à",
    until="jusqu'(?:à|en|au)",
    between="entre|du|de|d'|depuis",
    joined=r"et|au|à|jusqu'(?:à|au|en)|-|\u2013",
    leading=r"le|la|les|l'|entre|du|de|des|en|au|aux|dans|pendant|durant|au cours de|sur|depuis|à|vers",
    onward=r"jusqu'(?:à maintenant|ici|à aujourd'hui)",
    hint="jour|semaine|mois|trimestre|ann[ée]e|an |heure|minute|hier|demain|matin|midi|soir|nuit|week|lundi|mardi|mercredi|jeudi|vendredi"
    "|samedi|dimanche|derni|janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre",
)
