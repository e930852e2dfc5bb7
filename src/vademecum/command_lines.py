"""Command lines that a person typed, and the programs that they name."""

from __future__ import annotations

import shlex
import shutil
import sys


def split(line: str, platform: str = sys.platform) -> list[str]:
    r"""Split a command line into words.

    On Windows a backslash is part of a path, and only double quotes hold words together.

    Raises:
        ValueError: a quote is not closed.

    >>> split(r'"C:\my tools\uvx.exe" vademecum', "win32")
    ['C:\\my tools\\uvx.exe', 'vademecum']
    """
    if platform != "win32":
        return shlex.split(line)
    words = shlex.shlex(line, posix=True)
    words.whitespace_split, words.commenters, words.escape, words.quotes = True, "", "", '"'
    return list(words)


def program(name: str, path: str | None) -> str:
    """Find a program on a search path, or return its name.

    Windows starts `npx.cmd` by its whole name only.
    """
    return shutil.which(name, path=path) or name
