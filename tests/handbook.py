"""A small repository that many tests ask about, and how one is made."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05+00:00",
    # a commit starts no process that would tidy up, and waits for no disk
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.fsync",
    "GIT_CONFIG_VALUE_1": "none",
}

BUDGET = '''\
"""Token budgets."""


class Budget:
    """How many tokens an answer may take."""

    def __init__(self, total: int) -> None:
        self.total = total

    def split(self, share: float) -> int:
        """Split the token budget into a primary part and the rest."""
        return int(self.total * share)
'''
RETRY = '''\
import time


def retry_with_backoff(call, attempts=3):
    """Call again after a pause that doubles, up to a number of attempts."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            time.sleep(2**attempt)
'''
PARSER = """\
// Reads one line of a log.
export function parseLogLine(line: string): string[] {
  return line.split("\\t");
}

export class LogReader {
  readAll(text: string): string[][] {
    return text.split("\\n").map(parseLogLine);
  }
}
"""
TEST = '''\
from budget import Budget


def test_split_leaves_the_rest():
    """The token budget is split in two."""
    assert Budget(100).split(0.6) == 60
'''
README = """\
# Handbook

Kept at hand.

## Budgets

How the token budget is split is told in `src/budget.py`.
"""
SAMPLE: Mapping[str, str] = {
    "src/budget.py": BUDGET,
    "src/net/retry.py": RETRY,
    "web/log.ts": PARSER,
    "tests/test_budget.py": TEST,
    "README.md": README,
    "pyproject.toml": '[project]\nname = "handbook"\n',
}


class Repo:
    """A directory, as a rule a git repository, that a test writes to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *arguments: str) -> str:
        """Run git in it, always by the same author at the same time."""
        command = ["git", "-c", "protocol.file.allow=always", "-C", str(self.path), *arguments]
        done = subprocess.run(command, env=os.environ | GIT, check=True, capture_output=True)
        return os.fsdecode(done.stdout).strip()

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file, and the directories above it."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def read(self, path: str) -> str:
        """Return a file's text, its line ends as they are."""
        return (self.path / path).read_bytes().decode()

    def commit(self, message: str = "a step") -> str:
        """Commit everything. Returns the commit's id."""
        self.keep(message)
        return self.git("rev-parse", "HEAD")

    def keep(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)


TEMPORARY = gettempdir()  # some tests have one of their own, which goes when they end


@cache
def fresh_git() -> TemporaryDirectory[str]:
    """Return a folder with what `git init` makes: copying it costs a tenth of a process."""
    folder = TemporaryDirectory(prefix="vade-tests-", dir=TEMPORARY)
    Repo(Path(folder.name)).git("init", "-q", "-b", "main")
    for sample in Path(folder.name, ".git", "hooks").glob("*.sample"):
        sample.unlink()
    return folder


def make_repository(
    path: Path, files: Mapping[str, str | bytes] = SAMPLE, *, commit: bool = True, git: bool = True
) -> Repo:
    path.mkdir(parents=True, exist_ok=True)
    made = Repo(path)
    if git:
        shutil.copytree(Path(fresh_git().name, ".git"), path / ".git", dirs_exist_ok=True)
    for name, content in files.items():
        made.write(name, content)
    if git and commit:
        made.keep("the beginning")
    return made
