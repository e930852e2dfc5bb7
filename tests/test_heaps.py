"""Memory that was freed: threads share it, and the system gets it back."""

from __future__ import annotations

import asyncio
import platform
import subprocess
import sys

import pytest

from vademecum import heaps
from vademecum.heaps import HEAPS, give_back_while_used

only_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has to be told")

THREADS = """
import ctypes, sys, tempfile, threading
from vademecum.heaps import keep_few

keep_few()
together = threading.Barrier(8)
def allocate():
    together.wait()
    held = [bytes(5_000) for _ in range(2_000)]
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc = ctypes.CDLL(None)
libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
libc.malloc_info.argtypes, libc.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
with tempfile.NamedTemporaryFile() as file:
    stream = libc.fopen(file.name.encode(), b"w")
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(open(file.name).read().count("<heap nr="))
"""


@only_glibc
def test_threads_share_few_heaps():
    """What one of them has freed another can use: a server that records does not grow by what lies about."""
    run = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=60, check=True)
    assert 1 <= int(run.stdout) <= HEAPS


LEFT = """
from pathlib import Path
from vademecum.heaps import give_back

def own():
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0])

held = [bytes(20_000) for _ in range(2_000)]
held = held[::50] + [bytes(20_000)]  # what stays lies between what goes
kept = own()
give_back()
print(kept - own())
"""


@only_glibc
def test_what_lies_freed_between_what_stays_goes_back_to_the_system():
    run = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=60, check=True)
    assert int(run.stdout) > 30_000  # KiB, of 39,000


LARGE = """
from pathlib import Path
from vademecum.heaps import keep_few

def own():
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0])

keep_few()
b"x" * 20_000_000  # once something so large was freed, glibc would put all that is smaller into heaps
held = [b"x" * 100_000 for _ in range(200)]
kept = own()
held = held[::10]  # what stays lies between what goes
print(kept - own())
"""


@only_glibc
def test_what_is_large_is_no_part_of_a_heap():
    """It goes back as it is freed: in a heap, others would settle where it was, and the next one would not fit there."""
    run = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, timeout=60, check=True)
    assert int(run.stdout) > 15_000  # KiB, of 17,600


def test_it_is_given_back_after_use_and_not_while_nobody_asks(monkeypatch):
    monkeypatch.setattr(heaps, "EVERY_S", 0.01)
    calls = [0]

    async def use():
        given: asyncio.Queue[int] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        give = lambda: loop.call_soon_threadsafe(given.put_nowait, calls[0])  # noqa: E731
        giving = asyncio.create_task(give_back_while_used(lambda: calls[0], give))
        await asyncio.sleep(0.1)
        assert given.empty()
        for number in (1, 2):
            calls[0] = number
            assert await asyncio.wait_for(given.get(), 30) == number
        await asyncio.sleep(0.1)
        giving.cancel()
        assert given.empty()

    asyncio.run(use())
