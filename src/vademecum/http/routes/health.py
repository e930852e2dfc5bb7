"""Health, readiness and metrics: `/healthz`, `/readyz`, `/metrics`."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import PlainTextResponse

from vademecum.http.engines import Opening
from vademecum.http.request_context import Asked
from vademecum.http.routes.shapes import Standing
from vademecum.metrics import exposition

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=Standing)
async def healthz() -> dict[str, str]:
    """Say that the process answers."""
    return {"status": "ok"}


@router.get("/readyz", response_model=Standing)
async def readyz(request: Request) -> dict[str, str]:
    """Check that the database and the engines answer; 503 otherwise."""
    desk = request.app.state.desk
    await desk.readiness.check()
    await desk.engines.call(
        Opening(tuple(root.path for root in desk.roots), personal=True), lambda engine: engine.roots
    )
    return {"status": "ready"}


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(asked: Asked) -> Response:
    """Return the metrics in Prometheus' text format."""
    asked.must_be_personal()
    asked.desk.hooks.count()
    return Response(exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")
