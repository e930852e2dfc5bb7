"""What is open, and how it is set: `/v1/repos`, `/v1/settings`."""

from __future__ import annotations

from fastapi import APIRouter, Response

from vademecum.http.request_context import Asked
from vademecum.http.routes.shapes import Repos, SettingsShape

router = APIRouter(prefix="/v1", tags=["settings"])


@router.get("/repos", response_model=Repos)
async def repos(asked: Asked) -> Response:
    """List the repositories that are open to whoever asks."""
    return asked.say({"items": [{"name": root.name, "root": root.path} for root in asked.roots]})


@router.get("/settings", response_model=SettingsShape)
async def settings(asked: Asked) -> Response:
    """Return every setting with the layer that set it; secrets are not shown."""
    asked.must_be_personal()
    values = {key: {"value": value, "origin": origin} for key, value, origin in asked.desk.settings.items()}
    return asked.say(
        {"settings": values, "home": str(asked.desk.settings.home), "warnings": asked.desk.settings.warnings}
    )
