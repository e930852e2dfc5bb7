"""Find the value in a sentence of a known kind.

    From now on use pnpm, not npm        pnpm, over npm
    we've moved off npm, it's pnpm now   pnpm, over npm
    no default exports                   not default exports

Four steps: cut off the words around the statement (greetings, reasons, alternatives, conditions); ask which of the tools named
is chosen and which rejected; try the shapes of the kind; take off the words that only lead to the value. What remains is the
value. `values.toml` and `shapes.toml` have the patterns, in English and French.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise

from vademecum.index.tokenize import TALK
from vademecum.memory.extract.sentences import probability, spelled_out
from vademecum.memory.forms import filled, forms_of, table_of
from vademecum.memory.kinds import FactKind
from vademecum.memory.labels import CHOICE, is_known, named, up_to_another
from vademecum.memory.reversals import kinds_of
from vademecum.memory.words import is_denied

_MOST = 300  # characters of a value
_MOST_READ = 360  # characters of a sentence in which a value is looked for
_TAIL, _LAST = 280, 80  # characters, in which a reason or a condition, and polite words, end a sentence
_MOST_PARTS = 6  # of a sentence that are weighed


@dataclass
class Found:
    """A statement's value and the words around it.

    Attributes:
        value: The value, without its denial.
        parts: Other parts by name: `subject`, `attribute`, `part`, `topic`, `object`, `other`, `reason`.
        negative: The value is denied.
        corrects: The sentence says that something changed.
        clause: The words that hold the value and its purpose.
    """

    value: str
    parts: dict[str, str] = field(default_factory=dict)
    negative: bool = False
    corrects: bool = False
    clause: str = ""


_FORMS = forms_of(__file__, choice=CHOICE.pattern.removeprefix("(?i)"))
_SAID = {name: re.compile(text) for name, text in _FORMS.items()}
# Kinds of statements that share shapes
_TOGETHER = {
    "rule": "instruction preference decision",
    "told": "fact decision instruction",
    "rule told": "instruction preference decision fact",
}


@lru_cache(maxsize=1)
def _shapes() -> tuple[tuple[frozenset[str], re.Pattern[str], bool], ...]:
    """Return each shape's kinds, pattern and polarity, in order."""
    rows = table_of(__file__, "shapes")["shapes"]
    return tuple(
        (
            frozenset(_TOGETHER.get(row["of"], row["of"]).split()),
            re.compile(f"(?i:{filled(row['says'], _FORMS)})"),
            row.get("denies", False),
        )
        for row in rows
    )


def value_of(sentence: str, kind: FactKind) -> Found:
    """Return the value that a sentence of a kind states.

    >>> value_of("we've moved off npm, it's pnpm now", FactKind.DECISION).value
    'pnpm'
    >>> found = value_of("- no default exports", FactKind.INSTRUCTION)
    >>> found.value, found.negative
    ('default exports', True)
    """
    sentence = spelled_out(_SAID["blanked"].sub(" " * 5, sentence)[:_MOST_READ])
    found = _Reader(kind, {}).read(_bare(sentence))
    instead = kind in (FactKind.FACT, FactKind.DECISION) and _SAID["instead"].search(sentence) is not None
    found.corrects = changes(sentence) or (instead and "other" in found.parts)
    return found


def changes(sentence: str) -> bool:
    """Return whether a sentence says that something changed."""
    return _SAID["changes"].search(sentence) is not None


