"""Reading a bare git directory: the files of a commit, and the contents of blobs by their hashes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from types import TracebackType
from typing import Self

GIT_SECONDS = 300


@dataclass(frozen=True)
class Entry:
    """A file of a commit."""

    path: str
    blob: str
    size: int


def git(git_dir: str, *arguments: str, given: str = "") -> str:
    """Return what git says; a fetched repository brings no configuration."""
    command = ["git", f"--git-dir={git_dir}", "-c", "core.quotePath=false", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, timeout=GIT_SECONDS, input=given.encode())
    return done.stdout.decode("utf-8", errors="replace")


def entries_of(git_dir: str, commit: str) -> list[Entry]:
    """Return the plain files of a commit."""
    entries = []
    for line in git(git_dir, "ls-tree", "-r", "-l", "-z", commit).split("\0"):
        facts, _, path = line.partition("\t")
        if facts.startswith("100"):
            _, _, blob, size = facts.split()
            if size.isdigit():  # a snapshot may lack its largest files
                entries.append(Entry(path, blob, int(size)))
    return entries


class Blobs:
    """One `git cat-file --batch` for a repository's contents."""

    def __init__(self, git_dir: str) -> None:
        self._command = ["git", f"--git-dir={git_dir}", "cat-file", "--batch"]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin and self._process.stdout:
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait(GIT_SECONDS)

    def read(self, blob: str) -> bytes:
        """Return a blob's content; nothing where the snapshot lacks it."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{blob}\n".encode())
        self._process.stdin.flush()
        head = self._process.stdout.readline().split()
        if len(head) < 3:
            return b""
        content = self._process.stdout.read(int(head[2]))
        self._process.stdout.read(1)
        return content
