"""Extract lasting statements from a message, without a language model.

    prose_of        blank out code, quotations and pasted output
    read_of         split into sentences; of a very long message those at both ends
    kind_of         tell the kind of each sentence with a small linear model
    value_of        find the value with patterns for its kind
    subject_of      name the subject, so that a later statement can replace this one
    where           find the files or the language a statement is limited to

    "From now on use pnpm, not npm."    instruction · package manager · javascript · pnpm

The model's probability is the confidence; a preference of an assistant is ignored. A sentence that takes the one before back
("scratch that", "just kidding") voids it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vademecum.memory.extract.prose import is_decided, prose_of, read_of, unwrapped
from vademecum.memory.extract.sentences import Kinded, kind_of
from vademecum.memory.extract.subject import LANGUAGES as LANGUAGES_OF_CODE
from vademecum.memory.extract.subject import PRONOUNS, about, purpose, subject_of, where
from vademecum.memory.extract.values import Found, changes, value_of
from vademecum.memory.forms import compiled
from vademecum.memory.labels import CHOICES, is_french, is_known, named, names_in, up_to_another
from vademecum.memory.records import BEFORE, FactKind, Reading, Role, Statement
from vademecum.memory.reversals import corrects, may_retract
from vademecum.redaction.redact import MARK

__all__ = ["extract", "read"]

_SAID = compiled(__file__, "clauses")
# Weight of each speaker for each kind of fact; kinds that are missing are ignored.
_SPEAKERS = {
    Role.USER: dict.fromkeys(FactKind, 1.0),
    Role.NOTE: dict.fromkeys(FactKind, 1.1),
    Role.ASSISTANT: {
        FactKind.DECISION: 0.6,
        FactKind.FACT: 0.5,
        FactKind.TODO: 0.6,
        FactKind.FIX: 0.68,  # only a sure one is told unasked
    },
    Role.COMMIT: {FactKind.DECISION: 0.8, FactKind.INSTRUCTION: 0.8},  # said in so many words, see `commits`
}
_PEOPLE = (Role.USER, Role.NOTE)
_LEAST, _MOST = 0.4, 0.95  # below the least confidence a statement is noise
_SUREST = 0.9  # of a sentence alone
_HEDGED = 0.5
_UNTOLD = 0.5  # confidence that ends facts, and is too low to be told unasked
_SHORT = 7  # words below which a sentence is one clause
_LONG = 18  # words from which a sentence is read clause by clause
_MOST_CHARACTERS = 800  # of a sentence that are read: a longer one is a paste
_MOST_CLAUSES = 5  # of a sentence that are read
_LONGEST = 40  # words from which only clauses are read
_MOST_RETRACTION = 200  # characters
_MAYBE = 0.25  # confidence that a sentence that says a change may mean it
_CLEAR = 0.6  # confidence that a clause states something by itself
_BACK = 0.5  # probability from which a sentence takes the one before back
_BACK_BEFORE = 0.8  # the same for the message before: "yeah, that's true" is near to it
MOST_SENTENCES = 1_000  # of a message: a longer one is read at both ends


@dataclass(frozen=True)
class _Said:
    """A sentence with its place in the message."""

    prose: str
    text: str  # the characters of the message, code included
    start: int
    end: int
    before: str  # the sentence before


def extract(message: str, role: Role = Role.USER) -> list[Statement]:
    """Return the lasting statements of a message, in the message's order.

    Long messages are read in part; `read` says how many characters are left.

    Args:
        message: The text as written, with secrets already removed.
        role: The speaker. Commands, their output and edits yield no statements.

    Returns:
        At most one statement for each clause, with the start and end of its sentence.

    >>> for each in extract("Always run the tests in src/api before you commit. We moved off npm, it's pnpm now"):
    ...     print(each.kind, each.subject, each.value, each.where or "everywhere here", sep=" | ")
    instruction | tests | run the tests in src/api before you commit | src/api/**
    decision | package manager | pnpm | everywhere here
    decision | package manager | not npm | everywhere here
    """
    return list(read(message, role).statements)


def read(message: str, role: Role = Role.USER) -> Reading:
    """Return a message's lasting statements and the number of characters left unread.

    The cost is bounded for every message: no more than so many sentences are read.

    Args:
        message: As for `extract`.
        role: As for `extract`.

    >>> long = read("Never use globals. " * 2_000)
    >>> len(long.statements), 0 < long.left < 38_000, read("Never use globals.").left
    (1000, True, 0)
    """
    heard = _SPEAKERS.get(role)
    if heard is None:
        return Reading()
    if role is Role.COMMIT:
        message = unwrapped(message)
    prose = prose_of(message)
    spans, left = read_of(prose, MOST_SENTENCES)
    found: dict[tuple[int, str, FactKind], Statement] = {}  # one sentence may say a thing twice
    last, back, before = list[Statement](), False, ""
    for start, end in spans:
        said = _Said(prose[start : min(end, start + _MOST_CHARACTERS)], message[start:end], start, end, before)
        kinded = kind_of(_as_typed(prose, start, end))
        retracted, of_before = list[Statement](), list[Statement]()
        if role in _PEOPLE:
            retracted = [_retraction(said)] if _may_retract(said.prose, kinded) else []
            of_before = [_retraction(said, BEFORE)] if not before and _takes_back(said.prose, kinded) else []
        if kinded.back >= _BACK or (len(said.prose.split()) < _SHORT and _SAID["joking"].search(said.prose)):
            for one in last:
                found.pop((one.start, one.value, one.kind), None)
            found.update({(one.start, one.value, one.kind): one for one in of_before or retracted})
            last, back, before = [], True, said.text
            continue
        last = (
            list(_statements(said, kinded, heard, corrects=back))
            if role is not Role.COMMIT or is_decided(said.prose)
            else []
        ) or retracted
        found.update({(one.start, one.value, one.kind): one for one in (*last, *of_before)})
        back, before = False, said.text
    return Reading(list(found.values()), left)


def _may_retract(sentence: str, kinded: Kinded) -> bool:
    """Return whether a short sentence may take something back."""
    said = may_retract(sentence) or (kinded.kept >= _MAYBE and changes(sentence))
    return said and len(sentence) <= _MOST_RETRACTION


def _takes_back(sentence: str, kinded: Kinded) -> bool:
    """Return whether a sentence takes the message before back."""
    words = len(sentence.split())  # "no" alone answers somebody else
    back = (kinded.back >= _BACK_BEFORE and words > 1) or (words < _SHORT and corrects(sentence))
    return back or (words < _SHORT and _SAID["joking"].search(sentence) is not None)


def _retraction(said: _Said, subject: str = "") -> Statement:
    """Return a statement that only ends another."""
    return Statement(FactKind.DECISION, said.text, subject, "", "", 0.0, start=said.start, end=said.end, corrects=True)


def _as_typed(prose: str, start: int, end: int) -> str:
    """Return a sentence with its list mark, a sign of a rule."""
    line = prose[prose.rfind("\n", 0, start) + 1 : start]
    return f"- {prose[start:end]}" if _SAID["bullet"].match(line) else prose[start:end]


def _statements(said: _Said, kinded: Kinded, heard: dict[FactKind, float], *, corrects: bool) -> Iterator[Statement]:
    """Yield the statements of a sentence, or of each clause.

    In a long sentence each clause is asked: somebody who asks for help may say what they prefer on the way.
    """
    if _SAID["undecided"].match(said.prose):
        return
    parts, topic = _clauses(said.prose, kinded), ""
    corrects |= len(parts) > 1 and len(said.prose.split()) < _LONG and changes(said.prose)
    for part, own in parts:
        if own.kind is None:
            continue
        found = value_of(part.replace("`", ""), own.kind)
        found.corrects |= corrects
        passes = _passes(part, own.kind, found.value)
        weight = min(own.kept, _SUREST) * heard.get(own.kind, 0.0) * (_HEDGED if passes else 1.0)
        for each, sure in ((found, weight), *((other, min(weight, _UNTOLD)) for other in _replaced(found))):
            statement = _statement(said, part, own.kind, each, sure)
            topic = statement.subject or topic  # of "never on Fridays" too
            statement = replace(statement, subject=topic)
            words = each.value.lower().split()
            empty = not words or (words[0] in PRONOUNS and len(words) < 3)
            hides = MARK in f"{topic} {statement.value}" or MARK.strip("[:") in topic  # a secret that was removed
            if statement.confidence >= _LEAST and not empty and not hides:
                yield statement


def _passes(part: str, kind: FactKind, value: str) -> bool:
    """Return whether a part is a guess, a joke or passing."""
    if any(_SAID[sign].search(part) for sign in ("hedge", "asks", "others", "joking", "feels")):
        return True
    of_value = next((each for each in part.split(", ") if value in each), part)
    return kind not in (FactKind.TODO, FactKind.FIX) and any(
        _SAID[sign].search(of_value) for sign in ("report", "fails")
    )


def _clauses(sentence: str, kinded: Kinded) -> list[tuple[str, Kinded]]:
    """Return the stating parts of a sentence, with their kinds."""
    length = len(sentence.split())
    if sentence.endswith(":"):  # a heading
        return []
    told: list[tuple[str, Kinded]] = []
    if length >= _LONG or (length >= _SHORT and kinded.kind is not None and not _replaces(sentence)):
        parts = _SAID["clause"].split(sentence, maxsplit=_MOST_CLAUSES)[:_MOST_CLAUSES]
        clauses = [clause for clause in parts if len(clause.split()) > 1]
        asked = [(clause, kind_of(clause)) for clause in clauses] if len(clauses) > 1 else []
        told = [(clause, own) for clause, own in asked if own.kept >= _CLEAR]
    apart = changes(sentence) or (kinded.kind is not None and _SAID["together"].search(sentence) is None)
    if length < _LONGEST and apart:
        parts = [
            part
            for part in _SAID["phrase"].split(sentence, maxsplit=_MOST_CLAUSES)
            if len(part.split()) > 1 or is_known(part)
        ]
        asked = [(part, kind_of(part)) for part in parts if _SAID["supposed"].match(part) is None]
        phrases = [(part, own) for part, own in asked if own.kept >= _CLEAR]
        more = len(phrases) > max(1, len(told))
        if _replaces(sentence):  # "forget what I said about tabs, I like spaces"
            more = len(phrases) == 1 and asked[0][1].back >= _BACK
        if more and "other" not in value_of(sentence, kinded.kind or FactKind.DECISION).parts:
            return phrases
    if told and (length >= _LONG or len(told) > 1):
        return told
    return [(sentence, kinded)] if length < _LONG or (kinded.kept >= _CLEAR and length < _LONGEST) else []


def _replaces(sentence: str) -> bool:
    """Return whether a sentence names two known choices of one kind."""
    kinds = [CHOICES[each[0].lower().replace("_", " ")] for each in named(sentence)]
    return len(set(kinds)) < len(kinds)


def _replaced(found: Found) -> Iterator[Found]:
    """Yield the denial of a replaced tool, whatever its purpose was.

    Where the sentence names its subject, the tool is gone from there alone.
    """
    other, subject = found.parts.get("other", ""), found.parts.get("subject")
    if found.corrects and names_in(other):
        yield Found(other, {"subject": subject} if subject else {}, negative=True, corrects=True, clause=other)


def _statement(said: _Said, part: str, kind: FactKind, found: Found, weight: float) -> Statement:
    french = is_french(said.prose)
    value = up_to_another(found.value)
    subject = subject_of(kind, found, value, head_first=french)
    shown = _with_code(said, value)
    bare = _SAID["for_it"].sub("", value)
    if (
        is_known(bare)
        and about(value).name == subject.name
        and (purpose(value) or _SAID["as"].match(value[len(bare) :]))
    ):
        shown = bare
    limit = where(said.prose if part == said.prose else part)
    reason = found.parts.get("reason", "")
    return Statement(
        kind=kind,
        text=said.text,
        subject=subject.name,
        attribute=subject.attribute,
        value=f"{'pas' if french else 'not'} {shown}" if found.negative else shown,
        confidence=round(min(weight, _MOST), 2),
        reason=said.before.strip(" .!") if kind is FactKind.FIX and reason.lower() in PRONOUNS else reason,
        where=_place(kind, shown, limit),
        start=said.start,
        end=said.end,
        corrects=found.corrects,
    )


def _with_code(said: _Said, value: str) -> str:
    """Return a value with its blanked code put back."""
    if "`" not in said.text:
        return value
    pattern = re.compile("`?" + r"[\s`]+".join(re.escape(word) for word in value.split()) + "`?")
    found = pattern.search(said.prose)
    if found is None:
        return value
    behind = _SAID["code"].match(said.text, found.end())
    shown = " ".join(said.text[found.start() : behind.end() if behind else found.end()].split())
    whole = shown.count("`") > 1 and (shown[0] != "`" or shown[-1] != "`" or shown.count("`") > 2)
    return shown if whole else shown.strip("`")


def _place(kind: FactKind, value: str, limit: str) -> str:
    """Return a statement's limit, without a language that the statement asserts.

    "The backend is in Go" is not a rule for Go code.
    """
    told = kind in (FactKind.FACT, FactKind.DECISION) and limit.startswith("language:")
    return "" if told and value.partition(" ")[0].lower() in {*LANGUAGES_OF_CODE, "go", "c"} else limit