@dataclass
class _Reader:
    """Reads one sentence, and collects its parts."""

    kind: FactKind
    parts: dict[str, str]

    def read(self, text: str) -> Found:
        text = _SAID["weighed"].sub("", text) if self.kind in (FactKind.DECISION, FactKind.PREFERENCE) else text
        text = self._without_reason(self._without_condition(text))
        chosen = self._but(text) or self._chosen(text) if self.kind not in (FactKind.FIX, FactKind.TODO) else None
        if chosen is not None:
            return chosen
        part = self._part(text)
        place = _SAID["place"].match(part)
        core = part[place.end() :] if place is not None else part
        found = self._shaped(core, part) or self._led(self._without_other(core), part)
        if self.kind in (FactKind.FIX, FactKind.TODO) or found.negative or "other" in found.parts:
            return found
        lost = is_denied(_SAID["no_denial"].sub("", core)) and not is_denied(found.value)
        return Found(_tidy(core), found.parts, clause=part) if lost else found

    def _part(self, text: str) -> str:
        """Return the part that states the most, and all of a fix."""
        cuts = [0, *(each.end() for each in islice(_SAID["parts"].finditer(text), _MOST_PARTS)), len(text) + 1]
        if len(cuts) == 2 or self.kind is FactKind.FIX:
            return text
        parts = [text[start:end].strip(" ,;(-\u2013\u2014") for start, end in pairwise(cuts)]
        odds = [0.0 if not part or _SAID["beside"].search(part) else probability(part, self.kind) for part in parts]
        best = max(range(len(parts)), key=odds.__getitem__)
        if self.kind not in (FactKind.INSTRUCTION, FactKind.TODO):
            first = next(at for at, odd in enumerate(odds) if odd >= odds[best] * 0.75)
            first = 0 if first == 1 and _SAID["meant"].search(parts[1]) else first
            last = first + 1
            while (
                last < len(parts)
                and _SAID["listed"].fullmatch(parts[last])
                and text[cuts[last] - 2 : cuts[last]] == ", "
            ):
                last += 1
            return _bare(text[cuts[first] : cuts[last]].strip(" ,;(-\u2013\u2014"))
        last = max(at for at, part in enumerate(parts) if odds[at] >= odds[best] / 3 or (at > best and _denied(part)))
        is_alone = odds[0] < odds[best] / 3 and not parts[best].endswith((" it", " them"))
        return _bare(text[cuts[best if is_alone else 0] : cuts[last + 1]].strip(" ,;(-\u2013\u2014"))

    def _without_condition(self, text: str) -> str:
        if self.kind is not FactKind.INSTRUCTION:
            return text
        found = _SAID["condition"].fullmatch(text)
        if found is not None:
            self.parts["topic"] = found["topic"] or found["moment"]
            return _bare(found["value"] or found["done"])
        found = _SAID["at_end"].search(text, max(0, len(text) - _TAIL))
        if found is not None and len(text[: found.start()].split()) > 1:
            self.parts["topic"] = found["topic"]
            return text[: found.start()]
        return text

    def _without_reason(self, text: str) -> str:
        found = _SAID["reason"].search(text, max(0, len(text) - _TAIL))
        if found is None or not found.start() or self.kind is FactKind.FIX:
            return text
        self.parts["reason"] = found["reason"]
        return text[: found.start()]

    def _without_other(self, text: str) -> str:
        found = _SAID["other"].search(text)
        if (
            found is None
            or not found.start()
            or self.kind in (FactKind.FIX, FactKind.TODO)
            or _denied(text[: found.start()])
        ):
            return text
        other = _SAID["beyond"].split(found["other"], maxsplit=1)[0]
        self.parts["other"] = other
        return text[: found.start()] + text[found.start("other") + len(other) :]

    def _chosen(self, text: str) -> Found | None:
        """Return the tool named as chosen, else the rejected one."""
        tools = _names(text)
        rejected = [
            each
            for each in tools
            if _SAID["rejecting"].search(text[: each.start()]) or _SAID["rejected"].match(text, each.end())
        ]
        for one, other in pairwise(tools):
            if one in rejected and other not in rejected and other.start() - one.end() < 2:
                rejected.append(other)
        if not rejected:
            return None
        mover = _SAID["mover"].match(text)
        if mover is not None and mover.end() <= tools[0].start() and mover["subject"][0].islower():
            self.parts["subject"] = mover["subject"]
        left = [each for each in tools if each not in rejected and (is_known(each[0]) or _judged(text, each))]
        if left:
            best = max(
                left,
                key=lambda each: (
                    bool(_SAID["choosing"].search(text[: each.start()])) + bool(_SAID["chosen"].match(text, each.end()))
                ),
            )
            self.parts["other"] = rejected[0][0]
            return Found(best[0], self.parts, clause=up_to_another(text))
        if _SAID["other"].search(text) and not _denied(text):
            return None
        if len(text[: rejected[0].start()].split()) > 4:
            return None
        return Found(rejected[0][0], self.parts, negative=True, clause=rejected[0][0] + text[rejected[0].end() :])

    def _but(self, text: str) -> Found | None:
        """Return the value that holds instead of a denied one."""
        found = _SAID["but"].fullmatch(text)
        if found is None:
            return None
        said = {name.removesuffix("s"): part for name, part in found.groupdict().items() if part}
        return Found(_tidy(said.pop("value")), self.parts | said, clause=text)

    def _shaped(self, text: str, whole: str) -> Found | None:
        for kinds, pattern, denying in _shapes():
            found = pattern.fullmatch(text) if self.kind in kinds else None
            if found is not None:
                said = {
                    name.removesuffix("s") if name != "values" else "value": part
                    for name, part in found.groupdict().items()
                    if part and name != "priority"
                }
                verb = said.pop("verb", "")
                if said.pop("user", ""):
                    said["subject"] = "user's name"
                elif verb and not is_known(said["value"]):
                    said["subject"] = verb
                value = _tidy(self._without_other(said.pop("value")))
                negative, denied = denying, _SAID["not"].match(value) if not denying else None
                if denied is not None and denied.end() < len(value):
                    value, negative = value[denied.end() :], True
                return Found(value, self.parts | said, negative=negative, clause=whole)
        return None

    def _led(self, text: str, whole: str) -> Found:
        """Return the text behind the words that lead to a value."""
        negative, mine = False, _SAID["mine"].fullmatch(text)
        if mine is not None:
            return Found(_tidy(mine["value"]), self.parts, clause=whole)
        for _ in range(4):
            french = _SAID["french_not"].fullmatch(text) if not negative else None
            if french is not None and self.kind is not FactKind.FIX:
                verb, rest = french["verb"] or french["bare"], french["rest"] or french["after"] or ""
                if not verb.startswith(("utilis", "aim", "support")) or not rest:
                    self.parts.setdefault("object", rest)
                    return Found(_tidy(text[french.start("verb") if french["verb"] else 0 :]), self.parts, clause=whole)
                negative, text = True, rest
                continue
            lead = _SAID["not"].match(text) if not negative else None
            negative = negative or lead is not None
            lead = lead or _SAID["leads"].match(text)
            if lead is None or lead.end() == len(text) or not lead.end() or is_known(lead[0]):
                break
            led = lead[0].strip().lower()
            text = _bare(text[lead.end() :])
            if _SAID["noun_lead"].fullmatch(led) or (
                self.kind in (FactKind.PREFERENCE, FactKind.DECISION)
                and _SAID["act_lead"].search(led)
                and not _SAID["moved"].search(led)
            ):
                kept = _SAID["kept"].fullmatch(text)
                self.parts["object"] = (
                    kept["object"] if kept else text if _SAID["noun_lead"].fullmatch(led) else text.partition(" ")[2]
                )
        value = _tidy(_SAID["little"].sub("", text))
        return Found(value or _tidy(whole), self.parts, negative=negative, clause=whole)


