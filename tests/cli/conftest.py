"""A small repository, and `vade` run in it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from vademecum.cli import main

BUDGET = '''\
"""Token budgets."""


def split_budget(total: int) -> tuple[int, int]:
    """Split the token budget into primary and related parts."""
    primary = total * 60 // 100
    return primary, total - primary
'''
RETRY = '''\
def retry_with_backoff(call, attempts=3):
    """Call again after a pause that doubles, up to a number of attempts."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            pause(2**attempt)
'''


class Done(NamedTuple):
    """What a run of `vade` left."""

    code: int
    out: str
    err: str


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository of three files, the current directory; data and settings in a place of its own."""
    root = tmp_path / "handbook"
    (root / "src").mkdir(parents=True)
    (root / "src" / "budget.py").write_text(BUDGET)
    (root / "src" / "retry.py").write_text(RETRY)
    (root / "README.md").write_text("# Handbook\n\nHow the handbook is kept at hand.\n")
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    for name in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def vade(repository, capsys, monkeypatch):
    """Run `vade` in this process."""

    def vade(*args, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(list(args))
        return Done(code, *capsys.readouterr())

    return vade


@pytest.fixture
def spawn(repository):
    """Run `vade` as a process of its own."""

    def spawn(*args, **options):
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | options.pop("env", {})
        options = {"capture_output": True, "text": True, "timeout": 60} | options
        return subprocess.run([sys.executable, "-m", "vademecum", *args], env=environ, check=False, **options)

    return spawn
