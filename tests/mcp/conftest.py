"""A small repository for the tools to look at."""

from __future__ import annotations

import os
import subprocess

import pytest


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository of two files; data and settings in a place of its own."""
    root = tmp_path / "handbook"
    (root / "src").mkdir(parents=True)
    (root / "src" / "budget.py").write_text(
        'def split_budget(total: int) -> int:\n    """Split the token budget."""\n    return total * 60 // 100\n'
    )
    (root / "README.md").write_text("# Handbook\n\nKept at hand.\n")
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    for name in [name for name in os.environ if name.startswith("VADE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    return root
