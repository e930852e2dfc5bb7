"""Health, metrics, repositories and settings of the server."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import PlainTextResponse

from vademecum.config import MEANINGS
from vademecum.http.engines import Opening
from vademecum.http.request_context import Asked
from vademecum.http.routes.shapes import Repos, SettingsShape, Standing
from vademecum.metrics import exposition

router = APIRouter()


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