def _names(text: str) -> list[re.Match[str]]:
    """Return the known choices and the names in a text, in order.

    The first word is a name where it is rejected or chosen; others are by their capital.
    """
    known = list(named(text))
    taken = {at for each in known for at in range(*each.span())}
    further = (
        each
        for each in _SAID["name"].finditer(text)
        if _judged(text, each) or (each.start() and _SAID["ends"].match(text, each.end()))
    )
    known += [
        each for each in further if each.start() not in taken and each[0].lower() not in TALK and not kinds_of(each[0])
    ]
    return sorted(known, key=re.Match.start)


def _judged(text: str, name: re.Match[str]) -> bool:
    """Return whether the words beside a name choose or reject it."""
    before, after = text[: name.start()], name.end()
    chosen = _SAID["choosing"].search(before) and _SAID["ends"].match(text, after)
    signs = chosen, _SAID["chosen"].match(text, after), _SAID["rejected"].match(text, after)
    return any(signs) and _SAID["asked"].search(before) is None


def _denied(text: str) -> bool:
    return _SAID["not"].match(text) is not None


def _bare(text: str) -> str:
    """Return a statement without greetings, titles and polite words."""
    text = text.lstrip(" -*\u2022\t")
    for _ in range(2):
        for pattern in (_SAID["hello"], _SAID["title"]):
            lead = pattern.match(text)
            text = text[lead.end() :] if lead is not None and lead.end() < len(text) else text
    tail = _SAID["goodbye"].search(text, max(0, len(text) - _LAST))
    return text[: tail.start()] if tail is not None and tail.start() else text


def _tidy(text: str) -> str:
    text = _SAID["ne"].sub("n'", " ".join(text.split())).strip(" .,;:!?\u2026-\u2013\u2014")
    return (text if text.count("`") % 2 == 0 and text.strip("`").count("`") else text.strip("`"))[:_MOST]
