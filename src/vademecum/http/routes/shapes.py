"""What answers look like, for `/openapi.json`: the records that routes hand on, named where FastAPI looks for them.

Routes write their answers themselves; a test asks everything and holds the answers against these.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from vademecum.codebase.outline import Entry
from vademecum.http.problems import MEDIA_TYPE
from vademecum.memory.records import Evidence
from vademecum.tools.records import Usage
from vademecum.types import Verdict

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """Part of a long list."""

    items: list[T]
    total: int
    next: str | None = Field(description="The cursor of the page after this; null at the end.")


class Problem(BaseModel):
    """What is wrong, and how to mend it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str = ""
    error: str = Field(default="", description="The class of the error, as docs/errors.md lists them.")


class Declaration(BaseModel):
    """A declared name."""

    name: str
    qualified: str
    kind: str
    path: str
    start_line: int
    end_line: int


class Node(BaseModel):
    """A declaration or file to be drawn."""

    id: str
    name: str
    short: str
    kind: str
    path: str
    start: int
    end: int
    weight: float


class Edge(BaseModel):
    """What leads from one node to another."""

    from_: str = Field(alias="from")
    to: str
    relation: str
    tier: str
    line: int


class Drawing(BaseModel):
    """Nodes and the edges among them."""

    title: str
    centre: list[str]
    left_out: int
    nodes: list[Node]
    edges: list[Edge]


class MapShape(BaseModel):
    """Repositories in so many tokens."""

    task: str
    markdown: str
    tokens: int
    budget: int
    counter: str
    left_out: int
    entries: list[Entry]


class JobShape(BaseModel):
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


class RecalledShape(BaseModel):
    """What memory answers."""

    query: str
    verdict: Verdict
    probability: float
    evidence: list[Evidence]
    reason: str
    since: float | None
    until: float | None
    searched: int


class Markdown(BaseModel):
    """A text to be read."""

    markdown: str


class Forgotten(BaseModel):
    """What was forgotten, and how many events lost words."""

    id: str
    events: int


class ListedTool(BaseModel):
    """A registered tool, and how it fared."""

    id: str
    name: str
    server: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    pinned: bool
    usage: Usage | None


class Repo(BaseModel):
    """A repository that is open."""

    name: str
    root: str


class Repos(BaseModel):
    """The repositories that are open."""

    items: list[Repo]


class Value(BaseModel):
    """A setting, and which layer set it."""

    value: Any
    origin: str


class SettingsShape(BaseModel):
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
