"""One request to one server over HTTP, and its reply, in time: what every provider that asks a server stands on.

The connection goes to the server that is named and nowhere else: no proxy, no redirect is followed. A key goes into a
header and into no message.
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
DETAIL_CHARACTERS = 200  # of what a server says about its own failure
FAILURES = (OSError, HTTPException, ValueError)  # what `post` raises: ValueError for a key that no header can hold


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the status, the headers in lower case, and the body."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def post(url: str, body: object, *, api_key: str, timeout_s: float, most_bytes: int) -> Reply:
    """Send JSON and return the reply, or raise one of `FAILURES` within `timeout_s` of being connected.

    Args:
        url: where to, as `is_address` accepts it, with its path.
        body: what is sent, as JSON.
        api_key: the bearer of the request; "" for none.
        timeout_s: seconds to connect, and again until the last byte of the reply.
        most_bytes: of a reply that are read.

    Raises:
        TimeoutError: it took longer.
        OSError, HTTPException: the connection failed.
        ValueError: the key cannot be sent in a header.
    """
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {api_key}"} if api_key else {})
    return request("POST", url, json.dumps(body).encode(), headers, timeout_s=timeout_s, most_bytes=most_bytes)


def request(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, timeout_s: float, most_bytes: int
) -> Reply:
    """Send any request and return the reply; `url` may have a query. Arguments and errors are those of `post`."""
    parts = urlsplit(url)
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    patience = min(timeout_s, DAY_S)  # no clock takes infinity
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
                if reply.length and len(found.body) < most_bytes:  # reading up to a limit does not say so by itself
                    raise IncompleteRead(found.body, reply.length)
        finally:
            watch.cancel()
    except FAILURES as error:
        if late.is_set():
            raise TimeoutError from error
        raise
    finally:
        connection.close()
    if late.is_set():  # what was read until then may look whole
        raise TimeoutError
    return found


def _hang_up(line: socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):  # it is closed already
        line.shutdown(SHUT_RDWR)


def error_of(body: bytes) -> str:
    """Return what a server says went wrong: {"error": "…"}, {"error": {"message": "…"}}, {"detail": "…"}, or the text itself."""
    try:
        record = json.loads(body)
        said = record["error"] if "error" in record else record["detail"]
        said = said["message"] if isinstance(said, dict) else said
    except (ValueError, LookupError, TypeError, RecursionError):
        said = body.decode("utf-8", "replace")
    return str(said)


def short(text: str, secret: str = "") -> str:
    r"""Return a text on one line, not long, without the secret.

    >>> short("no  key\nsk-1 is known", "sk-1")
    'no key … is known'
    """
    return " ".join(text.replace(secret or "\0", "…").split())[:DETAIL_CHARACTERS] or "no more said"
