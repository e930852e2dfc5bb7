"""What the tests of joining share: a machine of their own, and how a run of `vade` ended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

WORDS = "uvx vademecum==0.1.0"


class Done(NamedTuple):
    """What a run of `vade` left."""

    code: int
    out: str
    err: str


class Machine(NamedTuple):
    """A home, a repository that is the current directory, and where vademecum keeps its data."""

    home: Path
    project: Path
    data: Path

    def tree(self) -> dict[str, bytes | str | None]:
        """Every file, link and directory of home and repository, and what is in it."""
        top = self.home.parent
        found: dict[str, bytes | str | None] = {}
        for path in sorted([*self.home.rglob("*"), *self.project.rglob("*")]):
            name = str(path.relative_to(top))
            if ".git" not in path.parts:
                found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        return found

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file, named from the directory that holds home and repository."""
        path = self.home.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
