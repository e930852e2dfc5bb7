"""Workers that are copies of this process: as good as new ones, and nothing of what is held here stays with them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from vademecum.codebase.copied import can_copy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are new processes")

# a process of its own: here, the test runner may have threads
BEGIN = """
import os, signal, subprocess, sys, threading, time
from vademecum.codebase import copied, workers
from vademecum.codebase.workers import Plan, Task, analyse_all
from vademecum.providers.embedders.hashing import HashingEmbedder

FILES = [("\\n\\n".join(f"def step_{n}_{m}(x):\\n    return x + {m}" for m in range(300)).encode(), "python") for n in range(60)]
embedder = HashingEmbedder()

def analysed(processes, then=None):
    done = dict(analyse_all(FILES, Plan("hashing", 60.0, processes, Task.LINKED), embedder, then))
    assert sorted(done) == list(range(len(FILES)))
    return [(d.chunks, d.symbols, d.references, d.arrays.vectors.tolist()) for _, d in sorted(done.items())]

def children():
    listed = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if not line.startswith("ps ")]

def never():
    raise AssertionError("a new process was started")
"""


def run(code):
    """Run code in a process without other threads; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BEGIN + code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_copies_find_what_one_process_does():
    """Whoever analyses, and though the last arrays are made after the rest; and none is left."""
    said = run("""
workers._new = never
class Noted:
    def __init__(self): self.told, self.begun = {}, 0
    def note(self, number, symbols, references): self.told[number] = symbols, references
    def load(self): pass
    def begin(self, child): self.begun += 1; self.child = child; self.missing = set(range(60)) - set(self.told)
    def run(self): self.child.stop()
alone, noted = analysed(1), Noted()
assert analysed(3, noted) == alone
assert (noted.begun, noted.missing) == (1, set())
assert noted.told == {n: row[1:3] for n, row in enumerate(alone)}
for _ in range(100):
    if not children(): break
    time.sleep(0.02)
print(children())
""")
    assert said == "[]\n"


def test_a_copy_that_dies_costs_no_file():
    """A new process takes its place."""
    said = run("""
parent, own = os.getpid(), workers._found
def dies(*args, **named):
    if os.getpid() != parent: os.kill(os.getpid(), signal.SIGKILL)
    return own(*args, **named)
alone = analysed(1)
workers._found = dies
print(analysed(3) == alone, children())
""")
    assert said == "True []\n"


def test_a_copy_holds_no_lock_and_no_pipe_of_its_original():
    """What is let go here can be taken by another, though the copy is still at work; its output is not mixed with ours."""
    said = run("""
import fcntl, tempfile
path = tempfile.mktemp()
held = open(path, "w")
fcntl.flock(held, fcntl.LOCK_EX)
print("once")  # not flushed yet
def echo(source, sink):
    print("lost")
    sink.write(source.read(3)); sink.flush()
    source.read()
copies = [copied.Copy(echo) for _ in range(2)]
for copy in copies:
    copy.stdin.write(b"abc"); copy.stdin.flush()
    assert copy.stdout.read(3) == b"abc"  # it is at work
held.close()
with open(path, "w") as other: fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.unlink(path)
copies[0].stdin.close()
copies[0].wait()  # which the other one does not keep from ending
copies[1].kill(); copies[1].wait(); copies[1].wait(); copies[1].kill()
for copy in copies:
    copy.stdin.close(); copy.stdout.close()
""")
    assert said == "once\n"


def test_copies_end_with_their_original():
    """However it ends."""
    said = run("""
inside = os.fork()
if not inside:
    started = []
    class Noticed(copied.Copy):
        def __init__(self, serve): super().__init__(serve); started.append(self._pid)
    workers.Copy = Noticed
    stream = analyse_all(FILES, Plan("hashing", 60.0, 3), embedder)
    next(stream)
    print(*started, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(inside, 0)
""")
    pids = said.split()
    assert len(pids) == 2
    until = time.monotonic() + 20
    while any(is_running(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(is_running(pid) for pid in pids)


def is_running(pid):
    """Whether a process is there, and not only its end to be told."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except FileNotFoundError:
        return False


def test_a_process_with_other_threads_is_not_copied():
    """They may hold what a copy would wait for."""
    end = threading.Event()
    other = threading.Thread(target=end.wait)
    other.start()
    try:
        assert not can_copy()
    finally:
        end.set()
        other.join()
    assert run("print(copied.can_copy(), os.getpid() > 0)") == "True True\n"


def test_the_pid_of_a_copy_that_has_ended_is_never_killed():
    """The system may have given it to another."""
    said = run("""
copy = copied.Copy(lambda source, sink: None)
copy.wait()
os.kill = never
copy.kill()
print("well")
""")
    assert said == "well\n"
