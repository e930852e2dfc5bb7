"""Index runs as jobs: one at a time, told of while they run, stopped cleanly when the server stops, and run by the next one.

An index run keeps whole batches and names them in one transaction at its end, so one that is stopped between two batches
leaves the state before it, and the next goes on from what it kept. A job that was accepted is on the disk (`job_files`).
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import Error, StoreError, UnknownError
from vademecum.http.job_files import JobFiles
from vademecum.http.problems import problem, problem_of
from vademecum.metrics import gauge

AT_ONCE = 1  # index runs take all cores each, and one repository's wait for each other anyway
KEPT = 200  # jobs that are over
RUNNING = ("queued", "running")
SHOWN = (
    "id", "repo", "full", "commit", "state", "stage", "done", "total", "created_at", "started_at", "finished_at", "report", "problem",
)  # fmt: skip
_JOBS = gauge("vademecum_index_jobs", "Index jobs that are queued or running.")


class Stopped(Exception):  # noqa: N818 - no error: somebody asked for it
    """Raised inside an index run to end it."""


@dataclass(slots=True)
class Job:
    """One index run: of what, how far, and how it ended."""

    id: str
    repo: str
    path: str
    full: bool
    commit: str
    state: str = "queued"  # queued, running, done, failed, stopped
    stage: str = ""
    done: int = 0
    total: int = 0  # 0 while it is not known
    created_at: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None
    report: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    changes: int = 0  # grows with each of them
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.state not in RUNNING

    def record(self) -> dict[str, Any]:
        """Return it as JSON-serialisable values."""
        return {name: getattr(self, name) for name in SHOWN}

    def wants(self, path: str, commit: str, *, full: bool) -> bool:
        """Whether it is still to do just this."""
        return not self.is_over and (self.path, self.commit, self.full) == (path, commit, full)


class Jobs:
    """Runs index jobs on a thread of its own, each with an engine of its own.

    Args:
        settings: with which engines are opened.
        paths: the repositories that are served: what is left to do for them is done.
        clock: tells the time.
    """

    def __init__(self, settings: Settings, paths: Sequence[str] = (), clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._clock = clock
        self._files = JobFiles(settings.home / "jobs")
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="vademecum-index")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = False
        self._take_over(paths)

    def start(self, repo: str, path: str, *, full: bool = False, commit: str = "") -> tuple[Job, bool]:
        """Begin a run, and say whether it is a new one: where just this is queued or running, it is that one.

        Raises:
            StoreError: it cannot be written down; nothing begins.
        """
        with self._lock:
            same = next((job for job in self._jobs.values() if job.wants(path, commit, full=full)), None)
            if same is not None:
                return same, False
            # a number would tell how many there were of repositories that are closed to whoever sees it
            job = Job(uuid.uuid4().hex, repo, path, full, commit, created_at=self._clock())
            self._files.take(job.id)
            self._keep(job)
            self._add(job)
        return job, True

    def of(self, paths: tuple[str, ...]) -> list[Job]:
        """Return the jobs of repositories, the latest first."""
        with self._lock:
            found = [job for job in self._jobs.values() if job.path in paths]
        return sorted(found, key=lambda job: (-job.created_at, job.id))

    def get(self, id_: str, paths: tuple[str, ...]) -> Job:
        """Return a job of these repositories. Raises `UnknownError`."""
        job = self._jobs.get(id_)
        if job is None or job.path not in paths:
            raise UnknownError(f"there is no job {id_!r}: `GET /v1/index/jobs` lists them")
        return job

    def stop(self, job: Job) -> None:
        """End a job at its next step."""
        job._stop.set()  # noqa: SLF001 - same module

    def close(self) -> None:
        """End every job, and wait for them; the next server does what was left to do."""
        with self._lock:
            self._closing = True
            for job in self._jobs.values():
                self.stop(job)
        self._pool.shutdown(wait=True)

    def _take_over(self, paths: Sequence[str]) -> None:
        """Know what was done before, and do what is left of it."""
        for record in self._files.read():
            known = {name: record[name] for name in (*SHOWN, "path") if name in record}
            if known.get("path") not in paths:
                continue
            with suppress(TypeError):  # a file of another version
                job = Job(**known)
                if job.is_over:
                    self._jobs[job.id] = job
                elif self._files.take(job.id):
                    job.state, job.stage, job.started_at = "queued", "", None
                    self._add(job)

    def _add(self, job: Job) -> None:
        self._jobs[job.id] = job
        over = [each for each in self._jobs.values() if each.is_over]
        for old in over[: max(0, len(over) - KEPT)]:
            del self._jobs[old.id]
            self._files.drop(old.id)
        _JOBS.add(1)
        self._pool.submit(self._run, job)

    def _keep(self, job: Job) -> None:
        self._files.write({**job.record(), "path": job.path})

    def _run(self, job: Job) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            if job._stop.is_set():  # noqa: SLF001 - same module
                raise Stopped
            job.stage, job.done, job.total = stage, done, total
            job.changes += 1

        job.state, job.started_at = "running", self._clock()
        end, trouble = "failed", problem(500, "the run ended unexpectedly: the server's log says how")
        try:
            progress("opening", 0, 0)
            with Engine.open(job.path, settings=self._settings, personal=False) as engine:
                job.report = asdict(engine.codebase.index(progress, full=job.full, commit=job.commit))
            end, trouble = "done", {}
        except Stopped:
            end, trouble = "stopped", {}
        except Error as error:
            trouble = problem_of(error)[1]
        finally:
            self._end(job, end, trouble)

    def _end(self, job: Job, end: str, trouble: dict[str, Any]) -> None:
        """Say how a job ended; one that only the server's end stopped is left to the next server."""
        job.state, job.problem, job.finished_at = end, trouble or None, self._clock()
        job.changes += 1
        _JOBS.add(-1)
        with suppress(StoreError):  # it is done all the same, and would be done once more
            if not (end == "stopped" and self._closing):
                self._keep(job)
        self._files.let_go(job.id)
