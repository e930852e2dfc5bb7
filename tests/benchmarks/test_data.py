"""The trees that the benchmarks ask questions of."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from data import export_tree, move_tree

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


def test_a_tree_moves_to_another_commit_and_keeps_what_did_not_change(tmp_path: Path) -> None:
    """What two commits share is not written again, and what is gone is gone."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]

    def commit() -> str:
        for command in (["add", "kept.py", "lib"], ["commit", "-qm", "one"]):
            subprocess.run([*git, *command], check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    subprocess.run([*git, "init", "-q"], check=True)
    (tmp_path / "lib").mkdir()
    (tmp_path / "kept.py").write_text("one = 1\n")
    (tmp_path / "lib" / "gone.py").write_text("two = 2\n")
    move_tree(tmp_path / ".git", commit(), tmp_path / "written")
    before = (tmp_path / "written" / "kept.py").stat().st_mtime_ns
    (tmp_path / "lib" / "gone.py").rename(tmp_path / "lib" / "new.py")
    move_tree(tmp_path / ".git", commit(), tmp_path / "written")
    assert sorted(path.name for path in (tmp_path / "written").rglob("*.py")) == ["kept.py", "new.py"]
    assert (tmp_path / "written" / "kept.py").stat().st_mtime_ns == before
