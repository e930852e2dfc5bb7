"""Records of tools, traces and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from vademecum.types import Verdict

Kind = Literal["capability", "meta"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; its id is `server/name`, so equal names stay apart."""

    id: str
    name: str
    server: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)  # JSON Schema of its arguments
    output_schema: Mapping[str, Any] = field(default_factory=dict)  # empty where it promises nothing
    about: str = field(default="", compare=False)  # what its server says of itself; kept once for each server
    annotations: Mapping[str, Any] = field(default_factory=dict, compare=False)  # MCP's hints, of a running server

    @property
    def reads(self) -> bool:
        """True if the tool says that it changes nothing."""
        return self.annotations.get("readOnlyHint") is True

    @classmethod
    def of(cls, server: str, name: str, description: str = "", **more: Any) -> Tool:
        """Return a tool with the id of its server and name.

        >>> Tool.of("files", "read").id, Tool.of("", "Bash").id
        ('files/read', 'Bash')
        """
        return cls(f"{server}/{name}" if server else name, name, server, description, **more)


@dataclass(frozen=True, slots=True)
class Call:
    """One call in a trace, without the values of its arguments."""

    tool: str  # a Tool's id
    arguments: tuple[str, ...] = ()  # names only
    ok: bool = True
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace: the calls for one intent, in order."""

    id: str  # the same for the same happening, however often it is observed
    intent: str
    calls: tuple[Call, ...]
    links: tuple[tuple[int, int], ...] = ()  # calls whose outcome a later one used; () where that was not seen
    session: str = ""
    at: float = 0.0  # seconds since the epoch
    ok: bool = True  # whether the intent was met


@dataclass(frozen=True, slots=True)
class Rejected:
    """One refused item of a file, with the reason."""

    place: str  # "line 3", "tools[7]"
    reason: str


@dataclass(frozen=True, slots=True)
class RegisterReport:
    """The result of registering tools."""

    added: int
    changed: int
    unchanged: int
    removed: int = 0  # no longer listed by their server
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True)
class ObserveReport:
    """The result of observing traces."""

    added: int
    changed: int  # traces that were known with other calls or another outcome
    unchanged: int
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A learned group: a capability of tools, or a meta-capability of capabilities."""

    id: str
    kind: Kind
    members: tuple[str, ...]  # ids in order: tools, or of a meta-capability capabilities and single tools
    tools: tuple[str, ...]  # all of them, in order
    traces: int  # that show it
    links: tuple[tuple[int, int], ...] = ()  # of a capability: places of calls whose outcome a later one uses


@dataclass(frozen=True, slots=True)
class Match:
    """A tool or learned group that fits an intent, with the reasons."""

    id: str  # a Tool's id, or the Group's
    kind: Literal["tool", "capability", "meta"]
    name: str
    server: str
    description: str
    score: float  # semantic * reliability, at most 0.95
    semantic: float  # 0..1
    reliability: float  # a factor around 1
    tools: tuple[str, ...] = ()  # of a capability or a meta-capability, in order
    contains: tuple[tuple[str, ...], ...] = ()  # of a meta-capability: the tools of each of its capabilities
    why: Mapping[str, float] = field(default_factory=dict)  # what each signal said
    traces: tuple[str, ...] = ()  # ids of past traces that speak for it, the nearest first
    pinned: bool = False
    exact: bool = False  # its name is what was asked for
    input_schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The fitting tools, with a verdict and its probability."""

    query: str
    verdict: Verdict
    probability: float  # that a right tool is among the matches, 0..1
    matches: tuple[Match, ...] = ()
    reason: str = ""
    nearest: tuple[str, ...] = ()  # ids of names spelled nearly so, and where nothing fits of the nearest tools
    searched: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that may be called next."""

    tool: str
    name: str
    probability: float
    why: Mapping[str, float] = field(default_factory=dict)  # what each head adds to its log-odds over the average tool
    traces: tuple[str, ...] = ()  # ids of past traces that speak for it
    path: tuple[str, ...] = ()  # how to get there from what was called already, this tool last


@dataclass(frozen=True, slots=True)
class Prediction:
    """The next call; `abstained` where no candidate is likely enough."""

    intent: str
    after: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    abstained: bool
    probability: float  # that the first candidate is right, 0..1
    done: float  # probability that nothing more is needed, 0..1
    reason: str = ""
    traces: int = 0  # how many stood behind it


@dataclass(frozen=True, slots=True)
class Task:
    """One call of a plan."""

    id: str
    call: str  # a Tool's id
    type: Literal["tool", "capability"]
    depends_on: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()  # names of the arguments it takes
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls for an intent as an acyclic graph, in parallel layers."""

    intent: str
    tasks: tuple[Task, ...]
    layers: tuple[tuple[str, ...], ...]  # ids of tasks
    confidence: float  # 0..1, of a call of it to be right; `tools.confidence`
    evidence: tuple[str, ...] = ()  # ids of the traces that support it
    missing: tuple[str, ...] = ()  # inputs that nothing known provides
    reason: str = ""
    contains: tuple[Group, ...] = ()  # what its calls make up; meta-capabilities after the capabilities they contain


@dataclass(frozen=True, slots=True)
class Usage:
    """A tool's counts of use and of outcomes."""

    tool: str
    calls: int
    failures: int
    reliability: float
    latency_s: float  # median of the calls that say one; 0 where none does
    last_at: float  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as listed, with its pin and its usage."""

    tool: Tool
    pinned: bool
    usage: Usage | None

    def record(self) -> dict[str, Any]:
        """Return it as JSON-serialisable values."""
        return {**asdict(self.tool), "pinned": self.pinned, "usage": None if self.usage is None else asdict(self.usage)}


@dataclass(frozen=True, slots=True)
class ToolsStatus:
    """Counts of tools, traces and learned groups."""

    tools: int
    servers: Mapping[str, int]  # tools by server, most first
    traces: int
    sessions: int
    capabilities: int  # distinct chains of several tools
    metas: int = 0  # meta-capabilities that several traces show
    recurring: tuple[Group, ...] = ()  # those shown most often, with the capabilities they contain before them
    used: tuple[Usage, ...] = ()  # the most used first
    unused: int = 0  # registered and in no trace
    pinned: tuple[str, ...] = ()
    database: str = ""
