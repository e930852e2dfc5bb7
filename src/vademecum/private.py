"""Files and folders that only the user can read, with any umask."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

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
