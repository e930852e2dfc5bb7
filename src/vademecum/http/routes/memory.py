"""Memory: `/v1/memory`."""

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
from vademecum.memory.records import Fact, FactKind
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
