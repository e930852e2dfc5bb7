"""Logs: one JSON object a line on standard error.

They name the caller and the route. They show questions only with the setting for that.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import Any

LOG = logging.getLogger("vademecum.http")


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line of JSON."""
        said: dict[str, Any] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["trace"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(said, ensure_ascii=True, default=str)


def log_to_standard_error() -> None:
    """Write logs of this server and its libraries as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    # uvicorn's record of a bug is dropped: our own also has the request's id
    handler.addFilter(lambda record: not record.getMessage().startswith("Exception in ASGI application"))
    for name in ("vademecum", "uvicorn", "uvicorn.error", "mcp"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler] if name in {"vademecum", "uvicorn", "mcp"} else []
        logger.setLevel(logging.INFO if name == "vademecum" else logging.WARNING)
        logger.propagate = name not in {"vademecum", "uvicorn", "mcp"}
