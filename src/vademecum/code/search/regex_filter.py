"""The subprocess that matches regular expressions of users.

A single match may take longer than anybody lives, cannot be interrupted, and lets no other thread go on. Nothing but the
standard library is imported: it is started for every question that has a pattern.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO


def spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the first and last line, from 1, of each match; what is the same as the one before, once.

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
    """Return pairs of numbers as they are sent: how many bytes follow, then int32 after int32."""
    numbers = [number for pair in pairs for number in pair]
    return struct.pack(f"<I{len(numbers)}i", 4 * len(numbers), *numbers)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Read how long this may take and a pattern, then batches of texts, and answer each text with its spans."""
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
    """Have the system end this process after so much of the processor's time, even where whoever started it is gone."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


if __name__ == "__main__":  # pragma: no cover - another process
    with suppress(BrokenPipeError, KeyboardInterrupt, struct.error):
        serve(sys.stdin.buffer, sys.stdout.buffer)
