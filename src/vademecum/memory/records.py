"""Records of memory: events, statements, claims, facts and answers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vademecum.digests import blake2b
from vademecum.errors import UsageError
from vademecum.memory.kinds import AnchorState, FactKind, Role
from vademecum.memory.labels import label

if TYPE_CHECKING:
    from vademecum.types import Verdict

__all__ = [
    "Anchor",
    "AnchorState",
    "Chapter",
    "Claim",
    "Event",
    "Evidence",
    "Fact",
    "FactKind",
    "Note",
    "Recalled",
    "Recorded",
    "Role",
    "Statement",
    "event_id",
    "member_of",
]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, word for word without secrets. Append-only."""

    id: str  # stays the same if the event is imported again
    at: float  # seconds since the epoch
    role: Role
    text: str
    session: str = ""
    repo: str = ""  # the repository's root, "" for none
    speaker: str = ""  # a name, if known
    metadata: Mapping[str, Any] = field(default_factory=dict)  # any JSON values

    @property
    def path(self) -> str:
        """Path that an edit changed, relative to the repository; "" for none."""
        return str(self.metadata.get("path", "")).removeprefix(f"{self.repo}{os.sep}")


BEFORE = "the message before"  # the subject of words that take it back or correct it


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement read in a message, before it becomes a claim."""

    kind: FactKind
    text: str  # the sentence, word for word
    subject: str  # "indentation", "package manager"; "" for none
    attribute: str  # the aspect of the subject; "" for none
    value: str  # "tabs", "pnpm"
    confidence: float  # 0..1, from the form, the speaker and hedges; repetition counts when the fact is settled
    reason: str = ""  # the reason of a decision, the problem of a fix
    where: str = ""  # a path glob or `language:NAME` it is limited to; "" for the whole scope; "*" for everywhere
    start: int = 0  # characters of the message, half-open
    end: int = 0
    corrects: bool = False  # it takes back an earlier statement


class Reading(NamedTuple):
    """Statements of a message in order, and the number of unread characters."""

    statements: Sequence[Statement] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A stored statement, with its speaker, time and fact key."""

    event: str
    position: int  # among the statements of its event
    key: str  # equal for claims about one subject
    digest: str  # of key and value
    kind: FactKind
    text: str
    subject: str
    attribute: str
    value: str
    reason: str
    place: str
    confidence: float
    corrects: bool
    at: float
    speaker: str
    recorded_at: float


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one subject for one interval, with its support."""

    id: str
    key: str
    digest: str
    kind: FactKind
    text: str
    subject: str
    attribute: str
    value: str
    reason: str
    place: str  # as `Statement.where`
    confidence: float
    mentions: int
    first_at: float  # time of the first claim, seconds since the epoch
    last_at: float
    valid_from: float
    valid_to: float | None  # None while it holds
    superseded_by: str  # the fact that ended it, "" for none
    disputed: bool  # another value is claimed for the same time, and neither has ended the other
    confirmed: bool  # by a person
    recorded_at: float
    event: str  # the event of the first claim

    @property
    def topic(self) -> str:
        """Label of the subject in words; the kind if there is none."""
        return label(self.subject, self.attribute, self.text, str(self.kind))

    def holds_at(self, at: float) -> bool:
        """Return whether the fact held at a time."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A symbol that a fact concerns, and its code's state."""

    symbol: str
    path: str
    hash: str  # of the code when the fact was learned
    state: AnchorState = AnchorState.CURRENT


@dataclass(frozen=True, slots=True)
class Note:
    """A fact shown beside code, with its anchors."""

    fact: Fact
    anchors: tuple[Anchor, ...] = ()
    through: str = ""  # the shown symbol that calls the fact's symbol; "" if the fact's symbol is shown itself


