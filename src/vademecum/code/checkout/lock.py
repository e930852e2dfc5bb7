"""An advisory lock that allows one indexing run per repository.

The operating system releases the lock when its holder dies.
"""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from vademecum.errors import StoreBusyError, StoreFullError, StoreReadOnlyError
from vademecum.private import private_folder, private_opener

WAIT_SECONDS = 600.0  # the time an index run waits for another run on the same repository
_POLL_SECONDS = 0.05
_NO_ROOM = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # Windows has no EDQUOT

if sys.platform == "win32":  # pragma: no cover - run on Windows only
    import msvcrt

    def _try_lock(file: IO[str]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _opened(path: Path) -> IO[str]:
    try:
        private_folder(path.parent)
        return open(path, "a+", opener=private_opener)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFullError(f"no room on the disk (or in a quota) for {path}: free some space") from error
        raise StoreReadOnlyError(
            f"cannot write {path}: {error.strerror}; set VADE_HOME to a directory that can be written"
        ) from error


def claim(path: Path) -> IO[str] | None:
    """Return the lock at `path`, or None where another process holds it.

    The lock is held until every process that has the file open closes it.

    Raises `StoreReadOnlyError` or `StoreFullError`: the lock's directory cannot be written.
    """
    file = _opened(path)
    if _try_lock(file):
        return file
    file.close()
    return None


@contextmanager
def exclusive(
    path: Path, wait_s: float, on_wait: Callable[[], None] | None = None, doing: str = "indexing this repository"
) -> Iterator[None]:
    """Hold the lock at `path`; wait up to `wait_s` seconds.

    `on_wait` is called at every try that fails. `doing` names the work in the error message.

    Raises:
        StoreBusyError: another process still holds the lock.
        StoreReadOnlyError, StoreFullError: the lock's directory cannot be written.
    """
    with _opened(path) as file:
        until = time.monotonic() + wait_s
        while not _try_lock(file):
            if on_wait is not None:  # called at every try: a progress display decides itself when to appear
                on_wait()
            if time.monotonic() >= until:
                raise StoreBusyError(f"another vade process is {doing} ({path}): try again when it is done")
            time.sleep(_POLL_SECONDS)
        yield
