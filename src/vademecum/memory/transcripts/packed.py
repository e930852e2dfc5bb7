"""Transcripts that were compressed with Zstandard, read line by line: Python's own reader from 3.14 on, before it a backport."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from vademecum.memory.transcripts.progress import whole_lines

ENDING = ".zst"
_MOST_BYTES = 4_000_000_000  # unpacked: a small file may hold any number of them


def can_unpack() -> bool:
    """Return whether compressed transcripts can be read here; the extra `zstd` brings what it takes."""
    return _reader() is not None


def unpacked_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield each complete line of a compressed file, up to where it is damaged or ends too early."""
    reader = _reader()
    if reader is None:
        return
    try:
        with reader.open(file, "rb") as plain:
            for line, end in whole_lines(plain, 0):
                yield line
                if end > _MOST_BYTES:
                    return
    except (EOFError, OSError, ValueError, reader.ZstdError):
        return


def _reader() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
