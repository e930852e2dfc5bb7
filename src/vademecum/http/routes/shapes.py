"""What answers look like, for `/openapi.json`: the records that routes hand on, named where FastAPI looks for them.

Routes write their answers themselves; a test asks everything and holds the answers against these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from vademecum.answers.piece import Form
from vademecum.code.graph.outline import Entry
from vademecum.http.problems import MEDIA_TYPE
from vademecum.memory.records import Event, Evidence, Fact
from vademecum.tools.records import Group, Usage
from vademecum.types import Freshness, Verdict

T = TypeVar("T")


class Shape(BaseModel):
    """All that an answer says: nothing else is in it."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)


class Page(Shape, Generic[T]):
    """Part of a long list."""

    items: list[T]
    total: int
    next: str | None = Field(description="The cursor of the page after this; null at the end.")


class Problem(Shape):
    """What is wrong, and how to mend it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str = ""
    error: str = Field(default="", description="The class of the error, as docs/errors.md lists them.")


class Declaration(Shape):
    """A declared name."""

    name: str
    qualified: str
    kind: str
    path: str
    start_line: int
    end_line: int


class Node(Shape):
    """A declaration or file to be drawn."""

    id: str
    name: str
    short: str
    kind: str
    path: str
    start: int
    end: int
    weight: float


class Edge(Shape):
    """What leads from one node to another."""

    from_: str = Field(alias="from")
    to: str
    relation: str
    tier: str
    line: int


class Drawing(Shape):
    """Nodes and the edges among them."""

    title: str
    centre: list[str]
    left_out: int
    nodes: list[Node]
    edges: list[Edge]


class MapShape(Shape):
    """Repositories in so many tokens."""

    task: str
    markdown: str
    tokens: int
    budget: int
    counter: str
    left_out: int
    entries: list[Entry]


class JobShape(Shape):
    """An index run."""

    id: str
    repo: str
    full: bool
    commit: str
    state: str
    stage: str
    done: int
    total: int
    created_at: float
    started_at: float | None
    finished_at: float | None
    report: dict[str, Any] | None
    problem: Problem | None


class RecalledShape(Shape):
    """What memory answers."""

    query: str
    verdict: Verdict
    probability: float
    evidence: list[Evidence]
    reason: str
    since: float | None
    until: float | None
    searched: int


class Found(Shape):
    """One result: its place, its lines, why it ranks there, and whether it still holds."""

    id: str = Field(description="`<repo>:<commit>:<path>:<hash of the chunk>`.")
    repo: str
    branch: str
    commit: str
    path: str
    start_line: int = Field(description="Lines count from 1, and both are meant.")
    end_line: int
    snippet: str
    snippet_line: int = Field(description="The line that the snippet begins with.")
    best_line: int = Field(description="The line from which to show it where only some are shown.")
    score: float
    kind: str
    language: str
    symbols: list[str]
    signature: str
    summary: str
    file_kind: str
    signals: dict[str, float] = Field(description="Ranks and boosts by name: why it ranks where it does.")
    freshness: Freshness
    metadata: dict[str, Any] = Field(description="What is known of the declaration: parameters, complexity, calls, …")
    url: str = Field(description="Of an item of a backlog or of documents: where a person looks at it.")
    updated: str


class AnswerShape(Shape):
    """What was found, how far to trust it, and, when nothing was, why."""

    query: str
    verdict: Verdict
    probability: float = Field(ge=0, le=1, description="That the evidence holds the answer.")
    reason: str
    nearest: list[str] = Field(description="Names close to what was asked, apart from the evidence.")
    searched: int = Field(description="How many chunks passed the filters.")
    evidence: list[Found]


class SearchShape(AnswerShape):
    """What a search shows: a result's lines are those of its snippet; of a place alone the snippet is empty."""

    tokens: int = Field(description="What the answer takes as text; the budget is of these.")
    left_out: int = Field(description="How many results found no room.")
    remembered: list[str] = Field(description="Notes in memory about the code that is shown.")


class ChunkShape(Shape):
    """Code or a line to read; a line that stands in no file has no place."""

    why: list[str] = Field(description="What of it matches the task, or how it belongs to what does.")
    form: Form
    text: str = ""
    id: str = ""
    repo: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    freshness: Freshness = Freshness.FRESH
    symbols: list[str] = []


