"""Regular expression matching in a separate process.

The process can be killed, and this process serves others meanwhile.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from math import ceil
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search import regex_filter
from vademecum.errors import UsageError

LEAST_SECONDS = 5.0  # the time limit without text; an ordinary pattern takes milliseconds
BYTES_PER_SECOND = 5_000_000  # more text raises the limit; the slowest ordinary pattern measured is twice as fast
_AT_ONCE = 64  # texts per batch

Lines = NDArray[np.int32]


def check_pattern(pattern: str) -> None:
    """Reject an invalid regular expression. Raises `UsageError`."""
    try:
        with warnings.catch_warnings():  # about sets whose meaning may change in a later Python
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{pattern!r} is not a regular expression: {error}") from error


def matched_lines(pattern: str, texts: Iterable[bytes], total_bytes: int) -> Iterator[Lines]:
    """Yield each text's matches as lines from 1: int32 (matches, 2).

    A row has the first and the last line of a match.

    Raises:
        UsageError: the pattern is invalid, or takes longer than `LEAST_SECONDS` and the time for `total_bytes` of text.
    """
    check_pattern(pattern)
    limit = LEAST_SECONDS + total_bytes / BYTES_PER_SECOND
    child, is_late = _start(), threading.Event()
    assert child.stdin is not None
    assert child.stdout is not None

    def end() -> None:
        is_late.set()
        child.kill()

    late = threading.Timer(limit, end)
    late.daemon = True
    late.start()
    try:
        child.stdin.write(struct.pack("<I", ceil(limit) + 1) + _sized(pattern.encode()))
        left = iter(texts)
        while batch := list(islice(left, _AT_ONCE)):
            child.stdin.write(struct.pack("<I", len(batch)) + b"".join(map(_sized, batch)))
            child.stdin.flush()
            for _ in batch:
                yield _answer(child.stdout)
    except (BrokenPipeError, EOFError) as error:
        why = f"did not come to an end in {limit:.0f} s" if is_late.is_set() else "ended the process that matched it"
        raise UsageError(
            f"{pattern!r} {why}: it can match the same text in too many ways; write it without a repeat inside of a repeat, "
            r"as in (\w+\s*)+, or search fewer files with --path"
        ) from error
    finally:
        late.cancel()
        child.kill()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                pipe.close()
        child.wait()


def _answer(pipe: IO[bytes]) -> Lines:
    head = pipe.read(4)
    length = struct.unpack("<I", head)[0] if len(head) == 4 else -1
    numbers = pipe.read(length) if length > 0 else b""
    if len(numbers) != max(length, 0) or length < 0:
        raise EOFError
    return np.frombuffer(numbers, "<i4").reshape(-1, 2)


def _start() -> subprocess.Popen[bytes]:
    try:  # isolated: nothing from the current directory or the file's directory may be imported
        return subprocess.Popen(
            [sys.executable, "-P", "-I", "-S", "-X", "utf8", regex_filter.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise UsageError(
            f"a regular expression is matched by a process of its own, and none can be started ({error.strerror}): search without one"
        ) from error


def _sized(text: bytes) -> bytes:
    return struct.pack("<I", len(text)) + text
