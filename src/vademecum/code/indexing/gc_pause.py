"""A pause of Python's cyclic garbage collector.

Useful while many objects are built that stay and have no cycles.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pausing = 0  # the number of open blocks
_was_on = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the cyclic garbage collector within the block.

    The collector looks at all objects whenever their number has grown by a share. Objects outside cycles are still
    freed. Threads may nest: the last one out switches the collector on.

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
