"""Search, open, context, symbols, graph and files: `/v1/search`, `/v1/graph`, ..."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import AliasChoices, BaseModel, Field

from vademecum.answers.document import context_record
from vademecum.answers.neighbours import graph_record, neighbours_record
from vademecum.answers.pack import Within
from vademecum.answers.render import answer_record, evidence_record, found_record
from vademecum.code.graph.surroundings import surroundings
from vademecum.code.graph.terms import Node
from vademecum.code.search.open import FileFacts
from vademecum.engine import Engine
from vademecum.errors import UsageError
from vademecum.http.request_context import Asked, RequestContext
from vademecum.http.routes.shapes import (
    ContextShape,
    Cursor,
    Declaration,
    Depth,
    Drawing,
    Found,
    Limit,
    MapShape,
    Page,
    SearchShape,
    after,
    pack,
    page,
)
from vademecum.types import Answer, Neighbours

router = APIRouter(prefix="/v1", tags=["code"])
symbol_routes = APIRouter(prefix="/v1/symbols", tags=["symbols"])
graph_routes = APIRouter(prefix="/v1/graph", tags=["graph"])
MOST_RESULTS = 200
MOST_TOKENS = 200_000
LONGEST_QUESTION = (
    5_000  # characters: a URL of this length fits even when all are escaped; longer questions go into a body
)
Text = Annotated[str, Query(max_length=LONGEST_QUESTION)]
Name = Annotated[str, Query(max_length=1000)]
Symbol = Annotated[str, Path(min_length=1, max_length=1000)]
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


@symbol_routes.get("", response_model=Page[Declaration])
async def symbols(
    asked: Asked, prefix: Name = "", path: Name = "", repo: Name = "", limit: Limit = 50, cursor: Cursor = ""
) -> Response:
    """List the declarations whose names begin with `prefix`.

    They are sorted by qualified name. With `path`, they are those of one file, sorted by line.
    """

    def answer(engine: Engine) -> dict[str, Any]:
        graph = engine.codebase.graph(repo, refresh=False)
        if path:
            declared = (node for node in graph.in_files([path]) if node.qualified and node.name.startswith(prefix))
            in_order = sorted(declared, key=_by_line)
            return page(in_order, limit, cursor, _by_line, symbol_record)
        found = graph.beginning(prefix)
        return page(found, limit, cursor, lambda node: (node.qualified, node.path, node.start_line), symbol_record)

    return await asked.answer_of_state(answer, repo=repo)


@symbol_routes.get("/{name:path}/{relation}", response_model=Neighbours)
async def related(
    asked: Asked,
    name: Symbol,
    relation: Literal["callers", "callees", "impact", "path", "related"],
    repo: Name = "",
    path: Names = [],
    depth: Depth | None = None,
    to: Name = "",
    question: Name = "",
    *,
    guesses: bool = False,
) -> Response:
    """Return callers, callees, impact, paths or related code of a name.

    The name may be `path:line`; `path` finds how it leads `to` another. Without `depth`, callers and callees
    are the direct ones, and other relations take two steps. With `path` (directories or files), the name means a
    declaration below one of them.
    """

    def answer(engine: Engine) -> dict[str, Any]:
        codebase = engine.codebase
        steps = depth or (1 if relation in {"callers", "callees"} else 2)
        match relation:
            case "callers" | "callees":
                found = getattr(codebase, relation)(name, steps, repo=repo, below=path, guesses=guesses)
            case "impact":
                found = codebase.impact(name, steps, repo=repo, below=path)
            case "path":
                if not to:
                    raise UsageError("a path needs `to`: the name to reach")
                found = codebase.path(name, to, steps, repo=repo, below=path)
            case "related":
                found = codebase.related(name, question, steps, repo=repo, below=path)
        return neighbours_record(found)

    return await asked.answer(answer)


@symbol_routes.get("/{name:path}", response_model=Answer)
async def symbol(
    asked: Asked,
    name: Symbol,
    repo: Name = "",
    path: Names = [],
    k: Annotated[int, Query(ge=1, le=200)] = 10,
    snippet_lines: Annotated[int | None, Query(ge=0, le=10_000)] = None,
) -> Response:
    """Show the exact definitions of a name or `Class.name`."""
    due = asked.is_due()
    return await asked.answer(
        lambda engine: answer_record(
            engine.codebase.symbol(name, k=k, repo=repo, below=path, refresh=due), snippet_lines=snippet_lines
        )
    )


def _by_line(node: Node) -> tuple[int, str]:
    return node.start_line, node.qualified


def symbol_record(node: Node) -> dict[str, Any]:
    """Return a declaration as JSON-serialisable values."""
    return {"name": node.name, "qualified": node.qualified, "kind": node.kind, "path": node.path,
            "start_line": node.start_line, "end_line": node.end_line}  # fmt: skip


@graph_routes.get("/path", response_model=Neighbours)
async def path(
    asked: Asked, from_: Annotated[str, Query(alias="from", max_length=1000)], to: Name, repo: Name = "", depth: Depth = 2
) -> Response:  # fmt: skip
    """Return paths between two declarations, `depth` steps from each end."""
    return await asked.answer_of_state(
        lambda engine: neighbours_record(engine.codebase.path(from_, to, depth, repo=repo)), repo=repo
    )


@graph_routes.get("/neighbourhood", response_model=Drawing)
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


@graph_routes.get("/map", response_model=MapShape)
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


@graph_routes.get("/files", response_model=Page[FileFacts])
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
