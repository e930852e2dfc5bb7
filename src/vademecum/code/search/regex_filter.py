"""The process that matches users' regular expressions.

`filters` runs this file and kills the process in time. A single match may take practically for ever, cannot be
interrupted, and blocks all other threads. Only the standard library is imported, because the process starts for every
question with a pattern.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO


def spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the first and last line of each match, from 1.

    A repeated pair is yielded once.

    >>> list(spans(re.compile(r"a+\s*b|c"), "a\nb c c\n\nc"))
    [(1, 2), (2, 2), (4, 4)]
    """
    line, counted, before = 1, 0, (0, 0)
    for match in pattern.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        last = line + text.count("\n", counted, max(counted, match.end() - 1))
        if (line, last) != before:
            before = (line, last)
            yield before


def packed(pairs: Iterator[tuple[int, int]]) -> bytes:
    """Return pairs in the pipe's format.

    The number of bytes, then one int32 per number.
    """
    numbers = [number for pair in pairs for number in pair]
    return struct.pack(f"<I{len(numbers)}i", 4 * len(numbers), *numbers)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Read a limit, a pattern and texts; answer with spans.

    The time limit comes first, then the pattern, then batches of texts. Each text gets its spans.
    """
    _limit(struct.unpack("<I", source.read(4))[0])
    pattern = re.compile(_text(source), re.MULTILINE)
    while head := source.read(4):
        (count,) = struct.unpack("<I", head)
        texts = [_text(source) for _ in range(count)]
        sink.write(b"".join(packed(spans(pattern, text)) for text in texts))
        sink.flush()


def _text(source: IO[bytes]) -> str:
    (length,) = struct.unpack("<I", source.read(4))
    return source.read(length).decode()


def _limit(seconds: int) -> None:
    """Limit this process's CPU time, even if its parent dies."""
    if sys.platform != "win32":
        with suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


if __name__ == "__main__":  # pragma: no cover - another process
    with suppress(BrokenPipeError, KeyboardInterrupt, struct.error):
        serve(sys.stdin.buffer, sys.stdout.buffer)
