"""A tree of many files is compared by git: every change is found, as by looking at each file."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vademecum.code.checkout.root import find_root
from vademecum.code.checkout.walk import MANY, Known, Walk, walk
from vademecum.engine import Engine

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
TEXT = "def name():\n    return 1\n"


def run(folder: Path, *arguments: str) -> None:
    options = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *options, "-C", str(folder), *arguments], env=os.environ | QUIET, check=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    for number in range(MANY + 100):
        folder = top / f"part{number % 50}"
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath(f"f{number}.py").write_text(TEXT)
    run(top, "init", "-q")
    run(top, "add", "-A")
    run(top, "commit", "-qm", "first")
    return top


def written(top: Path, ago_s: float) -> None:
    """Make git's index as old as after some time of work."""
    then = time.time() - ago_s
    os.utime(top / ".git/index", (then, then))


def known_by(found: Walk, since: float) -> Known:
    return Known({entry.path: (entry.size, entry.mtime_ns, entry.inode) for entry in found.entries}, found.rules, since)


def edited(path: Path) -> None:
    path.write_text(TEXT + "# more\n")


def replaced_by_link(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to("moved")


def filed_as_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("f2.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit": lambda top: edited(top / "part1/f1.py"),
    "a file that is gone": lambda top: (top / "part2/f2.py").unlink(),
    "a new file": lambda top: (top / "part3/new.py").write_text(TEXT),
    "an ignored file": lambda top: (top / "part3/new.log").write_text(TEXT),
    "a file that is a link now": lambda top: filed_as_link(top / "part4/f4.py"),
    "a folder that is a link now": lambda top: replaced_by_link(top / "part5"),
    "the same content at another time": lambda top: os.utime(top / "part6/f6.py", (1, 1)),
    "another case": lambda top: (top / "part7/f7.py").rename(top / "part7/F7.py"),
}


def test_git_finds_every_change_that_a_look_at_each_file_finds(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.log\n")
    (tree / "untracked.py").write_text(TEXT)
    run(tree, "update-index", "--assume-unchanged", "part8/f8.py")
    run(tree, "update-index", "--skip-worktree", "part9/f9.py")
    written(tree, 60)
    root = find_root(tree)
    first = walk(root).unwrap()
    since = time.time()
    by_git, by_look = known_by(first, since), known_by(first, 0.0)
    assert not walk(root, known=by_git).unwrap().entries
    assert walk(root, known=by_git) == walk(root, known=by_look)
    for file in ("untracked.py", "part8/f8.py", "part9/f9.py"):
        edited(tree / file)
    for name, change in CHANGES.items():
        change(tree)
        assert walk(root, known=by_git) == walk(root, known=by_look), name
    found = walk(root, known=by_git).unwrap()
    paths = {entry.path for entry in found.entries}
    assert {"untracked.py", "part8/f8.py", "part9/f9.py", "part1/f1.py", "part3/new.py", "part7/F7.py"} < paths
    assert not any(path.startswith("part5/") for path in found.unchanged)


def test_an_edit_that_git_was_told_of_since_is_found(tree: Path) -> None:
    """Git finds the file as its index notes it, and the index is newer than the look before."""
    root = find_root(tree)
    first = walk(root).unwrap()
    known = known_by(first, time.time() - 60)
    edited(tree / "part1/f1.py")
    run(tree, "add", "-A")
    written(tree, 30)
    assert [entry.path for entry in walk(root, known=known).unwrap().entries] == ["part1/f1.py"]


def test_a_clock_that_was_ahead_does_not_hide_an_edit(tree: Path) -> None:
    root = find_root(tree)
    known = known_by(walk(root).unwrap(), time.time() + 3600)
    edited(tree / "part1/f1.py")
    run(tree, "add", "-A")
    assert [entry.path for entry in walk(root, known=known).unwrap().entries] == ["part1/f1.py"]


def test_no_program_of_the_users_settings_is_run(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository's attributes choose among the user's filters, and git filters what is as new as its index."""
    said = tmp_path / "said"
    settings = tmp_path / "settings"
    settings.write_text(f'[filter "own"]\n\tclean = "touch {said}; cat"\n')
    (tree / ".gitattributes").write_text("*.py filter=own\n")
    run(tree, "add", "-A")
    written(tree, 60)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    root = find_root(tree)
    known = known_by(walk(root).unwrap(), time.time())
    assert len(walk(root, known=known).unwrap().unchanged) == len(known.files)
    assert not said.exists()


def test_an_edit_during_the_index_run_is_found_by_the_next(tree: Path, tmp_path: Path) -> None:
    """A file is edited and added after it was read, and the clock goes on before the run is done."""
    now = [time.time() - 100]
    with Engine.open(tree, clock=lambda: now[0], personal=False) as engine:

        def progress(step: str, done: int, total: int) -> None:
            if step == "reading" and done == total and now[0] < time.time() - 50:
                (tree / "part1/f1.py").write_text("def another():\n    return 2\n")
                run(tree, "add", "-A")
                written(tree, 50)
                now[0] = time.time() - 10

        engine.codebase.index(progress)
        now[0] = time.time()
        assert engine.codebase.symbol("another").evidence


def test_a_look_that_finds_nothing_new_is_the_last_look(tree: Path) -> None:
    """Git writes its index after a run: the next run keeps its own time, and finds what is changed after that."""
    now = [time.time() - 100]
    with Engine.open(tree, clock=lambda: now[0], personal=False) as engine:
        engine.codebase.index()
        written(tree, 50)
        now[0] = time.time()
        engine.codebase.index()
        [status] = engine.codebase.status()
        assert status.indexed_at == now[0]
        (tree / "part1/f1.py").write_text("def another():\n    return 2\n")
        assert engine.codebase.symbol("another").evidence
    with Engine.open(tree, personal=False) as engine:
        [status] = engine.codebase.status()
        assert status.indexed_at == now[0]
