"""Files that verbs read and write; writes are atomic."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from vademecum.cli.render import emit
from vademecum.errors import UsageError


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """Open a file for writing, moved into place at the end."""
    beside = Path(f"{path}.tmp")
    try:
        with beside.open("w", encoding="utf-8") as file:
            yield file
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path!r} cannot be written ({error.strerror}): name another file") from error


def write_file(path: str, text: str) -> None:
    """Write a text to a file, or "-" for standard output."""
    if path == "-":
        emit(text)
        return
    with written(path) as file:
        file.write(text)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file, unpacked if it is gzipped.

    Raises:
        UsageError: the file cannot be read.
    """
    import gzip

    try:
        with (
            gzip.open(path, "rt", encoding="utf-8", errors="replace")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8", errors="replace") as file
        ):
            yield from file
    except (OSError, EOFError) as error:
        raise UsageError(f"{path} cannot be read ({error}): name a file that `vade memory export` wrote") from error
