"""Hook runs as metrics, counted from the file that hooks write.

Hooks run in separate processes, which have ended when metrics are read.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from vademecum.metrics import counter, histogram

_RUNS = counter("vademecum_hook_runs_total", "Hooks that agents called, by hook and how they ended.")
_TOOK = histogram("vademecum_hook_duration_seconds", "Seconds that a hook took, by hook.")


class HookRuns:
    """Counts the lines of the hooks' log file.

    Other processes append to the file, and sometimes replace it. Safe for several threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = 0  # its inode
        self._read = 0  # bytes of it
        self._lock = threading.Lock()

    def count(self) -> None:
        """Count the lines written since the last call."""
        with self._lock, suppress(OSError), self._path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            if inode != self._file:
                self._file, self._read = inode, 0
            file.seek(self._read)
            whole, _, _ = file.read().rpartition(b"\n")
            self._read += len(whole) + 1 if whole else 0
            for line in whole.split(b"\n"):
                self._count(line.decode("ascii", "replace").split(" "))

    def _count(self, words: list[str]) -> None:
        if len(words) != 3:
            return
        name, outcome, seconds = words
        with suppress(ValueError):
            _TOOK.observe(float(seconds), hook=name)
            _RUNS.add(hook=name, outcome=outcome)
