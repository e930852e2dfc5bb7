"""Single-threaded linear algebra while worker processes run.

The products here are small, and BLAS threads would spin, waiting for the cores that worker processes use (measured: 50
times slower under load).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any


class _Held:
    """The number of open blocks in a thread, and the way back."""

    def __init__(self) -> None:
        self.count = 0
        self.back = ExitStack()


class _Own(threading.local):
    def __init__(self) -> None:
        self.held = _Held()


_own = _Own()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread within the block.

    Blocks in a thread may overlap: the last one out restores the number of threads. If the environment already sets one
    thread, as the commands do before loading anything, the limit is not set again.

    >>> from threadpoolctl import threadpool_info
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, OPENBLAS_NUM_THREADS=""), one_thread():
    ...     {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"} <= {1}
    True
    """
    held = _own.held  # another thread may close an unfinished block
    if not held.count and not _is_one():
        from threadpoolctl import threadpool_limits

        held.back.enter_context(threadpool_limits(1, "blas"))
    held.count += 1
    try:
        yield
    finally:
        held.count -= 1
        if not held.count:
            held.back.close()


def _is_one() -> bool:
    """Return whether the environment limits OpenBLAS to one thread, without asking it."""
    import numpy as np

    built: Mapping[str, Any] = np.__config__.CONFIG
    is_openblas = "openblas" in built.get("Build Dependencies", {}).get("blas", {}).get("name", "")
    return is_openblas and os.environ.get("OPENBLAS_NUM_THREADS") == "1"
