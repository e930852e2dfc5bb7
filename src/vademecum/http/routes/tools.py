"""The user's tools: `/v1/tools`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from vademecum.amounts import between_commas
from vademecum.answers.render import record_of
from vademecum.engine import Engine
from vademecum.http.request_context import Asked
from vademecum.http.routes.code import LONGEST_QUESTION, Name, Names
from vademecum.http.routes.shapes import ANY_JSON, Cursor, Limit, ListedTool, Page, ToolGraph, page
from vademecum.tools.records import ObserveReport, Plan, Prediction, RegisterReport, ToolAnswer, ToolsStatus, Trace

router = APIRouter(prefix="/v1/tools", tags=["tools"])
Intent = Annotated[str, Query(min_length=1, max_length=LONGEST_QUESTION)]
MaybeIntent = Annotated[str, Query(max_length=LONGEST_QUESTION, description="May be empty if `after` is given.")]
Ids = Annotated[str, Query(max_length=LONGEST_QUESTION, description="Ids of tools, separated by commas.")]


@router.get("", response_model=Page[ListedTool])
async def tools(
    asked: Asked, server: Name = "", prefix: Name = "", limit: Limit = 100, cursor: Cursor = ""
) -> Response:
    """List the registered tools by id, with their usage."""

    def answer(engine: Engine) -> dict[str, Any]:
        found = [
            each
            for each in engine.tools.catalogue()
            if server in {"", each.tool.server} and each.tool.id.startswith(prefix)
        ]
        return page(found, limit, cursor, lambda each: (each.tool.id,), lambda each: each.record())

    return await asked.answer(answer)


@router.get("/search", response_model=ToolAnswer)
async def search(
    asked: Asked,
    intent: Intent,
    k: Annotated[int, Query(ge=1, le=200)] = 5,
    server: Name = "",
    reliability: Literal["smoothed", "step"] | None = None,
    min_score: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> Response:
    """Find the tools that fit an intent, or have this name."""
    return await asked.answer(
        lambda engine: record_of(
            engine.tools.search(intent, k=k, server=server, reliability=reliability or "", min_score=min_score)
        )
    )


@router.get("/predict", response_model=Prediction)
async def predict(
    asked: Asked,
    intent: MaybeIntent = "",
    after: Ids = "",
    earlier: Ids = "",
    k: Annotated[int, Query(ge=1, le=100)] = 3,
    threshold: Annotated[float, Query(ge=0, le=1)] = 0.5,
    by: Literal["attention", "goal", "shgat"] = "attention",
) -> Response:
    """Predict the next tool, with its probability.

    The prediction uses an intent, the tools called before, or both. It abstains when no tool is likely.
    """
    return await asked.answer(
        lambda engine: record_of(
            engine.tools.predict(
                intent, after=between_commas(after), earlier=between_commas(earlier), k=k, threshold=threshold, by=by
            )
        )
    )


@router.get("/suggest", response_model=Plan)
async def suggest(asked: Asked, intent: Intent) -> Response:
    """Suggest a plan for an intent.

    The plan says which tools to call, which wait for others, and which can run at once.
    """
    return await asked.answer(lambda engine: record_of(engine.tools.suggest(intent)))


@router.get("/stats", response_model=ToolsStatus)
async def stats(asked: Asked) -> Response:
    """Return counts of tools and traces, with the most used tools."""
    return await asked.answer(lambda engine: record_of(engine.tools.stats()))


@router.get("/graph", response_model=ToolGraph)
async def graph(asked: Asked) -> Response:
    """Return the graph of tools: nodes and hyperarcs."""
    return await asked.answer(lambda engine: engine.tools.drawn())


@router.get("/traces", response_model=Page[Trace])
async def traces(asked: Asked, id: Names = [], tool: Name = "", limit: Limit = 100, cursor: Cursor = "") -> Response:
    """List traces, the latest first.

    `id` selects traces that an answer names; `tool` selects traces that call a tool.
    """

    def answer(engine: Engine) -> dict[str, Any]:
        found = engine.tools.traces(id, tool=tool)
        return page(found, limit, cursor, lambda each: (-each.at, each.id), asdict)

    return await asked.answer(answer)


@router.post("/register", response_model=RegisterReport, openapi_extra=ANY_JSON)
async def register(asked: Asked, server: Name = "", *, replacing: bool = False) -> Response:
    """Register tools, in the forms of MCP and of function calling."""
    text = await asked.text()
    return await asked.answer(
        lambda engine: asdict(engine.tools.register_json(text, server=server, replacing=replacing))
    )


@router.post("/observe", response_model=ObserveReport, openapi_extra=ANY_JSON)
async def observe(asked: Asked) -> Response:
    """Record traces: the tools called for each intent."""
    text = await asked.text()
    return await asked.answer(lambda engine: asdict(engine.tools.observe_json(text)))
