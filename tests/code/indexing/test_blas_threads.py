"""Linear algebra keeps to one thread for as long as anybody asks for that, and while an index is made."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from vademecum.code.indexing.workers import one_thread
from vademecum.code.snapshot.catalogue import Catalogue

BODY = "    total = sum(range(n))\n" * 120
FILES = {f"pkg/m{n}.py": f"def run_{n}(n):\n{BODY}    return run_{n}(n)\n" for n in range(140)}


def threads():
    """How many threads libraries of linear algebra use."""
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture
def two(monkeypatch):
    """Two threads, as a program that uses this one may have."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with threadpool_limits(2, "blas"):
        yield threads()


def test_the_last_one_out_sets_the_number_that_was(two):
    """Whichever came first."""
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    assert threads() <= {1}
    first.__exit__(None, None, None)
    assert threads() <= {1}
    second.__exit__(None, None, None)
    assert threads() == two


def test_one_thread_while_an_index_is_made(repo, engine, monkeypatch, two):
    """Storing the snapshot has one thread, and afterwards the number is what it was."""
    seen, own = [], Catalogue.commit

    def step(self, *arguments):
        seen.append(threads())
        return own(self, *arguments)

    monkeypatch.setattr(Catalogue, "commit", step)
    engine(repo("linked", FILES), index__workers=2).codebase.index()
    assert len(seen) == 1
    assert seen[0] <= {1}
    assert threads() == two


def test_where_it_has_one_thread_nothing_is_loaded():
    """The commands say so before numpy is loaded; to ask it would cost them milliseconds."""
    code = (
        "import sys, numpy\nfrom vademecum.code.indexing.workers import one_thread\n"
        "with one_thread(): print('threadpoolctl' in sys.modules, numpy.__config__.CONFIG['Build Dependencies']['blas']['name'])"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout
    is_loaded, name = said.split()
    assert is_loaded == str("openblas" not in name)
