"""Search, open, context: `/v1/search`, `/v1/open`, `/v1/context`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import AliasChoices, BaseModel, Field

from vademecum.answers.document import context_record
from vademecum.answers.pack import Within
from vademecum.answers.render import evidence_record, found_record
from vademecum.engine import Engine
from vademecum.http.request_context import Asked, RequestContext
from vademecum.http.routes.shapes import ContextShape, Found, SearchShape

router = APIRouter(prefix="/v1", tags=["code"])
MOST_RESULTS = 200
MOST_TOKENS = 200_000
LONGEST_QUESTION = (
    5_000  # characters: a URL of this length fits even when all are escaped; longer questions go into a body
)
Text = Annotated[str, Query(max_length=LONGEST_QUESTION)]
Name = Annotated[str, Query(max_length=1000)]
Names = Annotated[list[str], Query(max_length=100)]
Budget = Annotated[int | None, Query(ge=1, le=MOST_TOKENS, description="Tokens that the answer may take.")]


class Task(BaseModel):
    """A task, and limits of the context for it."""

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
    reranker: Literal["", "built-in", "none"] = "",  # others would load a module that the caller names
    source: Names = [],
    snippet_lines: Annotated[
        int | None, Query(ge=0, le=10_000, description="Lines of each result at most, instead of a budget.")
    ] = None,
    refresh: bool | None = None,
) -> Response:
    """Find the code that answers a question, within a budget.

    The best matches are shown as whole code, further ones as matching lines, the rest as places. Changed files are
    indexed first, at most once in `server.refresh_s` unless `refresh` says.
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
    """Read a file, or lines of a file, as now on disk.

    `target` is `path`, `path:10` or `path:10-40`.
    """
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
    """Return the code to read for a task, within a budget.

    The budget counts tokens. `path` limits the matches to these files.
    """
    body = Task(
        task=task, budget=budget or budget_tokens, path=path, exclude=exclude, commit=commit, session=session, refresh=refresh
    )  # fmt: skip
    return await _context(asked, body)


@router.post("/context", response_model=ContextShape)
async def context_of(asked: Asked, body: Task) -> Response:
    """Return the code to read for a task, sent as body."""
    return await _context(asked, body)


async def _context(asked: RequestContext, body: Task) -> Response:
    due = asked.is_due() if body.refresh is None else body.refresh
    # sessions of one name under two keys are distinct
    session = f"{asked.visitor.name}/{body.session}" if asked.visitor.name and body.session else body.session

    def answer(engine: Engine) -> Any:
        found = engine.context(
            body.task, body.budget, paths=body.path, exclude=body.exclude, commit=body.commit, session=session,
            form="json", refresh=due,
        )  # fmt: skip
        # the text is empty when the budget is too small
        return json.loads(found.text or "null") or context_record(found)

    return await asked.answer(answer)
