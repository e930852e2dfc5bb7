"""What the C library keeps of memory that was freed: few heaps, and given back while the server is in use.

Each answer takes arrays and lets go of them, in several threads at once, and what is left between those that stay is not the
system's again by itself: a server that records would grow by it for as long as it runs. Only glibc has to be told so;
elsewhere nothing is done here.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from contextlib import suppress

HEAPS = 2
EVERY_S = 5.0  # it takes a few milliseconds
APART = 65_536  # bytes: what is larger is no part of a heap. Left to itself glibc raises this to as much as was ever freed at once
KEPT = 67_108_864  # bytes free at a heap's end before each `free` gives them back, which searches would wait for: see `give_back`
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of glibc's malloc.h
_ABSENT = (OSError, AttributeError, TypeError)  # no such function, or, on Windows, no library without a name


def keep_few() -> None:
    """Have threads share two heaps, of what is small: glibc gives each one of its own, and none can use what another has freed.

    Arrays as long as a memory are a little longer for each question, and of the place that one had, others take a part: they are
    put elsewhere, and given back as they are freed.
    """
    with suppress(*_ABSENT):
        libc = ctypes.CDLL(None)
        for option, value in ((_ARENA_MAX, HEAPS), (_MMAP_THRESHOLD, APART), (_TRIM_THRESHOLD, KEPT)):
            libc.mallopt(option, value)


def give_back() -> None:
    """Give whole pages of what was freed back to the system."""
    with suppress(*_ABSENT):
        ctypes.CDLL(None).malloc_trim(0)


async def give_back_while_used(calls: Callable[[], int], give: Callable[[], None] = give_back) -> None:
    """Give back what was freed every few seconds, for as long as `calls` goes up; until it is cancelled."""
    seen = calls()
    while True:
        await asyncio.sleep(EVERY_S)
        now = calls()
        if now != seen:
            seen = now
            await asyncio.to_thread(give)
