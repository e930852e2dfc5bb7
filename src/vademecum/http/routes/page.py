"""The page for people: `/`, and its files below `/page`.

The page sends requests to this server only.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).parents[1] / "page"
ALWAYS_ASK = {"Cache-Control": "no-cache"}  # cached files of another version would not fit together
# Some systems map these suffixes to other types, and with `nosniff` a browser would not run the scripts.
for _kind, _suffix in (("text/javascript", ".js"), ("text/css", ".css"), ("image/svg+xml", ".svg")):
    mimetypes.add_type(_kind, _suffix)

router = APIRouter(include_in_schema=False)


@router.get("/")
async def page() -> Response:
    """Return the page; it requests its other files itself."""
    return FileResponse(FOLDER / "index.html", headers=ALWAYS_ASK)


class PageFiles(StaticFiles):
    """The files below `/page`, revalidated at every request."""

    def __init__(self) -> None:
        """Take the page's own folder."""
        super().__init__(directory=FOLDER)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file, or 304 when it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(ALWAYS_ASK)
        return response
