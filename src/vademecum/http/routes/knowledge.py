"""Open repositories and settings: `/v1/repos`, `/v1/settings`."""

from __future__ import annotations

from fastapi import APIRouter, Response

from vademecum.config import MEANINGS
from vademecum.http.request_context import Asked
from vademecum.http.routes.shapes import Repos, SettingsShape

router = APIRouter(prefix="/v1", tags=["settings"])


@router.get("/repos", response_model=Repos)
async def repos(asked: Asked) -> Response:
    """List the repositories that the caller may see."""
    return asked.say({"items": [{"name": root.name, "root": root.path} for root in asked.roots]})


@router.get("/settings", response_model=SettingsShape)
async def settings(asked: Asked) -> Response:
    """Return every setting with its layer; secrets are hidden."""
    asked.must_be_personal()
    values = {
        key: {"value": value, "origin": origin, "about": MEANINGS.get(key, "")}
        for key, value, origin in asked.desk.settings.items()
    }
    return asked.say(
        {"settings": values, "home": str(asked.desk.settings.home), "warnings": asked.desk.settings.warnings}
    )
