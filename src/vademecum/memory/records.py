"""What memory is made of: events as they happened, and facts that were drawn from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

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
    "role_of",
]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, word for word but for secrets. Append-only."""

    id: str  # the same for the same happening, however often it is imported
    at: float  # seconds since the epoch
    role: Role
    text: str
    session: str = ""
    repo: str = ""  # the repository's root, "" where it concerns none
    speaker: str = ""  # a name where one is known; the role says the rest
    metadata: Mapping[str, Any] = field(default_factory=dict)  # what JSON can hold


@dataclass(frozen=True, slots=True)
class Statement:
    """What a rule read in one message, before memory makes a fact of it."""

    kind: FactKind
    text: str  # the sentence, as it was said
    subject: str  # what it is about: "indentation", "package manager"; "" where nothing can be named
    attribute: str  # what of it; "" where there is but one thing to say of the subject
    value: str  # what holds: "tabs", "pnpm"
    confidence: float  # 0..1: pattern class, speaker, hedges; repetition is counted when it becomes a fact
    reason: str = ""  # a decision's because, a fix's problem
    where: str = ""  # a path glob or `language:NAME` it is limited to; "" for the whole scope; "*" for everywhere
    start: int = 0  # characters of the message, half-open
    end: int = 0
    corrects: bool = False  # it takes back what was said before


class Reading(NamedTuple):
    """What was read in a message, in its order, and how many characters of it were left unread."""

    statements: Sequence[Statement] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as it is kept: who said it when, and which fact's history it belongs to."""

    event: str
    position: int  # among the statements of its event
    key: str  # claims of one key are about the same thing
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
    """What holds, or held: one value of one thing for one interval, and what says so."""

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
    first_at: float  # when it was first said, seconds since the epoch
    last_at: float
    valid_from: float
    valid_to: float | None  # None while it holds
    superseded_by: str  # the fact that closed it, "" for none
    disputed: bool  # another value is claimed for the same time, and nothing decides between them
    confirmed: bool  # a person said so
    recorded_at: float
    event: str  # where it was first said

    @property
    def topic(self) -> str:
        """What it is about, in words; its kind where nothing is named."""
        return label(self.subject, self.attribute, self.text, str(self.kind))

    def holds_at(self, at: float) -> bool:
        """Return whether it held at a time."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A symbol a fact is about, and what became of it."""

    symbol: str
    path: str
    hash: str  # of the code when the fact was learned
    state: AnchorState = AnchorState.CURRENT


@dataclass(frozen=True, slots=True)
class Note:
    """A fact as it is shown beside code: with its anchors, and by which symbol it came here."""

    fact: Fact
    anchors: tuple[Anchor, ...] = ()
    through: str = ""  # the symbol shown that calls the one it is about; "" where it is about the symbol itself


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of what is remembered: an event, why it is here, and what has become of what it says."""

    event: Event
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()  # drawn from this event
    now: tuple[Fact, ...] = ()  # what took the place of those of them that no longer hold
    against: tuple[Fact, ...] = ()  # what else is said of the same where nothing decides
    superseded_by: str = ""  # the event in this answer that says the same of a later time
    anchors: tuple[Anchor, ...] = ()
    scope: str = ""  # "repository" or "global"
    repo: str = ""  # the root of the repository whose memory holds it, "" for the global one


@dataclass(frozen=True, slots=True)
class Recalled:
    """What memory answers: the evidence, how far to trust that the answer is among it, and why not."""

    query: str
    verdict: Verdict
    probability: float  # that memory holds the answer, 0..1
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""  # said when the verdict is not `resolved`
    since: float | None = None  # the time the question is about, seconds since the epoch, half-open
    until: float | None = None
    searched: int = 0  # events that passed the filters

    def __bool__(self) -> bool:
        """True when anything was found."""
        from vademecum.types import Verdict

        return self.verdict is not Verdict.NOT_FOUND


@dataclass(frozen=True, slots=True)
class Recorded:
    """What recording did."""

    events: int  # new ones
    known: int  # that were there already, or were forgotten and stay so
    facts: int  # statements read in the new ones
    redacted: Mapping[str, int] = field(default_factory=dict)  # secrets taken out, by kind
    ids: tuple[str, ...] = ()  # of the events handed in
    left: int = 0  # characters of the new ones that are read later, when nobody waits
    kept_out: int = 0  # of the statements those that were forgotten or rejected before, and stay so

    def plus(self, other: Recorded) -> Recorded:
        """Return what both did together."""
        redacted = Counter(self.redacted) + Counter(other.redacted)
        events, known, facts = self.events + other.events, self.known + other.known, self.facts + other.facts
        left, kept_out = self.left + other.left, self.kept_out + other.kept_out
        return Recorded(events, known, facts, dict(redacted), self.ids + other.ids, left, kept_out)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A stretch of the past and what happened in it."""

    name: str  # "today", "last week", "October 2025"
    since: float
    until: float
    events: tuple[Event, ...]
    digests: tuple[str, ...] = ()


_FIRST_MOMENT, _LAST_MOMENT = (
    -62_000_000_000.0,
    253_000_000_000.0,
)  # a year from where Python's dates end, for all zones


def is_time(at: float) -> bool:
    """Return whether a number of seconds since the epoch is a moment that calendars know, from the year 2 to 9998.

    >>> is_time(1_760_000_400.0), is_time(float("inf")), is_time(float("nan"))
    (True, False, False)
    """
    return _FIRST_MOMENT <= at < _LAST_MOMENT


def writable(text: str) -> str:
    r"""Return a text that a database takes: halves of a character are joined, and one that stands alone is replaced.

    JSON may hold them, and programs that cut texts by their UTF-16 length write them.

    >>> writable("caf\u00e9"), writable("\ud83d\ude00"), writable("cut \ud83d") == "cut \ufffd"
    ('café', '😀', True)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def event_id(session: str, role: str, text: str, at: float) -> str:
    """Return an id that is the same for the same words of the same moment.

    >>> event_id("s", "user", "hello", 0.0) == event_id("s", "user", "hello", 0.0)
    True
    """
    parts = "\0".join((session, role, f"{at:.3f}", text)).encode("utf-8", "surrogatepass")
    return blake2b(parts, digest_size=8).hexdigest()


def role_of(name: str) -> Role:
    """Return the role of a name. Raises `UsageError`."""
    try:
        return Role(name)
    except ValueError:
        raise UsageError(f"there is no role {name!r}: there are {', '.join(Role)}") from None


def kind_of(name: str) -> FactKind:
    """Return the kind of fact of a name. Raises `UsageError`."""
    try:
        return FactKind(name)
    except ValueError:
        raise UsageError(f"there is no kind {name!r} of facts: there are {', '.join(FactKind)}") from None
