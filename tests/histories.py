"""Histories of a repository and its index, step by step, and what a fresh index says where one has ended.

`check` compares after given steps. `tried` makes scripts of steps by chance, with kills among them, and compares after
each: many scripts go on in one repository, so that its index has a long past.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from handbook import make_repository
from vademecum import config
from vademecum.code.graph.terms import Tier
from vademecum.engine import Engine

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

ARGUMENTS: dict[str, Sequence[object]] = {
    "path": PATHS, "content": CONTENTS, "branch": ["main", "one", "two"], "number": range(31), "either": [False, True],
}  # fmt: skip
STEPS = [  # names of steps and of their arguments; what stands twice is taken twice as often
    ("write", "path", "content"),
    ("write", "path", "content"),
    ("append", "path"),
    ("delete", "path"),
    ("rename", "path", "path"),
    ("copy", "path", "path"),
    ("touch", "path", "number"),
    ("link", "path", "path"),
    ("commit",),
    ("branch", "branch"),
    ("revert",),
    ("back",),
    ("index",),
    ("index",),
    ("full",),
    ("abort", "number"),
    ("kill", "number", "either"),
    ("stash",),
    ("rebase",),
    ("index_head",),
    ("worktree",),
    ("gc",),
    ("reopen",),
    ("lose", "number", "either"),
]
SCRIPTS = 20  # in one repository
EMBEDDERS = ("static", "hashing")  # by turns: ranked by the fitted model, and by constants
LONGEST = 12  # steps of a script


class Abort(Exception):  # noqa: N818 - not an error of ours
    """Thrown through the progress callback, as Ctrl-C would be."""


class World:
    """A repository, its index, and everything that may happen to them."""

    def __init__(self, place: Path, embedder: str = "hashing") -> None:
        self.place, self.embedder = place, embedder
        self.repo = make_repository(place / "app", {"a.py": CONTENTS[1], "README.md": CONTENTS[4]})
        self.engine = self.opened()

    def opened(self, home: str = "home", path: Path | None = None) -> Engine:
        where = path or self.repo.path
        arguments = {"index.workers": 1, "storage.home": str(self.place / home)}
        return Engine.open(where, settings=config.load(where, arguments=arguments), embedder=self.embedder)

    def take(self, steps: Sequence[tuple[object, ...]]) -> None:
        """Take steps, each a name and its arguments; one that cannot be taken is left out."""
        for name, *arguments in steps:
            with contextlib.suppress(NotADirectoryError, FileExistsError, IsADirectoryError):
                getattr(self, str(name))(*arguments)

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

    def kill(self, number, full):
        """Kill a process that indexes, after so many times five milliseconds of its own time."""
        self.engine.close()
        with warnings.catch_warnings(action="ignore"):  # Python warns of threads, which the child never needs
            child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_PROF, (number + 1) / 200)
                with self.opened() as engine:
                    engine.codebase.index(full=full)
                    engine.codebase.gc()
            os._exit(0)
        os.waitpid(child, 0)
        self.engine = self.opened()

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


def pages(engine):
    """Return the pages that the engine writes of the state."""
    yield engine.map(budget_tokens=600).text
    yield engine.context("split the token budget", budget_tokens=600).text
    for name in ("beta", "Gamma"):
        yield engine.codebase.impact(name)
        yield engine.codebase.callees(name)


def check(steps: Sequence[tuple[object, ...]]) -> None:
    """Take the steps, then compare with an index that never saw them."""
    place = Path(tempfile.mkdtemp(prefix="vade"))
    try:
        world = World(place)
        world.take(steps)
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
    assert kept == [] or any(name == "kill" for name, *_ in steps), kept


def script(seed: int) -> list[tuple[object, ...]]:
    """Return the steps of a number."""
    chance = random.Random(seed)
    chosen = chance.choices(STEPS, k=chance.randint(1, LONGEST))
    return [(name, *(chance.choice(ARGUMENTS[each]) for each in kinds)) for name, *kinds in chosen]


def tried(seeds: range) -> Iterator[tuple[int, str]]:
    """Yield each script's number, and what differs from a fresh index after the script; "" for nothing.

    A repository is kept for `SCRIPTS` scripts, or until something differs.
    """
    left = list(seeds)
    while left:
        place = Path(tempfile.mkdtemp(prefix="vade"))
        world = World(place, EMBEDDERS[left[0] // SCRIPTS % len(EMBEDDERS)])
        try:
            for seed in left[:SCRIPTS]:
                left.remove(seed)
                world.take(script(seed))
                differs = difference(world)
                yield seed, differs
                if differs:
                    break
        finally:
            world.engine.close()
            shutil.rmtree(place)


def difference(world: World) -> str:
    """Return what the index answers otherwise than a fresh one, as text; "" if nothing."""
    with world.opened("fresh") as fresh:
        expected = [*answers(fresh), *pages(fresh)]
    shutil.rmtree(world.place / "fresh")
    found = [*answers(world.engine), *pages(world.engine)]
    return "\n".join(f"--- fresh\n{e}\n--- grown\n{f}" for e, f in zip(expected, found, strict=True) if e != f)
