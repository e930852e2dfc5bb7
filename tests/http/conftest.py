"""A real server on a loopback port, and a client that shows all an answer says."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn

from served import Served, handbook
from vademecum import config
from vademecum.http.app import application
from vademecum.http.auth import new_key, read_keys
from vademecum.http.serve import hosts_of, listen, opened_roots


@dataclass
class Said:
    """One answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Client:
    """Asks one server, with one key or none."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Said:
        """Ask, and return all that is said; a body that is not bytes is sent as JSON, and None is no header."""
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {**self.headers, **own}
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, data, {name: value for name, value in sent.items() if value})
            answer = connection.getresponse()
            return Said(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Said:
        """Ask with GET."""
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Said:
        """Ask with POST."""
        return self.ask("POST", path, body, **headers)

    def done(self, job: dict[str, Any]) -> dict[str, Any]:
        """Wait until a job is over, and return it."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            found = self.get(f"/v1/index/jobs/{job['id']}").json
            if found["state"] not in {"queued", "running"}:
                return found
            time.sleep(0.05)
        raise AssertionError(job)

    def with_key(self, key: str) -> Client:
        """The same server, asked with a key."""
        return Client(self.port, {**self.headers, "Authorization": f"Bearer {key}"})


@pytest.fixture
def serve():
    """Start a server over directories; `keys` are (name, repositories), whose keys are returned with its client."""
    running = []

    def start(*paths, keys=(), host="127.0.0.1", home=None, storage=None, **own):
        made = [new_key(name, repositories) for name, repositories in keys]
        entries = " ".join(entry for _, entry in made)
        arguments = {"server.host": host, "server.keys": entries, **{f"server.{name}": own[name] for name in own}}
        arguments |= {f"storage.{name}": value for name, value in (storage or {}).items()}
        settings = config.load(
            None, arguments={"search.embedder": "hashing", "index.workers": 1, "storage.home": home, **arguments}
        )
        roots = opened_roots([str(getattr(path, "path", path)) for path in paths])
        app = application(roots, settings, read_keys(entries), hosts_of(settings))
        listening = listen("127.0.0.1", 0)
        server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, access_log=False, proxy_headers=False, timeout_graceful_shutdown=10)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started and thread.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started
        running.append((server, thread, listening))
        client = Client(listening.getsockname()[1])
        return (client, *(key for key, _ in made)) if made else client

    yield start
    for server, thread, listening in running:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
        listening.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page over a handbook with hostile and long files, something remembered, and tools."""
    server = handbook(tmp_path_factory.mktemp("served"))
    yield server
    server.close()
