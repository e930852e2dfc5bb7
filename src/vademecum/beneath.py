"""Paths and files below a folder.

A path from the folder is written with `/` on every system. A file is opened without following a link on the way to it.
Windows opens no folder and no name relative to one; there the way is looked at by name, before and after.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath

_CLOSED = getattr(os, "O_CLOEXEC", 0)
_PLAIN = os.O_RDONLY | _CLOSED | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not block
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | _CLOSED | getattr(os, "O_DIRECTORY", 0)
_JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT of winnt.h: a link to a folder that is no symbolic link


def from_folder(path: str, folder: str, kind: type[PurePath] = PurePath) -> str | None:
    """Return a path as written from a folder above it, None elsewhere.

    The folder itself is ".". Both paths are absolute. Letter case counts where the system counts it.

    >>> from_folder("/app/src/a.py", "/app"), from_folder("/apple", "/app")
    ('src/a.py', None)
    """
    try:
        return kind(path).relative_to(kind(folder)).as_posix()
    except ValueError:  # also another drive
        return None


def open_plain(path: str, *, follow: bool = True) -> int:
    """Open a file for reading without blocking on a pipe. Raises `OSError`."""
    return os.open(path, _PLAIN if follow else _PLAIN | _NO_LINK)


def open_beneath(top: str, path: str) -> int:
    """Open a file below a folder, refusing a link at any step.

    If the path were checked first and opened by name afterwards, a folder could be replaced by a link in between.

    Raises `OSError`, or `ValueError` for a path that is none.
    """
    return open_by_folders(top, path) if os.open in os.supports_dir_fd else open_by_name(top, path)


def open_by_folders(top: str, path: str) -> int:
    """Open as `open_beneath` does, each folder from its parent."""
    *folders, name = _names(path)
    at = os.open(top, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER | _NO_LINK, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, _PLAIN | _NO_LINK, dir_fd=at)
    finally:
        os.close(at)


def open_by_name(top: str, path: str) -> int:
    """Open a file below a folder, looking for links by name.

    A link that replaces a folder and is gone again before the second look stays unseen.

    Raises the errors of `open_beneath`.
    """
    names = _names(path)
    before = _status(top, names)
    opened = os.open(os.path.join(top, *names), _PLAIN | _NO_LINK)
    try:
        if os.path.samestat(before, os.fstat(opened)) and os.path.samestat(before, _status(top, names)):
            return opened
        raise _link()
    except OSError:
        os.close(opened)
        raise


@contextmanager
def opened_folder(path: str) -> Iterator[Callable[[str], os.stat_result]]:
    """Give a function that returns the status of a folder's file.

    Of a link it is the link's own. Where the system opens folders, the path to the folder is not resolved for each file.

    Raises `OSError`.
    """
    if os.stat not in os.supports_dir_fd:
        yield lambda name: os.lstat(f"{path}/{name}")
        return
    folder = os.open(path, _FOLDER)
    try:
        yield partial(os.stat, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def is_name(name: str, separator: str = os.sep) -> bool:
    r"""Return whether a word names something in a folder, and nothing elsewhere.

    >>> is_name("C:x", "/"), is_name("C:x", "\\")
    (True, False)
    """
    others = "/\\:" if separator == "\\" else "/"  # a drive, a second stream of a file
    return name not in {"", ".", ".."} and not any(mark in name for mark in others)


def _names(path: str) -> list[str]:
    names = path.split("/")
    for name in names:
        if not is_name(name):
            raise ValueError(f"{name!r} is not a name")
    return names


def _status(top: str, names: Sequence[str]) -> os.stat_result:
    """Return a file's status, refusing links on the way."""
    place = top
    for name in names:
        place = os.path.join(place, name)
        found = os.lstat(place)
        if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == _JUNCTION:
            raise _link()
    return found


def _link() -> OSError:
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP))
