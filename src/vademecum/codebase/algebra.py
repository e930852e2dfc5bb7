"""Linear algebra in one thread, while other processes of ours are at work.

Its products here are small, and its threads would wait, spinning, for the cores that these processes are using (measured: 50
times slower under load). They are started anew, spinning, when their number is set after a copy of this process was made: so
it stays as it is until the last worker has ended.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any


class _Held(threading.local):
    """By how many blocks of this thread the number is held, and what sets it back."""

    count = 0
    back: ExitStack


_held = _Held()


@contextmanager
def one_thread() -> Iterator[None]:
    """Have linear algebra done in one thread within the block. Blocks of a thread may overlap: the last one out sets the number back.

    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"} <= {1}
    True
    """
    if not _held.count:
        _held.back = ExitStack()
        if not _is_one():
            from threadpoolctl import threadpool_limits

            _held.back.enter_context(threadpool_limits(1, "blas"))
    _held.count += 1
    try:
        yield
    finally:
        _held.count -= 1
        if not _held.count:
            _held.back.close()


def _is_one() -> bool:
    """Whether it has but one thread, as in the commands: to ask the library takes some milliseconds."""
    import numpy as np

    built: Mapping[str, Any] = np.__config__.CONFIG
    is_openblas = "openblas" in built.get("Build Dependencies", {}).get("blas", {}).get("name", "")
    return is_openblas and os.environ.get("OPENBLAS_NUM_THREADS") == "1"
