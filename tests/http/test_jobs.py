"""Jobs: what is the same, what is dropped, what another process holds, and files that are damaged."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from vademecum import config
from vademecum.errors import StoreError, UnknownError
from vademecum.http import jobs as module
from vademecum.http.jobs import JobFiles, Jobs
from vademecum.http.routes import indexing


@pytest.fixture
def jobs():
    made = []

    def make(*paths):
        settings = config.load(None, arguments={"search.embedder": "hashing", "index.workers": 1})
        made.append(Jobs(settings, [str(path) for path in paths]))
        return made[-1]

    yield make
    for each in made:
        each.close()


def over(job):
    until = time.monotonic() + 60
    while not job.is_over and time.monotonic() < until:
        time.sleep(0.01)
    return job


def test_the_same_wish_is_one_job_and_another_wish_is_another(jobs, repo):
    path = str(repo().path)
    running = jobs(path)
    first, new = running.start("r", path, full=True)
    again, also_new = running.start("r", path, full=True)
    other, other_new = running.start("r", path, commit="HEAD")
    assert (new, other_new) == (True, True)
    assert other is not first
    assert again is first or first.is_over  # unless it was that quick
    assert {over(job).state for job in (first, again, other)} == {"done"}
    assert also_new == (again is not first)
    assert running.start("r", path, full=True)[1]


def test_jobs_that_are_over_are_known_after_a_restart_up_to_a_number(jobs, repo, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    path = str(repo().path)
    running = jobs(path)
    done = [over(running.start("r", path)[0]).id for _ in range(4)]
    running.close()
    again = jobs(path)
    assert {job.id for job in again.of((path,))} <= set(done[1:])
    assert again.get(done[-1], (path,)).state == "done"
    with pytest.raises(UnknownError):
        again.get(done[0], (path,))
    with pytest.raises(UnknownError):
        again.get(done[-1], ("/other",))
    assert jobs("/other").of((path,)) == []


def test_what_another_process_holds_is_left_to_it(tmp_path):
    mine, others = JobFiles(tmp_path), JobFiles(tmp_path)
    mine.write({"id": "a", "created_at": 1.0})
    assert mine.take("a")
    assert mine.take("a")
    assert not others.take("a")
    mine.let_go("a")
    assert others.take("a")
    others.drop("a")
    assert list(mine.read()) == []


def test_damaged_files_are_passed_over(tmp_path):
    files = JobFiles(tmp_path)
    files.write({"id": "b", "created_at": 2.0})
    files.write({"id": "a", "created_at": 1.0})
    (tmp_path / "c.json").write_text("{", encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps({"id": "another"}), encoding="utf-8")
    (tmp_path / "e.json").write_bytes(b"\xff")
    assert [record["id"] for record in files.read()] == ["a", "b"]


def test_a_job_that_cannot_be_written_down_does_not_begin(jobs, repo):
    path = str(repo().path)
    running = jobs(path)
    (config.load(None).home / "jobs").parent.mkdir(parents=True, exist_ok=True)
    (config.load(None).home / "jobs").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError):
        running.start("r", path)
    assert running.of((path,)) == []


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="a POSIX limit")
def test_no_room_for_a_job_is_said_to_be_that(tmp_path):
    """A limit on files is no room, as a full disk is."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from vademecum.http.jobs import JobFiles;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
        "JobFiles(Path(sys.argv[1])).write({'id': 'a'})"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "StoreFullError" in done.stderr


def test_streams_have_an_end_to_their_number(serve, repo, monkeypatch):
    client = serve(repo())
    job = client.done(client.post("/v1/index").json)
    assert client.get(f"/v1/index/jobs/{job['id']}/events").status == 200
    monkeypatch.setattr(indexing, "MOST_STREAMS", 0)
    refused = client.get(f"/v1/index/jobs/{job['id']}/events")
    assert (refused.status, refused.headers["retry-after"]) == (503, "10")


@pytest.mark.slow
def test_a_stream_that_nobody_reads_any_more_gives_its_place_back(serve, repo):
    """Whoever followed a job has gone: its run goes on, and its streams are counted no longer, before the run is over."""
    many = {f"src/part_{n}.py": f"def part_{n}(value):\n    return value + {n}\n" for n in range(2000)}
    client = serve(repo("many", many, commit=False))
    job = client.post("/v1/index", {"full": True}).json
    asked = f"GET /v1/index/jobs/{job['id']}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as reader:
            reader.sendall(asked)
            assert b"200 OK" in reader.recv(4096)
    states = []
    while True:
        states.append((client.get(f"/v1/index/jobs/{job['id']}").json["state"], indexing.STREAMS.value()))
        if states[-1][1] == 0 or states[-1][0] == "done":
            break
        time.sleep(0.05)
    assert states[-1] == ("running", 0)
    assert client.done(job)["state"] == "done"
