"""Response models for `/openapi.json`, parameters, and pages.

They describe the records that routes return, under the names FastAPI looks for. Routes write their answers themselves; a
test compares every answer with these models.

Long lists come in pages. A cursor holds the place of the last item shown, not a count. Items added or deleted meanwhile neither repeat nor hide
later items.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Query, Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from vademecum.answers.pack import Form
from vademecum.code.graph.outline import Entry
from vademecum.errors import UsageError
from vademecum.http.problems import MEDIA_TYPE, ProblemError
from vademecum.memory.ledger import Scope
from vademecum.memory.records import Event, Evidence, Fact
from vademecum.memory.timeline import Filter, how_many, latest
from vademecum.tools.records import Usage
from vademecum.types import Freshness, Verdict

Place = tuple[Any, ...]


def page(
    items: Iterable[T], limit: int, cursor: str, place: Callable[[T], Place], show: Callable[[T], Any]
) -> dict[str, Any]:
    """Return one page of items, which are sorted by place.

    The page has the shown items, the total, and the cursor of the next page.

    >>> first = page("abcde", 2, "", lambda item: (item,), str.upper)
    >>> first["items"], first["total"]
    (['A', 'B'], 5)
    >>> page("abbcde", 2, first["next"], lambda item: (item,), str.upper)["items"]
    ['C', 'D']
    """
    known = list(items)
    start = after(cursor)
    try:
        rest = [item for item in known if place(item) > start] if start else known
    except TypeError:  # a cursor of another list
        raise no_cursor(cursor) from None
    shown = rest[:limit]
    following = pack(place(shown[-1])) if len(rest) > limit else None
    return {"items": [show(item) for item in shown], "total": len(known), "next": following}


def events_page(scopes: Sequence[Scope], wanted: Filter, limit: int, cursor: str) -> dict[str, Any]:
    """Return one page of events, the latest first.

    It has the form of `page`, but reads only the page's events. The total is counted once, for the first page.

    Raises:
        UsageError: the cursor belongs to another list, or there is no such role.
        StoreError: a database cannot be read.
    """
    start = after(cursor)
    if start and list(map(type, start)) != [float, str, int]:
        raise no_cursor(cursor)
    found = latest(scopes, wanted, (start[0], start[1]) if start else None, limit + 1)
    total = start[2] if start else how_many(scopes, wanted)
    shown = found[:limit]
    following = pack((float(shown[-1].at), shown[-1].id, total)) if len(found) > limit else None
    return {"items": shown, "total": total, "next": following}


def pack(place: Place) -> str:
    """Return a place as a cursor."""
    text = json.dumps(place, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def after(cursor: str) -> Place:
    """Return the place in a cursor; () for none. Raises `UsageError`."""
    if not cursor:
        return ()
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        place = json.loads(base64.b64decode(padded.encode(), altchars=b"-_", validate=True))
        if isinstance(place, list) and place:
            return tuple(place)
    except (ValueError, binascii.Error, RecursionError):
        pass
    raise no_cursor(cursor)


def no_cursor(cursor: str) -> UsageError:
    """Return the error for a cursor of another list."""
    return UsageError(f"{cursor!r} is not a cursor of this list: give the `next` of the page before, or none to begin")


_LONGEST_NAME = 100  # characters of an unknown name that the error repeats

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")]
Cursor = Annotated[str, Query(max_length=4000, description="The `next` of the page before.")]
Depth = Annotated[int, Query(ge=1, le=3, description="How many steps to follow.")]
Words = Annotated[str, Query(max_length=200, description="A time in words: `last week`, `since Monday`, `2025-10-05`.")]


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


# Bodies without a model: the engine checks each item and names the ones it refuses.
ANY_JSON = _body("application/json", {"anyOf": [{"type": "object"}, {"type": "array"}]})
JSON_LINES = _body("application/x-ndjson", {"type": "string"})


async def only_known(request: Request) -> None:
    """Refuse parameters that a route does not take.

    Ignoring one would answer another question.

    Raises:
        ProblemError: names the parameter, and those that the route takes.
    """
    route = request.scope["route"]
    if not route.path.startswith("/v1/"):
        return
    taken = _taken(route.dependant) if request.query_params else []
    for name in request.query_params:
        if name not in taken:
            fix = f"it takes {', '.join(taken) or 'none'}"
            raise ProblemError(422, f"{name[:_LONGEST_NAME]!r} is no parameter of {request.method} {route.path}: {fix}")


def _taken(dependant: Dependant) -> list[str]:
    """Return the names of a route's query parameters, all included."""
    own = [parameter.alias for parameter in dependant.query_params]
    return [*own, *(name for each in dependant.dependencies for name in _taken(each))]


T = TypeVar("T")


