"""Parameters that many routes take, with their limits."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

Limit = Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")]
Cursor = Annotated[str, Query(max_length=4000, description="The `next` of the page before.")]
Depth = Annotated[int, Query(ge=1, le=3, description="How many steps to follow.")]
Words = Annotated[str, Query(max_length=200, description="A time in words: `last week`, `since Monday`, `2025-10-05`.")]


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


# Bodies that are read as they are: the engine checks them item by item, and says which it could not take.
ANY_JSON = _body("application/json", {"anyOf": [{"type": "object"}, {"type": "array"}]})
JSON_LINES = _body("application/x-ndjson", {"type": "string"})
