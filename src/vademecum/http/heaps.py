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
_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h
_ABSENT = (OSError, AttributeError, TypeError)  # no such function, or, on Windows, no library without a name


def keep_few() -> None:
    """Have threads share two heaps: glibc gives each one of its own, and none can use what another has freed."""
    with suppress(*_ABSENT):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, HEAPS)


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
