"""Index jobs: run one at a time, resumed after a restart.

An index run stores whole batches and names them in one transaction at its end. A run that is stopped between two batches
leaves the earlier state, and the next run reuses the stored batches. An accepted job is on disk.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from vademecum.config import Settings
from vademecum.engine import Engine
from vademecum.errors import Error, StoreError, StoreFullError, UnknownError
from vademecum.http.problems import problem, problem_of
from vademecum.metrics import gauge
from vademecum.private import NO_SPACE, claim, private_folder, replacing

AT_ONCE = 1  # a run takes all cores, and runs of one repository wait for each other anyway
KEPT = 200  # finished jobs
RUNNING = ("queued", "running")
_JOBS = gauge("vademecum_index_jobs", "Index jobs that are queued or running.")


class Stopped(Exception):  # noqa: N818 - a requested stop is no error
    """Raised inside an index run to end it."""


@dataclass(kw_only=True)
class JobRecord:
    """An index run, as callers see it."""

    id: str
    repo: str
    full: bool
    commit: str
    state: str = "queued"  # queued, running, done, failed, stopped
    stage: str = ""
    done: int = 0
    total: int = 0  # 0 while unknown
    created_at: float
    started_at: float | None = None
    finished_at: float | None = None
    report: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None


@dataclass(kw_only=True)
class Job(JobRecord):
    """One index run: its target, progress and result."""

    path: str
    changes: int = 0  # counts updates, for streams
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_over(self) -> bool:
        """True when the job has ended."""
        return self.state not in RUNNING

    def record(self) -> dict[str, Any]:
        """Return the job as JSON-serialisable values."""
        return {each.name: getattr(self, each.name) for each in fields(JobRecord)}

    def wants(self, path: str, commit: str, *, full: bool) -> bool:
        """Return whether the unfinished job has exactly these arguments."""
        return not self.is_over and (self.path, self.commit, self.full) == (path, commit, full)


class JobFiles:
    """Files of jobs, so that accepted ones survive a killed server.

    `<id>.json` holds a job. The process that will run it locks `<id>.lock`. The system releases the lock when the process
    dies, and the next server takes over unlocked jobs.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[str, IO[str]] = {}

    def write(self, record: Mapping[str, Any]) -> None:
        """Store a job atomically, synced before returning. Raises `StoreError`."""
        path = self._directory / f"{record['id']}.json"
        try:
            private_folder(self._directory)
            with replacing(path, durable=True) as file:
                file.write(json.dumps(record, default=str).encode())
        except OSError as error:
            kind = StoreFullError if error.errno in NO_SPACE else StoreError
            raise kind(f"cannot write {path}: {error.strerror}; free some space or mend its permissions") from error

    def take(self, id_: str) -> bool:
        """Lock a job for this process; False when another process holds it."""
        if id_ in self._held:
            return True
        if (lock := claim(self._directory / f"{id_}.lock")) is None:
            return False
        self._held[id_] = lock
        return True

    def let_go(self, id_: str) -> None:
        """Release the lock of a job."""
        if lock := self._held.pop(id_, None):
            lock.close()
            with suppress(OSError):
                (self._directory / f"{id_}.lock").unlink()

    def drop(self, id_: str) -> None:
        """Delete the files of a job."""
        self.let_go(id_)
        with suppress(OSError):
            (self._directory / f"{id_}.json").unlink()

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield every job, the oldest first; skip damaged files."""
        found = []
        for path in self._directory.glob("*.json"):
            with suppress(OSError, ValueError, RecursionError):
                record = json.loads(path.read_bytes())
                if isinstance(record, dict) and record.get("id") == path.stem:
                    found.append(record)
        yield from sorted(found, key=lambda record: float(record.get("created_at") or 0))


class Jobs:
    """Runs index jobs on one thread, with an engine per job.

    Unfinished jobs of the served repositories are resumed.
    """

    def __init__(self, settings: Settings, paths: Sequence[str] = ()) -> None:
        self._settings = settings
        self._files = JobFiles(settings.home / "jobs")
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="vademecum-index")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._closing = False
        self._take_over(paths)

    def start(self, repo: str, path: str, *, full: bool = False, commit: str = "") -> tuple[Job, bool]:
        """Start a run; return the job, and whether it is new.

        A queued or running job with the same arguments is returned instead of a new one.

        Raises:
            StoreError: the job cannot be stored; no run starts.
        """
        with self._lock:
            same = next((job for job in self._jobs.values() if job.wants(path, commit, full=full)), None)
            if same is not None:
                return same, False
            # a sequential number would reveal the number of jobs of other repositories
            job = Job(id=uuid.uuid4().hex, repo=repo, path=path, full=full, commit=commit, created_at=time.time())
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
        """Stop a job at its next step."""
        job._stop.set()  # noqa: SLF001 - same module

    def close(self) -> None:
        """Stop every job and wait; the next server resumes them."""
        with self._lock:
            self._closing = True
            for job in self._jobs.values():
                self.stop(job)
        self._pool.shutdown(wait=True)

    def _take_over(self, paths: Sequence[str]) -> None:
        """Load the jobs of earlier servers, and resume unfinished ones."""
        for record in self._files.read():
            if record.get("path") not in paths:
                continue
            with suppress(TypeError):  # the file of another version has other fields
                job = Job(**{each.name: record[each.name] for each in fields(Job) if each.name in record})
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

        job.state, job.started_at = "running", time.time()
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
        """Store the result of a job.

        A job that server shutdown stopped stays unfinished on disk, for the next server.
        """
        job.state, job.problem, job.finished_at = end, trouble or None, time.time()
        job.changes += 1
        _JOBS.add(-1)
        with suppress(StoreError):  # the run ended all the same; the next server would run it again
            if not (end == "stopped" and self._closing):
                self._keep(job)
        self._files.let_go(job.id)
