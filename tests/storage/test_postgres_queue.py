"""The queue, and workers on it: real processes, one of them killed; nothing is done twice and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import psycopg
import pytest

from vademecum.cli.db import work
from vademecum.errors import EmbedError, StoreError, UsageError
from vademecum.result import Err, Ok
from vademecum.storage.postgres.store import PostgresStore, Queue

pytestmark = pytest.mark.once

FILES = {
    f"pkg{n % 7}/mod{n:03}.py": f"class Thing{n}:\n" + "".join(
        f"    def step_{n}_{m}(self):\n        '''Take step {m} of thing {n}.'''\n        return [{m}] * {n}\n\n" for m in range(12)
    )
    for n in range(400)
}  # fmt: skip


@pytest.fixture
def queue(database):
    """A queue whose jobs are given up after three attempts."""
    return Queue(database, attempts=3)


def at_once(url):
    """Let everything that waits be taken now."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE jobs SET not_before = now()")


def end_leases(url):
    """Let every lease end now, as time would."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'")


def test_jobs_are_taken_in_turn_and_once(queue):
    """The first that waits first; what waits already is not added again, what runs already is."""
    one, two = queue.add("/one").unwrap(), queue.add("/two").unwrap()
    assert queue.add("/one").unwrap().id == one.id
    taken = queue.take("w", 60).unwrap()
    assert (taken.id, taken.state, taken.attempts, taken.worker) == (one.id, "running", 1, "w")
    again = queue.add("/one").unwrap()
    assert again.id != one.id
    assert queue.take("w", 60).unwrap().id == two.id
    assert queue.take("w", 60) == Ok(None), "of one source one job runs at a time"
    assert queue.done(taken, "well") == Ok(True)
    assert queue.take("w", 60).unwrap().id == again.id
    assert [job.state for job in queue.jobs().unwrap()] == ["done", "running", "running"]
    assert [job.said for job in queue.jobs(["done"]).unwrap()] == ["well"]


def test_a_failure_is_tried_again_later_and_later_and_then_given_up(queue, database):
    """Each pause is longer; the dead can be called back."""
    queue.add("/one").unwrap()
    pauses = []
    for attempt in (1, 2, 3):
        job = queue.take("w", 60).unwrap()
        assert job.attempts == attempt
        assert queue.failed(job, f"no {attempt}") == Ok(True)
        assert queue.take("w", 60) == Ok(None)
        pauses.append(queue.jobs().unwrap()[0].waits_s)
        at_once(database)
    assert 0 < pauses[0] < pauses[1]
    [dead] = queue.jobs(["dead"]).unwrap()
    assert (dead.said, dead.attempts) == ("no 3", 3)
    assert queue.retry([999]) == Ok([])
    assert [(job.id, job.state, job.attempts) for job in queue.retry().unwrap()] == [(dead.id, "ready", 0)]
    assert queue.take("w", 60).unwrap().id == dead.id


def test_what_is_hopeless_is_not_tried_again(queue):
    """A wrong address stays one."""
    queue.add("/one").unwrap()
    queue.failed(queue.take("w", 60).unwrap(), "no such thing", again=False).unwrap()
    assert [job.state for job in queue.jobs().unwrap()] == ["dead"]


def test_a_lease_that_ended_is_somebody_elses(queue, database):
    """Whoever comes back late can neither renew, nor finish, nor fail what another has."""
    queue.add("/one").unwrap()
    late = queue.take("late", 60).unwrap()
    assert queue.renew(late, 60) == Ok(True)
    end_leases(database)
    other = queue.take("other", 60).unwrap()
    assert (other.id, other.attempts) == (late.id, 2)
    assert queue.renew(late, 60) == Ok(False)
    assert queue.done(late, "well") == Ok(False)
    assert queue.failed(late, "badly") == Ok(False)
    assert queue.done(other, "well") == Ok(True)
    queue.add("/killer").unwrap()
    for _ in range(3):
        queue.take("w", 60).unwrap()
        end_leases(database)
    assert queue.take("w", 60) == Ok(None)
    [dead] = queue.jobs(["dead"]).unwrap()
    assert dead.said == "its worker w stopped answering"


def test_many_workers_take_every_job_once(queue):
    """Twelve threads, sixty jobs of twenty sources."""
    for n in range(60):
        queue.add(f"/source{n % 20}", f"r{n}").unwrap()
    taken: list[tuple[int, str]] = []
    running: set[str] = set()
    guard, twice = threading.Lock(), []

    def run():
        misses = 0
        while misses < 20:
            job = queue.take("w", 60).unwrap()
            if job is None:
                misses += 1
                time.sleep(0.01)
                continue
            with guard:
                twice.extend([job.source] if job.source in running else [])
                running.add(job.source)
                taken.append((job.id, job.revision))
            time.sleep(0.005)
            with guard:
                running.discard(job.source)
            assert queue.done(job, "").unwrap()

    threads = [threading.Thread(target=run) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert twice == []
    assert len(taken) == len(set(taken)) == 60


def test_a_worker_says_what_became_of_each_job(queue, database):
    """Done, failed and tried again, or hopeless; and one whose lease ended is dropped."""
    for name in ("/well", "/badly", "/wrong", "/slow"):
        queue.add(name).unwrap()

    def perform(job, progress):
        if job.source == "/badly":
            raise EmbedError("the server is down")
        if job.source == "/wrong":
            raise UsageError("no such directory")
        if job.source == "/slow":
            with psycopg.connect(database, autocommit=True) as connection:
                connection.execute(
                    "UPDATE jobs SET lease = lease + 1 WHERE source = '/slow'"
                )  # as if another had taken it
            for _ in range(600):
                time.sleep(0.01)
                progress("indexing", 1, 2)
        return "fine"

    ended = []
    work(queue, perform, ended.append, threading.Event(), lease_s=1.0, until_empty=True)
    assert [(each.job.source, each.state) for each in ended] == [
        ("/well", "done"), ("/badly", "failed"), ("/wrong", "failed"), ("/slow", "lost"),
    ]  # fmt: skip
    assert {job.source: job.state for job in queue.jobs().unwrap()} == {
        "/well": "done", "/badly": "ready", "/wrong": "dead", "/slow": "running",
    }  # fmt: skip


def test_a_server_that_is_away_for_a_while_is_waited_for(database, queue, monkeypatch):
    """Its jobs are done when it is back; one that ended meanwhile is told as lost and done again."""
    monkeypatch.setattr("vademecum.cli.db.POLL_SECONDS", 0.05)
    name = database.partition("@/")[2].partition("?")[0]
    stop, ended = threading.Event(), []
    queue.add("/one").unwrap()

    def allow(yes):
        with psycopg.connect(database.replace(f"/{name}", "/postgres"), autocommit=True) as admin:
            admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {yes}")
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    def come_back():
        allow(True)
        end_leases(database)

    back = threading.Timer(0.5, come_back)

    def perform(job, progress):
        if not ended:
            allow(False)
        return "well"

    def told(worked):
        ended.append(worked.state)
        if len(ended) == 1:
            back.start()  # the queue is asked in vain a few times first
        else:
            stop.set()

    work(queue, perform, told, stop, lease_s=60)
    assert ended == ["lost", "done"]
    assert [job.state for job in queue.jobs().unwrap()] == ["done"]
    back.join()


def test_a_queue_that_cannot_be_reached_is_an_error(database):
    """Workers end with what to mend; leases end by themselves."""
    nowhere = Queue("postgresql:///code?host=/nowhere")
    for outcome in (nowhere.add("/one"), nowhere.take("w", 1), nowhere.jobs()):
        assert isinstance(outcome, Err)
    with pytest.raises(StoreError, match=r"storage\.url"):
        work(nowhere, lambda job, progress: "", print, threading.Event())


def start_worker(url, home, *arguments):
    """Start a worker in a process group of its own, as on a machine of its own."""
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path), "VADE_STORAGE__PROVIDER": "postgres", "VADE_STORAGE__URL": url,
        "VADE_HOME": str(home), "VADE_SEARCH__EMBEDDER": "hashing", "VADE_INDEX__WORKERS": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "vademecum", "worker", *arguments]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(condition):
    until = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def test_workers_share_a_queue_and_index_everything_once(repo, database, queue, tmp_path):
    """Three processes, each with a home of its own, and six repositories: six jobs done, at the first attempt."""
    made = [repo(f"app{n}", {"a.py": f"def f{n}():\n    return {n}\n", "b.py": f"X = {n}\n"}) for n in range(6)]
    for each in made:
        queue.add(str(each.path)).unwrap()
    running = [start_worker(database, tmp_path / f"home{n}", "--until-empty") for n in range(3)]
    said = "".join(process.communicate(timeout=120)[0] for process in running)
    assert [process.returncode for process in running] == [0, 0, 0]
    assert said.count("done") == 6, said
    jobs = queue.jobs().unwrap()
    assert [(job.state, job.attempts) for job in jobs] == [("done", 1)] * 6
    assert all("2 files, 2 read anew" in job.said for job in jobs)
    assert len(PostgresStore.spaces(database, "code:")) == 6


def test_a_killed_workers_job_is_taken_over(repo, database, queue, tmp_path):
    """The second worker goes on from what the first had stored, and the index is whole."""
    made = repo("large", FILES)
    made.git("remote", "add", "origin", "https://example.org/team/large.git")
    queue.add(str(made.path), "HEAD").unwrap()
    first = start_worker(database, tmp_path / "one", "--lease", "1")
    wait_for(lambda: queue.jobs(["running"]).unwrap())
    wait_for(lambda: PostgresStore.spaces(database, "code:"))
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert [job.state for job in queue.jobs().unwrap()] == ["running"], "it was killed in the middle of it"
    second = start_worker(database, tmp_path / "two", "--lease", "1")
    wait_for(lambda: queue.jobs(["done", "dead"]).unwrap())
    second.terminate()
    said, _ = second.communicate(timeout=60)
    [job] = queue.jobs().unwrap()
    assert (job.state, job.attempts) == ("done", 2), said
    store = PostgresStore(database, "code:example.org/team/large")
    assert len(store.scan("blobs").unwrap()) == len(FILES)
    assert store.check() == Ok("ok")


def test_a_repository_elsewhere_is_cloned_and_followed(repo, database, queue, tmp_path):
    """By address; a second job fetches what is new; a revision that is not there is said, and tried again."""
    made = repo()
    address = f"file://{made.path}"
    for _ in range(2):
        queue.add(address).unwrap()
        process = start_worker(database, tmp_path / "home", "--until-empty")
        assert "done" in process.communicate(timeout=60)[0]
        made.write("src/new.py", "def fresh():\n    return 1\n")
        made.commit()
    first, second = queue.jobs().unwrap()
    assert "6 files, 6 read anew" in first.said
    assert "7 files, 1 read anew" in second.said
    [clone] = [path for path in (tmp_path / "home" / "clones").iterdir() if path.is_dir()]
    assert [path.name for path in clone.iterdir()] == [".git"], "nothing is checked out"
    queue.add(address, "nowhere").unwrap()
    start_worker(database, tmp_path / "home", "--until-empty").communicate(timeout=60)
    assert "no revision 'nowhere'" in queue.jobs(["ready"]).unwrap()[0].said
