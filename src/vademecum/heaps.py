"""Heaps of glibc: few, and trimmed while the server works.

Each answer allocates and frees arrays, in several threads at once. Freed memory between live blocks is not returned to
the system automatically, so the process would grow for as long as it runs. Only glibc needs this; elsewhere these
functions do nothing.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from contextlib import suppress

HEAPS = 2
EVERY_S = 5.0  # a trim takes a few milliseconds
APART = 65_536  # bytes: larger blocks are mapped, outside of the heaps. By default glibc raises this to its largest freed block
KEPT = 67_108_864  # bytes free at a heap's end before `free` trims, which would delay searches: see `give_back`
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of glibc's malloc.h
_ABSENT = (OSError, AttributeError, TypeError)  # no such function; on Windows, no unnamed library


def keep_few() -> None:
    """Limit malloc to two heaps, and map large blocks separately.

    By default glibc gives each thread its own heap, and no thread can use memory freed in another heap. Arrays as long as
    a memory grow a little with each question, so freed blocks no longer fit the next array. Mapped blocks are returned to
    the system when freed.
    """
    with suppress(*_ABSENT):
        libc = ctypes.CDLL(None)
        for option, value in ((_ARENA_MAX, HEAPS), (_MMAP_THRESHOLD, APART), (_TRIM_THRESHOLD, KEPT)):
            libc.mallopt(option, value)


def give_back() -> None:
    """Return freed pages to the system."""
    with suppress(*_ABSENT):
        ctypes.CDLL(None).malloc_trim(0)


async def give_back_while_used(calls: Callable[[], int], give: Callable[[], None] = give_back) -> None:
    """Trim every `EVERY_S` seconds while `calls` increases; runs until cancelled."""
    seen = calls()
    while True:
        await asyncio.sleep(EVERY_S)
        now = calls()
        if now != seen:
            seen = now
            await asyncio.to_thread(give)
