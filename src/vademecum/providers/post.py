"""One HTTP request to one server, with a time limit.

Connections go to the named server only: no proxy, no redirect. A key goes into a header and never into a message.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from socket import SHUT_RDWR, socket
from urllib.parse import urlsplit

from vademecum.version import __version__

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
