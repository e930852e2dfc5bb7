"""Read transcripts compressed with Zstandard line by line.

From Python 3.14 on the standard library decompresses, before that a backport.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from vademecum.memory.transcripts.offsets import whole_lines

ENDING = ".zst"
_MOST_BYTES = 4_000_000_000  # after decompression; a small file may expand without limit


def can_unpack() -> bool:
    """Return whether Zstandard is available; the extra `zstd` installs it."""
    return _reader() is not None


def unpacked_lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield each complete line of a compressed file with its end.

    Stops where the file is damaged or ends too early.
    """
    reader = _reader()
    if reader is None:
        return
    try:
        with reader.open(file, "rb") as plain:
            for line, end in whole_lines(plain, 0):
                yield line, end
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
