"""Index runs as jobs: one per repository at a time, told of while they run, and stopped cleanly when the server stops.

An index run keeps whole batches and names them in one transaction at its end, so one that is stopped between two batches
leaves the state before it, and the next goes on from what it kept.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import Error, UnknownError
from vademecum.http.problems import problem, problem_of
from vademecum.metrics import gauge

AT_ONCE = 1  # index runs take all cores each
KEPT = 200  # jobs that are over
RUNNING = ("queued", "running")
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
        names = ("id", "repo", "full", "commit", "state", "stage", "done", "total", "created_at", "started_at",
                 "finished_at", "report", "problem")  # fmt: skip
        return {name: getattr(self, name) for name in names}


class Jobs:
    """Runs index jobs on a thread of its own, each with an engine of its own."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        """Take the settings engines are opened with, and what tells the time."""
        self._settings = settings
        self._clock = clock
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="vademecum-index")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, repo: str, path: str, *, full: bool = False, commit: str = "") -> tuple[Job, bool]:
        """Begin a run, and say whether it is a new one: where one of the repository is queued or running, it is that one."""
        with self._lock:
            for job in self._jobs.values():
                if job.path == path and not job.is_over:
                    return job, False
            # a number would tell how many there were of repositories that are closed to whoever sees it
            job = Job(uuid.uuid4().hex, repo, path, full, commit, created_at=self._clock())
            self._jobs[job.id] = job
            over = [each for each in self._jobs.values() if each.is_over]
            for old in over[: max(0, len(over) - KEPT)]:
                del self._jobs[old.id]
        _JOBS.add(1)
        self._pool.submit(self._run, job)
        return job, True

    def of(self, paths: tuple[str, ...]) -> list[Job]:
        """Return the jobs of repositories, the latest first."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if job.path in paths]

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
        """End every job, and wait for them."""
        with self._lock:
            for job in self._jobs.values():
                self.stop(job)
        self._pool.shutdown(wait=True)

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
            job.state, job.problem, job.finished_at = end, trouble or None, self._clock()
            job.changes += 1
            _JOBS.add(-1)
