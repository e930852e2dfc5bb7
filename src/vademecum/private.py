"""Files for one user, and locks for one process.

Folders and files are readable by the user alone, with any umask. A lock is advisory; the operating system releases it
when its holder dies.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from vademecum.errors import StoreBusyError, StoreFullError, StoreReadOnlyError

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


FOLDER, FILE = 0o700, 0o600
_OTHERS = 0o077  # the permissions of a group and of everybody else
NO_SPACE = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}  # the disk, a quota, a limit on files


def private_folder(path: Path) -> None:
    """Create a folder and missing parents for the user alone. Raises `OSError`."""
    if not path.parent.exists():
        private_folder(path.parent)
    path.mkdir(mode=FOLDER, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file for the user alone: an `opener` for `open`."""
    return os.open(path, flags, FILE)


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """Give a private file that takes a path's place at the end.

    A reader sees the old file or the new one, never a part. A durable one is on the disk by then. A killed process leaves a
    file that ends in `.tmp`. Raises `OSError`.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "w+b", opener=private_opener) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def append_line(path: Path, line: str) -> None:
    """Add a line to a private file, in one write. Raises `OSError`."""
    private_folder(path.parent)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)


def keep_private(*paths: Path) -> None:
    """Remove others' permissions from the user's files and folders, where possible."""
    for path in paths:
        with suppress(OSError):
            found = path.stat()
            # On Windows permissions are inherited from the user's profile.
            if sys.platform != "win32" and found.st_mode & _OTHERS and found.st_uid == os.getuid():
                path.chmod(found.st_mode & 0o7700)


def keep_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk.

    A new, renamed or removed file then has its name after a power loss. Some systems cannot wait.
    """
    with suppress(OSError):  # Windows opens no folder, and some network shares cannot wait
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
