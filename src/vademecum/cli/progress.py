"""Progress on standard error: a bar on terminals, lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

BAR_CHARACTERS = 24
BAR_EVERY_S = 0.1  # redrawing more often costs time and shows nothing
BAR_AFTER_S = 0.3  # a bar that only flashes is noise
LINE_EVERY_S = 5.0  # logs show that a long run is alive; short runs stay silent


class Progress:
    """A progress callback `(stage, done, total)`; leaving erases the bar."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._bar = self._stream.isatty()
        self._clock = clock
        self._next = clock() + (BAR_AFTER_S if self._bar else LINE_EVERY_S)
        self._drawn = False
        self._stage, self._done, self._total = "", 0, 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show the progress of a stage; `total` is 0 while unknown."""
        self._stage, self._done, self._total = stage, done, total
        now = self._clock()
        if now < self._next:
            return
        self._next = now + (BAR_EVERY_S if self._bar else LINE_EVERY_S)
        count = f"{done}/{total}" if total else str(done)
        if self._bar:
            filled = BAR_CHARACTERS * min(done, total) // total if total else 0
            self._stream.write(f"\r\x1b[K{'█' * filled}{'░' * (BAR_CHARACTERS - filled)} {stage} {count}")
            self._drawn = True
        else:
            self._stream.write(f"{stage} {count}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
        if kind is KeyboardInterrupt and self._stage:
            kept = f"{self._done} of {self._total} files are" if self._stage == "indexing" else "what was done is"
            self._stream.write(f"stopped: {kept} kept, run again to finish\n")
        self._stream.flush()
