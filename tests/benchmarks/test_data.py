"""The trees that the benchmarks ask questions of."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from data import export_tree

pytestmark = pytest.mark.once


def test_a_tree_is_written_to_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.py").write_text("one = 1\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.chdir(tmp_path)
    export_tree(tmp_path / ".git", "HEAD", Path("written/tree"), root="lib")
    assert (tmp_path / "written/tree/lib/a.py").read_text() == "one = 1\n"
