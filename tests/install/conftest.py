"""A home and a repository of their own, and `vade install` run there: no file of this machine's user is ever touched."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vademecum.cli import main

sys.path.insert(0, str(Path(__file__).parent))
from joining import Done, Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which nothing is installed but git."""
    top = Path(os.path.realpath(tmp_path))
    made = Machine(top / "home", top / "repo", top / "data")
    for folder in (made.home, made.project, top / "bin"):
        folder.mkdir()
    for name in list(os.environ):
        if name.startswith(("VADE_", "XDG_", "CLAUDE_", "CODEX_", "GEMINI_")) or name in {"APPDATA", "USERPROFILE"}:
            monkeypatch.delenv(name)
    git = shutil.which("git")
    assert git
    (top / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(top / "bin"))
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("VADE_HOME", str(made.data))
    subprocess.run(["git", "init", "-q", "."], cwd=made.project, check=True)
    monkeypatch.chdir(made.project)
    return made


@pytest.fixture
def vade(machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run `vade` in this process."""

    def vade(*args: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(list(args))
        return Done(code, *capsys.readouterr())

    return vade
