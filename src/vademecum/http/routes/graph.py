"""The graph to draw, the map, and files: `/v1/graph`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from vademecum.answers.neighbours import graph_record, neighbours_record
from vademecum.code.graph.surroundings import surroundings
from vademecum.code.search.open import FileFacts
from vademecum.engine import Engine
from vademecum.errors import UsageError
from vademecum.http.request_context import Asked
from vademecum.http.routes.code import MOST_TOKENS, Name, Names, Text
from vademecum.http.routes.shapes import Cursor, Depth, Drawing, MapShape, Page, after, pack
from vademecum.types import Neighbours

router = APIRouter(prefix="/v1/graph", tags=["graph"])


@router.get("/path", response_model=Neighbours)
async def path(
    asked: Asked, from_: Annotated[str, Query(alias="from", max_length=1000)], to: Name, repo: Name = "", depth: Depth = 2
) -> Response:  # fmt: skip
    """Return paths between two declarations, `depth` steps from each end."""
    return await asked.answer_of_state(
        lambda engine: neighbours_record(engine.codebase.path(from_, to, depth, repo=repo)), repo=repo
    )


@router.get("/neighbourhood", response_model=Drawing)
async def neighbourhood(
    asked: Asked,
    symbol: Name = "",
    path: Name = "",
    repo: Name = "",
    depth: Depth = 2,
    most: Annotated[int, Query(ge=1, le=500, description="Most nodes.")] = 80,
) -> Response:
    """Return nodes and edges to draw around a symbol or file.

    Without either, the most central files are drawn.
    """
    if symbol and path:
        raise UsageError("a neighbourhood is around a `symbol` or a `path`: give one of them")

    def answer(engine: Engine) -> dict[str, Any]:
        drawn = surroundings(engine.codebase.graph(repo, refresh=False), symbol or path, depth, most)
        return {"title": drawn.title, **graph_record(drawn)}

    return await asked.answer_of_state(answer, repo=repo)


@router.get("/map", response_model=MapShape)
async def map_(
    asked: Asked,
    tokens: Annotated[int | None, Query(ge=1, le=MOST_TOKENS)] = None,
    task: Text = "",
    path: Names = [],
    repo: Annotated[str | None, Query(max_length=1000)] = None,
) -> Response:
    """Return a map of repositories within a token budget.

    The map lists files with their most central declarations, as Markdown and as JSON.
    """
    due = asked.is_due()

    def answer(engine: Engine) -> dict[str, Any]:
        drawn = engine.map(path, tokens, task=task, form="markdown", refresh=due)
        entries = [asdict(entry) for entry in drawn.entries]
        facts = {"tokens": drawn.tokens, "budget": drawn.budget, "counter": drawn.counter, "left_out": drawn.left_out}
        return {"task": task, "markdown": drawn.text, **facts, "entries": entries}

    return await asked.answer(answer, repo=repo)


@router.get("/files", response_model=Page[FileFacts])
async def files(
    asked: Asked,
    repo: Name = "",
    limit: Annotated[int, Query(ge=1, le=5000, description="Most items of a page.")] = 1000,
    cursor: Cursor = "",
) -> Response:
    """List indexed files by path, with size, complexity and freshness."""
    place = after(cursor)
    if place and not isinstance(place[0], str):
        raise UsageError(f"{cursor!r} is not a cursor of this list: give the `next` of the page before")

    def answer(engine: Engine) -> dict[str, Any]:
        if asked.is_due():
            engine.codebase.refresh()
        found, total = engine.codebase.files(repo, str(place[0]) if place else "", limit + 1)
        shown = found[:limit]
        following = pack((shown[-1].path,)) if len(found) > limit else None
        return {"items": [asdict(each) for each in shown], "total": total, "next": following}

    return await asked.answer(answer)
