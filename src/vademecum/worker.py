"""A worker: indexes the repositories of a queue, one after another.

    take → clone or fetch → index → done, or failed and why

A separate thread renews the lease meanwhile. If renewal fails, another worker has the job, and this worker drops it at the
next call of `progress`. Everything stored by then is complete, and the other worker continues from there.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vademecum.amounts import counted
from vademecum.code.checkout.clone import cloned, is_address
from vademecum.config import Settings, load
from vademecum.engine import Engine
from vademecum.errors import Error, GitError, PluginError, StoreError, UsageError
from vademecum.protocols import Progress
from vademecum.result import Err, Ok, Result
from vademecum.types import Job

if TYPE_CHECKING:
    from vademecum.storage.postgres.queue import Queue

LEASE_SECONDS = 60.0
POLL_SECONDS = 2.0
AWAY_SECONDS = 600.0  # how long to wait for a server that restarts or moves
HOPELESS = (UsageError, PluginError)  # errors that a retry cannot fix


@dataclass(frozen=True, slots=True)
class Worked:
    """The outcome of one job."""

    job: Job
    state: str  # "done", "failed", "dead" or "lost"
    said: str


class LostError(StoreError):
    """The lease of a job ended during the work."""


def work(
    queue: Queue,
    perform: Callable[[Job, Progress], str],
    told: Callable[[Worked], None],
    stop: threading.Event,
    *,
    lease_s: float = LEASE_SECONDS,
    until_empty: bool = False,
) -> None:
    """Process jobs until `stop` is set or the queue is empty.

    Args:
        queue: where jobs come from.
        perform: does one job and returns a message about the result.
        told: called with the outcome of each job.
        stop: ends the loop after the current job.
        lease_s: seconds a lease lasts without renewal.
        until_empty: end when no job can be taken now.

    Raises:
        StoreError: the queue cannot be reached; its message says why. A queue that answered before gets ten minutes to come
            back. The worker's lease expires on its own.
    """
    name = f"{socket.gethostname()}:{os.getpid()}"
    reached = -AWAY_SECONDS
    while not stop.is_set():
        match queue.take(name, lease_s):
            case Ok(job):
                if job is not None:
                    told(_one(queue, job, perform, lease_s))
                elif until_empty:
                    return
                else:
                    stop.wait(POLL_SECONDS)
                reached = time.monotonic()
            case Err(error):
                if time.monotonic() - reached > AWAY_SECONDS:
                    raise error
                stop.wait(POLL_SECONDS)


def _one(queue: Queue, job: Job, perform: Callable[[Job, Progress], str], lease_s: float) -> Worked:
    try:
        with _held(queue, job, lease_s) as progress:
            said = perform(job, progress)
    except LostError as error:
        return Worked(job, "lost", str(error))
    except Error as error:
        hopeless = isinstance(error, HOPELESS) and not isinstance(error, GitError)
        return _ended(job, queue.failed(job, str(error), again=not hopeless), "failed", str(error), str(error))
    return _ended(job, queue.done(job, said), "done", said, "its lease ended")


def _ended(job: Job, noted: Result[bool, StoreError], state: str, said: str, lost: str) -> Worked:
    """Return the outcome to report for a finished job.

    "lost" means that another worker has the job, or will have it when its lease ends.
    """
    match noted:
        case Err(error):
            return Worked(job, "lost", str(error))
        case Ok(kept):
            return Worked(job, state, said) if kept else Worked(job, "lost", lost)


@contextmanager
def _held(queue: Queue, job: Job, lease_s: float) -> Iterator[Progress]:
    """Renew a job's lease while the block runs.

    Yields a progress callback that raises `LostError` once the lease is lost.
    """
    over, lost = threading.Event(), threading.Event()

    def renew() -> None:
        failures = 0
        while not over.wait(lease_s / 4):
            match queue.renew(job, lease_s):
                case Ok(True):
                    failures = 0
                case Ok(False):
                    lost.set()
                case Err():  # the server may be back before the lease ends
                    failures += 1
            if lost.is_set() or failures >= 4:
                lost.set()
                return

    def progress(stage: str, done: int, total: int) -> None:  # noqa: ARG001 - called for the check alone
        if lost.is_set():
            raise LostError(f"the lease of job {job.id} ended: another worker has it")

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()


def indexing(settings: Settings) -> Callable[[Job, Progress], str]:
    """Return a function that indexes a job's repository, cloned from an address."""

    def perform(job: Job, progress: Progress) -> str:
        directory, commit = job.source, job.revision
        if is_address(job.source):
            directory, commit = cloned(settings.home, job.source, job.revision)
        own = load(directory)
        with Engine.open(directory, settings=own) as engine:
            report = engine.codebase.index(progress, commit=commit)
        return f"{counted(report.files, 'file')}, {report.added} read anew, {counted(report.chunks, 'chunk')}, {report.seconds:.1f} s"

    return perform
