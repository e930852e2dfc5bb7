"""The queue of repositories to index: a table of leased jobs.

Workers take jobs with `FOR UPDATE SKIP LOCKED`, so they never wait for each other. A job belongs to one worker until its lease
ends; a living worker renews it. Any worker that finds an expired lease puts the job back, with its attempt counted. A failed
job waits twice as long each time, and is dead after the last attempt. An index enforces that one job of a source runs at a
time. All times are the server's.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from vademecum.errors import StoreError
from vademecum.result import Result
from vademecum.storage.postgres.connect import connections
from vademecum.storage.postgres.store import TIMEOUT_SECONDS
from vademecum.types import Job

T = TypeVar("T")

ATTEMPTS = 5
PAUSE_SECONDS = 10.0  # before the second attempt; doubles with each attempt
MOST_PAUSE_SECONDS = 3600.0
KEPT_DAYS = 30  # days that finished jobs stay in the list
_COLUMNS = (
    "id, source, revision, state, attempts, lease, worker, said, extract(epoch FROM added_at)::double precision, "
    "greatest(extract(epoch FROM not_before - now()), 0)::double precision"
)


@dataclass(frozen=True)
class Queue:
    """The queue in one database. Safe to use from several threads."""

    url: str
    attempts: int = ATTEMPTS

    def add(self, source: str, revision: str = "") -> Result[Job, StoreError]:
        """Add a job; return the waiting one if there is one.

        A waiting job counts if it has the same source and revision.
        """
        statement = (
            "WITH swept AS (DELETE FROM jobs WHERE state = 'done' AND ended_at < now() - make_interval(days => %s)), "
            "added AS (INSERT INTO jobs (source, revision) VALUES (%s, %s) "
            f"ON CONFLICT (source, revision) WHERE state = 'ready' DO UPDATE SET source = excluded.source RETURNING {_COLUMNS}) "
            "SELECT * FROM added"
        )
        return self._ask(lambda c: Job(*c.execute(statement, [KEPT_DAYS, source, revision]).fetchall()[0]))

    def take(self, worker: str, lease_s: float) -> Result[Job | None, StoreError]:
        """Take the job that has waited longest, under a lease.

        The result is None if no job can be taken. `lease_s` is in seconds.
        """

        def take(connection: psycopg.Connection) -> Job | None:
            for _ in range(3):
                with suppress(psycopg.errors.UniqueViolation):  # another worker has just taken a job of the same source
                    connection.execute(_PUT_BACK, {"most": self.attempts})
                    row = connection.execute(_TAKE, [worker, lease_s]).fetchone()
                    return Job(*row) if row else None
            return None

        return self._ask(take)

    def renew(self, job: Job, lease_s: float) -> Result[bool, StoreError]:
        """Renew a job's lease; return False if the lease is lost."""
        return self._changed(
            "UPDATE jobs SET lease_until = now() + make_interval(secs => %s) WHERE id = %s AND lease = %s AND state = 'running'",
            [lease_s, job.id, job.lease],
        )

    def done(self, job: Job, said: str) -> Result[bool, StoreError]:
        """Mark a job as done; False changes nothing: the lease is lost."""
        return self._changed(
            "UPDATE jobs SET state = 'done', said = %s, ended_at = now(), worker = '' "
            "WHERE id = %s AND lease = %s AND state = 'running'",
            [said, job.id, job.lease],
        )

    def failed(self, job: Job, said: str, *, again: bool = True) -> Result[bool, StoreError]:
        """Mark a job as failed, with the reason.

        The job is tried again after a pause, unless `again` is false or no attempts are left.
        """
        pause = min(PAUSE_SECONDS * 2 ** (job.attempts - 1), MOST_PAUSE_SECONDS) * random.uniform(0.8, 1.2)  # noqa: S311
        dead = not again or job.attempts >= self.attempts
        return self._changed(
            "UPDATE jobs SET state = %s, said = %s, worker = '', not_before = now() + make_interval(secs => %s), "
            "ended_at = CASE WHEN %s THEN now() END WHERE id = %s AND lease = %s AND state = 'running'",
            ["dead" if dead else "ready", said, pause, dead, job.id, job.lease],
        )

    def jobs(self, states: Sequence[str] = ()) -> Result[list[Job], StoreError]:
        """Return jobs in some states, or all jobs, in order of addition."""
        return self._rows(
            f"SELECT {_COLUMNS} FROM jobs WHERE %s::text[] = '{{}}' OR state = ANY(%s) ORDER BY id",
            [list(states), list(states)],
        )

    def retry(self, ids: Sequence[int] = ()) -> Result[list[Job], StoreError]:
        """Put dead jobs back with new attempts, all by default; return them."""
        return self._rows(
            "UPDATE jobs SET state = 'ready', attempts = 0, not_before = now(), ended_at = NULL WHERE id IN ("
            "SELECT min(dead.id) FROM jobs dead WHERE dead.state = 'dead' AND (%s::bigint[] = '{}' OR dead.id = ANY(%s)) "
            "AND NOT EXISTS (SELECT 1 FROM jobs other WHERE other.state = 'ready' AND other.source = dead.source "
            f"AND other.revision = dead.revision) GROUP BY dead.source, dead.revision) RETURNING {_COLUMNS}",
            [list(ids), list(ids)],
        )

    def _rows(self, statement: str, values: Sequence[Any]) -> Result[list[Job], StoreError]:
        return self._ask(lambda c: [Job(*row) for row in c.execute(statement, values).fetchall()])

    def _changed(self, statement: str, values: Sequence[Any]) -> Result[bool, StoreError]:
        return self._ask(lambda c: c.execute(statement, values).rowcount == 1)

    def _ask(self, step: Callable[[psycopg.Connection], T]) -> Result[T, StoreError]:
        return connections(self.url, TIMEOUT_SECONDS).ask(step)


# Jobs whose worker stopped answering; a job that already waits at the same revision makes one superfluous.
_PUT_BACK = """
UPDATE jobs SET worker = '', not_before = now(), said = 'its worker ' || worker || ' stopped answering',
    ended_at = CASE WHEN attempts >= %(most)s THEN now() END,
    state = CASE WHEN attempts >= %(most)s THEN 'dead' WHEN EXISTS (
        SELECT 1 FROM jobs other WHERE other.state = 'ready' AND other.source = jobs.source AND other.revision = jobs.revision
    ) THEN 'done' ELSE 'ready' END
WHERE id IN (SELECT id FROM jobs WHERE state = 'running' AND lease_until < now() FOR UPDATE SKIP LOCKED)
"""
_TAKE = f"""
UPDATE jobs SET state = 'running', worker = %s, attempts = attempts + 1, lease = lease + 1,
    lease_until = now() + make_interval(secs => %s)
WHERE id = (
    SELECT id FROM jobs WHERE state = 'ready' AND not_before <= now() AND NOT EXISTS (
        SELECT 1 FROM jobs other WHERE other.state = 'running' AND other.source = jobs.source
    ) ORDER BY not_before, id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING {_COLUMNS}
"""
