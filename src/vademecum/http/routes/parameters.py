"""Parameters of many routes, and the refusal of unknown ones."""

from __future__ import annotations

import difflib
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.dependencies.models import Dependant

from vademecum.http.problems import ProblemError

_LONGEST_NAME = 100  # characters of an unknown name that the error repeats

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")]
Cursor = Annotated[str, Query(max_length=4000, description="The `next` of the page before.")]
Depth = Annotated[int, Query(ge=1, le=3, description="How many steps to follow.")]
Words = Annotated[str, Query(max_length=200, description="A time in words: `last week`, `since Monday`, `2025-10-05`.")]


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


# Bodies without a model: the engine checks each item and names the ones it refuses.
ANY_JSON = _body("application/json", {"anyOf": [{"type": "object"}, {"type": "array"}]})
JSON_LINES = _body("application/x-ndjson", {"type": "string"})


async def only_known(request: Request) -> None:
    """Refuse parameters that a route does not take.

    Ignoring one would answer another question.

    Raises:
        ProblemError: names the parameter, and the nearest one that the route takes.
    """
    route = request.scope["route"]
    if not route.path.startswith("/v1/"):
        return
    taken = _taken(route.dependant) if request.query_params else []
    for name in request.query_params:
        if name not in taken:
            near = difflib.get_close_matches(name, taken, n=1)
            fix = f"the nearest is {near[0]!r}" if near else f"it takes {', '.join(taken) or 'none'}"
            raise ProblemError(422, f"{name[:_LONGEST_NAME]!r} is no parameter of {request.method} {route.path}: {fix}")


def _taken(dependant: Dependant) -> list[str]:
    """Return the names of a route's query parameters, all included."""
    own = [parameter.alias for parameter in dependant.query_params]
    return [*own, *(name for each in dependant.dependencies for name in _taken(each))]