class SectionShape(Shape):
    """Chunks of one sort, the most wanted first."""

    name: str
    chunks: list[ChunkShape]


class ContextShape(Shape):
    """What to read for a task; of `tokens` and what follows it only what is known where the budget holds any text."""

    task: str = ""
    verdict: Verdict
    probability: float = Field(ge=0, le=1)
    reason: str = ""
    nearest: list[str] = []
    tokens: int = 0
    budget: int = 0
    counter: str = ""
    left_out: int = 0
    shown_before: int = 0
    sections: list[SectionShape]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFact(Fact):
    """A fact, where it is kept, and what it is now."""

    scope: Literal["repository", "global"]
    state: Literal["holds", "past", "disputed", "confirmed", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened(Event):
    """An event, and the name of its chapter."""

    chapter: str


class ChapterShape(Shape):
    """A stretch of the past; `events` counts them."""

    name: str
    since: float | None
    until: float | None
    events: int
    digests: list[str] = Field(description="What its sessions came to.")


class TimelineShape(Page[Happened]):
    """What was said and committed, the latest first, and the chapters that these events are of."""

    chapters: list[ChapterShape]


class InputShape(Shape):
    """What a tool takes."""

    name: str
    type: str
    required: bool


class ToolNode(Shape):
    """A tool, a capability or a meta-capability, and how it fared."""

    id: str
    name: str
    kind: Literal["tool", "capability", "meta"]
    about: str
    inputs: list[InputShape]
    calls: int
    good: int


class Arc(Shape):
    """What leads from tools to one, all by their number among the nodes."""

    tail: list[int]
    head: int
    kind: str
    weight: float = Field(description="What going along it costs.")
    seen: int = Field(description="In how many traces, of a sequence.")
    input: str = Field(description="The input that it is about, if it is about one.")


class Given(Shape):
    """An input of a task, and the task before it that gives it, if one does."""

    name: str
    from_: str = Field(alias="from")
    required: bool


class TaskShape(Shape):
    """One call of a plan."""

    id: str
    call: str
    type: Literal["tool", "capability"]
    depends_on: list[str]
    inputs: list[Given]
    probability: float


class PlanShape(Shape):
    """What to call for an intent, in layers whose tasks can run at the same time."""

    intent: str
    tasks: list[TaskShape]
    layers: list[list[str]]
    confidence: float
    evidence: list[str] = Field(description="Ids of the traces that support it.")
    missing: list[str]
    reason: str
    contains: list[Group] = Field(description="What its calls make up.")


class ToolGraph(Shape):
    """How tools lead to each other, and a plan where an intent was given."""

    nodes: list[ToolNode]
    arcs: list[Arc]
    tools: int
    traces: int
    plan: PlanShape | None


class Standing(Shape):
    """How the server stands."""

    status: str


class Markdown(Shape):
    """A text to be read."""

    markdown: str


class Forgotten(Shape):
    """What was forgotten, and how many events lost words."""

    id: str
    events: int


class ListedTool(Shape):
    """A registered tool, and how it fared."""

    id: str
    name: str
    server: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    about: str = Field(description="What its server says of itself.")
    pinned: bool
    usage: Usage | None


class Repo(Shape):
    """A repository that is open."""

    name: str
    root: str


class Repos(Shape):
    """The repositories that are open."""

    items: list[Repo]


class Value(Shape):
    """A setting, and which layer set it."""

    value: Any
    origin: str


class SettingsShape(Shape):
    """Every setting."""

    settings: dict[str, Value]
    home: str
    warnings: list[str]


class JsonLines(StreamingResponse):
    """A JSON document a line."""

    media_type = "application/x-ndjson"


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
# Beside what each route says: any of them may answer so.
ALWAYS: dict[int | str, dict[str, Any]] = {
    304: {"description": "What `If-None-Match` names is still so."},
    422: {"description": "A parameter is missing or wrong.", **_PROBLEM},
    "default": {"description": "What is wrong, and how to mend it.", "model": Problem, **_PROBLEM},
}
