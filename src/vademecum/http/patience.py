"""A limit on the time of half a request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where a request's head takes too long."""

    seconds: float  # for a head, from the connection's or the head's first byte on
    _waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take some bytes, and wait on while the head is not whole."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._waits is None:
            self._waits = self.loop.call_later(self.seconds, self._give_up)

    def _give_up(self) -> None:
        self._waits = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _stop(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None
