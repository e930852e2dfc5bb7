"""The API reference at `/docs`: one page from `/openapi.json`.

The page loads nothing else.
"""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response

router = APIRouter(tags=["reference"])
_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>vademecum API</title><style>
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code{font-size:.9em}summary{cursor:pointer;padding:.3rem 0}table{border-collapse:collapse;margin:.5rem 0 1rem 1rem}
td,th{text-align:left;vertical-align:top;padding:.15rem .8rem .15rem 0}p{margin:.3rem 0 .3rem 1rem}
</style><h1>vademecum API</h1>
<p>The same as JSON: <a href="openapi.json">openapi.json</a>. Keys go into <code>Authorization: Bearer KEY</code> or
<code>X-API-Key: KEY</code>. Errors are problem details (RFC 9457); lists have <code>items</code>, <code>total</code> and the
cursor of the <code>next</code> page.</p>"""


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Return a page that lists every route with its parameters."""
    described = request.app.openapi()
    parts = [_HEAD]
    for path, methods in described["paths"].items():
        parts += (_route(method.upper(), path, told, described) for method, told in methods.items())
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
    return Response("".join(parts), media_type="text/html", headers={"Content-Security-Policy": policy})


def _route(method: str, path: str, told: dict[str, Any], described: dict[str, Any]) -> str:
    rows = [
        (each["name"], each["in"], each["schema"], each.get("required"), each.get("description", ""))
        for each in told.get("parameters", ())
    ]
    for kind, body in told.get("requestBody", {}).get("content", {}).items():
        rows += _fields(body["schema"], described) or [("body", kind, body["schema"], True, "")]
    table = "".join(
        f"<tr><th><code>{escape(name)}</code>{'' if required else ' ?'}<td>{escape(place)}<td>{escape(_kind(schema))}"
        f"<td>{escape(said)}"
        for name, place, schema, required, said in rows
    )
    shown = f"<table>{table}</table>" if table else ""
    said = escape(told.get("description", ""))
    return f"<details open><summary><code>{method} {escape(path)}</code></summary><p>{said}</p>{shown}</details>"


def _fields(schema: dict[str, Any], described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any], bool, str]]:
    """Return the fields of a body with a named schema."""
    name = next((each["$ref"] for each in (schema, *schema.get("anyOf", ())) if "$ref" in each), "").rpartition("/")[2]
    known = described["components"]["schemas"].get(name, {}) if name else {}
    return [
        (field, "body", part, field in known.get("required", ()), part.get("description", ""))
        for field, part in known.get("properties", {}).items()
    ]


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a parameter in a few words."""
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"{_kind(schema.get('items', {}))}, repeated"
    low, high = schema.get("minimum"), schema.get("maximum")
    kind = str(schema.get("type", "any"))
    return f"{kind}, {low} to {high}" if low is not None and high is not None else kind
