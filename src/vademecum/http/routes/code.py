"""Search, open, context: `/v1/search`, `/v1/open`, `/v1/context`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import AliasChoices, BaseModel, Field

from vademecum.answers.document import context_record
from vademecum.answers.piece import Within
from vademecum.answers.render import evidence_record, found_record
from vademecum.engine import Engine
from vademecum.http.request_context import Asked, Asking
from vademecum.http.routes.shapes import ContextShape, Found, SearchShape

router = APIRouter(prefix="/v1", tags=["code"])
MOST_RESULTS = 200
MOST_TOKENS = 200_000
LONGEST_QUESTION = 5_000  # characters: with all of them escaped an address still fits; longer ones are sent as a body
Text = Annotated[str, Query(max_length=LONGEST_QUESTION)]
Name = Annotated[str, Query(max_length=1000)]
Names = Annotated[list[str], Query(max_length=100)]
Budget = Annotated[int | None, Query(ge=1, le=MOST_TOKENS, description="Tokens that the answer may take.")]


class Task(BaseModel):
    """What is to be done, and what a context for it may take."""

    task: str = Field(max_length=1_000_000)
    budget: int | None = Field(
        default=None, ge=1, le=MOST_TOKENS, validation_alias=AliasChoices("budget", "budget_tokens")
    )
    path: list[str] = Field(default=[], max_length=100)
    exclude: list[str] = Field(default=[], max_length=100)
    commit: str = Field(default="", max_length=1000)
    session: str = Field(default="", max_length=100)
    refresh: bool | None = None


@router.get("/search", response_model=SearchShape)
async def search(
    asked: Asked,
    q: Annotated[str, Query(min_length=1, max_length=LONGEST_QUESTION, description="A question, or a name.")],
    budget: Budget = None,
    k: Annotated[int | None, Query(ge=1, le=MOST_RESULTS, description="Results at most, instead of a budget.")] = None,
    lang: Names = [],
    path: Names = [],
    exclude: Names = [],
    kind: Name = "all",
    symbol: Name = "",
    repo: Names = [],
    commit: Name = "",
    regex: Name = "",
    ranker: Name = "",
    reranker: Literal["", "built-in", "none"] = "",  # others would load what a caller names
    source: Names = [],
    snippet_lines: Annotated[
        int | None, Query(ge=0, le=10_000, description="Lines of each result at most, instead of a budget.")
    ] = None,
    refresh: bool | None = None,
) -> Response:
    """Find code that answers a question: the likeliest code whole, then matching lines, then places, within a budget.

    Repositories are looked at for changes first, at most once in `server.refresh_s` unless `refresh` says.
    """
    due = asked.is_due() if refresh is None else refresh

    def answer(engine: Engine) -> dict[str, Any]:
        within = Within(
            paths=tuple(path), exclude=tuple(exclude), commit=commit, languages=tuple(lang), kind=kind, symbol=symbol,
            pattern=regex, repos=tuple(repo), scope=engine.scope(regex, commit, source), sources=tuple(source),
            ranker=ranker, reranker=reranker,
        )  # fmt: skip
        return found_record(engine.search(q, budget, within=within, most=k, lines=snippet_lines, refresh=due))

    return await asked.answer(answer)


@router.get("/open", response_model=Found)
async def open_(asked: Asked, target: Name, repo: Name = "", commit: Name = "") -> Response:
    """Read a file, or lines of it, as they are on disk now: `path`, `path:10` or `path:10-40`."""
    return await asked.answer(lambda engine: evidence_record(engine.codebase.open(target, commit=commit, repo=repo)))


@router.get("/context", response_model=ContextShape)
async def context(
    asked: Asked,
    task: Text,
    budget: Budget = None,
    budget_tokens: Annotated[int | None, Query(ge=1, le=MOST_TOKENS, deprecated=True)] = None,
    path: Names = [],
    exclude: Names = [],
    commit: Name = "",
    session: Annotated[str, Query(max_length=100)] = "",
    refresh: bool | None = None,
) -> Response:
    """Return what to read for a task, within a budget of tokens; what matches it lies at `path`, where that is given."""
    body = Task(
        task=task, budget=budget or budget_tokens, path=path, exclude=exclude, commit=commit, session=session, refresh=refresh
    )  # fmt: skip
    return await _context(asked, body)


@router.post("/context", response_model=ContextShape)
async def context_of(asked: Asked, body: Task) -> Response:
    """Return what to read for a task that is too long for an address."""
    return await _context(asked, body)


async def _context(asked: Asking, body: Task) -> Response:
    due = asked.is_due() if body.refresh is None else body.refresh
    # two keys that choose one name for a session are two sessions
    session = f"{asked.visitor.name}/{body.session}" if asked.visitor.name and body.session else body.session

    def answer(engine: Engine) -> Any:
        found = engine.context(
            body.task, body.budget, paths=body.path, exclude=body.exclude, commit=body.commit, session=session,
            form="json", refresh=due,
        )  # fmt: skip
        return json.loads(found.text or "null") or context_record(found)  # a budget may be too small for any text

    return await asked.answer(answer)
