"""What every test stands on: data in a place of its own, real git repositories, engines that are closed again."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http.server import ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is there, as the commands do

import pytest
from hypothesis import HealthCheck, settings

import needed
from chromium import Page, opened
from handbook import SAMPLE, Repo, make_repository
from loopback import Handler, running
from vademecum import config
from vademecum.engine import Engine

pytest_plugins = ["postgres_servers"]

# No deadline per example: machines are shared. In CI the same examples every time, so that a red build is somebody's
# change; at a desk new ones, so that they go on finding things.
settings.register_profile("desk", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("desk"), derandomize=True)
settings.register_profile("again", settings.get_profile("ci"), max_examples=20)  # on one more Python
settings.load_profile("ci" if os.environ.get("CI") else "desk")


MEMORY = "/dev/shm"
LEAST_ROOM = 4 << 30  # bytes; the tests hold less than 1 GB at a time


def pytest_configure(config: pytest.Config) -> None:
    """Keep what tests write in memory where there is room: half their time would go by in waits for the disk."""
    if config.option.basetemp is None and "PYTEST_DEBUG_TEMPROOT" not in os.environ and has_room(MEMORY):
        os.environ["PYTEST_DEBUG_TEMPROOT"] = MEMORY


def has_room(folder: str) -> bool:
    """Return whether a folder can be written, runs programs, and has room."""
    if not os.access(folder, os.W_OK) or sys.platform == "win32":
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize >= LEAST_ROOM and not found.f_flag & os.ST_NOEXEC


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collect thousands of tests without garbage collection, which then never looks at them again: half the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which tests were left out, and what installs what they need."""
    skipped = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    if line := needed.left_out(skipped):
        terminalreporter.write_line(line, yellow=True)


def set_apart(place: Path, patch: pytest.MonkeyPatch) -> None:
    """Have data and settings kept at a place, whatever the user has set."""
    for name in [name for name in os.environ if name.startswith("VADE_")]:
        patch.delenv(name)
    patch.setenv("VADE_HOME", str(place / "data"))
    patch.setenv("XDG_CONFIG_HOME", str(place / "user"))
    patch.setenv("VADE_HOOK_S", "60")  # tests run many processes at once: a hook cut short says nothing


@pytest.fixture(autouse=True, scope="session")
def _nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what several tests share away from the user's data and settings."""
    with pytest.MonkeyPatch.context() as patch:
        set_apart(tmp_path_factory.mktemp("shared"), patch)
        yield


@pytest.fixture(scope="session")
def _places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Numbered places; `mktemp` would look at thousands of folders for the next number, before every test."""
    folder = tmp_path_factory.mktemp("places")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _a_place_of_its_own(_places: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep every test's data and settings away from the user's and from each other."""
    place = next(_places)
    place.mkdir()
    set_apart(place, monkeypatch)
    yield
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def bounded(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test after 30 seconds, or its parameter, of its own processor time, however busy the machine is."""
    seconds = getattr(request, "param", 30)

    def give_up(*_: object) -> None:
        pytest.fail(f"{seconds} seconds of the processor were not enough: something grows faster than its input")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.fixture(scope="session")
def make_repo() -> Callable[..., Repo]:
    """Make a repository at a path: `make_repo(path, files, commit=True, git=True)`."""
    return make_repository


@pytest.fixture
def repo(tmp_path: Path) -> Callable[..., Repo]:
    """Make a repository by name: `repo("app", files)`; a small sample unless files are given."""

    def make(name: str = "handbook", files: Mapping[str, str | bytes] = SAMPLE, **options: bool) -> Repo:
        return make_repository(tmp_path / name, files, **options)

    return make


@pytest.fixture(scope="session")
def open_engine() -> Callable[..., Engine]:
    """Open an engine on repositories or paths, with the embedder that needs no model; the caller closes it."""

    def make(*places: Repo | Path | str, home: Path | None = None, **options: object) -> Engine:
        paths = [place.path if isinstance(place, Repo) else place for place in places]
        arguments = {"index.workers": 1, "storage.home": str(home) if home else None}
        arguments |= {key.replace("__", "."): options.pop(key) for key in list(options) if "__" in key}
        options = {"embedder": "hashing"} | options
        return Engine.open(*paths, settings=config.load(paths[0] if paths else None, arguments=arguments), **options)

    return make


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser; continuous integration has to have one."""
    yield from opened(tmp_path_factory.mktemp("profile"))


@pytest.fixture
def engine(open_engine: Callable[..., Engine]) -> Iterator[Callable[..., Engine]]:
    """Open engines that are closed when the test ends: `engine(repo, index__max_file_bytes=100)`."""
    opened: list[Engine] = []

    def make(*places: object, **options: object) -> Engine:
        opened.append(open_engine(*places, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def engine_to_read(
    tmp_path_factory: pytest.TempPathFactory, open_engine: Callable[..., Engine]
) -> Iterator[Callable[..., Engine]]:
    """Open engines that the tests of a file share, since they only read: `engine_to_read("app", files, embedder="static")`."""
    with ExitStack() as opened:

        def make(name: str = "handbook", files: Mapping[str, str | bytes] = SAMPLE, **options: object) -> Engine:
            place = tmp_path_factory.mktemp("read")
            made = make_repository(place / name, files)
            return opened.enter_context(open_engine(made, home=place / "home", **options))

        yield make


class ChatServer(ThreadingHTTPServer):
    """A server that speaks the chat of Ollama (`/api/chat`) and of OpenAI (`/v1/chat/completions`) as they do.

    `answer` makes the model's words from the last message. `failure` makes it misbehave: a status, "slow" (says nothing),
    "drips" (a byte now and then), "hangs up", "malformed", "elsewhere" (a redirect).
    """

    daemon_threads = True
    model = "tiny:1b"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.answer: Callable[[str], str] = lambda _: "[1]"
        self.failure: int | str = ""
        self.key = ""
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class ChatHandler(Handler):
    """Answers one request."""

    server: ChatServer

    def do_POST(self) -> None:
        server, failure = self.server, self.server.failure
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append((self.path, body))
        ollama = self.path == "/api/chat"
        if not ollama and self.path != "/v1/chat/completions":
            return self.reply(404, b"404 page not found", "text/plain")
        if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
            return self.reply(401, {"error": {"message": f"Incorrect API key: {self.headers.get('Authorization')}"}})
        if failure:
            return self.fail(failure)
        if body["model"] != server.model:
            said = f"model '{body['model']}' not found"
            return self.reply(404, {"error": said if ollama else {"message": said, "type": "not_found_error"}})
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        message = {"role": "assistant", "content": server.answer(body["messages"][-1]["content"])}
        done = {"model": body["model"], "message": message, "done": True, "done_reason": "stop"}
        chosen = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        return self.reply(200, done if ollama else chosen)

    def fail(self, failure: int | str) -> None:
        if isinstance(failure, int):
            return self.reply(failure, {"error": "llama runner process has terminated"})
        if failure == "elsewhere":
            self.send_response(307)
            self.send_header("Location", "http://192.0.2.1/")
            return self.end_headers()
        if failure == "malformed":
            return self.reply(200, b"<html>welcome</html>", "text/html")
        if failure == "drips":
            self.send_response(200)
            self.end_headers()
            while not self.server.closing.wait(0.01):
                self.wfile.write(b" ")
        if failure == "slow":
            self.server.closing.wait()
        return None  # the connection is closed


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A server of one language model."""
    with running(ChatServer()) as server:
        yield server
