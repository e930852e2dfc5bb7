"""A search that could not take in what changed: it waits a little, answers from what is there, and says so."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from vademecum.code.indexing import index
from vademecum.errors import StoreFullError
from vademecum.testing import FixedClock


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    monkeypatch.setattr(index, "PATIENCE_SECONDS", 0.1)


@pytest.fixture
def indexed(repo, engine):
    """A repository that was indexed, and a function since that is not in the index; the codebase and the index's file."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    made.write("src/later.py", "def settle_the_later_account(total):\n    return split_budget(total)\n")
    return codebase, codebase.status()[0].database


@contextmanager
def written(database):
    """Hold the database as a process that writes it does."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextmanager
def held(database):
    """Hold the lock of an indexing run in another process."""
    code = "import fcntl,sys;f=open(sys.argv[1],'a');fcntl.flock(f,fcntl.LOCK_EX);print('held',flush=True);sys.stdin.read()"
    lock = os.path.join(os.path.dirname(database), "index.lock")
    with subprocess.Popen(
        [sys.executable, "-c", code, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        yield
        other.stdin.close()


@pytest.mark.parametrize("busy", [written, held])
def test_what_a_busy_index_lacks_is_not_flatly_denied(indexed, busy):
    """Neither a search nor a symbol says that a name is nowhere without saying first that edits may be missing."""
    codebase, database = indexed
    with busy(database):
        for answer in (codebase.search("settle_the_later_account"), codebase.symbol("settle_the_later_account")):
            assert answer.verdict == "not_found"
            assert answer.reason.startswith("recent edits may be missing: the index is as of ")
            assert "process" in answer.reason
            assert "as it stands, 'settle_the_later_account' is defined nowhere" in answer.reason
    assert codebase.search("settle_the_later_account").verdict == "resolved"
    assert "recent edits" not in codebase.search("settle_the_later_account").reason


@pytest.mark.parametrize("busy", [written, held])
def test_what_a_busy_index_has_is_answered_and_said_to_be_old(indexed, busy):
    """Evidence is told as ever, and beside it that edits may be missing; so does a later answer without a refresh."""
    codebase, database = indexed
    with busy(database):
        assert codebase.refresh()[0].notes[0].startswith("recent edits may be missing")
        for answer in (codebase.search("retry with backoff"), codebase.search("retry with backoff", refresh=False)):
            assert answer.evidence[0].path == "src/net/retry.py"
            assert "recent edits may be missing" in answer.reason


def test_a_symbol_is_answered_where_what_it_inherits_cannot_be_told(repo, engine):
    """The graph that knows what a class has from another was never made, and cannot be now: that is said, and soon."""
    code = {"a.py": "class Base:\n    def run(self): ...\n\n\nclass App(Base):\n    def go(self): ...\n"}
    codebase = engine(repo("app", code)).codebase
    assert codebase.search("App").verdict == "resolved"  # indexed, without a graph
    with written(codebase.status()[0].database):
        answer = codebase.symbol("App.run", refresh=False)
        assert (answer.verdict, codebase.symbol("App.go", refresh=False).verdict) == ("not_found", "resolved")
        assert "whether it is inherited is not known: " in answer.reason
        assert "held by another process" in answer.reason
    assert codebase.symbol("App.run").verdict == "resolved"


def test_callers_in_a_busy_index_are_unknown_rather_than_none(indexed):
    """That nobody calls a thing is not said where the newest calls may be missing."""
    codebase, database = indexed
    codebase.graph()
    with open(os.path.join(codebase.status()[0].root, "src", "more.py"), "w", encoding="utf-8") as file:
        file.write("from later import settle_the_later_account\n\nsettle_the_later_account(1)\n")
    with held(database):
        callers = codebase.callers("settle_the_later_account")
        nobody = codebase.callers("never_heard_of_it")
    assert (callers.verdict, callers.found) == ("unknown", ())
    assert callers.reason.startswith("recent edits may be missing")
    assert nobody.reason.startswith("recent edits may be missing")


def test_a_wait_is_announced(indexed):
    """Whoever is told of progress hears that another process is waited for."""
    codebase, database = indexed
    stages = []
    with held(database):
        codebase.search("retry with backoff", progress=lambda stage, *_: stages.append(stage))
    assert "waiting for another process" in stages


def test_an_index_that_nothing_changed_for_is_not_behind(repo, engine):
    """Another process at work is nobody's business where the files are as they were indexed."""
    codebase = engine(repo()).codebase
    codebase.index()
    codebase.refresh()
    with held(codebase.status()[0].database):
        assert "recent edits" not in codebase.search("retry with backoff").reason


def test_a_full_disk_is_searched_and_said_to_be_full(indexed, monkeypatch):
    """Where nothing can be written a search answers from what is there; indexing says what is wrong."""
    codebase, _ = indexed

    def full():
        raise StoreFullError("no room on the disk")

    monkeypatch.setattr(codebase._repositories[0][0].catalogue.store, "_begin", full)
    found = codebase.search("retry with backoff")
    assert found.evidence[0].path == "src/net/retry.py"
    assert found.reason.startswith("recent edits may be missing")
    assert "no room on the disk" in found.reason
    with pytest.raises(StoreFullError):
        codebase.index()


def test_a_full_disk_without_an_index_is_an_error(repo, engine, monkeypatch):
    """There is nothing to go on with."""
    codebase = engine(repo()).codebase

    def full():
        raise StoreFullError("no room on the disk")

    monkeypatch.setattr(codebase._repositories[0][0].catalogue.store, "_begin", full)
    with pytest.raises(StoreFullError):
        codebase.search("retry with backoff")


def test_a_damaged_index_is_made_anew_and_that_is_said(repo, engine):
    """Once, in the answer that it happened before; the doctor names what was set aside until it is cleaned away."""
    made = repo()
    first = engine(made)
    first.codebase.index()
    database = Path(first.codebase.status()[0].database)
    first.close()
    for number in ("", "-2"):
        database.write_bytes(b"\xa5" * 4096 + database.read_bytes()[4096:])
        opened = engine(made)
        codebase = opened.codebase
        for _ in range(2):  # a look takes no word from an answer
            assert "damaged" in codebase.status()[0].note
            assert [check.ok for check in codebase.doctor() if check.name == "index"] == [False]
        found = codebase.search("retry with backoff")
        assert found.evidence[0].path == "src/net/retry.py"
        assert found.reason.startswith("the index was damaged and is made anew")
        assert f"{database}.damaged{number} " in found.reason
        assert "damaged" not in codebase.search("retry with backoff").reason + codebase.status()[0].note
        [check] = [check for check in codebase.doctor() if check.name == "database"]
        assert check.ok
        assert f"{database}.damaged{number}" in check.detail
        opened.close()


def test_what_was_damaged_goes_with_a_clean_up_a_week_later(repo, engine):
    """Not before: somebody may want to know what happened."""
    made = repo()
    first = engine(made)
    first.codebase.index()
    database = Path(first.codebase.status()[0].database)
    first.close()
    database.write_bytes(b"\xa5" * 9000)
    codebase = engine(made).codebase
    assert "damaged" in codebase.index().notes[0]
    codebase.gc()
    aside = database.with_name("index.db.damaged")
    codebase._repositories[0][0].__dict__["clock"] = FixedClock(aside.stat().st_ctime + 8 * 86_400)
    assert aside.exists()
    codebase.gc()
    assert not aside.exists()
