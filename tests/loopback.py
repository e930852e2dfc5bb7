"""HTTP servers of tests on a loopback address: how they answer, begin and end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TypeVar

S = TypeVar("S", bound=HTTPServer)


class Handler(BaseHTTPRequestHandler):
    """Answers with JSON or bytes, and says nothing of it."""

    def reply(
        self, status: int, body: object, kind: str = "application/json", more: Mapping[str, str] | None = None
    ) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(len(content))} | dict(more or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client went away, as it should from a server that misbehaves
            super().handle()


@contextmanager
def running(server: S) -> Iterator[S]:
    """Serve on a thread; at the end set the server's `closing`, if it has one."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            getattr(server, "closing", threading.Event()).set()
            server.shutdown()
            thread.join()
