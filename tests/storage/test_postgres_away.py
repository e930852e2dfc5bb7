"""A shared database that is away: searches go on with what this machine has of the index, and say so."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from postgres_servers import contrib
from postgres_wire import between
from vademecum.errors import StoreAwayError
from vademecum.providers.embedders.hashing import HashingEmbedder
from vademecum.storage.postgres import connect
from vademecum.storage.postgres.connect import close_all, connections
from vademecum.types import Freshness

pytestmark = pytest.mark.once

QUESTIONS = ("how is the token budget split", "retry with backoff", "parseLogLine", "no such thing here")


@pytest.fixture
def server(request):
    """A database that a test may cut off, as if its server had stopped: returns its URL and what cuts it off."""
    own = request.getfixturevalue("full_server" if contrib() else "wheel_server")
    direct = own.create(own.template)
    name = direct.partition("@/")[2].partition("?")[0]
    way = Path(f"{own.folder}-{name}")  # to the server's socket
    way.symlink_to(own.folder)
    url = direct.replace(own.folder, str(way))

    def stop():
        way.unlink(missing_ok=True)
        with psycopg.connect(own.url("postgres"), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid, 9999) FROM pg_stat_activity WHERE datname = %s", [name])

    yield url, stop
    close_all(url)
    stop()
    own.drop(direct)


@pytest.fixture
def on(engine, server):
    """Open an engine on the server, as from a machine of its own."""

    def make(made, home, **options):
        return engine(made, home=home, storage__provider="postgres", storage__url=server[0], **options)

    return make


def asked(engine):
    """What is answered, without the reason."""
    found = [engine.codebase.search(question) for question in QUESTIONS]
    found += [engine.codebase.search("x", pattern="def \\w+"), engine.codebase.symbol("retry_with_backoff")]
    return [(each.verdict, each.evidence) for each in found]


@pytest.mark.parametrize("reopened", [False, True])
def test_a_search_goes_on_without_the_server(repo, on, server, tmp_path, reopened):
    """With the same evidence, in the process that saw it go and in one that never reached it; `reason` says what is missing."""
    made = repo()
    shared = on(made, tmp_path / "one")
    shared.codebase.index()
    before = asked(shared)
    server[1]()
    shared = on(made, tmp_path / "one") if reopened else shared
    assert asked(shared) == before
    said = shared.codebase.search(QUESTIONS[0]).reason
    assert "the index is as this machine has it, of 20" in said
    assert "cannot be reached" in said
    assert "check storage.url" in said
    assert "check storage.url" in shared.codebase.search("no such thing here").reason
    assert "check storage.url" in shared.codebase.symbol("retry_with_backoff").reason
    assert "check storage.url" in shared.codebase.symbol("nothing_of_this_name").reason


class Stopping(HashingEmbedder):
    """Stops the server when a question is read: the snapshot was loaded, the pieces it finds were not."""

    stop = None

    def embed(self, passages, kind):
        if kind == "query" and self.stop is not None:
            self.stop()
        return super().embed(passages, kind)


def test_a_server_that_goes_in_the_middle_of_a_search_costs_no_answer(repo, on, server, tmp_path):
    """What it was about to be asked is found here."""
    embedder = Stopping()
    shared = on(repo(), tmp_path / "one", embedder=embedder)
    shared.codebase.index()
    before = shared.codebase.search(QUESTIONS[0])
    shared.close()
    shared = on(shared.roots[0].path, tmp_path / "one", embedder=embedder)  # nothing of it is at hand
    embedder.stop = server[1]
    after = shared.codebase.search(QUESTIONS[0])
    assert (after.verdict, after.evidence) == (before.verdict, before.evidence)
    assert "check storage.url" in after.reason


def test_a_server_that_hangs_costs_no_answer(repo, engine, database, tmp_path, monkeypatch):
    """It is waited for once; the next search answers at once."""
    monkeypatch.setattr(connect, "ASKED_AFTER", 0.3)
    with between(database) as wire:
        own = {"storage__provider": "postgres", "storage__url": wire.url, "storage__timeout_s": 2}
        shared = engine(repo(), home=tmp_path / "one", **own)
        shared.codebase.index()
        before = asked(shared)
        wire.silent.set()
        first = shared.codebase.search(QUESTIONS[0])
        assert "storage." in first.reason
        shared.codebase.search(QUESTIONS[0])
        tried = len(wire.opened)
        assert asked(shared) == before
        assert len(wire.opened) == tried, "the server is left alone: each of these would wait as long"
        wire.silent.clear()
        connections(wire.url, 2)._failure = None  # half a minute later
        assert shared.codebase.search(QUESTIONS[0]).reason == ""
        shared.close()


def test_files_are_as_they_are_now(repo, on, server, tmp_path):
    """One that was edited shows what it says today, and is marked; one that is gone is marked too; what git has is read there."""
    made = repo()
    shared = on(made, tmp_path / "one")
    shared.codebase.index()
    made.write("src/budget.py", made.read("src/budget.py") + "\n\ndef split_again(total):\n    return total // 3\n")
    shared.codebase.index()  # what git does not have
    server[1]()
    made.write("src/budget.py", made.read("src/budget.py").replace("total // 3", "total // 4"))
    found = shared.codebase.search("def split_again total").evidence
    [edited] = [each for each in found if "split_again" in each.snippet]
    assert edited.freshness is Freshness.EDITED
    assert "total // 4" in edited.snippet
    (made.path / "src/budget.py").unlink()
    gone = [each for each in shared.codebase.search("split the token budget").evidence if each.path == "src/budget.py"]
    assert all(each.freshness is Freshness.STALE for each in gone)


def test_a_commit_is_searched_from_git(repo, on, server, tmp_path):
    """Its contents are not on disk any more."""
    made = repo()
    shared = on(made, tmp_path / "one")
    shared.codebase.index()
    before = shared.codebase.search("split the token budget", commit="HEAD")
    server[1]()
    made.write("src/budget.py", "")
    after = shared.codebase.search("split the token budget", commit="HEAD")
    assert after.evidence == before.evidence
    assert "check storage.url" in after.reason


def test_contexts_go_on_and_what_needs_the_database_says_so(repo, on, server, tmp_path):
    """The graph, memory and a new index run are errors that name the setting; nothing of it is taken for done."""
    made = repo()
    shared = on(made, tmp_path / "one")
    shared.codebase.index()
    server[1]()
    text = shared.context("split the token budget", 2000).text
    assert "def split" in text
    assert "check storage.url" in text
    for ask in (
        lambda: shared.codebase.callers("split"),
        shared.codebase.index,
        shared.codebase.gc,
        lambda: shared.memory.recall("budget"),
        lambda: shared.codebase.search("budget", scope="shared"),
    ):
        with pytest.raises(StoreAwayError, match=r"storage\.url"):
            ask()


def test_every_repository_of_this_machine_is_searched(repo, on, server, tmp_path):
    """Scope "all" finds those that it read before."""
    first, second = repo("first"), repo("second")
    for made in (first, second):
        on(made, tmp_path / "one").codebase.index()
    server[1]()
    found = on(first, tmp_path / "one").codebase.search("split the token budget", scope="all")
    assert {each.repo for each in found.evidence} == {"first", "second"}


def test_what_this_machine_never_read_is_an_error(repo, on, server, tmp_path):
    """So is what it lost: there is nothing to go on with."""
    made = repo()
    on(made, tmp_path / "one").codebase.index()
    shutil.copytree(tmp_path / "one", tmp_path / "lost")
    for path in (tmp_path / "lost").glob("repos/*/files-*"):
        path.unlink()
    server[1]()
    for home in ("other", "lost"):
        with pytest.raises(StoreAwayError, match=r"cannot be reached.*storage\.url"):
            on(made, tmp_path / home).codebase.search("budget")


def test_at_the_terminal(repo, on, server, tmp_path, monkeypatch):
    """`vade search` prints what it found and what is missing; a new process, as a user has it."""
    made = repo()
    on(made, tmp_path / "one").codebase.index()
    server[1]()
    for name, value in (("PROVIDER", "postgres"), ("URL", server[0]), ("HOME", str(tmp_path / "one"))):
        monkeypatch.setenv(f"VADE_STORAGE__{name}", value)
    monkeypatch.setenv("VADE_SEARCH__EMBEDDER", "hashing")
    command = [sys.executable, "-m", "vademecum", "search", "split the token budget", "--json"]
    done = subprocess.run(command, cwd=made.path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "check storage.url" in json.loads(done.stdout)["reason"]


def test_the_doctor_says_what_is_wrong_and_goes_on(repo, on, server, tmp_path):
    """The database is named with what to do, and it is not an index run; what does not need it is looked at."""
    made = repo()
    on(made, tmp_path / "one").codebase.index()
    server[1]()
    shared = on(made, tmp_path / "one")
    checks = {check.name: check for check in (*shared.codebase.doctor(), *shared.check_memory())}
    assert {name for name, check in checks.items() if check.ok} == {"git", "disk", "embedder"}
    assert "start the server, or correct storage.url" in checks["database"].fix
    assert "storage.url" in checks["memory"].fix
