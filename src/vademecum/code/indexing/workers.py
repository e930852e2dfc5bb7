"""Analysis in several processes.

Tree-sitter holds the interpreter's lock while it parses, so threads would not help.

Workers are plain child processes that exchange pickles over pipes, each driven by one thread here. `multiprocessing` is
avoided on purpose: its spawn method runs the caller's main module again, so a short script without a main guard would
start processes for ever. A hostile file that kills a worker costs that file its declarations, not the pool. The calling process
analyses too while it waits, so small jobs never pay for starting a child. It leaves files to children that may be written to keep a
grammar busy for minutes, where no deadline is asked for: only a process can be ended then.

While workers run, linear algebra keeps to one thread: the products are small, and BLAS threads would spin, waiting for
the cores that workers use (measured: 50 times slower under load). The garbage collector pauses: most objects stay.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

from vademecum.code.chunking.analyse import Analysis, Job, Plan, Task, analyse
from vademecum.code.languages import rules_of
from vademecum.index.arrays import RunTable
from vademecum.index.tokenize import term_table
from vademecum.protocols import Embedder

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


Answering = Callable[[Any], Any]

# Bytes that a worker can write before its reader runs: the usual 65,536 are a fraction of an answer.
PIPE_BYTES = 1 << 20


class Child:
    """A worker process, which answers questions by a function of its own."""

    def __init__(self, make: Callable[[Any], Answering], given: object) -> None:
        """Start a process that answers as `make(given)` does.

        Both are pickled, so `make` is a function of a module.
        """
        # -P: a module in the current directory, which may be the repository's own, must never be imported
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from vademecum.code.indexing.workers import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": _module_path()},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            _widen(pipe)
        self._first = make, given

    def start(self) -> None:
        """Wait until the process is ready. Raises `EOFError` if it ended."""
        self.ask(self._first)

    def ask(self, question: object) -> Any:
        """Send a question and return the answer. Raises `EOFError` without one."""
        try:
            write(self._in, question)
            return read(self._out)
        except (OSError, ValueError) as error:  # the pipe broke, or `stop` closed it
            raise EOFError from error

    def stop(self) -> None:
        """End the process; any thread may call this, more than once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._in, self._out):
            with suppress(OSError):
                pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    """Enlarge a pipe to PIPE_BYTES where the system allows."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # the system limits each user's pipe buffers
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value. Raises `OSError`."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """Return the next value. Raises `EOFError` on a closed pipe."""
    (length,) = struct.unpack("<Q", _exactly(pipe, 8))
    return pickle.loads(_exactly(pipe, length))  # noqa: S301 - our own child wrote it


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return data


Done = tuple[int, Any]  # a job's number and its result; None for a job that kills its process

BATCH_BYTES = 96_000  # a batch takes a worker about 0.1 s
SMALLEST_BATCH = 24_000  # the last batches are small, so that no process waits long for another
PATIENCE_S = 30.0  # beyond the files' own deadlines: a slower child hangs, and is killed
POOL_FROM_BYTES = 400_000  # for less, one process finishes before a second has started
RISKY_BYTES = 32_000  # of a language that is slow on errors: 40 kB may take 10 s, 60 kB 43 s


def analyse_all(jobs: list[Job], plan: Plan, embedder: Embedder | None) -> Iterator[tuple[int, Analysis]]:
    """Yield (job number, analysis) pairs in any order.

    A file that kills or holds up its process is cut into windows. `embedder` is the one `plan` names, already loaded here.
    """
    for number, analysis in _spread(jobs, plan, embedder):
        yield number, analysis or analyse([jobs[number]], embedder if plan.embedder else None, 0.0, term_table())[0]


def find_references(jobs: list[Job], plan: Plan) -> Iterator[tuple[int, str | None]]:
    """Yield (job number, references) pairs in any order.

    References are "" where there are none, and None for a job that kills its process.
    """
    return _spread(jobs, replace(plan, embedder="", task=Task.REFERENCES), None)


def _spread(jobs: list[Job], plan: Plan, embedder: Embedder | None) -> Iterator[Done]:
    batches = deque(_batches(jobs, plan.processes))
    risky = deque([number] for number, job in enumerate(jobs) if _is_risky(job))
    worthwhile = sum(len(content) for content, _ in jobs) >= POOL_FROM_BYTES
    children = max(min(plan.processes - 1, len(batches) - 1) if worthwhile else 0, int(bool(risky)))
    terms = term_table()
    own = embedder if plan.embedder else None
    with one_thread(), _Pool(plan, jobs, (risky, batches), children) as pool:
        missing = len(jobs)
        while missing:
            done = pool.collect(wait=not batches) or _taken(jobs, batches, plan, own, terms)
            missing -= len(done)
            yield from done


def _is_risky(job: Job) -> bool:
    content, language = job
    return len(content) > RISKY_BYTES and rules_of(language).slow_on_errors


def _taken(
    jobs: list[Job], batches: deque[list[int]], plan: Plan, embedder: Embedder | None, terms: RunTable
) -> list[Done]:
    """Analyse one batch in this process, unless a worker took the last."""
    batch = _first(batches)
    if batch is None:
        return []
    return list(zip(batch, _found([jobs[number] for number in batch], plan, embedder, terms), strict=True))


def _found(jobs: list[Job], plan: Plan, embedder: Embedder | None, terms: RunTable) -> Sequence[Analysis | str]:
    with uncollected():  # garbage is collected once, after the batch
        if plan.task is Task.REFERENCES:
            from vademecum.code.chunking.chunk import references_of

            return [references_of(content, language, plan.deadline_s) for content, language in jobs]
        return analyse(jobs, embedder, plan.deadline_s, terms, references=plan.task is Task.LINKED)


def _batches(jobs: list[Job], processes: int) -> Iterator[list[int]]:
    """Yield batches of job numbers without risk, the largest contents first.

    A batch has about BATCH_BYTES, and less towards the end.

    >>> [len(batch) for batch in _batches([(b"." * 12_000, "text")] * 40, processes=2)]
    [8, 8, 6, 5, 4, 3, 2, 2, 2]
    """
    batch: list[int] = []
    numbers = [number for number, job in enumerate(jobs) if not _is_risky(job)]
    size, left = 0, sum(len(jobs[number][0]) for number in numbers)
    for number in sorted(numbers, key=lambda n: -len(jobs[n][0])):
        batch.append(number)
        size += len(jobs[number][0])
        if size >= min(BATCH_BYTES, max(SMALLEST_BATCH, left // (2 * processes))):
            yield batch
            left -= size
            batch, size = [], 0
    if batch:
        yield batch


class _Pool:
    """Threads that each drive one worker process.

    Each thread feeds its child from risky batches, which are for children alone, then from those shared with the caller, and
    queues the answers.
    """

    def __init__(
        self, plan: Plan, jobs: list[Job], batches: tuple[deque[list[int]], deque[list[int]]], count: int
    ) -> None:
        self._plan, self._jobs, (self._risky, self._batches) = plan, jobs, batches
        self._done: queue.SimpleQueue[list[Done]] = queue.SimpleQueue()
        self._children: dict[int, Child] = {}
        self._stopped = threading.Event()
        # a child dies with the thread that started it, so each thread stays until its child is no longer needed
        self._threads = [threading.Thread(target=self._drive, args=(n,), daemon=True) for n in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for child in list(self._children.values()):
            child.stop()
        for thread in self._threads:
            thread.join()

    def collect(self, *, wait: bool) -> list[Done]:
        """Return one finished batch; [] for none, unless told to `wait`."""
        try:
            return self._done.get(block=wait)
        except queue.Empty:
            return []

    def _drive(self, number: int) -> None:
        while not self._stopped.is_set():
            batch = _first(self._risky) or _first(self._batches)
            if batch is None:
                return
            if not self._start(number):
                self._batches.append(batch)
                self._done.put([])  # wakes the caller, which then does the batch
                return
            try:
                self._done.put(self._ask(number, batch))
            except EOFError:
                if len(batch) == 1:
                    self._done.put([(batch[0], None)])
                else:
                    self._ask_singly(number, batch)

    def _ask_singly(self, number: int, batch: list[int]) -> None:
        """Retry a batch job by job: only the fatal one is lost."""
        for job in batch:
            if self._stopped.is_set() or not self._start(number):
                self._done.put([(job, None)])
                continue
            try:
                self._done.put(self._ask(number, [job]))
            except EOFError:
                self._done.put([(job, None)])

    def _start(self, number: int) -> bool:
        """Make sure that a child runs; False when none can start."""
        if number in self._children:
            return True
        try:
            child = self._children[number] = Child(_analyser, self._plan)
            if not self._stopped.is_set():  # either this thread sees the stop, or `__exit__` sees the child
                child.start()
                return True
        except (EOFError, OSError):
            pass
        if number in self._children:
            self._children.pop(number).stop()
        return False

    def _ask(self, number: int, batch: list[int]) -> list[Done]:
        child = self._children[number]
        patience = threading.Timer(PATIENCE_S + self._plan.deadline_s * len(batch), child.stop)
        patience.start()
        try:
            return list(zip(batch, child.ask([self._jobs[n] for n in batch]), strict=True))
        except EOFError:
            self._children.pop(number).stop()
            raise
        finally:
            patience.cancel()


def _first(batches: deque[list[int]]) -> list[int] | None:
    """Take the first batch, if another thread has not taken the last."""
    try:
        return batches.popleft()
    except IndexError:
        return None


def _module_path() -> str:
    """Return the child's module path: this process's, without the current directory."""
    package = str(Path(__file__).resolve().parents[3])
    return os.pathsep.join([package, *(entry for entry in sys.path if os.path.isabs(entry))])


def _analyser(plan: Plan) -> Answering:
    """Return the function that analyses jobs, with all it needs loaded."""
    from vademecum.plugins import load

    embedder: Embedder | None = load("embedder", plan.embedder) if plan.embedder else None
    return partial(_found, plan=plan, embedder=embedder, terms=term_table())


def serve() -> None:
    """Run a worker: answer questions until the pipe ends."""
    _die_with_parent()
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints must not reach the pipe
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        make, given = read(source)
        answer = make(given)
        write(sink, "ready")
        while True:
            write(sink, answer(read(source)))


def _die_with_parent() -> None:
    """Make Linux kill this process, however busy, with its starting thread."""
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1 is PR_SET_PDEATHSIG
