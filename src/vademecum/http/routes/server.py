"""Health, metrics, repositories, settings, and the pages for people.

The page at `/` has its files below `/page` and sends requests to this server only. The reference at `/docs`, made from
`/openapi.json`, loads nothing else.
"""

from __future__ import annotations

import mimetypes
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles

from vademecum.config import MEANINGS
from vademecum.http.engines import Opening
from vademecum.http.request_context import Asked
from vademecum.http.routes.shapes import Repos, SettingsShape, Standing
from vademecum.metrics import exposition

FOLDER = Path(__file__).parents[1] / "page"
_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>vademecum API</title><style>
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code{font-size:.9em}summary{cursor:pointer;padding:.3rem 0}table{border-collapse:collapse;margin:.5rem 0 1rem 1rem}
td,th{text-align:left;vertical-align:top;padding:.15rem .8rem .15rem 0}p{margin:.3rem 0 .3rem 1rem}
</style><h1>vademecum API</h1>
<p>The same as JSON: <a href="openapi.json">openapi.json</a>. Keys go into <code>Authorization: Bearer KEY</code> or
<code>X-API-Key: KEY</code>. Errors are problem details (RFC 9457); lists have <code>items</code>, <code>total</code> and the
cursor of the <code>next</code> page.</p>"""
ALWAYS_ASK = {"Cache-Control": "no-cache"}  # cached files of another version would not fit together
# Some systems map these suffixes to other types, and with `nosniff` a browser would not run the scripts.
for _media, _suffix in (("text/javascript", ".js"), ("text/css", ".css"), ("image/svg+xml", ".svg")):
    mimetypes.add_type(_media, _suffix)

router = APIRouter()
pages = APIRouter(include_in_schema=False)


@router.get("/healthz", tags=["health"], response_model=Standing)
async def healthz() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@router.get("/readyz", tags=["health"], response_model=Standing)
async def readyz(request: Request) -> dict[str, str]:
    """Check that the database and the engines answer; 503 otherwise."""
    shared = request.app.state.shared
    await shared.readiness.check()
    await shared.engines.call(
        Opening(tuple(root.path for root in shared.roots), personal=True), lambda engine: engine.roots
    )
    return {"status": "ready"}


@router.get("/metrics", tags=["health"], response_class=PlainTextResponse)
async def metrics(asked: Asked) -> Response:
    """Return the metrics in Prometheus' text format."""
    asked.must_be_personal()
    asked.shared.hooks.count()
    return Response(exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/repos", tags=["settings"], response_model=Repos)
async def repos(asked: Asked) -> Response:
    """List the repositories that the caller may see."""
    return asked.say({"items": [{"name": root.name, "root": root.path} for root in asked.roots]})


@router.get("/v1/settings", tags=["settings"], response_model=SettingsShape)
async def settings(asked: Asked) -> Response:
    """Return every setting with its layer; secrets are hidden."""
    asked.must_be_personal()
    values = {
        key: {"value": value, "origin": origin, "about": MEANINGS.get(key, "")}
        for key, value, origin in asked.shared.settings.items()
    }
    return asked.say(
        {"settings": values, "home": str(asked.shared.settings.home), "warnings": asked.shared.settings.warnings}
    )


@pages.get("/")
async def page() -> Response:
    """Return the page; it requests its other files itself."""
    return FileResponse(FOLDER / "index.html", headers=ALWAYS_ASK)


class PageFiles(StaticFiles):
    """The files below `/page`, revalidated at every request."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file, or 304 when it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(ALWAYS_ASK)
        return response


@pages.get("/docs")
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
