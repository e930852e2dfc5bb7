"""HTTP requests to one server, with a time limit and retries.

Connections go to the named server only: no proxy, no redirect. A key goes into a header and never into a message.

Failures that may pass are retried. The pause doubles and is drawn at random between half and all of it, so that many clients do not come back at once
("Exponential Backoff And Jitter", AWS Architecture Blog, 2015: equal jitter). `Retry-After` overrides the pause. Clock and
randomness are arguments.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from socket import SHUT_RDWR, socket
from typing import TypeVar
from urllib.parse import urlsplit

from vademecum.errors import ProviderError
from vademecum.version import __version__

T = TypeVar("T")
FIRST_PAUSE_S = 0.5
MOST_PAUSE_S = 60.0  # the longest pause; a server that asks for a longer one is not asked again
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # statuses of failures that may pass


class PassingError(ProviderError):
    """A failure that may pass; `after_s` is the server's `Retry-After`, seconds."""

    def __init__(self, said: str, after_s: float | None = None) -> None:
        super().__init__(said)
        self.after_s = after_s


@dataclass(frozen=True, slots=True)
class Patience:
    """A retry policy: attempts, timeout and pauses.

    Attributes:
        attempts: the most attempts.
        timeout_s: the most seconds of one attempt.
        most_pause_s: the longest pause; a server that asks for a longer one is not asked again.
        sleep, clock, chance: sleeps for seconds; returns seconds since the epoch; draws from 0..1.
    """

    attempts: int = 5
    timeout_s: float = 60.0
    most_pause_s: float = MOST_PAUSE_S
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    chance: Callable[[], float] = random.random

    def over(self, attempt: Callable[[], T]) -> T:
        """Run `attempt`, again while it raises `PassingError`.

        Raises `ProviderError` after the last attempt, or if the server asks for too long a pause.
        """
        for failures in range(1, self.attempts + 1):
            try:
                return attempt()
            except PassingError as error:
                if failures == self.attempts:
                    tries = f" ({self.attempts} attempts)" if self.attempts > 1 else ""
                    raise ProviderError(f"{error}{tries}") from error
                pause = self._pause(failures) if error.after_s is None else max(error.after_s, 0.0)
                if pause > self.most_pause_s:
                    raise ProviderError(f"{error}; it asks to be left alone for {pause:.0f} s") from error
            self.sleep(pause)
        raise AssertionError("the last attempt returned or raised")

    def _pause(self, failures: int) -> float:
        longest = min(self.most_pause_s, FIRST_PAUSE_S * 2.0 ** (failures - 1))
        return float(longest * (0.5 + self.chance() / 2))


def retry_after(said: str, now: float) -> float | None:
    """Return the seconds that a `Retry-After` asks for.

    The result is None if the header cannot be read.

    >>> retry_after("7", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 50.0), retry_after("soon", 0.0)
    (7.0, 10.0, None)
    """
    if said.strip().isdigit():
        return float(said)
    try:
        return parsedate_to_datetime(said).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return None


DAY_S = 86_400.0
DETAIL_CHARACTERS = 200  # of a server's error message
FAILURES = (OSError, HTTPException, ValueError)  # the errors of `post`: ValueError for a key that no header can hold


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply: the status, lower-case headers, and the body."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def post(url: str, body: object, *, api_key: str, timeout_s: float, most_bytes: int) -> Reply:
    """Send JSON and return the reply, within a time limit.

    Args:
        url: the address with its path, as `is_address` accepts it.
        body: sent as JSON.
        api_key: the bearer token; "" for none.
        timeout_s: seconds to connect, and again until the last byte of the reply.
        most_bytes: the most bytes read of a reply.

    Raises:
        TimeoutError: the request took longer.
        OSError, HTTPException: the connection failed.
        ValueError: the key cannot be sent in a header.
    """
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
    return request("POST", url, json.dumps(body).encode(), headers, timeout_s=timeout_s, most_bytes=most_bytes)


def request(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, timeout_s: float, most_bytes: int
) -> Reply:
    """Send any request and return the reply.

    `url` may have a query. Arguments and errors are those of `post`.
    """
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    patience = min(timeout_s, DAY_S)  # no clock accepts infinity
    connection = connect(parts.hostname or "", parts.port, timeout=patience)
    late = threading.Event()
    try:
        connection.connect()
        # The socket's own timeout starts again with every byte; this one does not.
        watch = threading.Timer(patience, _hang_up, (connection.sock, late))
        watch.daemon = True
        watch.start()
        try:
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request(method, target, body, {"User-Agent": f"vademecum/{__version__}", **headers})
            with connection.getresponse() as reply:
                found = Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read(most_bytes))
                if reply.length and len(found.body) < most_bytes:  # a read up to a limit does not report a short body
                    raise IncompleteRead(found.body, reply.length)
        finally:
            watch.cancel()
    except FAILURES as error:
        if late.is_set():
            raise TimeoutError from error
        raise
    finally:
        connection.close()
    if late.is_set():  # a body cut at the deadline may look whole
        raise TimeoutError
    return found


def _hang_up(line: socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):  # already closed
        line.shutdown(SHUT_RDWR)


def error_of(body: bytes) -> str:
    """Return a server's error message from a reply's body.

    Known forms: {"error": "…"}, {"error": {"message": "…"}}, {"detail": "…"}, or plain text.
    """
    try:
        record = json.loads(body)
        said = record["error"] if "error" in record else record["detail"]
        said = said["message"] if isinstance(said, dict) else said
    except (ValueError, LookupError, TypeError, RecursionError):
        said = body.decode("utf-8", "replace")
    return str(said)


def short(text: str, secret: str = "") -> str:
    r"""Return a text on one line, shortened, without the secret.

    >>> short("no  key\nsk-1 is known", "sk-1")
    'no key … is known'
    """
    return " ".join(text.replace(secret or "\0", "…").split())[:DETAIL_CHARACTERS] or "no more said"
