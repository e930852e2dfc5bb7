"""Engine threads: a fixed pool with a bounded queue.

They answer beside the event loop, each thread with its own engines. An engine opens exactly the caller's repositories, so
an answer cannot reveal others. A thread keeps its last used engines. Their files are memory-mapped, and engines with the
same memory open share one view of its events.

The server is ready while the shared database answers. Load balancers should send events to other servers meanwhile. The database is asked at most once in `EVERY_S`, and no
caller waits longer than `PATIENCE_S`.

Hooks run in separate processes, so their runs are counted from the file that they write.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import Error
from vademecum.http.problems import ProblemError
from vademecum.memory.segment_store import Sharing
from vademecum.metrics import counter, gauge, histogram

LOG = logging.getLogger(__name__)
_RUNS = counter("vademecum_hook_runs_total", "Hooks that agents called, by hook and how they ended.")
_TOOK = histogram("vademecum_hook_duration_seconds", "Seconds that a hook took, by hook.")


class HookRuns:
    """Counts the lines of the hooks' log file.

    Other processes append to the file, and sometimes replace it. Safe for several threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = 0  # its inode
        self._read = 0  # bytes of it
        self._lock = threading.Lock()

    def count(self) -> None:
        """Count the lines written since the last call."""
        with self._lock, suppress(OSError), self._path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            if inode != self._file:
                self._file, self._read = inode, 0
            file.seek(self._read)
            whole, _, _ = file.read().rpartition(b"\n")
            self._read += len(whole) + 1 if whole else 0
            for line in whole.split(b"\n"):
                self._count(line.decode("ascii", "replace").split(" "))

    def _count(self, words: list[str]) -> None:
        if len(words) != 3:
            return
        name, outcome, seconds = words
        with suppress(ValueError):
            _TOOK.observe(float(seconds), hook=name)
            _RUNS.add(hook=name, outcome=outcome)


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

    def __init__(self, settings: Settings) -> None:
        self._settings, own = settings, settings.server
        self._pool = ThreadPoolExecutor(own.threads, thread_name_prefix="vademecum-http")
        self._room, self._timeout_s = own.threads + own.waiting, own.timeout_s
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
