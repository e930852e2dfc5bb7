"""A home directory, a whole disk or a very large folder is indexed only after somebody agreed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from vademecum.wiring.roots import MOST_UNASKED


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of many files that is no repository; one of them is code."""
    folder = tmp_path_factory.mktemp("wide") / "downloads"
    (folder / "deep").mkdir(parents=True)
    (folder / "app.py").write_text("def run():\n    return 1\n")
    for number in range(MOST_UNASKED):
        (folder / "deep" / f"{number}.bin").touch()
    return folder


@pytest.fixture
def wide(folder, repository, monkeypatch):
    """The folder as the current one; what a test adds or moves there is put right after."""
    monkeypatch.chdir(folder)
    yield folder
    if (folder / "node_modules").exists():
        (folder / "node_modules").rename(folder / "deep")
    (folder / "deep" / "0.bin").touch()
    (folder / ".vade.toml").unlink(missing_ok=True)
    shutil.rmtree(folder / ".git", ignore_errors=True)


VERBS = [("search", "run"), ("symbol", "run"), ("callers", "run"), ("context", "run"), ("map",), ("index",), ("watch",), ("enrich",),
         ("impact", "run"), ("serve",)]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_without_a_terminal_it_is_refused(vade, wide, tmp_path, verb):
    """Exit code 2, the fix named, and nothing kept of it."""
    done = vade(*verb)
    said = f"{wide} is not a repository and holds more than {MOST_UNASKED} files: name a folder in it, or agree with"
    assert (done.code, done.out) == (2, "")
    assert done.err == f"vade: {said} `vade index {wide} --yes`\n"
    assert not (tmp_path / "data").exists()


def test_agreeing_once_is_enough(vade, wide):
    """After `vade index --yes` other verbs do not ask; the folder has an index."""
    assert vade("index", "--yes").code == 0
    assert vade("search", "run").code == 0


@pytest.mark.parametrize("mark", [".vade.toml", ".git", "fewer"])
def test_what_is_meant_to_be_indexed_is_not_asked_about(vade, wide, mark):
    """A repository, a folder with settings, and one of fewer files."""
    if mark == ".git":
        subprocess.run(["git", "init", "-q", "."], cwd=wide, check=True)
    elif mark == ".vade.toml":
        (wide / mark).touch()
    else:
        (wide / "deep" / "0.bin").unlink()
    assert vade("symbol", "run").code == 0


def test_what_tools_make_does_not_count(vade, wide):
    """A project outside git may have a large folder of dependencies."""
    (wide / "deep").rename(wide / "node_modules")
    assert vade("symbol", "run").code == 0


@pytest.mark.parametrize(("place", "why"), [("home", "is your home directory"), ("disk", "is the whole disk")])
def test_home_and_disk_are_asked_about_however_few_files(vade, tmp_path, repository, monkeypatch, place, why):
    """By what they are, not by a count."""
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    monkeypatch.chdir(tmp_path / "me" if place == "home" else os.sep)
    done = vade("search", "run")
    assert done.code == 2
    assert why in done.err


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_on_a_terminal_it_asks(wide, answer, code):
    """`y` indexes it; anything else does not."""
    import pty

    main, terminal = pty.openpty()
    os.write(main, f"{answer}\n".encode())
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "vademecum", "search", "run"],
        stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, env=environ, check=False, timeout=60,
    )  # fmt: skip
    said = os.read(main, 100_000).decode()
    os.close(main)
    os.close(terminal)
    assert done.returncode == code
    assert "files. Index it? [y/N]" in said
    assert (b"app.py" in done.stdout) == (code == 0)
