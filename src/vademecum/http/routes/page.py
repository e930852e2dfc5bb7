"""The page for people: `/`, and below `/page` the files it is made of. It asks this server and nobody else."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).parents[1] / "page"
ALWAYS_ASK = {"Cache-Control": "no-cache"}  # a browser that kept files of another version would mix the two
# Some systems map these otherwise, and a browser that may not guess runs no such script.
for _kind, _suffix in (("text/javascript", ".js"), ("text/css", ".css"), ("image/svg+xml", ".svg")):
    mimetypes.add_type(_kind, _suffix)

router = APIRouter(include_in_schema=False)


@router.get("/")
async def page() -> Response:
    """Return the page; everything else it needs, it asks for by itself."""
    return FileResponse(FOLDER / "index.html", headers=ALWAYS_ASK)


class PageFiles(StaticFiles):
    """The files below `/page`, each asked for again every time and sent only where it changed."""

    def __init__(self) -> None:
        """Take the page's own files."""
        super().__init__(directory=FOLDER)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return a file, or that it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(ALWAYS_ASK)
        return response
