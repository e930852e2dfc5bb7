"""The command: where it listens, to whom, how it ends, and that nothing acknowledged is lost when it is killed."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import pytest

from vademecum.cli import main
from vademecum.errors import UsageError
from vademecum.http.serve import listen


class Process:
    """`vade serve` as a process of its own."""

    def __init__(self, *arguments, cwd, environ=None):
        command = [sys.executable, "-m", "vademecum", "serve", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | (environ or {}),
        )
        first = self.process.stderr.readline()
        found = re.search(r"at (http://\S+)/", first)
        assert found, first + self.process.stderr.read()
        self.address = found[1]

    def ask(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json", **(headers or {})}
        )
        request.method = method
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read() or b"null")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        said = self.process.communicate(timeout=120)[1]
        return self.process.returncode, said


@pytest.fixture
def start(monkeypatch):
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    monkeypatch.setenv("VADE_INDEX__WORKERS", "1")
    running = []

    def begin(*arguments, **options):
        running.append(Process("--port", "0", *arguments, **options))
        return running[-1]

    yield begin
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()


HALVES = [
    (b"GET /v1/search?q=budget HTTP/1.1\r\nHost: localhost\r\n", b""),
    (b"", b""),
    (b"POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{", b"HTTP/1.1 408 "),
]  # fmt: skip


def test_half_a_request_is_not_held_for_ever(start, repo, monkeypatch):
    """Half a head, nothing or half a body: each connection ends after `server.timeout_s`, and whole ones are answered."""
    monkeypatch.setenv("VADE_SERVER__TIMEOUT_S", "2")
    server = start(cwd=repo().path)
    host, _, port = server.address.removeprefix("http://").strip("/").partition(":")
    with ExitStack() as opened:
        slow = [opened.enter_context(socket.create_connection((host, int(port)), timeout=60)) for _ in HALVES]
        for connection, (half, _) in zip(slow, HALVES, strict=True):
            connection.sendall(half)
        assert server.ask("GET", "/healthz")
        for connection, (half, answer) in zip(slow, HALVES, strict=True):
            said = b"".join(iter(lambda connection=connection: connection.recv(65_536), b""))
            assert said.startswith(answer), half
            assert bool(said) == bool(answer), half


def test_it_listens_on_this_machine_and_ends_when_asked(start, repo):
    server = start(cwd=repo().path)
    assert server.address.startswith("http://127.0.0.1:")
    assert server.ask("GET", "/v1/search?q=budget")["verdict"] != "not_found"
    code, said = server.end()
    assert code in {0, -signal.SIGTERM}
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(line["route"], line["status"]) for line in lines if line["message"] == "request"] == [("/v1/search", 200)]
    assert "budget" not in said


def test_others_are_listened_to_with_a_key_only(repo, capsys, monkeypatch, start):
    root = repo().path
    monkeypatch.chdir(root)
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "there is no key: make one with `vade serve --new-key NAME`" in capsys.readouterr().err
    assert main(["serve", "--new-key", "ci", "--for", "handbook"]) == 0
    key, entry = re.findall(r": (\S+)$", capsys.readouterr().out, re.MULTILINE)
    server = start("--host", "0.0.0.0", cwd=root, environ={"VADE_SERVER__KEYS": entry})
    port = server.address.rpartition(":")[2]
    server.address = f"http://127.0.0.1:{port}"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.ask("GET", "/v1/repos")
    found = server.ask("GET", "/v1/repos", headers={"Authorization": f"Bearer {key}", "Host": "any.example"})
    assert found["items"][0]["name"] == "handbook"
    assert key not in server.end()[1]


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_an_address_that_is_not_of_this_machine_is_told(host):
    """Another port would not help."""
    with pytest.raises(UsageError, match="choose another --host"):
        listen(host, 0)


def test_a_port_that_is_taken_or_a_key_that_is_none_is_told(repo, capsys, monkeypatch, start):
    root = repo().path
    monkeypatch.chdir(root)
    taken = start(cwd=root).address.rpartition(":")[2]
    assert main(["serve", "--port", taken]) == 2
    assert "choose another --port" in capsys.readouterr().err
    monkeypatch.setenv("VADE_SERVER__KEYS", "nonsense")
    assert main(["serve", "--port", "0"]) == 2
    assert "server.keys" in capsys.readouterr().err
    (root / ".vade.toml").write_text('[server]\nhost = "0.0.0.0"\n')
    monkeypatch.delenv("VADE_SERVER__KEYS")
    assert main(["serve", "--port", "0"]) == 2
    assert "a repository's own file cannot" in capsys.readouterr().err


def listens(host, port):
    """Whether something takes connections there."""
    try:
        socket.create_connection((host, port), timeout=60).close()
    except OSError:
        return False
    return True


def test_requests_under_way_are_answered_before_it_ends(start, repo):
    """A request that began before the signal gets its answer, and no new connection is taken."""
    server = start(cwd=repo().path)
    host, _, port = server.address.removeprefix("http://").partition(":")
    question = json.dumps({"task": "the budget"}).encode()
    head = f"POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(question)}\r\n"
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
        server.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + 60
        while listens(host, int(port)):
            assert time.monotonic() < until
            time.sleep(0.05)
        connection.sendall(question)
        said = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"budget.py" in said
    assert server.end()[0] in {0, -signal.SIGTERM}


MANY = {f"src/m{number}.py": f"def f{number}(x):\n    return x + {number}\n" * 40 for number in range(150)}


@pytest.mark.slow
def test_an_index_run_is_stopped_cleanly(start, repo):
    """What was indexed before is whole, and the next run goes on."""
    many = repo("many", MANY, commit=False)
    server = start(cwd=many.path)
    server.ask("POST", "/v1/index", {})
    time.sleep(0.3)
    code, said = server.end()
    assert code in {0, -signal.SIGTERM}
    assert "Traceback" not in said
    again = start(cwd=many.path)
    assert again.ask("GET", "/v1/search?q=f7")["evidence"][0]["path"] == "src/m7.py"
    assert again.ask("GET", "/v1/index/status")[0]["files"] == len(MANY)


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost_when_it_is_killed(start, repo):
    """Events are written by several clients while the process is killed; each that was answered is there afterwards."""
    import threading

    root = repo().path
    server = start(cwd=root)
    kept, running = [], threading.Event()

    def write(who):
        for number in range(10_000):
            try:
                kept.append(server.ask("POST", "/v1/events", {"text": f"note {number} of {who}"})["ids"][0])
            except (OSError, http.client.HTTPException, ValueError):  # no answer, or a part of one
                return
            running.set()

    writers = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for writer in writers:
        writer.start()
    running.wait(60)
    time.sleep(0.5)
    server.process.kill()
    for writer in writers:
        writer.join(60)
    assert kept
    again = start(cwd=root)
    found, cursor = set(), ""
    while cursor is not None:
        page = again.ask("GET", f"/v1/events?limit=1000&cursor={cursor}")
        found |= {event["id"] for event in page["items"]}
        cursor = page["next"]
    assert set(kept) <= found


@pytest.mark.slow
def test_a_job_that_was_accepted_is_run_by_the_next_server(start, repo):
    """Killed or stopped in the middle of a run, with another one waiting: both are done after a new start."""
    many = repo("many", MANY, commit=True)
    for how in (signal.SIGKILL, signal.SIGTERM):
        server = start(cwd=many.path)
        first = server.ask("POST", "/v1/index", {"full": True})
        second = server.ask("POST", "/v1/index", {"commit": "HEAD"})
        assert server.ask("POST", "/v1/index", {"full": True})["id"] in {first["id"], *_ids(server)}
        server.end(how)
        again = start(cwd=many.path)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            found = {job["id"]: job for job in again.ask("GET", "/v1/index/jobs?limit=100")["items"]}
            if all(found[job["id"]]["state"] == "done" for job in (first, second)):
                break
            time.sleep(0.1)
        assert {found[job["id"]]["state"] for job in (first, second)} == {"done"}
        assert found[second["id"]]["report"]["files"] == len(MANY)
        again.end()


def _ids(server):
    return [job["id"] for job in server.ask("GET", "/v1/index/jobs?limit=100")["items"]]


def test_a_stream_ends_with_the_server(start, repo):
    """Whoever follows a job is told so much, and the stream is closed as a whole, not cut."""
    many = repo("many", MANY, commit=False)
    server = start(cwd=many.path)
    job = server.ask("POST", "/v1/index", {"full": True})
    with urllib.request.urlopen(f"{server.address}/v1/index/jobs/{job['id']}/events", timeout=120) as stream:
        first = stream.readline()
        server.process.send_signal(signal.SIGTERM)
        rest = stream.read()  # it would raise IncompleteRead where the stream was cut
    assert first.startswith(b"id: ")
    assert rest.endswith(b"\n\n")
    server.process.communicate(timeout=120)
