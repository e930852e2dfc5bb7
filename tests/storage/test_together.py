"""What `compose.yaml` sets up, run in its order: tables are made, the server starts on PostgreSQL and Qdrant, and starts again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

TOP = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((TOP / "compose.yaml").read_text(encoding="utf-8"))
ENTRYPOINT, COMMAND = (
    json.loads(re.findall(rf"^{name} (\[.*\])$", (TOP / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)[0])
    for name in ("ENTRYPOINT", "CMD")
)


def environment(service: str, given: dict[str, str], hosts: dict[str, str]) -> dict[str, str]:
    """The variables of a service: what `.env` gives is filled in, and names of other services stand for where they are."""
    said = {
        name: re.sub(r"\$\{(\w+):[-?][^}]*\}", lambda match: given.get(match[1], ""), value)
        for name, value in COMPOSE["services"][service]["environment"].items()
    }
    return {name: hosts.get(urlsplit(value).hostname or "", value) for name, value in said.items()}


def run(words: list[str], environ: dict[str, str], repository: Path) -> str:
    """Run a command of ours as the image does; it goes well."""
    done = subprocess.run([sys.executable, "-m", "vademecum", *words], env=environ, cwd=repository, capture_output=True, text=True,
                          check=False, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def served(environ: dict[str, str], repository: Path, end: signal.Signals) -> Iterator[str]:
    """The image's own command, on loopback; ended by a signal."""
    words = [word.replace("0.0.0.0", "127.0.0.1") for word in COMMAND]
    command = [sys.executable, "-m", "vademecum", *words, "--port", "0"]
    log = repository.parent / "server.log"
    with log.open("w") as said:
        process = subprocess.Popen(command, env=environ, cwd=repository, stderr=said)
    try:
        until = time.monotonic() + 60
        while not (found := re.search(r"(http://127\.0\.0\.1:\d+)/$", log.read_text(), re.MULTILINE)):
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield found[1]
    finally:
        process.send_signal(end)
        process.wait(60)


def ask(address: str, key: str, path: str, body: Any = None) -> Any:
    """Ask the server, with the key."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}{path}", data, headers), timeout=120) as answer:
        return json.loads(answer.read())


@pytest.mark.slow
def test_the_services_of_the_compose_file_work_together(
    empty_database: str, qdrant_server: Any, tmp_path: Path
) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "retry.py").write_text("def retry(call):\n    return call()\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", "."], cwd=repository, check=True)
    hosts = {"postgres": empty_database, "qdrant": qdrant_server.url}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("VADE_", "XDG_"))}
    base = clean | {"HOME": str(tmp_path), "VADE_HOME": str(tmp_path / "data")}
    assert ENTRYPOINT == ["vade"]
    made = run(["serve", "--new-key", "me"], base | environment("server", {}, hosts), repository)
    key, entry = re.findall(r": (\S+)$", made, re.MULTILINE)
    own = base | environment(
        "server", {"VADE_SERVER__KEYS": entry, "POSTGRES_PASSWORD": "x", "QDRANT_API_KEY": "y"}, hosts
    )
    upgrade = base | environment(
        "upgrade", {"VADE_SERVER__KEYS": entry, "POSTGRES_PASSWORD": "x", "QDRANT_API_KEY": "y"}, hosts
    )
    for _ in range(2):  # it runs before each start
        run(COMPOSE["services"]["upgrade"]["command"], upgrade, repository)
    with served(own, repository, signal.SIGKILL) as address:
        assert ask(address, key, "/readyz") == {"status": "ready"}
        found = ask(address, key, "/v1/search?q=retry")
        assert [each["path"] for each in found["evidence"]] == ["retry.py"]
        kept = ask(address, key, "/v1/events", {"text": "We decided to retry three times.", "role": "user"})
    assert any("points" in path for _, path, _ in qdrant_server.requests)
    with served(own, repository, signal.SIGTERM) as address:
        recalled = ask(address, key, "/v1/memory/recall?q=how%20often%20do%20we%20retry")
        assert [each["event"]["id"] for each in recalled["evidence"]] == kept["ids"]
        settings = ask(address, key, "/v1/settings")["settings"]
        assert [settings[name]["value"] for name in ("storage.provider", "search.vectors")] == ["postgres", "qdrant"]
        assert ask(address, key, "/v1/search?q=retry")["evidence"] == found["evidence"]
