"""A worker that is a copy of this process: at work in milliseconds, where a new one first loads what is loaded here.

Only on Linux, and only while no other thread runs Python here: what such a thread held locked would stay locked in the
copy for ever. Elsewhere workers are new processes, see `workers`.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import IO

Serve = Callable[[IO[bytes], IO[bytes]], None]


def can_copy() -> bool:
    """Return whether a copy of this process would find everything in order, whatever the moment."""
    return sys.platform == "linux" and len(sys._current_frames()) == 1  # noqa: SLF001 - documented, the one way to see them all


class Copy:
    """A copy of this process that runs `serve` and ends; what `subprocess.Popen` is to a new process. Raises `OSError`."""

    def __init__(self, serve: Serve) -> None:
        source, own_sink = os.pipe()
        own_source, sink = os.pipe()
        with warnings.catch_warnings():  # threads that never run Python, as of linear algebra, hold nothing it needs
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if not self._pid:
            _be_copy(serve, source, sink)
        os.close(source)
        os.close(sink)
        self.stdin: IO[bytes] = os.fdopen(own_sink, "wb")
        self.stdout: IO[bytes] = os.fdopen(own_source, "rb")
        self._reaping = threading.Lock()
        self._is_reaped = False

    def kill(self) -> None:
        """End it, if it has not ended."""
        with self._reaping:
            if not self._is_reaped:
                os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until it has ended."""
        with self._reaping:
            if not self._is_reaped:
                with suppress(ChildProcessError):
                    os.waitpid(self._pid, 0)
                self._is_reaped = True


def _be_copy(serve: Serve, source: int, sink: int) -> None:
    """Serve and end, never to return: nothing that was begun before the copy was made is its business."""
    status = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        gc.freeze()
        _let_go(source, sink)
        with os.fdopen(source, "rb") as asked, os.fdopen(sink, "wb") as answers:
            serve(asked, answers)
        status = 0
    finally:
        os._exit(status)


def _let_go(*kept: int) -> None:
    """Close all files but these and standard error: a lock is held, and a pipe open, as long as anyone has it."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # whatever prints must not reach what the caller prints
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with suppress(OSError):  # the one that listed them is closed already
                os.close(int(name))