@dataclass(frozen=True, slots=True)
class Evidence:
    """One recalled event, with its score, its facts and their successors."""

    event: Event
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()  # stated by this event
    now: tuple[Fact, ...] = ()  # successors of those facts that no longer hold
    against: tuple[Fact, ...] = ()  # rivals of disputed facts
    superseded_by: str = ""  # the later event in this answer that replaces this one
    anchors: tuple[Anchor, ...] = ()
    scope: str = ""  # "repository" or "global"
    repo: str = ""  # the root of the repository whose memory holds it, "" for the global one


@dataclass(frozen=True, slots=True)
class Recalled:
    """Answer of a recall: evidence, a verdict, and a reason."""

    query: str
    verdict: Verdict
    probability: float  # that memory holds the answer, 0..1
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""  # given when the verdict is not `resolved`, or words alone ranked
    since: float | None = None  # the time the question is about, seconds since the epoch, half-open
    until: float | None = None
    searched: int = 0  # events that passed the filters
    weights: Mapping[int, float] = field(default_factory=dict)  # of the question's terms, by key

    def __bool__(self) -> bool:
        """True when anything was found."""
        from vademecum.types import Verdict

        return self.verdict is not Verdict.NOT_FOUND


@dataclass(frozen=True, slots=True)
class Recorded:
    """Counts of one recording."""

    events: int  # new events
    known: int  # events already stored, or deleted before
    facts: int  # statements in the new events
    redacted: Mapping[str, int] = field(default_factory=dict)  # secrets removed, by kind
    ids: tuple[str, ...] = ()  # of all events given
    left: int = 0  # characters of the new events that are not read for facts
    kept_out: int = 0  # statements whose value was forgotten or rejected before

    def plus(self, other: Recorded) -> Recorded:
        """Return the sum of two recordings."""
        redacted = Counter(self.redacted) + Counter(other.redacted)
        events, known, facts = self.events + other.events, self.known + other.known, self.facts + other.facts
        left, kept_out = self.left + other.left, self.kept_out + other.kept_out
        return Recorded(events, known, facts, dict(redacted), self.ids + other.ids, left, kept_out)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A period of the past, with its events and session digests."""

    name: str  # "today", "last week", "2025-10"
    since: float
    until: float
    events: tuple[Event, ...]
    digests: tuple[str, ...] = ()


_FIRST_MOMENT, _LAST_MOMENT = (
    -62_000_000_000.0,
    253_000_000_000.0,
)  # some years inside the range of Python's dates, for all zones


def is_time(at: float) -> bool:
    """Return whether a time, in seconds since the epoch, fits a calendar.

    The years 6 to 9987 do.

    >>> is_time(1_760_000_400.0), is_time(float("inf")), is_time(float("nan"))
    (True, False, False)
    """
    return _FIRST_MOMENT <= at < _LAST_MOMENT


def writable(text: str) -> str:
    r"""Return a text that a database can store, with lone surrogates replaced.

    Pairs of surrogates are joined.

    JSON may hold surrogates, and programs that cut texts by UTF-16 length write lone ones.

    >>> writable("caf\u00e9"), writable("\ud83d\ude00"), writable("cut \ud83d") == "cut \ufffd"
    ('café', '😀', True)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def event_id(session: str, role: str, text: str, at: float) -> str:
    """Return an id that is equal for equal words at one time.

    >>> event_id("s", "user", "hello", 0.0) == event_id("s", "user", "hello", 0.0)
    True
    """
    parts = "\0".join((session, role, f"{at:.3f}", text)).encode("utf-8", "surrogatepass")
    return blake2b(parts, digest_size=8).hexdigest()


E = TypeVar("E", bound=StrEnum)


def member_of(names: type[E], name: str, called: str) -> E:
    """Return the member of an enum with a name. Raises `UsageError`.

    >>> member_of(Role, "user", "role")
    <Role.USER: 'user'>
    """
    try:
        return names(name)
    except ValueError:
        raise UsageError(f"there is no {called} {name!r}: there are {', '.join(names)}") from None
