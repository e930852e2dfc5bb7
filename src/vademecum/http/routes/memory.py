"""Memory and its events: `/v1/memory`, `/v1/events`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, Field

from vademecum.answers.remembered import whole_record
from vademecum.engine import Engine
from vademecum.errors import UsageError
from vademecum.http.request_context import Asked
from vademecum.http.routes.code import LONGEST_QUESTION, Name, Names
from vademecum.http.routes.shapes import (
    JSON_LINES,
    Cursor,
    Forgotten,
    JsonLines,
    Limit,
    ListedFact,
    Markdown,
    Page,
    RecalledShape,
    TimelineShape,
    Words,
    events_page,
    page,
)
from vademecum.memory.corrections import Why
from vademecum.memory.ledger import Ledger
from vademecum.memory.portable import Imported
from vademecum.memory.recall import metadata_of
from vademecum.memory.records import Event, Fact, FactKind, Recorded
from vademecum.memory.scoring import By
from vademecum.memory.timeline import SAID, Filter, chapter_of, chapters_of

router = APIRouter(prefix="/v1/memory", tags=["memory"])
FactId = Annotated[str, Path(min_length=1, max_length=200)]
STATES = ("holds", "past", "disputed", "confirmed", "rejected", "all")


class Wording(BaseModel):
    """New text for a fact."""

    text: str = Field(min_length=1, max_length=100_000)


class Message(BaseModel):
    """The last message, with the open files."""

    message: str = Field(max_length=100_000)
    session: str = Field(default="", max_length=1000)
    k: int = Field(default=5, ge=1, le=100)
    budget_tokens: int | None = Field(default=None, ge=20, le=200_000)
    files: list[str] = Field(default=[], max_length=1000)


def answering(
    q: Annotated[str, Query(min_length=1, max_length=LONGEST_QUESTION)],
    k: Annotated[int, Query(ge=1, le=200)] = 10,
    when: Words = "",
    as_of: Words = "",
    session: Name = "",
    role: Names = [],
) -> Callable[[Engine], dict[str, Any]]:
    """Return a function that asks a memory the URL's question."""

    def answer(engine: Engine) -> dict[str, Any]:
        moment = engine.memory.moment(as_of) if as_of else None
        return whole_record(engine.memory.recall(q, k=k, when=when, session=session, roles=role, as_of=moment))

    return answer


Answering = Annotated[Callable[[Engine], dict[str, Any]], Depends(answering)]


@router.get("/recall", response_model=RecalledShape)
async def recall(asked: Asked, answer: Answering, repo: Name = "") -> Response:
    """Return the events and facts that answer a question.

    The answer says whether each still holds, and whether memory holds an answer at all.
    """
    return await asked.answer(answer, repo=repo)


@router.post("/context", response_model=Markdown)
async def context(asked: Asked, body: Message, repo: Name = "") -> Response:
    """Return the memory an agent needs before answering, as Markdown or ""."""

    def answer(engine: Engine) -> dict[str, str]:
        tokens = body.budget_tokens or asked.shared.settings.memory.context_tokens
        memory = engine.memory
        return {
            "markdown": memory.build_memory_context(
                body.session, body.message, body.k, budget_tokens=tokens, files=body.files
            )
        }

    return await asked.answer(answer, repo=repo)


@router.get("/context", response_model=Markdown)
async def context_for(
    asked: Asked,
    q: Annotated[str, Query(max_length=LONGEST_QUESTION)],
    session: Name = "",
    k: Annotated[int, Query(ge=1, le=100)] = 5,
    budget_tokens: Annotated[int | None, Query(ge=20, le=200_000)] = None,
    repo: Name = "",
) -> Response:
    """Return the same context for a message in the URL."""
    return await context(asked, Message(message=q, session=session, k=k, budget_tokens=budget_tokens), repo)


