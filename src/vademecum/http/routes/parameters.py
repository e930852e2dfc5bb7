"""Parameters that many routes take, with their limits; and none that a route does not take."""

from __future__ import annotations

import difflib
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.dependencies.models import Dependant

from vademecum.http.problems import ProblemError

_LONGEST_NAME = 100  # characters told of a name that nothing has

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")]
Cursor = Annotated[str, Query(max_length=4000, description="The `next` of the page before.")]
Depth = Annotated[int, Query(ge=1, le=3, description="How many steps to follow.")]
Words = Annotated[str, Query(max_length=200, description="A time in words: `last week`, `since Monday`, `2025-10-05`.")]


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


# Bodies that are read as they are: the engine checks them item by item, and says which it could not take.
ANY_JSON = _body("application/json", {"anyOf": [{"type": "object"}, {"type": "array"}]})
JSON_LINES = _body("application/x-ndjson", {"type": "string"})


async def only_known(request: Request) -> None:
    """Refuse a parameter that a route of the API does not take: ignored, it would make the answer one to another question.

    Raises:
        ProblemError: with the name, and the nearest that the route takes.
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
    """The names of the parameters that a route takes in its address, itself or by what it depends on."""
    own = [parameter.alias for parameter in dependant.query_params]
    return [*own, *(name for each in dependant.dependencies for name in _taken(each))]
