"""Readiness: the shared database must answer before events can be recorded.

Load balancers should send events to other servers meanwhile. The database is asked at most once in `EVERY_S`, and no
caller waits longer than `PATIENCE_S`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from vademecum.errors import Error
from vademecum.http.log import LOG
from vademecum.http.problems import ProblemError
from vademecum.metrics import gauge

EVERY_S = 1.0
PATIENCE_S = 1.0
_ANSWERS = gauge(
    "vademecum_http_store_ready", "Whether the database answered when readiness was last asked for: 1 or 0."
)


class Readiness:
    """Checks the database on a separate thread, for one event loop.

    A thread, because a waiting database call cannot be stopped.
    """

    def __init__(self, ask: Callable[[], object], called: str) -> None:
        self._ask = ask
        self._called = called
        self._asked: asyncio.Task[object] | None = None
        self._at = 0.0

    async def check(self) -> None:
        """Return if the database answers, or raise `ProblemError`.

        The error does not tell the database's address, because any caller may ask.
        """
        now = time.monotonic()
        if self._asked is None or (self._asked.done() and now - self._at >= EVERY_S):
            self._at, self._asked = now, asyncio.create_task(asyncio.to_thread(self._ask))
        try:
            await asyncio.wait_for(asyncio.shield(self._asked), max(self._at + PATIENCE_S - now, 0.0))
        except TimeoutError:
            raise self._away(f"no answer within {PATIENCE_S:g} s") from None
        except Error as error:
            raise self._away(str(error)) from error
        _ANSWERS.set(1)

    def _away(self, reason: str) -> ProblemError:
        _ANSWERS.set(0)
        LOG.warning("not ready", extra={"fields": {"store": self._called, "reason": reason}})
        said = (
            f"the {self._called} database of storage.url does not answer: see that its server runs; the log says more"
        )
        return ProblemError(503, said, {"Retry-After": "1"})
