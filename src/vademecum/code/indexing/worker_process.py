"""A worker process, seen from the process that drives it.

What the answers are is for `workers` to say, and what runs in the process.
"""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from typing import IO, Any

# What a worker can write before the thread that reads it has had its turn: the usual 65,536 bytes are a fraction of an answer.
PIPE_BYTES = 1 << 20


class Child:
    """One worker process. A new one is to be asked a plan first; `EOFError` means that it did not come up."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            _widen(pipe)

    def ask(self, question: object) -> Any:
        """Return the analyses of jobs, or that it is ready. Raises `EOFError` when the process dies of them."""
        try:
            write(self._in, question)
            return read(self._out)
        except (OSError, ValueError) as error:  # the pipe broke, or was closed by whoever ended the process
            raise EOFError from error

    def stop(self) -> None:
        """End the process. May be called by several threads, and more than once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._in, self._out):
            with suppress(OSError):
                pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    """Have a pipe hold PIPE_BYTES where the system lets it."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # a user may have so many bytes in pipes, and no more
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value. Raises `OSError`."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """Return the next value. Raises `EOFError` where the other end is closed."""
    (length,) = struct.unpack("<Q", _exactly(pipe, 8))
    return pickle.loads(_exactly(pipe, length))  # noqa: S301 - our own child wrote it


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data
