"""The verbs for a shared database: `db` and `worker`.

`vade worker` indexes the repositories of a queue, one after another.

    take → clone or fetch → index → done, or failed and why

A separate thread renews the lease meanwhile. If renewal fails, another worker has the job, and this worker drops it at the
next call of `progress`. Everything stored by then is complete, and the other worker continues from there.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from vademecum.amounts import counted
from vademecum.answers.render import visible
from vademecum.cli import session
from vademecum.cli.session import Group, emit, json_option, say, say_checks, settings_for, table
from vademecum.code.checkout.plumbing import TRANSPORTS, run, transfer
from vademecum.code.checkout.root import find_root, origin_name
from vademecum.config import Settings, load
from vademecum.engine import Engine
from vademecum.errors import ConfigError, Error, GitError, PluginError, StoreError, UsageError
from vademecum.private import exclusive
from vademecum.protocols import Progress
from vademecum.result import Err, Ok, Result
from vademecum.types import Job

if TYPE_CHECKING:
    from vademecum.storage.postgres.store import Queue
    from vademecum.wiring.stores import Stores

WAIT_SECONDS = 3600.0
_SECRET = re.compile(r"^[a-z+]+://[^/@]*:[^/@]*@", re.IGNORECASE)


def is_address(source: str) -> bool:
    """Return whether a source is an address to clone from.

    >>> is_address("git@example.org:team/app.git"), is_address("https://example.org/app"), is_address("/srv/app")
    (True, True, False)
    """
    return "://" in source or bool(re.match(r"[\w.-]+@[\w.-]+:", source))


def check_source(source: str) -> None:
    """Reject a source that cannot be cloned. Raises `UsageError`."""
    if _SECRET.match(source):
        raise UsageError("the address holds a password: leave it out, and let git's credential helper know it")
    if not is_address(source):
        if not os.path.isdir(source):
            raise UsageError(f"{source!r} is neither a directory nor an address to clone from: name one of them")
    elif "://" in source and source.partition("://")[0].lower() not in TRANSPORTS:
        raise UsageError(f"{source!r} cannot be cloned: its address begins with none of {', '.join(TRANSPORTS)}")


def cloned(home: Path, address: str, revision: str = "") -> tuple[str, str]:
    """Clone an address below `home`, or fetch its new commits.

    Returns the directory and the commit to index: that of `revision`, or of the origin's checked-out branch. Raises `GitError`
    where git fails; an earlier clone is then unchanged.
    """
    digest = blake2b(address.encode(), digest_size=6).hexdigest()
    name = re.sub(r"[^\w.-]+", "-", origin_name(address).rpartition("/")[2]) or "clone"
    place = home / "clones" / f"{name}-{digest}"
    with exclusive(home / "clones" / f"{name}-{digest}.lock", WAIT_SECONDS):
        if (place / ".git" / "HEAD").exists():
            own = f"--git-dir={place / '.git'}"  # only our clone wrote these settings
            transfer(str(place), own, "fetch", "--quiet", "--prune", "--tags", "--force", "origin").unwrap()
            transfer(str(place), own, "remote", "set-head", "origin", "--auto").unwrap()
        else:
            _clone(address, place)
    root = find_root(place)
    for wanted in (f"refs/remotes/origin/{revision or 'HEAD'}", revision):
        found = run(root, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}", tolerate=(1, 128)).unwrap()
        if found:
            return str(place), found.decode().strip()
    raise GitError(f"{origin_name(address)} has no revision {revision or 'HEAD'!r}: name a branch, a tag or a commit")


def _clone(address: str, place: Path) -> None:
    """Clone beside, then rename: a killed run leaves no partial clone."""
    beside = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    options = ("--quiet", "--no-checkout", "--template=")
    transfer(str(place.parent), "clone", *options, "--", address, str(beside)).unwrap()
    beside.rename(place)


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
    from vademecum.storage.postgres.store import Queue

    return Queue(url)


@click.group(cls=Group, meant={"migrate": "upgrade", "status": "check"})
def db() -> None:
    """Look after the shared database that `storage.url` names."""


@db.command()
@click.option("--to", default="", metavar="VERSION", show_default="the newest", help="The version to go to.")
def upgrade(to: str) -> int:
    """Bring the database up to date.

    Creates or changes its tables in one transaction; no data is lost.
    """
    migrate, shared = _migrate(), shared_stores()
    done = migrate.upgrade(shared.url, to or migrate.NEWEST)
    emit("".join(f"{line}\n" for line in done or [f"{shared.where(shared.home)} is up to date"]))
    return 0


@db.command()
@click.argument("version")
def downgrade(version: str) -> int:
    """Take the database down to VERSION.

    Drops the additions of newer versions. VERSION `base` removes all tables.
    """
    emit("".join(f"{line}\n" for line in _migrate().downgrade(shared_stores().url, version)))
    return 0


@db.command()
@json_option
def check(*, as_json: bool) -> int:
    """Check that the database answers and is intact.

    Checks its version too. Exits with 3 if something is wrong.
    """
    from vademecum.storage.postgres.migrate import check_database

    return say_checks(list(check_database(shared_stores().url)), as_json=as_json)


@db.command()
@click.option("--to", "target", type=click.Choice(["postgres", "sqlite"]), required=True, help="Where to copy to.")
@json_option
def copy(target: str, *, as_json: bool) -> int:
    """Copy this machine's records into the shared database, or back.

    You can interrupt at any time: the next run continues there. Every row is read back and compared; the source is not
    changed.
    """
    with session.Progress() as progress:
        copied = list(_copied(shared_stores(), target, progress))
    say(copied, table((each["of"], each["what"], each["said"], each["digest"]) for each in copied), as_json=as_json)
    return 0


def _copied(stores: Stores, target: str, progress: Progress) -> Iterator[dict[str, str | int]]:
    from vademecum.storage.postgres.migrate import copy, from_machine, to_machine

    known = stores.pairs()
    for pair in known:
        if not (pair.file.exists() if target == "postgres" else pair.space in stores.spaces(pair.space)):
            continue
        file, space = stores.both(pair)
        try:
            if target == "postgres":
                families = copy(file, space, to_machine(stores.here), progress, name=f"the database's {pair.space}")
            else:
                families = copy(space, file, from_machine(stores.here), progress, name=str(pair.file))
        finally:
            file.close()
            space.close()
        rows, written = sum(each.rows for each in families), sum(each.written for each in families)
        digest = sum(int(each.digest, 16) for each in families) % (1 << 64)
        said = f"{counted(rows, 'row')}, {written} written now"
        yield {"of": pair.of, "what": pair.what, "said": said, "rows": rows, "digest": f"{digest:016x}"}
    if target == "postgres":
        files = {pair.file for pair in known}
        for path in sorted((stores.home / "repos").glob("*/*.db")):
            if path not in files:
                yield {"of": path.parent.name, "what": path.name, "rows": 0, "digest": "",
                       "said": "left: its repository is gone, or has no index yet (`vade index` there first)"}  # fmt: skip


def shared_stores() -> Stores:
    """Return the stores of the shared database, by default PostgreSQL."""
    from vademecum.wiring.stores import Stores

    settings = settings_for(())
    provider = settings.storage.provider if settings.storage.provider != "sqlite" else "postgres"
    return Stores(replace(settings, storage=replace(settings.storage, provider=provider)))


def _migrate() -> ModuleType:
    from vademecum.plugins import find

    find("store", "postgres")  # raises an error that names the missing extra
    from vademecum.storage.postgres import migrate

    return migrate
