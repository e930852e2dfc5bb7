"""Seals of SQLite files, which show any change by something else.

SQLite notices damage that breaks its structure, and reads any other as if it were data. So who wrote to a file seals the
file when closing: `<file>.seal` holds the file's size, times and checksum. The seal is removed before the next write. A
file that does not match its seal was changed by something else: a failing disk, another program, an older copy.

    a seal is there    the log beside is empty, and nobody has begun to write since
    no seal            a process is writing, or was killed: SQLite's own checks must do

The file is read only where its size or times differ, as those of a copy do. Whoever closes a file that has no seal, or
one with other times, seals it, so a killed process leaves no seal only until the next one is done. A file above
SEALED_BYTES is not sealed: reading one takes longer than who closes it should wait.

Subtle: closing a file anywhere in a process drops the locks that SQLite holds on the file for all connections of that
process. So a file is read here only while the process has no other connection to it, and is closed last. And closing a
file removes the log beside its name, which may be another file's by then. So SQLite never opens a file that is broken.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from vademecum.errors import StoreFullError
from vademecum.private import keep_names, private_opener
from vademecum.storage.sqlite_file import set_aside

SEALED_BYTES = 64_000_000  # read in 40 ms
CHANGED = "was changed by something else: it is damaged, or a copy was put in its place (is the copy yours, delete {} as well)"
EMPTY = "is empty: delete it to begin anew, or put a copy back"
EMPTY_SECONDS = 60.0  # a file that has been empty for longer is not one that is just being made


class Found(NamedTuple):
    """A file as it was before a connection to it."""

    place: str  # its path without links, for `let_go` and `unseal`
    number: tuple[int, int]  # of the device and on it, or `_NO_FILE`
    fault: str  # what is wrong, where something else changed the file since it was sealed, or emptied it
    version: int  # SQLite's `user_version`, where there is a fault


@dataclass(slots=True)
class _Held:
    """This process's connections to one file."""

    count: int = 0
    wrote: bool = False


_NO_FILE = (0, 0)
_all: dict[str, _Held] = {}
_turns: dict[str, threading.Lock] = {}  # to open a file
_lock = threading.Lock()


@contextmanager
def opening(path: Path) -> Iterator[Found]:
    """Let threads open connections to a file one at a time.

    Each meets the file as the one before left it, and is counted until `let_go`.
    """
    place = os.path.realpath(path)
    with _lock:
        turn = _turns.setdefault(place, threading.Lock())
    with turn:
        with _lock:
            held = _all.setdefault(place, _Held())
            held.count += 1
            number = _number(path)
            fault = _fault(path) if held.count == 1 else ""
            found = Found(place, number, fault, _version(path) if fault else 0)
        yield found


def put_aside(path: Path, found: Found) -> str:
    """Set a damaged file aside, unless somebody has made it anew.

    Another process may have. Returns the new name, or "" where nothing was done.
    """
    return str(set_aside(path)) if _number(path) == found.number else ""


def give_up(path: Path, found: Found, error: BaseException) -> None:
    """Note that no connection could be opened.

    An empty file that a full disk left of a new one would look like one that was emptied, so it goes.
    """
    let_go(path, found.place, None)
    if isinstance(error, StoreFullError) and found.number == _NO_FILE:
        with suppress(OSError):
            if not path.stat().st_size:
                path.unlink()


def unseal(path: Path, place: str, *, durable: bool) -> None:
    """Remove a file's seal; call it with the file's write lock held.

    `place` is what `opening` found. A durable removal outlasts a loss of power, as the write after it does. Raises
    `OSError`.
    """
    _all[place].wrote = True
    with suppress(FileNotFoundError):
        sealing(path).unlink()
        if durable:
            keep_names(path.parent)


def let_go(path: Path, place: str, db: sqlite3.Connection | None) -> None:
    """Close a connection; the last of a process seals the file.

    `place` is what `opening` found, and `db` is None where no connection could be opened.
    """
    with _lock:
        held = _all[place]
        held.count -= 1
        if not held.count:
            del _all[place]
        if db is None:
            return
        if not held.count and (held.wrote or _lacks_seal(path)):
            _close_sealed(path, db)
        db.close()


def sealing(path: Path) -> Path:
    """Return the place of a file's seal."""
    return path.with_name(f"{path.name}.seal")


def _close_sealed(path: Path, db: sqlite3.Connection) -> None:
    """Seal a file and close its connection, unless others are there."""
    with suppress(OSError, sqlite3.Error):
        db.execute("PRAGMA busy_timeout=0")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("BEGIN IMMEDIATE")  # nobody writes until the connection is closed
        if _is_logged(path) or path.stat().st_size > SEALED_BYTES:
            return
        with path.open("rb") as file:
            place = sealing(path)
            beside = place.with_name(f"{place.name}.{os.getpid()}.tmp")
            with open(beside, "w", encoding="ascii", opener=private_opener) as written:
                json.dump([_stamp(path), _sum(file)], written)
            beside.replace(place)
            db.execute("ROLLBACK")
            db.close()


def _lacks_seal(path: Path) -> bool:
    """Return whether a file at rest lacks a seal that it needs."""
    try:
        if _is_logged(path) or path.stat().st_size > SEALED_BYTES:
            return False
        stamp, _ = json.loads(sealing(path).read_bytes())
        return bool(stamp != _stamp(path))
    except (OSError, ValueError, TypeError):  # no seal, or a damaged one
        return True


def _fault(path: Path) -> str:
    """Return the fault of a file that was changed or emptied.

    It is unknown, and so "", without a seal or with a log.
    """
    place = sealing(path)
    try:
        if not path.exists():
            place.unlink(missing_ok=True)
            return ""
        if _is_logged(path):
            return ""
        if not path.stat().st_size and time.time() - path.stat().st_mtime > EMPTY_SECONDS:
            return EMPTY
        told = place.read_bytes()
        stamp, total = json.loads(told)
        same = stamp == _stamp(path)
        if not same:
            with path.open("rb") as file:
                same = total == _sum(file)
        is_newest = told == place.read_bytes()  # a seal that is gone by now went before a write
        return CHANGED.format(place.name) if is_newest and not same else ""
    except (OSError, ValueError, TypeError):  # no seal, or a damaged one
        return ""


def _number(path: Path) -> tuple[int, int]:
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return _NO_FILE


def _version(path: Path) -> int:
    with suppress(OSError), path.open("rb") as file:
        head = file.read(64)
        return int.from_bytes(head[60:]) if head.startswith(b"SQLite format 3\0") else 0
    return 0


def _is_logged(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _sum(file: IO[bytes]) -> int:
    total = 0
    while block := file.read(1 << 20):
        total = zlib.crc32(block, total)
    return total