@router.get("/timeline", response_model=TimelineShape)
async def timeline(
    asked: Asked, when: Words = "", session: Name = "", repo: Name = "", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """Return messages and commits, the latest first, with their chapters.

    Only the page's events are read. The database counts the events of a chapter, and the total once for all pages.
    """

    def answer(engine: Engine) -> dict[str, Any]:
        memory = engine.memory
        first, last = memory.period(when) if when else (0.0, float("inf"))
        today, chosen = memory.period("today")[0], Filter(first, last, session, SAID)
        shown = events_page(memory.scopes, chosen, limit, cursor)
        chapters = chapters_of(memory.scopes, chosen, shown["items"], today)
        items = [{"chapter": chapter_of(event.at, today)[0], **asdict(event)} for event in shown["items"]]
        return {**shown, "chapters": [asdict(each) for each in chapters], "items": items}

    return await asked.answer(answer, repo=repo)


@router.get("/facts", response_model=Page[ListedFact])
async def facts(
    asked: Asked,
    kind: Annotated[list[FactKind], Query(max_length=10)] = [],
    state: Annotated[str, Query(description=f"One of {', '.join(STATES)}.")] = "holds",
    scope: Annotated[str, Query(description="`repository` or `global`; both unless given.")] = "",
    least: Annotated[float, Query(ge=0, le=1, description="The lowest confidence.")] = 0.0,
    repo: Name = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Response:
    """List facts, the last stated first.

    Each has its state, its period, its confidence, and whether a person confirmed it.
    """
    if state not in STATES:
        raise UsageError(f"state {state!r} is not one of {', '.join(STATES)}")

    def answer(engine: Engine) -> dict[str, Any]:
        found = [
            (fact, each.name)
            for each in engine.memory.scopes
            if scope in {"", each.name}
            for fact in _facts(each.ledger, kind, state)
            if fact.confidence >= least
        ]
        found.sort(key=_place)
        told = state if state == "rejected" else ""
        return page(
            found, limit, cursor, _place, lambda item: {"scope": item[1], "state": told or state_of(item[0]), **asdict(item[0])}
        )  # fmt: skip

    return await asked.answer(answer, repo=repo)


def _facts(ledger: Ledger, kinds: list[FactKind], state: str) -> list[Fact]:
    """Return the facts of a scope in one state.

    Rejected facts appear in no other state, not even "all".
    """
    if state == "rejected":
        return [fact for fact in ledger.rejected() if not kinds or fact.kind in kinds]
    found = ledger.facts(kinds, standing=state in {"holds", "disputed", "confirmed"})
    return [fact for fact in found if _is(fact, state)]


def _place(item: tuple[Fact, str]) -> tuple[float, str, str]:
    return -item[0].last_at, item[0].id, item[1]


def _is(fact: Fact, state: str) -> bool:
    return {"past": fact.valid_to is not None, "disputed": fact.disputed, "confirmed": fact.confirmed}.get(state, True)


def state_of(fact: Fact) -> str:
    """Return a fact's state: "past", "disputed", "confirmed" or "holds"."""
    if fact.valid_to is not None:
        return "past"
    return "disputed" if fact.disputed else "confirmed" if fact.confirmed else "holds"


@router.get("/facts/{id}/why", response_model=Why)
async def why(asked: Asked, id: FactId, repo: Name = "") -> Response:
    """Return the sources of a fact, with earlier and later facts."""
    return await asked.answer(lambda engine: asdict(engine.memory.why(id)), repo=repo)


@router.post("/facts/{id}/confirm", response_model=Fact)
async def confirm(asked: Asked, id: FactId, repo: Name = "") -> Response:
    """Confirm a fact: certain from now on, against any contradiction."""
    return await asked.answer(lambda engine: asdict(engine.memory.confirm(id)), repo=repo)


@router.post("/facts/{id}/reject", response_model=Fact)
async def reject(asked: Asked, id: FactId, repo: Name = "") -> Response:
    """Reject a fact: hidden, and never learned again, until restored."""
    return await asked.answer(lambda engine: asdict(engine.memory.reject(id)), repo=repo)


@router.post("/facts/{id}/restore", response_model=Fact)
async def restore(asked: Asked, id: FactId, repo: Name = "") -> Response:
    """Undo a rejection: the fact holds as its events state it."""
    return await asked.answer(lambda engine: asdict(engine.memory.restore(id)), repo=repo)


@router.post("/facts/{id}/forget", response_model=Forgotten)
async def forget(asked: Asked, id: FactId, repo: Name = "") -> Response:
    """Delete a fact or event for good, with its words."""
    return await asked.answer(lambda engine: {"id": id, "events": engine.memory.forget(id)}, repo=repo)


@router.patch("/facts/{id}", response_model=Fact)
async def edit(asked: Asked, id: FactId, body: Wording, repo: Name = "") -> Response:
    """Change a fact's wording from now on; its history stays."""
    return await asked.answer(lambda engine: asdict(engine.memory.edit(id, body.text)), repo=repo)


@router.get("/export", response_class=JsonLines)
async def export(asked: Asked, repo: Name = "", *, everywhere: bool = False) -> JsonLines:
    """Return a whole memory as JSON lines, with provenance."""
    if everywhere:
        asked.must_be_personal()
    lines = await asked.engine(lambda engine: list(engine.memory.export(everywhere=everywhere)), repo=repo)

    def told() -> Iterator[bytes]:
        yield from (line.encode("utf-8", "replace") + b"\n" for line in lines)

    return JsonLines(told())


@router.post("/import", response_model=Imported, openapi_extra=JSON_LINES)
async def import_(asked: Asked, repo: Name = "", *, everywhere: bool = False) -> Response:
    """Import the lines of `export`; known events and facts stay unchanged."""
    if everywhere:
        asked.must_be_personal()
    given = (await asked.text()).split("\n")
    return await asked.answer(
        lambda engine: asdict(engine.memory.import_lines(given, everywhere=everywhere)), repo=repo
    )


event_routes = APIRouter(prefix="/v1/events", tags=["events"])
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


@event_routes.post("", status_code=201, response_model=Recorded)
async def record(asked: Asked, body: New, repo: Name = "") -> Response:
    """Record an event without its secrets, and learn its facts."""
    if body.everywhere:
        asked.must_be_personal()
    given = body.model_dump(exclude={"text"})
    done = await asked.engine(lambda engine: asdict(engine.memory.record(body.text, **given)), repo=repo)
    answer = asked.say(done, status=201)
    answer.headers["Location"] = f"/v1/events/{done['ids'][0]}"
    return answer


@event_routes.get("", response_model=Page[Event])
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


@event_routes.get("/search", response_model=RecalledShape)
async def search(asked: Asked, answer: Answering, repo: Name = "") -> Response:
    """Find the events that answer a question, with their facts.

    The answer says which facts still hold.
    """
    return await asked.answer(answer, repo=repo)


@event_routes.post("/search", response_model=RecalledShape)
async def seek(asked: Asked, body: Sought, repo: Name = "") -> Response:
    """Find events by words, vector, metadata and time.

    Without words or a vector use `GET /v1/events`.
    """
    given = body.model_dump(exclude={"q"})
    return await asked.answer(lambda engine: whole_record(engine.memory.recall(body.q, **given)), repo=repo)


@event_routes.get("/{id}", response_model=Event)
async def event(asked: Asked, id: EventId, repo: Name = "") -> Response:
    """Return one event."""
    return await asked.answer(lambda engine: asdict(engine.memory.get(id)), repo=repo)


@event_routes.patch("/{id}", response_model=Event)
async def change(asked: Asked, id: EventId, body: Changes, repo: Name = "") -> Response:
    """Change an event's metadata, never its text."""
    return await asked.answer(lambda engine: asdict(engine.memory.patch(id, body.metadata)), repo=repo)


@event_routes.delete("/{id}", status_code=204)
async def delete(asked: Asked, id: EventId, repo: Name = "") -> Response:
    """Delete an event and its facts for good."""
    await asked.engine(lambda engine: engine.memory.delete(id), repo=repo)
    return Response(status_code=204)
