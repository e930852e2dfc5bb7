"""The tutorial is true: each of its lines is run, and says what the page says that it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
TUTORIAL = TOP / "docs" / "tutorial.md"


def steps(text: str) -> list[tuple[str, str]]:
    """Every command of the page's console blocks, and what it is to say."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:], ""))
            elif line.startswith(">") and not found[-1][1]:
                found[-1] = (found[-1][0] + line[2:] if line[1:2] == " " else found[-1][0] + line[1:], "")
            else:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def matches(said: str, wanted: str) -> bool:
    """Whether a text is what is wanted, where `…` stands for any text."""
    return re.fullmatch(".*?".join(map(re.escape, wanted.split("…"))), said, re.DOTALL) is not None


@pytest.mark.slow
def test_the_tutorial_is_true(tmp_path: Path) -> None:
    """From an empty directory and an empty home to the end of the page."""
    scripts = Path(sys.executable).parent
    env = {name: value for name, value in os.environ.items() if not name.startswith(("VADE_", "XDG_"))} | {
        "HOME": str(tmp_path / "home"),
        "VADE_HOME": str(tmp_path / "data"),
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "LC_ALL": "C.UTF-8",
    }
    place = tmp_path / "work"
    place.mkdir()
    run = steps(TUTORIAL.read_text(encoding="utf-8"))
    assert len(run) > 15
    for command, wanted in run:
        if command.startswith("cd "):
            place = place / command[3:].strip()
            continue
        done = subprocess.run(
            ["bash", "-c", command], cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}{done.stdout}"
        assert matches(done.stdout, wanted), f"$ {command}--- is to say\n{wanted}--- says\n{done.stdout}"


def test_a_page_that_is_wrong_would_be_noticed() -> None:
    """The comparison tells texts apart, and an ellipsis stands for no more than it should."""
    assert matches("a 1 b\n", "a … b\n")
    assert not matches("a 1 c\n", "a … b\n")
    assert steps("```console\n$ a <<E\n> b\n>\n> E\nsaid\n$ c\n```\n") == [("a <<E\nb\n\nE\n", "said\n"), ("c\n", "")]
