"""The verb for workers: processes that index queued repositories."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted
from vademecum.answers.render import visible
from vademecum.cli.db import shared_stores
from vademecum.cli.render import emit, say, table
from vademecum.cli.session import json_option
from vademecum.errors import ConfigError

if TYPE_CHECKING:
    from vademecum.storage.postgres.queue import Queue
    from vademecum.worker import Worked

STATES = ("ready", "running", "done", "dead")


@click.group(invoke_without_command=True)
@click.option("--until-empty", is_flag=True, help="End when nothing is left that can be done now.")
@click.option(
    "--lease",
    default=60.0,
    metavar="SECONDS",
    show_default=True,
    help="How long a worker may be silent before it loses its job.",
)
@click.pass_context
def worker(ctx: click.Context, *, until_empty: bool, lease: float) -> int:
    """Index the repositories in the queue, until interrupted.

    Any number of workers may run, on any number of machines.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from vademecum.cli.session import settings_for
    from vademecum.worker import indexing, work

    settings = settings_for(())
    if settings.storage.provider == "sqlite":
        raise ConfigError("a worker indexes into a shared database: set storage.provider to postgres, and storage.url")
    stop = threading.Event()

    def asked(number: int, _: object) -> None:  # the first signal finishes the current job; a second one ends at once
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, asked)

    def told(ended: Worked) -> None:
        what = f"{ended.job.source}{'@' + ended.job.revision if ended.job.revision else ''}"
        emit(f"{ended.state:<6} {ended.job.id} {visible(what)}: {visible(ended.said)}\n")

    work(_queue(), indexing(settings), told, stop, lease_s=max(lease, 1.0), until_empty=until_empty)
    return 0


@worker.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--revision",
    default="",
    metavar="REV",
    show_default="what is checked out",
    help="Index this branch, tag or commit.",
)
@json_option
def add(sources: tuple[str, ...], revision: str, *, as_json: bool) -> int:
    """Put repositories into the queue.

    SOURCE is a directory that the workers can read, or an address to clone from.
    """
    from vademecum.code.checkout.clone import check_source, is_address

    for source in sources:
        check_source(source)
    queue = _queue()
    jobs = [queue.add(each if is_address(each) else os.path.realpath(each), revision).unwrap() for each in sources]
    text = "".join(f"{job.id} {visible(job.source)}\n" for job in jobs)
    say([asdict(job) for job in jobs], text, as_json=as_json)
    return 0


@worker.command(name="list")
@click.option(
    "--state", "states", multiple=True, type=click.Choice(STATES), help="Only jobs in this state; may be repeated."
)
@json_option
def list_jobs(states: tuple[str, ...], *, as_json: bool) -> int:
    """Show the queue.

    Shows waiting and running jobs with their workers, finished jobs, and failed jobs with reasons.
    """
    jobs = _queue().jobs(states).unwrap()
    rows = (
        (
            job.id,
            job.state,
            f"{job.source} {job.revision}".strip(),
            counted(job.attempts, "attempt"),
            job.worker or job.said,
        )
        for job in jobs
    )
    say([asdict(job) for job in jobs], table(rows), as_json=as_json)
    return 0


@worker.command()
@click.argument("ids", nargs=-1, type=int, metavar="[ID]...")
@json_option
def retry(ids: tuple[int, ...], *, as_json: bool) -> int:
    """Put given-up jobs back into the queue: all, or these."""
    jobs = _queue().retry(ids).unwrap()
    say([asdict(job) for job in jobs], f"{counted(len(jobs), 'job')} back in the queue\n", as_json=as_json)
    return 0


def _queue() -> Queue:
    url = shared_stores().url
    from vademecum.storage.postgres.queue import Queue

    return Queue(url)
