"""Events of memory: `/v1/events`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from vademecum.answers.remembered import whole_record
from vademecum.engine import Engine
from vademecum.http.request_context import Asked
from vademecum.http.routes.code import LONGEST_QUESTION, Name, Names
from vademecum.http.routes.memory import Answering
from vademecum.http.routes.shapes import Cursor, Limit, Page, RecalledShape, Words, events_page
from vademecum.memory.recall import metadata_of
from vademecum.memory.records import Event, Recorded
from vademecum.memory.scoring import By
from vademecum.memory.timeline import Filter

router = APIRouter(prefix="/v1/events", tags=["events"])
EventId = Annotated[str, Path(min_length=1, max_length=200)]


class New(BaseModel):
    """A new event."""

    text: str = Field(min_length=1, max_length=1_000_000)
    role: str = Field(default="note", max_length=50)
    session: str = Field(default="", max_length=1000)
    speaker: str = Field(default="", max_length=1000)
    at: float | None = Field(
        default=None, ge=0, le=253_402_300_799, description="Seconds since the epoch; now unless given."
    )
    metadata: dict[str, Any] = {}
    everywhere: bool = Field(default=False, description="Record in the global memory instead of the repository's.")


class Changes(BaseModel):
    """Changes of an event's metadata; null removes a name."""

    metadata: dict[str, Any]


class Sought(BaseModel):
    """A search for events: words, a vector, and filters."""

    q: str = Field(default="", max_length=LONGEST_QUESTION)
    vector: list[float] | None = Field(
        default=None, max_length=16_384, description="A vector of the embedder in use, instead of `q`."
    )
    by: By = Field(default=By.BOTH, description="Compare words, meaning or both; meaning compares every vector.")
    k: int = Field(default=10, ge=1, le=200)
    when: str = Field(default="", max_length=1000)
    since: float | None = Field(default=None, ge=0, le=253_402_300_799)
    until: float | None = Field(default=None, ge=0, le=253_402_300_799)
    session: str = Field(default="", max_length=1000)
    roles: list[str] = Field(default=[], max_length=20)
    metadata: dict[str, Any] = Field(default={}, description="Only events whose metadata has all of this.")


@router.post("", status_code=201, response_model=Recorded)
async def record(asked: Asked, body: New, repo: Name = "") -> Response:
    """Record an event without its secrets, and learn its facts."""
    if body.everywhere:
        asked.must_be_personal()
    given = body.model_dump(exclude={"text"})
    done = await asked.engine(lambda engine: asdict(engine.memory.record(body.text, **given)), repo=repo)
    answer = asked.say(done, status=201)
    answer.headers["Location"] = f"/v1/events/{done['ids'][0]}"
    return answer


@router.get("", response_model=Page[Event])
async def events(
    asked: Asked,
    when: Words = "",
    since: Annotated[float | None, Query(ge=0, le=253_402_300_799)] = None,
    until: Annotated[float | None, Query(ge=0, le=253_402_300_799)] = None,
    session: Name = "",
    role: Names = [],
    meta: Names = [],
    repo: Name = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """List the events of a period, the latest first.

    `meta` is NAME=VALUE; an event must have all given pairs.
    """
    wanted = {name: value for each in meta for name, value in metadata_of(each).items()}

    def answer(engine: Engine) -> dict[str, Any]:
        first, last = engine.memory.period(when) if when else (since or 0.0, float("inf") if until is None else until)
        chosen = Filter(first, last, session, role, wanted)
        shown = events_page(engine.memory.scopes, chosen, limit, cursor)
        return {**shown, "items": [asdict(event) for event in shown["items"]]}

    return await asked.answer(answer, repo=repo)


@router.get("/search", response_model=RecalledShape)
async def search(asked: Asked, answer: Answering, repo: Name = "") -> Response:
    """Find the events that answer a question, with their facts.

    The answer says which facts still hold.
    """
    return await asked.answer(answer, repo=repo)


@router.post("/search", response_model=RecalledShape)
async def seek(asked: Asked, body: Sought, repo: Name = "") -> Response:
    """Find events by words, vector, metadata and time.

    Without words or a vector use `GET /v1/events`.
    """
    given = body.model_dump(exclude={"q"})
    return await asked.answer(lambda engine: whole_record(engine.memory.recall(body.q, **given)), repo=repo)


@router.get("/{id}", response_model=Event)
async def event(asked: Asked, id: EventId, repo: Name = "") -> Response:
    """Return one event."""
    return await asked.answer(lambda engine: asdict(engine.memory.get(id)), repo=repo)


@router.patch("/{id}", response_model=Event)
async def change(asked: Asked, id: EventId, body: Changes, repo: Name = "") -> Response:
    """Change an event's metadata, never its text."""
    return await asked.answer(lambda engine: asdict(engine.memory.patch(id, body.metadata)), repo=repo)


@router.delete("/{id}", status_code=204)
async def delete(asked: Asked, id: EventId, repo: Name = "") -> Response:
    """Delete an event and its facts for good."""
    await asked.engine(lambda engine: engine.memory.delete(id), repo=repo)
    return Response(status_code=204)
