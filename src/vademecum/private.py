"""Files and folders that only the user can read, whatever the umask."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
_OTHERS = 0o077  # the permissions of a group and of everybody else


def private_folder(path: Path) -> None:
    """Make a folder and each missing folder above it for the user alone; leave those that exist as they are.

    Raises `OSError`.
    """
    if not path.parent.exists():
        private_folder(path.parent)
    path.mkdir(mode=FOLDER, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file, made for the user alone: the `opener` of `open`."""
    return os.open(path, flags, FILE)


def keep_private(*paths: Path) -> None:
    """Take the permissions of all others from the user's own files and folders; skip those that cannot be changed."""
    if os.name == "nt":  # pragma: no cover - permissions are inherited from the user's profile there
        return
    for path in paths:
        with suppress(OSError):
            found = path.stat()
            if found.st_mode & _OTHERS and found.st_uid == os.getuid():
                path.chmod(found.st_mode & 0o7700)
