"""Calls to a Qdrant server: with retries, and errors named.

Retried: a connection that was refused or dropped, a busy server (429, after the time it names), a server's own failures
(5xx). Not retried: a refused key, a refused request, a malformed answer. Every write is safe to repeat.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from vademecum.errors import VectorIndexError

T = TypeVar("T")

FAILURES = (QdrantException, ResponseHandlingException, UnexpectedResponse, httpx.HTTPError, ValueError)
READ_TRIES, WRITE_TRIES = 2, 4  # somebody waits for what is read
FIRST_PAUSE_S = 0.2  # doubles each time, minus a random half
LONGEST_PAUSE_S = 30.0  # a longer `Retry-After` ends the call
DETAIL_CHARACTERS = 200


class InTime(httpx.HTTPTransport):
    """Transport with one time limit for a whole answer, unlike httpx's."""

    def __init__(self, seconds: float, **more: Any) -> None:
        super().__init__(**more)
        self._seconds = seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return an answer whose reading ends in time."""
        end = time.monotonic() + self._seconds
        response = super().handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Timed(response.stream, end)
        return response


class _Timed(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, end: float) -> None:
        self._inner, self._end = inner, end

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            if time.monotonic() > self._end:
                raise httpx.ReadTimeout("the answer takes too long")
            yield part

    def close(self) -> None:
        self._inner.close()


class Calls:
    """Calls one server; its key is removed from messages."""

    def __init__(self, url: str, api_key: str, timeout_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url, self._key, self._timeout_s, self._sleep = url, api_key, timeout_s, sleep

    def run(self, step: Callable[[], T], tries: int) -> T:
        """Run a step, at most `tries` times; raise `StoreError`."""
        pause = FIRST_PAUSE_S
        for left in reversed(range(tries)):
            try:
                return step()
            except FAILURES as error:
                wait = _pause(error, pause)
                if left == 0 or wait is None or wait > LONGEST_PAUSE_S:
                    raise VectorIndexError(self._named(error).replace(self._key or "\0", "…")) from error
                self._sleep(wait)
                pause *= 2
        raise AssertionError("a step is tried at least once")

    def _named(self, error: Exception) -> str:
        at = f"qdrant at {self._url}"
        cause = error.source if isinstance(error, ResponseHandlingException) else error
        match cause:
            case httpx.TimeoutException():
                return f"{at} took longer than {self._timeout_s:g} s: raise qdrant.timeout_s, or look at its load"
            case httpx.ConnectError():
                return f"nothing answers at {self._url}: start Qdrant, or set qdrant.url"
            case httpx.HTTPError():
                return (
                    f"{at} broke off ({_short(str(cause) or type(cause).__name__)}): look at its log, or set qdrant.url"
                )
            case ResourceExhaustedResponse():
                return f"{at} is busy and asks to come back in {cause.retry_after_s} s: try again then"
            case UnexpectedResponse():
                return f"{at} {_refusal(cause)}"
        said = "its answer is not one of Qdrant's" if isinstance(cause, ValidationError) else _short(str(cause))
        return f"{at}: {said}: check qdrant.url, and that it is 1.16 or newer"


def _pause(error: Exception, usual: float) -> float | None:
    """Return the seconds to wait before retrying, None for no retry."""
    cause = error.source if isinstance(error, ResponseHandlingException) else error
    jittered = usual * random.uniform(0.5, 1)  # noqa: S311 - so that many clients do not come back at once
    match cause:
        case ResourceExhaustedResponse():
            return float(cause.retry_after_s)
        case UnexpectedResponse():
            status = cause.status_code or 0
            return jittered if status == 429 or status >= 500 else None
        case httpx.TimeoutException():  # the time limit has passed once already
            return None
        case httpx.TransportError():
            return jittered
    return None


def _refusal(error: UnexpectedResponse) -> str:
    status = error.status_code or 0
    detail = _short(error.content.decode("utf-8", "replace"))
    if status in {401, 403}:
        return "refused the key: set qdrant.api_key in your user file, or VADE_QDRANT__API_KEY"
    if 300 <= status < 400:
        return "leads elsewhere: set qdrant.url to where it leads"
    if status == 404:
        return f"does not have it ({detail}): `vade doctor --repair` writes what is missing, or check qdrant.url"
    if status == 429:
        return "is busy: try again later"
    return f"answered with status {status} ({detail}): look at its log"


def _short(text: str) -> str:
    return " ".join(text.split())[:DETAIL_CHARACTERS] or "no more said"
