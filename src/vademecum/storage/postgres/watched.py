"""Connections with a limit on waiting for a silent server.

A statement may take long on a healthy server, so silence alone says little. After some seconds of silence the server is asked
for another connection. If it twice gives none, it has stopped, and the statement is given up. If the server is alive but still
does not answer, the statement is given up after the connection's limit. The server has the same limit (`statement_timeout`)
and normally ends the statement itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg

T = TypeVar("T")

ASKED_AFTER = 5.0  # seconds of silence before each check that the server is alive
FAILURES = 2  # failed checks in a row before the server counts as dead: a busy server may miss one
GRACE = 5.0  # seconds for the server to end a statement by itself
SLOWER = 20.0  # factor on the limit for statements that build an index or read everything
_NOTHING_READY = 0  # psycopg's value for "no data in this interval"


class SilentError(psycopg.OperationalError):
    """The server did not answer; a retry would wait as long."""


class Watching:
    """The watching shared by both kinds of connection."""

    limit_s: float = 0.0  # seconds; 0 for no limit
    lives: Callable[[], bool] | None = None
    pgconn: Any

    def _watched(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        heard = asked = time.monotonic()
        failures = 0
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready != _NOTHING_READY:
                    heard = asked = now
                    failures = 0
                elif self.limit_s and now - heard > self.limit_s + GRACE:
                    self._give_up(f"no answer to a statement for {now - heard:.0f} s")
                elif self.lives is not None and now - asked > ASKED_AFTER:
                    failures = 0 if self.lives() else failures + 1
                    asked = time.monotonic()
                    if failures == FAILURES:
                        self._give_up(f"it stopped answering {asked - heard:.0f} s ago")
                wanted = gen.send(ready)
        except StopIteration as done:
            value: T = done.value
            return value

    def _give_up(self, said: str) -> None:
        self.pgconn.finish()
        raise SilentError(said)


class Watched(Watching, psycopg.Connection[Any]):
    """A connection that gives up on a server that stopped answering."""

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, *args: Any, **options: Any) -> T:
        """Run a step of the protocol. Raises `SilentError`, with the connection closed."""
        return super().wait(self._watched(gen), interval, *args, **options)

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Raise the time limit for slow statements, outside a transaction."""
        usual = self.limit_s
        self.limit_s = usual * SLOWER
        try:
            self.execute(f"SET statement_timeout = {int(self.limit_s * 1000)}")
            yield
        finally:
            self.limit_s = usual
            with suppress(psycopg.Error):  # a broken connection is not lent again
                self.execute("RESET statement_timeout")


class WatchedAsync(Watching, psycopg.AsyncConnection[Any]):
    """The same for migrations, which Alembic runs asynchronously."""

    async def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, *args: Any, **options: Any) -> T:
        """Run a step of the protocol. Raises `SilentError`, with the connection closed."""
        return await super().wait(self._watched(gen), interval, *args, **options)
