"""Analysis in several processes gives what one gives, and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import subprocess

import numpy as np
import pytest

from vademecum.code.chunking.analyse import Plan, Task
from vademecum.code.chunking.chunk import references_of
from vademecum.code.indexing import workers as pool
from vademecum.code.indexing.workers import POOL_FROM_BYTES, RISKY_BYTES, analyse_all, find_references
from vademecum.providers.embedders.hashing import HashingEmbedder

JOBS = [
    ("\n\n".join(f"def step_{n}_{m}(x):\n    '''Take step {m} of {n}.'''\n    return x + {m}" for m in range(110)).encode(), "python")
    for n in range(60)
]  # fmt: skip


def workers():
    """Return the worker processes of this one that are running."""
    gc.collect()
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=False).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    own = next(args for pid, _, args in rows if int(pid) == os.getpid())
    return [args for _, parent, args in rows if int(parent) == os.getpid() and (args == own or "serve()" in args)]


def analysed(processes, jobs=JOBS, embedder="hashing"):
    done = dict(analyse_all(jobs, Plan(embedder, 5.0, processes), HashingEmbedder() if embedder else None))
    assert sorted(done) == list(range(len(jobs)))
    return [done[n] for n in range(len(jobs))]


@pytest.mark.slow
@pytest.mark.parametrize("embedder", ["hashing", ""])
def test_several_processes_find_what_one_does(embedder):
    """Chunks, symbols, terms and vectors do not depend on who analysed a file, or with which others."""
    assert sum(len(content) for content, _ in JOBS) > POOL_FROM_BYTES
    for one, many in zip(analysed(1, embedder=embedder), analysed(3, embedder=embedder), strict=True):
        assert (one.chunks, one.symbols, one.passages) == (many.chunks, many.symbols, many.passages)
        for name in ("lines", "kinds", "lengths", "vectors", "scales"):
            np.testing.assert_array_equal(getattr(one.arrays, name), getattr(many.arrays, name))
        for name in ("keys", "docs", "tf"):  # terms of a chunk come in any order
            np.testing.assert_array_equal(
                *(getattr(a, name)[np.lexsort((a.keys, a.docs))] for a in (one.arrays, many.arrays))
            )
    assert workers() == []


@pytest.mark.slow
def test_references_are_found_by_themselves_as_with_all_the_rest():
    """In one process or several, and beside what a search needs."""
    jobs = [(b"import os\n\n\ndef home():\n    return os.getcwd()\n", "python"), (b"no code", "text"), *JOBS]
    expected = [references_of(*job) for job in jobs]
    assert expected[0]
    assert not expected[1]
    with_rest = dict(analyse_all(jobs, Plan("", 5.0, 1, Task.LINKED), None))
    assert [with_rest[n].references for n in range(len(jobs))] == expected
    for processes in (1, 3):
        found = dict(find_references(jobs, Plan("hashing", 5.0, processes)))
        assert [found[n] for n in range(len(jobs))] == expected
    assert not any(analysis.references for _, analysis in analyse_all(jobs[:3], Plan("", 5.0, 1), None))
    assert workers() == []


def test_no_jobs_are_done_at_once():
    """Nothing to analyse is nothing to wait for."""
    assert analysed(4, jobs=[]) == []


def test_a_pool_that_is_left_early_leaves_no_process():
    """Whoever stops listening, at whatever moment a worker is starting, leaves none running."""
    for taken in (1, 2, 5):
        stream = analyse_all(JOBS, Plan("hashing", 5.0, 4), HashingEmbedder())
        for _ in range(taken):
            next(stream)
        stream.close()
        assert workers() == []


@pytest.mark.slow
def test_a_worker_that_cannot_start_costs_nothing_but_time(monkeypatch):
    """Where no child process comes up, this one does all the work."""
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert all(analysed(3))


def test_a_file_that_keeps_a_grammar_busy_costs_itself_alone(monkeypatch):
    """Where no deadline is asked for, a process beside this one is ended; what is as large and harmless is read there."""
    monkeypatch.setattr(pool, "PATIENCE_S", 1.0)
    harmless = b"class A { int f() { return 1; } }\n" * (RISKY_BYTES // 30)
    jobs = [(b"a<b<" * 20_000, "csharp"), (harmless, "csharp"), (b"def f():\n    return 1\n", "python")]
    stuck, large, small = analysed(2, jobs=jobs, embedder="")
    assert "did not end" in stuck.problem
    assert stuck.chunks  # windows, so that its text is found
    assert stuck.references  # linking does not read the file again
    assert len(large.chunks) > 10
    assert small.symbols
    assert workers() == []


@pytest.mark.slow
def test_without_a_second_process_a_large_file_is_read_in_this_one(monkeypatch):
    """A system that starts no more processes loses no file."""
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    [large] = analysed(2, jobs=[(b"class A { int f() { return 1; } }\n" * (RISKY_BYTES // 30), "csharp")], embedder="")
    assert len(large.chunks) > 10
