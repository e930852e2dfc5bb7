"""However a state was reached, its index answers as a fresh one does: the same ids, lines, scores and verdicts."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum.code.graph.terms import Tier

PATHS = [
    "a.py",
    "b.py",
    "src/a.py",
    "src/deep/c.ts",
    "tests/test_a.py",
    "README.md",
    "conf.toml",
    "notes.txt",
    ".gitignore",
    ".vadeignore",
]
CONTENTS = [
    b"",
    b"def alpha(first):\n    '''Split the token budget.'''\n    return beta(first)\n",
    b"def beta(second):\n    '''Open a network socket.'''\n    return second\n\n\nclass Gamma:\n    def alpha(self): ...\n",
    b"export function gammaRay(x) { return x + 1; }\n// token budget\n",
    b"# Heading\n\nHow the token budget is split.\n\n## Sockets\n\nOpened by beta.\n",
    b"src/\n*.txt\n",
    b"!src/a.py\nb.py\n",
    b"\0binary\0",
    b"caf\xe9 = 'latin'\n",
    b"def broken(:\n  if x\n",
    b"[tool]\nalpha = 1\n",
    b"from a import alpha\nfrom src import a as other\nimport b\n\n\ndef use(g: b.Gamma):\n    g.alpha()\n    return alpha(other.beta(1))\n",
    b"from b import *\nfrom src.a import Gamma as G\n\n\nclass Delta(G):\n    def alpha(self):\n        return super().alpha() or beta(2)\n",
    b"import { gammaRay } from './src/deep/c';\nexport const ray = () => gammaRay(1);\n",
]
QUERIES = [
    "split the token budget",
    "alpha",
    "Gamma.alpha",
    "where is the socket opened",
    "alpah",
    "gamma_ray",
    "heading",
    "zzz qqq",
]

paths, contents, numbers = st.sampled_from(PATHS), st.sampled_from(CONTENTS), st.integers(0, 30)
STEPS = st.one_of(
    st.tuples(st.just("write"), paths, contents),
    st.tuples(st.just("write"), paths, contents),
    st.tuples(st.just("append"), paths),
    st.tuples(st.just("delete"), paths),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("copy"), paths, paths),
    st.tuples(st.just("touch"), paths, numbers),
    st.tuples(st.just("link"), paths, paths),
    st.tuples(st.just("commit")),
    st.tuples(st.just("branch"), st.sampled_from(["main", "one", "two"])),
    st.tuples(st.just("revert")),
    st.tuples(st.just("back")),
    st.tuples(st.just("index")),
    st.tuples(st.just("index")),
    st.tuples(st.just("full")),
    st.tuples(st.just("abort"), numbers),
    st.tuples(st.just("stash")),
    st.tuples(st.just("rebase")),
    st.tuples(st.just("index HEAD")),
    st.tuples(st.just("worktree")),
    st.tuples(st.just("gc")),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("lose"), numbers, st.booleans()),
)


class Abort(Exception):  # noqa: N818 - not an error of ours
    """Thrown through the progress callback, as Ctrl-C would be."""


class World:
    """A repository, its index, and everything that may happen to them."""

    def __init__(self, place, make_repo, open_engine):
        self.place, self.open_engine = place, open_engine
        self.repo = make_repo(place / "app", {"a.py": CONTENTS[1], "README.md": CONTENTS[4]})
        self.engine = self.opened()

    def opened(self, home="home", path=None):
        return self.open_engine(path or self.repo.path, home=self.place / home)

    def file(self, path):
        """Return where a file is; nothing when a directory or a link stands in the way."""
        target = self.repo.path / path
        return target if target.is_file() and not target.is_symlink() else None

    def write(self, path, content):
        target = self.repo.path / path
        if not target.is_symlink():
            self.repo.write(path, content)

    def append(self, path):
        if target := self.file(path):
            target.write_bytes(target.read_bytes() + b"\n# alpha again\n")

    def delete(self, path):
        (self.repo.path / path).unlink(missing_ok=True)

    def rename(self, old, new):
        if (source := self.file(old)) and old != new:
            (self.repo.path / new).parent.mkdir(parents=True, exist_ok=True)
            source.replace(self.repo.path / new)

    def copy(self, old, new):
        if source := self.file(old):
            self.write(new, source.read_bytes())

    def touch(self, path, number):
        if target := self.file(path):
            os.utime(target, ns=(number * 10**9, number * 10**9))

    def link(self, path, target):
        self.delete(path)
        (self.repo.path / path).parent.mkdir(parents=True, exist_ok=True)
        (self.repo.path / path).symlink_to(self.repo.path / target)

    def commit(self):
        self.repo.commit()

    def branch(self, name):
        exists = self.repo.git("branch", "--list", name)
        self.repo.git("checkout", "-q", "-f", *([] if exists else ["-b"]), name)

    def revert(self):
        self.repo.git("reset", "-q", "--hard", "HEAD")

    def back(self):
        with contextlib.suppress(subprocess.CalledProcessError):  # nothing was committed yet
            self.repo.git("revert", "--no-edit", "HEAD")

    def stash(self):
        """Put all edits away, index what is left, and take them out again."""
        with contextlib.suppress(subprocess.CalledProcessError):  # there are none
            self.repo.git("stash", "-u")
            self.engine.codebase.index()
            self.repo.git("stash", "pop")

    def rebase(self):
        """Commit everything, and put the branch on top of `main`; a conflict leaves it where it was."""
        self.repo.commit()
        try:
            self.repo.git("rebase", "main")
        except subprocess.CalledProcessError:
            with contextlib.suppress(subprocess.CalledProcessError):
                self.repo.git("rebase", "--abort")

    def index(self):
        self.engine.codebase.index()

    def full(self):
        self.engine.codebase.index(full=True)

    def abort(self, after):
        left = [after]

        def progress(*_):
            left[0] -= 1
            if left[0] < 0:
                raise Abort

        with contextlib.suppress(Abort):
            self.engine.codebase.index(progress)

    def index_head(self):
        self.engine.codebase.search("alpha", commit="HEAD")

    def worktree(self):
        """Index the second worktree, which shares this one's index, at HEAD."""
        other = self.place / "other"
        if not other.exists():
            self.repo.git("worktree", "add", "-q", "--detach", str(other))
        self.repo.git("-C", str(other), "checkout", "-q", "-f", "--detach", self.repo.git("rev-parse", "HEAD"))
        with self.opened(path=other) as engine:
            engine.codebase.index()

    def gc(self):
        self.engine.codebase.gc()

    def reopen(self):
        self.engine.close()
        self.engine = self.opened()

    def lose(self, number, damage):
        """Damage or remove one derived file."""
        derived = sorted((self.place / "home").glob("repos/*/*.safetensors"))
        if derived:
            victim = derived[number % len(derived)]
            if damage:
                beside = victim.with_suffix(".tmp")  # the old content may be mapped into memory
                beside.write_bytes(victim.read_bytes()[: number * 10])
                beside.replace(victim)
            else:
                victim.unlink()


