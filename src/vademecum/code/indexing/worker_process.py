"""A connection to a worker process over pipes.

Questions and answers are pickles. `workers` defines them, and the process's main loop.
"""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from typing import IO, Any

# Bytes that a worker can write before its reader runs: the usual 65,536 are a fraction of an answer.
PIPE_BYTES = 1 << 20


class Child:
    """One worker process.

    The first question is a plan; `EOFError` means that the process did not start.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            _widen(pipe)

    def ask(self, question: object) -> Any:
        """Send a question and return the answer. Raises `EOFError` without one."""
        try:
            write(self._in, question)
            return read(self._out)
        except (OSError, ValueError) as error:  # the pipe broke, or `stop` closed it
            raise EOFError from error

    def stop(self) -> None:
        """End the process; any thread may call this, more than once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._in, self._out):
            with suppress(OSError):
                pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    """Enlarge a pipe to PIPE_BYTES where the system allows."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # the system limits each user's pipe buffers
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value. Raises `OSError`."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """Return the next value. Raises `EOFError` on a closed pipe."""
    (length,) = struct.unpack("<Q", _exactly(pipe, 8))
    return pickle.loads(_exactly(pipe, length))  # noqa: S301 - our own child wrote it


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data
