"""Pause Python's cyclic garbage collector while large structures are built."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pausing = 0  # how many are at it
_was_on = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Put the search off within the block. It looks at all objects there are, each time their number has grown by a part.

    What is no more referred to is freed nevertheless, circles excepted. Threads may nest: the last one out switches it on.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    global _pausing, _was_on  # noqa: PLW0603 - the switch is the interpreter's
    with _lock:
        if not _pausing:
            _was_on = gc.isenabled()
            gc.disable()
        _pausing += 1
    try:
        yield
    finally:
        with _lock:
            _pausing -= 1
            if not _pausing and _was_on:
                gc.enable()