def answers(engine):
    """Return everything the engine says of the state."""
    report = engine.codebase.index()
    said = [replace(report, added=0, removed=0, unchanged=0, seconds=0, failures=(), degraded={}, notes=())]
    said += [engine.codebase.search(query, k=20, refresh=False) for query in QUERIES]
    said += [engine.codebase.search(query, k=20, refresh=False, ranker="rrf") for query in QUERIES[:2]]
    said += [engine.codebase.search("alpha", refresh=False, pattern="def", languages=["python"])]
    said += [engine.codebase.symbol(name, refresh=False) for name in ("alpha", "Gamma", "alhpa")]
    graph = engine.codebase.graph(refresh=False)
    said += [sorted(graph.every(), key=lambda node: node.id)]
    said += [sorted(graph.every_edge(tuple(Tier)), key=lambda e: (e.source, e.relation, e.target))]
    said += [engine.codebase.callers(name) for name in ("alpha", "Gamma.alpha")]
    return said


def check(steps, make_repo, open_engine):
    """Take the steps, then compare with an index that never saw them."""
    place = Path(tempfile.mkdtemp(prefix="vade"))
    try:
        world = World(place, make_repo, open_engine)
        for name, *arguments in steps:
            with contextlib.suppress(NotADirectoryError, FileExistsError, IsADirectoryError):
                getattr(world, name.replace(" ", "_").lower())(*arguments)
        with world.opened("fresh") as fresh:
            expected = answers(fresh)
        with world.engine as engine:
            found = answers(engine)
            state = engine.codebase.status()[0]
            kept = list(Path(state.database).parent.glob("*.tmp"))
        with world.opened() as again:
            reread = answers(again)
        other = place / "other"
        if other.exists():
            with world.opened(path=other) as engine, world.opened("fresh", other) as fresh:
                assert answers(engine) == answers(fresh)
    finally:
        shutil.rmtree(place)
    assert found == expected
    assert reread == expected
    assert kept == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, max_size=12))
def test_an_incremental_index_answers_as_a_fresh_one(steps, make_repo, open_engine):
    """Any edits, renames, copies, switches, aborted runs and lost files: afterwards every answer equals a fresh index's."""
    check(steps, make_repo, open_engine)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEPS, min_size=10, max_size=40))
def test_a_long_history_answers_as_a_fresh_index(steps, make_repo, open_engine):
    """The same over long histories, in which segments are joined many times."""
    check(steps, make_repo, open_engine)
