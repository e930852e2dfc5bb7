"""Search, open, context: `/v1/search`, `/v1/open`, `/v1/context`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from vademecum.answers.document import context_record
from vademecum.answers.render import answer_record, evidence_record
from vademecum.engine import Engine
from vademecum.http.asking import Asked, Asking
from vademecum.http.routes.shapes import AnswerShape, ContextShape, Found

router = APIRouter(prefix="/v1", tags=["code"])
MOST_RESULTS = 200
MOST_TOKENS = 200_000
LONGEST_QUESTION = 5_000  # characters: with all of them escaped an address still fits; longer ones are sent as a body
Text = Annotated[str, Query(max_length=LONGEST_QUESTION)]
Name = Annotated[str, Query(max_length=1000)]
Names = Annotated[list[str], Query(max_length=100)]


class Task(BaseModel):
    """What is to be done, and what a context for it may take."""

    task: str = Field(max_length=1_000_000)
    budget_tokens: int | None = Field(default=None, ge=1, le=MOST_TOKENS)
    path: list[str] = Field(default=[], max_length=100)
    exclude: list[str] = Field(default=[], max_length=100)
    commit: str = Field(default="", max_length=1000)
    session: str = Field(default="", max_length=100)
    refresh: bool | None = None


@router.get("/search", response_model=AnswerShape)
async def search(
    asked: Asked,
    q: Annotated[str, Query(min_length=1, max_length=LONGEST_QUESTION, description="A question, or a name.")],
    k: Annotated[int | None, Query(ge=1, le=MOST_RESULTS)] = None,
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
    snippet_lines: Annotated[int | None, Query(ge=0, le=10_000)] = None,
    refresh: bool | None = None,
) -> Response:
    """Find code that answers a question, with evidence: where, what, why it ranks, and whether it still holds.

    Repositories are looked at for changes first, at most once in `server.refresh_s` unless `refresh` says.
    """
    due = asked.is_due() if refresh is None else refresh

    def answer(engine: Engine) -> dict[str, Any]:
        found = engine.codebase.search(
            q, k=k or asked.desk.settings.search.k, languages=lang, paths=path, exclude=exclude, kind=kind, symbol=symbol,
            pattern=regex, commit=commit, repos=repo, ranker=ranker, reranker=reranker, refresh=due,
        )  # fmt: skip
        return answer_record(found, snippet_lines=snippet_lines)

    return await asked.answer(answer)


@router.get("/open", response_model=Found)
async def open_(asked: Asked, target: Name, repo: Name = "", commit: Name = "") -> Response:
    """Read a file, or lines of it, as they are on disk now: `path`, `path:10` or `path:10-40`."""
    return await asked.answer(lambda engine: evidence_record(engine.codebase.open(target, commit=commit, repo=repo)))


@router.get("/context", response_model=ContextShape)
async def context(
    asked: Asked,
    task: Text,
    budget_tokens: Annotated[int | None, Query(ge=1, le=MOST_TOKENS)] = None,
    path: Names = [],
    exclude: Names = [],
    commit: Name = "",
    session: Annotated[str, Query(max_length=100)] = "",
    refresh: bool | None = None,
) -> Response:
    """Return what to read for a task, within a budget of tokens; what matches it lies at `path`, where that is given."""
    body = Task(
        task=task, budget_tokens=budget_tokens, path=path, exclude=exclude, commit=commit, session=session, refresh=refresh
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
            body.task, body.budget_tokens, paths=body.path, exclude=body.exclude, commit=body.commit, session=session,
            form="json", refresh=due,
        )  # fmt: skip
        return json.loads(found.text or "null") or context_record(found)  # a budget may be too small for any text

    return await asked.answer(answer)
