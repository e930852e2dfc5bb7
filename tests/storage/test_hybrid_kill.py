"""A two-step write that is killed between any two steps is gone on with by the next run, and nothing is lost or left over."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from needed import package
from vademecum.testing import FixedClock

# Counts every write to the ledger, to the records and to the index from where the index is brought up to date, and dies by
# SIGKILL before the one that is asked for. A write to the records inside a transaction counts, and the transaction's end too.
# Each run is a fork of a process that has imported everything, which takes longer than all else.
CHILD = """
import importlib, json, os, signal, sys, traceback
from vademecum import config
from vademecum.code.search.dense_search import Mirror
from vademecum.engine import Engine
from vademecum.storage.sqlite import SqliteStore
importlib.import_module(f"vademecum.storage.{sys.argv[1]}")
steps, counting = 0, False

def step(name):
    global steps
    if counting:
        steps += 1
        print(steps, name, flush=True)
        if steps == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

def counted(kind, name):
    method = getattr(kind, name)
    def wrapped(self, *arguments, **more):
        step(f"{kind.__name__}.{name}")
        return method(self, *arguments, **more)
    setattr(kind, name, wrapped)

for name in ("upsert", "delete"):
    counted(SqliteStore, name)
index_of, caught_up = Mirror.index, Mirror.catch_up

def index(self):
    found = index_of(self)
    if not hasattr(type(found), "counted"):
        type(found).counted = True
        for name in ("upsert", "delete", "activate"):
            counted(type(found), name)
    return found

def catch_up(self, *arguments, **more):
    global counting
    self.index()
    counting = True
    try:
        return caught_up(self, *arguments, **more)
    finally:
        counting = False

Mirror.index, Mirror.catch_up = index, catch_up

def run(root, kind, url):
    arguments = {"index.workers": 1, "search.vectors": kind, "qdrant.url": url}
    with Engine.open(root, settings=config.load(None, arguments=arguments), embedder="hashing") as engine:
        engine.codebase.index()

for line in sys.stdin:
    *place, die_at = json.loads(line)
    own = os.fork()
    if not own:
        try:
            run(*place)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(own, 0)[1]), flush=True)
"""


@pytest.fixture
def killed_at(tmp_path, monkeypatch) -> Callable[..., tuple[list[str], bool]]:
    """Run a child until it dies before a step. Returns the steps it came to and whether it was killed."""
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "home"))
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
    running: dict[str, subprocess.Popen[str]] = {}

    def killed_at(made, kind, url, number):
        if kind not in running:
            command = [sys.executable, "-c", CHILD, kind]
            running[kind] = subprocess.Popen(
                command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        child = running[kind]
        child.stdin.write(json.dumps([str(made.path), kind, url, number]) + "\n")
        child.stdin.flush()
        steps = []
        while not (line := child.stdout.readline().rstrip("\n")).startswith("ended "):
            assert line, "the child has gone"
            steps.append(line)
        ended = int(line.split()[1])
        assert ended in {0, -signal.SIGKILL}
        return steps, ended != 0

    yield killed_at
    for each in running.values():
        each.communicate(timeout=60)


def change(made):
    """Edit a file, delete one, add one, and move one."""
    made.write("src/net/retry.py", made.read("src/net/retry.py").replace("attempts=3", "attempts=7"))
    (made.path / "README.md").unlink()
    made.write("src/fresh.py", "def freshly_added():\n    '''Say that this is new.'''\n")
    made.git("mv", "web/log.ts", "web/reader.ts")


QUESTIONS = ["call again after a pause", "say that this is new", "handbook", "parse a line of a log", "token budget"]


def answers(opened):
    return [
        [(e.id, e.path, pytest.approx(e.score, abs=0.02)) for e in opened.codebase.search(q).evidence]
        for q in QUESTIONS
    ]


def check_after(opened, plain, where):
    """The next run answers as the arrays do, says nothing is missing, and the index holds what it should and no more."""
    assert answers(opened) == answers(plain), where
    assert not opened.codebase.search(QUESTIONS[0]).reason, where
    check = next(check for check in opened.codebase.doctor() if check.name == "vectors")
    assert check.ok, (where, check.detail)


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["qdrant, the first time", "qdrant, after changes", "lancedb, after changes"])
def test_killed_between_any_two_steps(repo, engine, tmp_path, killed_at, qdrant_server, scene):
    """Before every single write, of either store."""
    kind, _, scene = scene.partition(", ")
    if kind == "lancedb":
        package(kind)
    home = tmp_path / "home"
    options = {"search__vectors": kind, "qdrant__url": qdrant_server.url}
    steps: list[str] = []
    for number in range(1, 60):
        shutil.rmtree(home, ignore_errors=True)
        for collection in qdrant_server.engine.get_collections().collections:
            qdrant_server.drop(collection.name, None)
        made = repo(f"app{number}")
        if scene == "after changes":
            with engine(made, **options) as opened:
                opened.codebase.index()
            change(made)
        steps, killed = killed_at(made, kind, qdrant_server.url, number)
        # A search right now, without bringing anything up to date, is honest about what it lacks.
        with engine(made, **options, clock=FixedClock()) as opened:
            now = opened.codebase.search("token budget", refresh=False)
            assert now.evidence[0].path == "src/budget.py", number
        with engine(made, **options) as opened, engine(made) as plain:
            check_after(opened, plain, f"killed before step {number}, {steps[-1]}")
        if not killed:
            break
    assert not killed
    assert len(steps) >= 7, steps
    for name in ("upsert", "delete", "activate"):
        assert any(name in step and "Index" in step for step in steps), "the steps of the index are among them"
