"""A run that is killed, or two that write at once, lose nothing that was acknowledged."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from vademecum.code.indexing import index

CHILD = """
import sys
from vademecum import config
from vademecum.code.indexing import index
from vademecum.engine import Engine
index.FLUSH_BYTES = 20_000  # many batches, so that a kill falls between them
def progress(stage, done, total):
    print(stage, done, flush=True)
settings = config.load(None, arguments={"index.workers": int(sys.argv[2])})
with Engine.open(sys.argv[1], settings=settings, embedder="hashing") as engine:
    print("opened", 0, flush=True)
    for _ in range(int(sys.argv[3])):
        engine.codebase.index(progress)
        print("indexed", 0, flush=True)
"""
FILES = {
    f"pkg{n % 7}/mod{n:03}.py": f"class Thing{n}:\n" + "".join(
        f"    def step_{n}_{m}(self):\n        '''Take step {m} of thing {n}.'''\n        return [{m}] * {n}\n\n" for m in range(12)
    )
    for n in range(300)
}  # fmt: skip


def child(made, *arguments):
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(made.path), *map(str, arguments)],
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    )


def database(home):
    (found,) = home.glob("repos/*/index.db")
    return found


def stored(home):
    """Return the contents that a reader of the database sees as stored, and check that it is whole."""
    with closing(sqlite3.connect(database(home))) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {row[0] for row in db.execute("SELECT hash FROM blobs")}


def orphans(home):
    """Return derived files that the database does not name."""
    with closing(sqlite3.connect(database(home))) as db:
        named = {row[0] for row in db.execute("SELECT file FROM segments UNION SELECT table_file FROM snapshots")}
        named |= {f"history-{row[0]}.safetensors" for row in db.execute("SELECT commit_id FROM snapshots")}
    return {path.name for path in database(home).parent.glob("*.safetensors*")} - named


def answer(engine):
    evidence = engine.codebase.search("take step 3 of thing 250", k=5).evidence
    return [(e.id, e.score, e.start_line, e.end_line) for e in evidence]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_a_killed_run_loses_nothing_it_had_stored(repo, engine, tmp_path, monkeypatch, workers):
    """Killed at six random instants, the database is whole, what was stored stays, and the run after completes the rest."""
    home, chance = tmp_path / "home", random.Random(workers)
    made = repo("app", FILES)
    monkeypatch.setenv("VADE_HOME", str(home))
    before: set[str] = set()
    for _ in range(6):
        with child(made, workers, 1) as process:
            assert process.stdout.readline() == "opened 0\n"
            steps = chance.randrange(700)
            for _, line in zip(range(steps), process.stdout, strict=False):
                if line.startswith("indexed"):
                    break
            time.sleep(chance.random() / 100)  # kill between two lines, not only at one
            process.send_signal(signal.SIGKILL)
        after = stored(home)
        assert before <= after
        before = after
    report = (opened := engine(made, home=home)).codebase.index()
    assert (report.files, report.skipped) == (300, ())
    made.write("pkg0/mod000.py", made.read("pkg0/mod000.py") + "\nLAST = 1\n")
    found = answer(opened)
    assert orphans(home) == set()
    assert found == answer(engine(made, home=tmp_path / "fresh"))


@pytest.mark.slow
def test_a_complete_state_stays_answerable_whenever_the_next_is_killed(repo, engine, tmp_path, monkeypatch):
    """Once a state was acknowledged, a kill during any later run leaves it, or the next one, whole."""
    home, chance = tmp_path / "home", random.Random(3)
    made = repo("app", FILES)
    monkeypatch.setenv("VADE_HOME", str(home))
    engine(made, home=home).codebase.index()
    for n in range(5):
        for m in range(40):
            path = f"pkg{(n * 40 + m) % 300 % 7}/mod{(n * 40 + m) % 300:03}.py"
            made.write(path, made.read(path) + f"\nROUND_{n} = {m}\n")
        with child(made, 1, 1) as process:
            for _ in zip(range(chance.randrange(90)), process.stdout, strict=False):
                pass
            process.send_signal(signal.SIGKILL)
        reader = engine(made, home=home)
        state = reader.codebase.status()[0]
        assert state.files == 300
        assert reader.codebase.search("take step 3 of thing 250", refresh=False).evidence
        stored(home)
    assert answer(engine(made, home=home)) == answer(engine(made, home=tmp_path / "fresh"))


@pytest.mark.slow
def test_two_writers_from_nothing_end_in_one_index(repo, engine, tmp_path, monkeypatch):
    """Processes that index the same new repository at the same time all succeed, and leave one index like a fresh one."""
    home = tmp_path / "home"
    made = repo("app", dict(list(FILES.items())[:60]))
    monkeypatch.setenv("VADE_HOME", str(home))
    processes = [child(made, 1, 2) for _ in range(4)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    assert all(output.count("indexed") == 2 for output in outputs)
    assert len(stored(home)) == 60
    assert orphans(home) == set()
    assert answer(engine(made, home=home)) == answer(engine(made, home=tmp_path / "fresh"))


@pytest.mark.slow
def test_writers_in_two_worktrees_share_one_index(repo, engine, tmp_path, monkeypatch):
    """Two worktrees indexed at once, with a clean-up in between, both end complete."""
    home = tmp_path / "home"
    made = repo("app", dict(list(FILES.items())[:60]))
    monkeypatch.setenv("VADE_HOME", str(home))
    made.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    other = type(made)(tmp_path / "other")
    for n in range(30):
        other.write(f"new/part{n}.py", f"def part_{n}():\n    '''Part {n}.'''\n")
    processes = [child(each, 1, 1) for each in (made, other)]
    engine(made, home=home).codebase.gc()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert engine(made, home=home).codebase.status()[0].files == 60
    assert engine(other, home=home).codebase.status()[0].files == 90
    assert engine(other, home=home).codebase.symbol("part_7").evidence


def test_an_aborted_run_leaves_no_worker_behind(repo, engine, monkeypatch):
    """An exception thrown while worker processes start leaves none of them running."""
    made = repo("app", FILES | {f"big{n}.py": f"x{n} = [\n" + "    1,\n" * 30_000 + "]\n" for n in range(6)})

    def progress(stage, done, total):
        if stage == "indexing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine(made, index__workers=3).codebase.index(progress)
    assert children_of(os.getpid()) == []


def test_an_abort_right_after_a_batch_was_stored_is_an_abort(repo, engine, monkeypatch):
    """There is nothing left to store then; the next run goes on from what was."""
    monkeypatch.setattr(index, "FLUSH_SECONDS", 0.0)

    def progress(stage, done, total):
        if stage == "indexing" and done == 2:
            raise KeyboardInterrupt

    code = engine(repo("app", FILES)).codebase
    with pytest.raises(KeyboardInterrupt):
        code.index(progress)
    assert code.index().added == len(FILES) - 2


def children_of(parent):
    """Return the command lines of living worker processes that a process has started: new ones, or copies of it."""
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=False).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    own = [args for pid, _, args in rows if int(pid) == parent]
    return [args for _, of, args in rows if int(of) == parent and (args in own or "serve()" in args)]
