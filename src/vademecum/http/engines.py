"""Engine threads: a fixed pool with a bounded queue.

They answer beside the event loop, each thread with its own engines. An engine opens exactly the caller's repositories, so
an answer cannot reveal others. A thread keeps its last used engines. Their files are memory-mapped, and engines with the
same memory open share one view of its events.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.http.problems import ProblemError
from vademecum.memory.segment_store import Sharing
from vademecum.metrics import gauge

T = TypeVar("T")

KEPT = 8  # engines per thread
RETRY_SECONDS = 2
_QUEUED = gauge("vademecum_http_queue_depth", "Requests that wait for a thread.")
_BUSY = gauge("vademecum_http_engine_calls_in_flight", "Requests that a thread is answering.")


@dataclass(frozen=True, slots=True)
class Opening:
    """Arguments of an engine: its roots, and access to personal data."""

    paths: tuple[str, ...]
    personal: bool


class Engines:
    """Runs functions on engines in a thread pool.

    At most `waiting` calls wait for one of the `threads`. A call may take `timeout_s` seconds, including its wait. A thread
    cannot be stopped; a late answer is discarded.
    """

    def __init__(self, settings: Settings, threads: int, waiting: int, timeout_s: float) -> None:
        self._settings = settings
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="vademecum-http")
        self._room = threads + waiting
        self._timeout_s = timeout_s
        self._calls = 0
        self.answered = 0  # finished calls
        self._own = threading.local()
        self._sharing = Sharing()
        self._all: list[OrderedDict[Opening, Engine]] = []
        self._lock = threading.Lock()

    async def call(self, opening: Opening, function: Callable[[Engine], T]) -> T:
        """Return `function(engine)`, run on a thread.

        Raises the function's errors, and `ProblemError` when the queue is full or the time is up.
        """
        if self._calls >= self._room:
            said = f"{self._calls} requests are waiting already: ask again in {RETRY_SECONDS} seconds"
            raise ProblemError(503, said, {"Retry-After": str(RETRY_SECONDS)})
        self._calls += 1
        _QUEUED.add(1)
        here = contextvars.copy_context()  # carries the current span
        work = asyncio.get_running_loop().run_in_executor(self._pool, lambda: here.run(self._run, opening, function))
        work.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(work), self._timeout_s)
        except TimeoutError:
            said = f"no answer within {self._timeout_s:g} seconds: ask for less, or raise server.timeout_s"
            raise ProblemError(504, said) from None

    def close(self) -> None:
        """Finish running calls, and close every engine."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for kept in self._all:
            while kept:
                kept.popitem()[1].close()

    def _done(self, work: asyncio.Future[T]) -> None:
        self._calls -= 1
        self.answered += 1
        if not work.cancelled():
            work.exception()  # nobody waits for a timed-out call; ignore its error

    def _run(self, opening: Opening, function: Callable[[Engine], T]) -> T:
        _QUEUED.add(-1)
        with _BUSY.during():
            return function(self._engine(opening))

    def _engine(self, opening: Opening) -> Engine:
        kept: OrderedDict[Opening, Engine] | None = getattr(self._own, "kept", None)
        if kept is None:
            kept = self._own.kept = OrderedDict()
            with self._lock:
                self._all.append(kept)
        if opening not in kept:
            kept[opening] = Engine.open(
                *opening.paths, settings=self._settings, personal=opening.personal, sharing=self._sharing
            )
            while len(kept) > KEPT:
                kept.popitem(last=False)[1].close()
        kept.move_to_end(opening)
        return kept[opening]
