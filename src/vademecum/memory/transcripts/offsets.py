"""Read the new lines of a transcript and remember the offset.

A digest of the file's beginning and one of the bytes right before the offset identify the file. If either has changed, the
file was replaced or rewritten: reading starts over, and event ids reveal the known events. A last line without a line end is
still being written and is left for the next read.

Lines compressed with Zstandard are read by the standard library from Python 3.14 on, before that by a backport.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from stat import S_ISREG
from typing import Any, BinaryIO

_SEEN_BYTES = 512
MOST_LINE_BYTES = 16_000_000  # a longer line holds a file, not words
State = dict[str, Any]  # JSON values: `offset`, `head`, `tail`, `stamp` and the reader's own `carry`


def open_transcript(path: str) -> BinaryIO | None:
    """Open a regular file for reading; None if that fails.

    None stands for a link, a pipe, a missing file and one without permission.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")


def is_unchanged(file: BinaryIO, state: Mapping[str, Any]) -> bool:
    """Return whether a file is unchanged since its end was read."""
    return bool(state) and state.get("stamp") == stamp(file)


def stamp(file: BinaryIO) -> str:
    """Return a stamp that changes whenever the file does."""
    facts = os.fstat(file.fileno())
    return f"{facts.st_ino}:{facts.st_size}:{facts.st_mtime_ns}"


def resume(file: BinaryIO, state: Mapping[str, Any]) -> State:
    """Seek to the offset in `state` and return the state there.

    Starts from the beginning where the file is new or was replaced.
    """
    offset = state.get("offset", 0)
    size = os.fstat(file.fileno()).st_size
    known = isinstance(offset, int) and 0 < offset <= size
    if known and state.get("head") == _head(file, offset) and state.get("tail") == _tail(file, offset):
        file.seek(offset)
        return {"offset": offset, "carry": dict(state.get("carry") or {})}
    file.seek(0)
    return {"offset": 0, "carry": {}}


def reached(file: BinaryIO, offset: int, carry: Mapping[str, Any]) -> State:
    """Return the state of a file that was read up to `offset`.

    The position of the file object does not change.
    """
    place = file.tell()
    state = {"offset": offset, "head": _head(file, offset), "tail": _tail(file, offset), "carry": dict(carry)}
    if offset == os.fstat(file.fileno()).st_size:
        state["stamp"] = stamp(file)
    file.seek(place)
    return state


def whole_lines(file: BinaryIO, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield each complete line with the offset of its end.

    Reading starts at the current position. A line that is too long is yielded as b"".
    """
    while line := file.readline(MOST_LINE_BYTES):
        offset += len(line)
        if not line.endswith(b"\n"):
            rest = _skip_line(file)
            if rest is None:
                return
            offset += rest
            line = b""
        yield line, offset


def _skip_line(file: BinaryIO) -> int | None:
    """Skip a line's rest and return its length, None if unfinished."""
    skipped = 0
    while part := file.readline(MOST_LINE_BYTES):
        skipped += len(part)
        if part.endswith(b"\n"):
            return skipped
    return None


def _head(file: BinaryIO, offset: int) -> str:
    file.seek(0)
    return _digest(file.read(min(_SEEN_BYTES, offset)))


def _tail(file: BinaryIO, offset: int) -> str:
    start = max(0, offset - _SEEN_BYTES)
    file.seek(start)
    return _digest(file.read(offset - start))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


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