class Shape(BaseModel):
    """A response that has exactly these fields."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)


class Page(Shape, Generic[T]):
    """One page of a long list."""

    items: list[T]
    total: int
    next: str | None = Field(description="The cursor of the page after this; null at the end.")


class Problem(Shape):
    """A problem and its fix (RFC 9457)."""

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
    """A declaration or file to draw."""

    id: str
    name: str
    short: str
    kind: str
    path: str
    start: int
    end: int
    weight: float


class Edge(Shape):
    """An edge between two nodes."""

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
    """A map of repositories within a token budget."""

    task: str
    markdown: str
    tokens: int
    budget: int
    counter: str
    left_out: int
    entries: list[Entry]


class RecalledShape(Shape):
    """An answer of memory."""

    query: str
    verdict: Verdict
    probability: float
    evidence: list[Evidence]
    reason: str
    since: float | None
    until: float | None
    searched: int


class Found(Shape):
    """One result: its place, its code, its signals and freshness."""

    id: str = Field(description="`<repo>:<commit>:<path>:<hash of the chunk>`.")
    repo: str
    branch: str
    commit: str
    path: str
    start_line: int = Field(description="Lines count from 1; both ends are included.")
    end_line: int
    snippet: str
    snippet_line: int = Field(description="The line that the snippet begins with.")
    best_line: int = Field(description="The line to start at if only some lines are shown.")
    score: float
    kind: str
    language: str
    symbols: list[str]
    signature: str
    summary: str
    file_kind: str
    signals: dict[str, float] = Field(description="Ranks and boosts by name: why it ranks where it does.")
    freshness: Freshness
    metadata: dict[str, Any] = Field(description="Facts about the declaration: parameters, complexity, calls, …")
    url: str = Field(description="Address of an item of a backlog or of documents.")
    updated: str


class SearchShape(Shape):
    """The results of a search, as shown.

    A result's lines are those of its snippet. A result shown as a place has no snippet.
    """

    query: str
    verdict: Verdict
    probability: float = Field(ge=0, le=1, description="That the evidence holds the answer.")
    reason: str
    nearest: list[str] = Field(description="Similar names, separate from the evidence.")
    searched: int = Field(description="How many chunks passed the filters.")
    evidence: list[Found]
    tokens: int = Field(description="Tokens of the answer as text, limited by the budget.")
    left_out: int = Field(description="Number of results that did not fit.")
    remembered: list[str] = Field(description="Notes in memory about the code that is shown.")


class ChunkShape(Shape):
    """Code or a line to read.

    A line from memory has no place in a file.
    """

    why: list[str] = Field(description="Signals that match the task, or the relation to a match.")
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
    """A section of a context: chunks of one kind, best first."""

    name: str
    chunks: list[ChunkShape]


class ContextShape(Shape):
    """The code to read for a task.

    `tokens` and the fields after it are known only if the budget holds any text.
    """

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
    """A fact with its scope and state."""

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
    digests: list[str] = Field(description="Summaries of its sessions.")


class TimelineShape(Page[Happened]):
    """Messages and commits, the latest first, with their chapters."""

    chapters: list[ChapterShape]


class InputShape(Shape):
    """An input of a tool."""

    name: str
    type: str
    required: bool


class ToolNode(Shape):
    """A tool, a capability or a meta-capability, with its usage."""

    id: str
    name: str
    kind: Literal["tool", "capability", "meta"]
    about: str
    inputs: list[InputShape]
    calls: int
    good: int


class Arc(Shape):
    """A hyperarc: from several tools to one, numbered as in `nodes`."""

    tail: list[int]
    head: int
    kind: str
    weight: float = Field(description="The cost of the arc.")
    seen: int = Field(description="Number of traces, for an arc of a sequence.")
    input: str = Field(description="The input concerned, if any.")


class ToolGraph(Shape):
    """The graph of tools."""

    nodes: list[ToolNode]
    arcs: list[Arc]
    tools: int
    traces: int


class Standing(Shape):
    """The state of the server."""

    status: str


class Markdown(Shape):
    """A text in Markdown."""

    markdown: str


class Forgotten(Shape):
    """The forgotten id, and the number of changed events."""

    id: str
    events: int


class ListedTool(Shape):
    """A registered tool, with its usage."""

    id: str
    name: str
    server: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    about: str = Field(description="The server's own description.")
    annotations: dict[str, Any] = Field(
        description="The server's word about effects, empty unless the tool was registered with it."
    )
    pinned: bool
    usage: Usage | None


class Repo(Shape):
    """An open repository."""

    name: str
    root: str


class Repos(Shape):
    """The open repositories."""

    items: list[Repo]


class Value(Shape):
    """A setting, with the layer that set it."""

    value: Any
    origin: str
    about: str = Field(description="A sentence on the setting; empty for a setting of a source.")


class SettingsShape(Shape):
    """All settings."""

    settings: dict[str, Value]
    home: str
    warnings: list[str]


class JsonLines(StreamingResponse):
    """A stream of JSON documents, one a line."""

    media_type = "application/x-ndjson"


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
# Responses that any route may give.
ALWAYS: dict[int | str, dict[str, Any]] = {
    304: {"description": "The content that `If-None-Match` names is unchanged."},
    422: {"description": "A parameter is missing or wrong.", **_PROBLEM},
    "default": {"description": "The problem and its fix.", "model": Problem, **_PROBLEM},
}
