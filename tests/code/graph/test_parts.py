"""A large graph is made in parts: they make the same graph, and a link that was interrupted goes on."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from vademecum.code.graph import build

FILES = {
    "pan.py": "class Pan:\n    def heat(self): ...\n",
    "wok.py": "from pan import Pan\n\nclass Wok(Pan):\n    def heat(self): ...\n    def toss(self): return self.heat()\n",
    "cook.py": "from wok import Wok\n\ndef fry(): return Wok().toss()\n",
    "menu.md": "# Menu\n\n`Wok.toss` is in [the wok](wok.py).\n",
    "test_cook.py": "from cook import fry\n\ndef test_fry(): fry()\n",
}
LATER = {
    "pan.py": "class Pan:\n    def heat(self): ...\n    def toss(self): ...\n",
    "wok.py": "from pan import Pan\n\nclass Wok(Pan):\n    def heat(self): ...\n",
}


class StoppedError(Exception):
    """Raised by a progress that has seen enough."""


@pytest.fixture
def small_parts(monkeypatch):
    """Link two files at once, and store what is linked at once."""
    monkeypatch.setattr(build, "AT_ONCE", 2)
    monkeypatch.setattr(build, "STORED_AT_ONCE", 1)


@pytest.fixture
def whole(repo, engine, monkeypatch):
    """Return the graph of files that is made in one part."""

    def make(files):
        with monkeypatch.context() as patched:
            patched.setattr(build, "AT_ONCE", 100)
            return drawn(engine(repo("whole", files)).codebase)

    return make


def drawn(codebase):
    """Return all nodes and edges of a graph."""
    graph = codebase.graph()
    return sorted(graph.every()), sorted(graph.every_edge(), key=str)


@pytest.mark.usefixtures("small_parts")
def test_parts_make_the_same_graph(repo, engine, whole):
    assert drawn(engine(repo("parts", FILES)).codebase) == whole(FILES)


@pytest.mark.usefixtures("small_parts")
def test_an_edit_of_a_large_graph_makes_the_graph_of_a_fresh_index(repo, engine, whole):
    made = repo("parts", FILES)
    codebase = engine(made).codebase
    codebase.index()
    for path, text in LATER.items():
        (made.path / path).write_text(text)
    assert drawn(codebase) == whole(FILES | LATER)


def linkers():
    """Return the processes that link for this one."""
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, parent, said in rows if int(parent) == os.getpid() and "serve()" in said]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("killed", [False, True])
def test_several_processes_make_the_same_graph(repo, engine, whole, killed):
    """Also where one of them ends early, and none is left behind."""
    seen = []

    def look(step, _done, _total):
        if step == "linking" and (found := linkers()):
            seen.append(found)
            if killed and len(seen) == 1:
                os.kill(found[0], signal.SIGKILL)

    codebase = engine(repo("parts", FILES), index__workers=3).codebase
    codebase.index(look)
    assert seen
    assert drawn(codebase) == whole(FILES)
    assert linkers() == []


@pytest.mark.once
@pytest.mark.usefixtures("small_parts")
def test_several_processes_link_over_a_shared_database(repo, engine, whole, database):
    seen = []
    options = {"storage__provider": "postgres", "storage__url": database, "index__workers": 3}
    codebase = engine(repo("parts", FILES), **options).codebase
    codebase.index(lambda step, *_: seen.extend(linkers()) if step == "linking" else None)
    assert seen
    assert drawn(codebase) == whole(FILES)


@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_link_goes_on(repo, engine, whole):
    def stop_late(step, done, _):
        if step == "linking" and done > 2:
            raise StoppedError

    codebase = engine(repo("parts", FILES)).codebase
    with pytest.raises(StoppedError):
        codebase.index(stop_late)
    seen = []
    codebase.index(lambda step, _, total: seen.append((step, total)))
    assert {total for step, total in seen if step == "linking"} == {len(FILES) - 2}
    assert drawn(codebase) == whole(FILES)
