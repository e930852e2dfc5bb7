"""Engines off the event loop: a few threads that answer, each with engines of its own, and a queue with an end.

An engine is opened with exactly the repositories that are open to whoever asks, so there is nothing else in it that an answer
could tell. A thread keeps the engines it used last: what they read from the disk is mapped, and what is made of the events of a
memory is held once for all engines that have just that memory open.
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
from vademecum.memory.shared_view import Sharing
from vademecum.metrics import gauge

T = TypeVar("T")

KEPT = 8  # engines that a thread keeps
RETRY_SECONDS = 2
_QUEUED = gauge("vademecum_http_queue_depth", "Requests that wait for a thread.")
_BUSY = gauge("vademecum_http_engine_calls_in_flight", "Requests that a thread is answering.")


@dataclass(frozen=True, slots=True)
class Opening:
    """Which engine: over which roots, and whether with what is the user's own."""

    paths: tuple[str, ...]
    personal: bool


class Engines:
    """Runs functions of engines on its threads.

    Args:
        settings: with which engines are opened.
        threads: How many.
        waiting: How many calls may wait for one.
        timeout_s: How long a call may take, waiting included. Nothing can stop a thread: its answer is thrown away.
    """

    def __init__(self, settings: Settings, threads: int, waiting: int, timeout_s: float) -> None:
        self._settings = settings
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="vademecum-http")
        self._room = threads + waiting
        self._timeout_s = timeout_s
        self._calls = 0
        self.answered = 0  # calls that came to an end
        self._own = threading.local()
        self._sharing = Sharing()
        self._all: list[OrderedDict[Opening, Engine]] = []
        self._lock = threading.Lock()

    async def call(self, opening: Opening, function: Callable[[Engine], T]) -> T:
        """Return `function(engine)`. Raises what it raises, and `ProblemError` where there is no room or no time."""
        if self._calls >= self._room:
            said = f"{self._calls} requests are waiting already: ask again in {RETRY_SECONDS} seconds"
            raise ProblemError(503, said, {"Retry-After": str(RETRY_SECONDS)})
        self._calls += 1
        _QUEUED.add(1)
        here = contextvars.copy_context()  # the span that this is part of
        work = asyncio.get_running_loop().run_in_executor(self._pool, lambda: here.run(self._run, opening, function))
        work.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.shield(work), self._timeout_s)
        except TimeoutError:
            said = f"no answer within {self._timeout_s:g} seconds: ask for less, or raise server.timeout_s"
            raise ProblemError(504, said) from None

    def close(self) -> None:
        """Finish what is under way, and let go of every engine."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for kept in self._all:
            while kept:
                kept.popitem()[1].close()

    def _done(self, work: asyncio.Future[T]) -> None:
        self._calls -= 1
        self.answered += 1
        if not work.cancelled():
            work.exception()  # a call that nobody waits for any more may fail unseen

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
