"""Symbols and their relations: `/v1/symbols`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response

from vademecum.answers.neighbours import neighbours_record
from vademecum.answers.render import answer_record
from vademecum.code.graph.terms import Node
from vademecum.engine import Engine
from vademecum.errors import UsageError
from vademecum.http.request_context import Asked
from vademecum.http.routes.code import Name, Names
from vademecum.http.routes.shapes import Cursor, Declaration, Depth, Limit, Page, page
from vademecum.types import Answer, Neighbours

router = APIRouter(prefix="/v1/symbols", tags=["symbols"])
Symbol = Annotated[str, Path(min_length=1, max_length=1000)]


@router.get("", response_model=Page[Declaration])
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


@router.get("/{name:path}/{relation}", response_model=Neighbours)
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


@router.get("/{name:path}", response_model=Answer)
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
