"""A worker: takes repositories from a queue and indexes them, one after the other, until it is told to stop.

    take → clone or fetch → index → done, or failed and why

While it works a thread of its own renews the lease. If that cannot be done, somebody else has the job, and this one is
dropped at its next sign of progress; what was stored by then is complete as far as it goes, and the other goes on from there.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from vademecum.amounts import counted
from vademecum.code.checkout.clone import cloned, is_address
from vademecum.config import Settings, load
from vademecum.engine import Engine
from vademecum.errors import Error, GitError, PluginError, StoreError, UsageError
from vademecum.protocols import Progress
from vademecum.result import Err, Ok, Result
from vademecum.types import Job

LEASE_SECONDS = 60.0
POLL_SECONDS = 2.0
AWAY_SECONDS = 600.0  # a server that is restarted, or moved, is waited for so long
HOPELESS = (UsageError, PluginError)  # the same again would fail again


class Queue(Protocol):
    """What a worker needs of a queue; see `storage.postgres.queue`."""

    def take(self, worker: str, lease_s: float) -> Result[Job | None, StoreError]:
        """Take a job."""
        ...

    def renew(self, job: Job, lease_s: float) -> Result[bool, StoreError]:
        """Go on holding it; False where it is somebody else's."""
        ...

    def done(self, job: Job, said: str) -> Result[bool, StoreError]:
        """Say that it is done."""
        ...

    def failed(self, job: Job, said: str, *, again: bool = True) -> Result[bool, StoreError]:
        """Say that it failed."""
        ...


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of one job."""

    job: Job
    state: str  # "done", "failed", "dead" or "lost"
    said: str


class LostError(StoreError):
    """The lease of a job ended while it was worked on."""


def work(
    queue: Queue,
    perform: Callable[[Job, Progress], str],
    told: Callable[[Worked], None],
    stop: threading.Event,
    *,
    lease_s: float = LEASE_SECONDS,
    until_empty: bool = False,
) -> None:
    """Take job after job until `stop` is set, or the queue is empty.

    Args:
        queue: where jobs come from.
        perform: does one, and returns what to say of it.
        told: of each job that ended.
        stop: ends it after the job that is under way.
        lease_s: how long a job is this worker's without a sign of life.
        until_empty: whether to end where nothing can be taken now.

    Raises:
        StoreError: the queue cannot be reached; its message says why. One that was there is waited for first, for ten
            minutes. A lease that is held ends by itself.
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
    """What to report of a job: how it ended, or that another worker has it, or will have it once its lease ends."""
    match noted:
        case Err(error):
            return Worked(job, "lost", str(error))
        case Ok(kept):
            return Worked(job, state, said) if kept else Worked(job, "lost", lost)


@contextmanager
def _held(queue: Queue, job: Job, lease_s: float) -> Iterator[Progress]:
    """Renew a job's lease meanwhile; yields what is told of progress, and raises `LostError` once the lease is gone."""
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

    def progress(stage: str, done: int, total: int) -> None:  # noqa: ARG001 - what is told is of no interest here
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
    """Return what indexes the repository of a job, cloning it first where it is somewhere else."""

    def perform(job: Job, progress: Progress) -> str:
        directory, commit = job.source, job.revision
        if is_address(job.source):
            directory, commit = cloned(settings.home, job.source, job.revision)
        own = load(directory)
        with Engine.open(directory, settings=own) as engine:
            report = engine.codebase.index(progress, commit=commit)
        return f"{counted(report.files, 'file')}, {report.added} read anew, {counted(report.chunks, 'chunk')}, {report.seconds:.1f} s"

    return perform
