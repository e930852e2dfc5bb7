"""Errors as RFC 9457 problem details.

The details use the same words as the command line: the problem and its fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException

from vademecum.errors import (
    AccessError,
    ConsentError,
    Error,
    MissingExtraError,
    ProviderError,
    SourceError,
    StoreAwayError,
    StoreBusyError,
    StoreFullError,
    UnknownError,
    UnknownProviderError,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"
# The first matching class decides.
_STATUS: tuple[tuple[type[Error], int], ...] = (
    (UnknownError, 404),
    (UsageError, 400),
    (UnknownProviderError, 400),
    (AccessError, 403),
    (ConsentError, 403),
    (SourceError, 404),
    (MissingExtraError, 501),
    (StoreBusyError, 503),
    (StoreAwayError, 502),
    (StoreFullError, 507),
    (ProviderError, 502),
)
_TITLES: Mapping[int, str] = {
    400: "The request cannot be answered as it is",
    401: "A key is needed",
    403: "This is not open to you",
    404: "There is no such thing",
    405: "This cannot be done here",
    413: "The request is too large",
    415: "The body is not JSON",
    421: "This server does not answer to that name",
    422: "A parameter is missing or wrong",
    500: "Something went wrong here",
    501: "A part is not installed",
    502: "Another server failed",
    503: "There is too much to do",
    504: "It took too long",
    507: "The disk is full",
}


class ProblemError(HTTPException):
    """The refusal of a request: status, message and headers."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, dict(headers or {}))


def invalid_part(error: Mapping[str, Any]) -> str:
    """Return FastAPI's validation error as a message.

    The message names the part of the request and the reason.

    >>> invalid_part({"type": "missing", "loc": ("body",), "msg": "Field required"})
    'the body: Field required'
    >>> invalid_part({"type": "missing", "loc": ("query", "q"), "msg": "Field required"})
    'q: Field required'
    """
    where, *names = error["loc"]
    if error["type"] == "json_invalid":
        return f"the body is not JSON: {error['ctx']['error']}, at character {names[0]}"
    return f"{'.'.join(map(str, names)) or f'the {where}'}: {error['msg']}"


def problem(status: int, detail: str, *, kind: str = "about:blank", **more: Any) -> dict[str, Any]:
    """Return problem details."""
    return {"type": kind, "title": _TITLES.get(status, "Error"), "status": status, "detail": detail, **more}


def problem_of(error: Error) -> tuple[int, dict[str, Any]]:
    """Return the status and problem details of an engine error.

    >>> [problem_of(error)[0] for error in (UnknownError("no such"), StoreBusyError("held"), StoreAwayError("gone"), Error("?"))]
    [404, 503, 502, 500]
    """
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return status, problem(status, str(error), error=type(error).__name__)
