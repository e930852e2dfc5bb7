"""Settle claims into facts, the current and the past ones.

A claim is a statement with its event; claims are only ever added. A fact is an interval in which one value of one subject
holds. It is computed from the claims of its key alone, in order of time, so the order of recording does not matter: importing
an old transcript after a new one gives the same history.

    claims                            facts
    spaces, said at 2; tabs, at 1     tabs, from 1 to 2; spaces, from 2 on

A later claim ends the facts it contradicts if it is a correction, or is as confident as they are, or confident enough to act
on. Otherwise both stand, disputed, until a person confirms one. A value that a person confirms holds from then on, even if
another had replaced it. Denying one value does not contradict another: "don't use npm" leaves "we use pnpm" as it is, and the
other way round.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vademecum.digests import blake2b
from vademecum.memory.kinds import REPLACING
from vademecum.memory.labels import names_in
from vademecum.memory.records import Claim, Event, Fact, FactKind, Role, Statement
from vademecum.memory.reversals import kinds_of
from vademecum.memory.words import is_denied, terms

CONFIRMED, REJECTED, FORGOTTEN = "confirmed", "rejected", "forgotten"
HELD = "held"  # noted by an agent from fetched text: it waits for a person
SURE = 0.6  # confidence that is enough to act on (Emergence: the confidence from which preferences are injected)
_NUMBER = re.compile(r"\d[\d.]*")
_DENIED = re.compile(r"(?i)(?:not|no|never|pas|jamais|aucune?)\b")  # the beginning of a denied value
NEARLY_AS_SURE = 0.1
REPEATED = 0.5  # a repetition removes this share of the remaining doubt, times its own confidence
MOST = 0.99  # only a person's confirmation is certain
# The subject of a long rule is a guess: "editing" of "editing in short bursts" and of "AI tools for editing to save time"
LONG, ALIKE = 4, 0.25  # terms of a value; share of both values' terms
TAKEN_BACK = 1_000_000  # added to the position of a claim that takes back a fact of another key


def claim_of(statement: Statement, position: int, event: Event, recorded_at: float, key: str = "") -> Claim:
    """Return a statement as a claim of its event.

    Args:
        statement: The statement.
        position: Its place among the event's statements.
        event: The event that it was read in.
        recorded_at: The time of recording, in seconds since the epoch.
        key: The key of the fact, if known; else it is made from the subject.
    """
    key = key or fact_key(statement)
    digest = digest_of(key, statement.value or statement.text)
    role = Role.ASSISTANT if event.metadata.get("by") == "agent" else event.role  # a note by an agent
    return Claim(
        event.id, position, key, digest, statement.kind, statement.text, statement.subject, statement.attribute,
        statement.value, statement.reason, statement.where, statement.confidence, statement.corrects, event.at,
        event.speaker or str(role), recorded_at,
    )  # fmt: skip


def fact_key(statement: Statement) -> str:
    """Return the key that all claims about one subject share.

    The key of a statement without a subject is its own text.

    >>> one = Statement(FactKind.PREFERENCE, "I prefer tabs", "indentation", "", "tabs", 0.9)
    >>> fact_key(one) == fact_key(replace(one, kind=FactKind.DECISION, value="spaces"))
    True
    """
    about = " ".join(terms(statement.subject))  # words like "one" and "that" leave no terms
    if statement.kind in REPLACING and about:
        parts = ("of", about, " ".join(terms(statement.attribute)), statement.where)
    else:
        parts = (str(statement.kind), " ".join(terms(statement.text)), "", statement.where)
    return "|".join(parts)


def digest_of(key: str, value: str) -> str:
    """Return a digest of a value that does not reveal its words.

    Equal for the same words in any form; different for a value and its denial.

    >>> digest_of("k", "tabs") == digest_of("k", "a tab"), digest_of("k", "tabs") == digest_of("k", "not tabs")
    (True, False)
    """
    words = " ".join(terms(value)) or value.strip().lower()
    if is_denied(value):
        words = f"not {words}"
    return blake2b(f"{key}\0{words}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


@dataclass
class _Run:
    """Successive claims of one value, while that value holds."""

    first: Claim
    last: Claim
    confidence: float
    mentions: int = 1
    ordinal: int = 0
    since: float = 0.0  # start of validity, if later than the first claim
    valid_to: float | None = None
    superseded_by: str = ""
    by_person: bool = False

    def repeat(self, claim: Claim) -> None:
        self.by_person |= claim.speaker != Role.ASSISTANT
        self.confidence = min(MOST, 1 - (1 - self.confidence) * (1 - REPEATED * claim.confidence))
        self.mentions += 1
        if (len(claim.text), claim.reason != "") > (len(self.last.text), self.last.reason != ""):
            self.last = claim
        self.last = replace(self.last, at=claim.at)

    @property
    def began(self) -> float:
        """Time from which the value holds."""
        return max(self.since, self.first.at)

    @property
    def id(self) -> str:
        name = f"{self.first.digest}\0{self.ordinal}".encode()
        return blake2b(name, digest_size=5).hexdigest()


def settle(claims: Sequence[Claim], marks: Mapping[str, tuple[str, float]]) -> list[Fact]:
    """Return the facts that the claims of one key make, oldest first.

    Args:
        claims: All claims of the key, in any order.
        marks: Digest → a person's mark on the value, and its time.
    """
    runs: list[_Run] = []
    standing: list[_Run] = []
    times: Counter[str] = Counter()  # runs of each value so far
    words = sorted(
        [(claim.at, claim) for claim in claims] + _brought_back(claims, marks),
        key=lambda said: (said[0], said[1].event, _is_denial(said[1]), said[1].position),
    )
    for at, claim in words:
        mark = marks.get(claim.digest, ("", 0.0))[0]
        if mark in (REJECTED, FORGOTTEN) or (mark == HELD and claim.speaker == Role.ASSISTANT):
            continue
        same = next((run for run in standing if run.first.digest == claim.digest), None)
        if same is not None:
            if at == claim.at:
                same.repeat(claim)
            continue
        run = _Run(claim, claim, min(claim.confidence, MOST), ordinal=times[claim.digest], since=at,
                   by_person=claim.speaker != Role.ASSISTANT)  # fmt: skip
        times[claim.digest] += 1
        rivals = [other for other in standing if _contradicts(claim, other)]
        if rivals and (at != claim.at or all(_decides(claim, other) for other in rivals)):
            for other in rivals:
                other.valid_to, other.superseded_by = at, run.id
            standing = [other for other in standing if other not in rivals]
        runs.append(run)
        if claim.kind is FactKind.TODO and claim.position >= TAKEN_BACK:  # work is done, and nothing holds instead
            run.valid_to, run.superseded_by = at, run.id
        elif heeded := next((other for other in rivals if other in standing and _outweighs(other, claim)), None):
            run.valid_to, run.superseded_by = at, heeded.id
        else:
            standing.append(run)
    standing = _confirmed(standing, marks)
    disputed = {
        run.id
        for run in standing
        if run.first.kind in REPLACING and any(_contradicts(run.first, other) for other in standing if other is not run)
    }
    return [_fact(run, marks, disputed=run.id in disputed) for run in runs]


def _brought_back(claims: Sequence[Claim], marks: Mapping[str, tuple[str, float]]) -> list[tuple[float, Claim]]:
    """Return each confirmed value's last earlier claim, with the confirmation's time."""
    last: dict[str, Claim] = {}
    for claim in sorted(claims, key=lambda c: (c.at, c.event, c.position)):
        mark, at = marks.get(claim.digest, ("", 0.0))
        if mark == CONFIRMED and claim.at < at:
            last[claim.digest] = claim
    return [(marks[digest][1], claim) for digest, claim in last.items()]


def _decides(claim: Claim, other: _Run) -> bool:
    """Return whether a claim replaces another value."""
    later = claim.at > max(other.last.at, other.since) and not _outweighs(other, claim)
    sure = claim.confidence >= SURE or claim.confidence >= other.confidence - NEARLY_AS_SURE
    return later and (claim.corrects or sure)


def _outweighs(run: _Run, claim: Claim) -> bool:
    """Return whether a person's value outweighs an agent's passing word."""
    return claim.speaker == Role.ASSISTANT and claim.confidence < SURE and run.by_person


def _is_denial(claim: Claim) -> bool:
    return _DENIED.match(claim.value) is not None


def _contradicts(claim: Claim, other: _Run) -> bool:
    """Return whether two values of one subject contradict each other.

    Two denials do not, nor does a denial with a value that names something else or, in one event, says something else, nor do
    two uses of one tool ("AWS Lambda", "AWS S3") unless their numbers differ, nor two long values with few words and no kind of
    value in common.
    """
    values = claim.value, other.first.value
    denied = [_is_denial(claim), _is_denial(other.first)]
    one, two = map(names_in, values)
    said = [set(terms(value)) for value in values]
    if any(denied):
        of_one_event = claim.event == other.first.event
        is_apart = said[0].isdisjoint(said[1]) if of_one_event else one and two and one.isdisjoint(two)
        return not all(denied) and not is_apart
    if one & two and not claim.corrects:
        numbers = [set(_NUMBER.findall(value)) for value in values]
        return all(numbers) and numbers[0] != numbers[1]
    if one or two or claim.corrects or min(map(len, said)) < LONG or kinds_of(values[0]) & kinds_of(values[1]):
        return True
    return len(said[0] & said[1]) >= ALIKE * len(said[0] | said[1])


def _confirmed(standing: list[_Run], marks: Mapping[str, tuple[str, float]]) -> list[_Run]:
    """Return the standing runs after a person's confirmation ended its rivals."""
    said = [run for run in standing if marks.get(run.first.digest, ("",))[0] == CONFIRMED]
    if not said or len(standing) == 1:
        return standing
    chosen = max(said, key=lambda run: marks[run.first.digest][1])
    rivals = [run for run in standing if run is not chosen and _contradicts(chosen.first, run)]
    for run in rivals:
        run.valid_to, run.superseded_by = max(marks[chosen.first.digest][1], run.began), chosen.id
    return [run for run in standing if run not in rivals]


def _fact(run: _Run, marks: Mapping[str, tuple[str, float]], *, disputed: bool) -> Fact:
    confirmed = marks.get(run.first.digest, ("",))[0] == CONFIRMED
    said = run.last
    return Fact(
        run.id, said.key, run.first.digest, said.kind, said.text, said.subject, said.attribute, said.value or said.text,
        said.reason, said.place, 1.0 if confirmed else round(run.confidence, 4), run.mentions, run.first.at, said.at,
        run.began, run.valid_to, run.superseded_by, disputed, confirmed, run.first.recorded_at, run.first.event,
    )  # fmt: skip
