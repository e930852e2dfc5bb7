"""A connection that is not waited on for ever.

A statement may take long and its server be well, so silence alone says little. After some seconds of it the server is asked for
another connection: one that twice gives none has stopped, and the statement is given up. A server that lives, and still does not
answer the statement, is given up after the connection's limit; it was told the same limit (`statement_timeout`), and as a rule
ends the statement itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg

T = TypeVar("T")

ASKED_AFTER = 5.0  # seconds of silence, until the server is asked whether it lives; and again after as many
FAILURES = 2  # in a row, until it is taken for dead: a server under load may miss one
GRACE = 5.0  # seconds that a server may take to end a statement by itself
SLOWER = 20.0  # how many times the limit a statement may take that builds an index, or reads all there is
_NOTHING_READY = 0  # psycopg's word for "no data in this interval"


class SilentError(psycopg.OperationalError):
    """The server did not answer a statement; doing it again would wait as long again."""


class Watching:
    """What both kinds of connection have in common."""

    limit_s: float = 0.0  # 0 for as long as it takes
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
    """A connection whose server has to answer, or at least to live, while a statement is waited for."""

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, *args: Any, **options: Any) -> T:
        """Run a step of the protocol. Raises `SilentError`, the connection closed."""
        return super().wait(self._watched(gen), interval, *args, **options)

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Let statements take long, as those that build an index do. Outside a transaction."""
        usual = self.limit_s
        self.limit_s = usual * SLOWER
        try:
            self.execute(f"SET statement_timeout = {int(self.limit_s * 1000)}")
            yield
        finally:
            self.limit_s = usual
            with suppress(psycopg.Error):  # one that broke is not lent again
                self.execute("RESET statement_timeout")


class WatchedAsync(Watching, psycopg.AsyncConnection[Any]):
    """The same for migrations, which Alembic runs over this kind."""

    async def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, *args: Any, **options: Any) -> T:
        """Run a step of the protocol. Raises `SilentError`, the connection closed."""
        return await super().wait(self._watched(gen), interval, *args, **options)
