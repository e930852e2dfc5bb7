"""Grow large repositories out of real files, so that speed can be measured at a size that no checkout here has.

Each copy of a file lies in a folder of its own, and about a third of its long words carry the copy's number, so neither
files nor chunks repeat: an engine that stores equal content once gains nothing from it.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import zlib
from pathlib import Path

from peers import code_files

MAX_FILE = 200_000  # bytes; one huge file would decide a small sample
_LONG = re.compile(r"[A-Za-z]{7,}")


def source_files(checkouts: list[Path]) -> list[tuple[str, str]]:
    """Read the source files of the checkouts, each path led by its repository's name, in an order shuffled by a seed."""
    found = [
        (f"{tree.name}/{path}", content)
        for tree in checkouts
        for path, content in code_files(tree)
        if len(content) <= MAX_FILE
    ]
    random.Random(7).shuffle(found)
    return found


def vary(content: str, copy: int) -> str:
    """Number about a third of the long words, the same ones in the same copy.

    >>> vary("def function_of(parameter): return parameter", 0)
    'def function_of(parameter): return parameter'
    >>> vary("another", 1), vary("another", 2)
    ('anotherV1', 'another')
    """
    if copy == 0:
        return content

    def number(match: re.Match[str]) -> str:
        word = match.group()
        return f"{word}V{copy}" if zlib.crc32(f"{copy}{word}".encode()) % 3 == 0 else word

    return _LONG.sub(number, content)


def grow(
    files: list[tuple[str, str]], into: Path, *, count: int | None = None, size: int | None = None
) -> dict[str, int]:
    """Write copies until there are `count` files or `size` bytes, and commit them to a new git repository."""
    written = held = copy = 0
    while (count is None or written < count) and (size is None or held < size):
        path, content = files[written % len(files)]
        copy = written // len(files)
        text = vary(content, copy)
        file = into / f"part{copy:02d}" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written, held = written + 1, held + len(text.encode())
    commit(into)
    return {"files": written, "bytes": held}


def commit(tree: Path) -> None:
    """Make the tree a git repository with one commit."""
    identity = {f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "grown"]):
        subprocess.run(["git", "-C", str(tree), *command], env=environment, check=True, capture_output=True)


def edit_one_line(tree: Path, files: list[tuple[str, str]], round_: int) -> None:
    """Change one line in the middle of one file."""
    file = tree / "part00" / files[round_][0]
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[len(lines) // 2] = lines[len(lines) // 2].rstrip("\n") + f" edited{round_}\n"
    file.write_text("".join(lines), encoding="utf-8")
