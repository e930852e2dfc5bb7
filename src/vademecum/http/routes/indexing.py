"""Index jobs and index status: `/v1/index`."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from vademecum.engine import Engine
from vademecum.http.jobs import Job, JobRecord
from vademecum.http.problems import ProblemError
from vademecum.http.request_context import Asked
from vademecum.http.routes.code import Name
from vademecum.http.routes.shapes import Cursor, EventStream, Limit, Page, page
from vademecum.metrics import gauge
from vademecum.types import RepoStatus

router = APIRouter(prefix="/v1/index", tags=["index"])
LOOK_SECONDS = 0.2
MOST_STREAMS = 100
HEARTBEAT_SECONDS = 15.0  # proxies close connections that stay silent

STREAMS = gauge("vademecum_http_event_streams", "Streams of events that are open.")
STREAMS.add(0)


class Wanted(BaseModel):
    """A request for an index run."""

    repo: str = Field(default="", max_length=1000, description="Which repository; the first unless given.")
    full: bool = Field(default=False, description="Read every file again, whatever is known.")
    commit: str = Field(default="", max_length=1000, description="Index this revision instead of the files on disk.")


@router.post("", status_code=202, response_model=JobRecord)
async def index(asked: Asked, body: Wanted | None = None) -> Response:
    """Start an index run.

    A queued or running job with the same arguments is returned instead of a new one.
    """
    wanted = body or Wanted()
    path = asked.path_of(wanted.repo)
    name = next(root.name for root in asked.roots if root.path == path)
    start = partial(asked.shared.jobs.start, name, path, full=wanted.full, commit=wanted.commit)
    job, _ = await asyncio.to_thread(start)  # writes to disk
    answer = asked.say(job.record(), status=202)
    answer.headers["Location"] = f"/v1/index/jobs/{job.id}"
    return answer


@router.get("/jobs", response_model=Page[JobRecord])
async def jobs(asked: Asked, limit: Limit = 50, cursor: Cursor = "") -> Response:
    """List index jobs, the latest first."""
    found = asked.shared.jobs.of(asked.visitor.paths)
    return asked.say(page(found, limit, cursor, lambda job: (-job.created_at, job.id), lambda job: job.record()))


@router.get("/jobs/{id}", response_model=JobRecord)
async def job(asked: Asked, id: str) -> Response:
    """Return one job, with its progress or result."""
    return asked.say(asked.shared.jobs.get(id, asked.visitor.paths).record())


@router.delete("/jobs/{id}", status_code=202, response_model=JobRecord)
async def stop(asked: Asked, id: str) -> Response:
    """Stop a job at its next step; the earlier index stays."""
    found = asked.shared.jobs.get(id, asked.visitor.paths)
    asked.shared.jobs.stop(found)
    return asked.say(found.record(), status=202)


@router.get("/jobs/{id}/events", response_class=EventStream)
async def job_events(asked: Asked, request: Request, id: str) -> EventStream:
    """Stream a job as server-sent events.

    The events are `progress` while the job runs, then `done`, `failed` or `stopped`.
    """
    found = asked.shared.jobs.get(id, asked.visitor.paths)
    if STREAMS.value() >= MOST_STREAMS:
        said = f"{MOST_STREAMS} streams are open already: ask for /v1/index/jobs/{found.id} now and then instead"
        raise ProblemError(503, said, {"Retry-After": "10"})
    return EventStream(_told(found, request, asked.shared.ending), headers={"Cache-Control": "no-store"})


async def _told(job: Job, request: Request, ending: threading.Event) -> AsyncIterator[str]:
    """Yield the events of a job, and count the open stream."""
    with STREAMS.during():
        async for event in _changes(job, request, ending):
            yield event


async def _changes(job: Job, request: Request, ending: threading.Event) -> AsyncIterator[str]:
    """Yield an event per change of a job, and heartbeat comments.

    The stream ends with the job, with the client, or when the server shuts down.
    """
    seen, silent = -1, 0.0
    while not await request.is_disconnected():
        changes, over = job.changes, job.is_over
        if changes != seen:
            kind = job.state if over else "progress"
            yield f"id: {changes}\nevent: {kind}\ndata: {json.dumps(job.record(), ensure_ascii=True, default=str)}\n\n"
            seen, silent = changes, 0.0
        if over or ending.is_set():
            return
        await asyncio.sleep(LOOK_SECONDS)
        silent += LOOK_SECONDS
        if silent >= HEARTBEAT_SECONDS:
            yield ": still at it\n\n"
            silent = 0.0


@router.get("/status", response_model=list[RepoStatus])
async def status(asked: Asked, repo: Name = "") -> Response:
    """Return the index status of each repository.

    It lists indexed and skipped files with reasons, and says whether the index matches the disk.
    """

    def answer(engine: Engine) -> list[dict[str, Any]]:
        return [asdict(each) for each in engine.codebase.status() if repo in {"", each.repo}]

    if repo:
        asked.path_of(repo)
    return await asked.answer(answer)
