"""Opening SQLite files, setting damaged ones aside, and naming errors.

A seal shows any change by something else. SQLite notices damage that breaks its structure, and reads any other as if it were data. So who wrote to a file seals the
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
from itertools import count
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote

from vademecum.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError, StoreReadOnlyError
from vademecum.metrics import STORE_ERRORS
from vademecum.private import keep_names, keep_private, private_folder, replacing

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
            with replacing(sealing(path)) as seal:
                seal.write(json.dumps([_stamp(path), _sum(file)]).encode())
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


REBUILD = "run `vade index --full` to set it aside and rebuild"
_AGAIN_SECONDS = 0.002  # between two tries when SQLite does not wait itself
# SQLite's codes for an exhausted quota or file size limit: SQLite only sees a failed write
_UNWRITTEN = {
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}


def named(error: sqlite3.Error, path: Path, remedy: str = REBUILD) -> StoreError:
    """Return our error for a SQLite error, and count it.

    The message names the file and the fix; `remedy` is the fix for a damaged file.
    """
    found = _named(error, path, remedy)
    STORE_ERRORS.add(error=type(found).__name__)
    return found


def _named(error: sqlite3.Error, path: Path, remedy: str) -> StoreError:
    text = str(error)
    exact = getattr(error, "sqlite_errorcode", 0)
    code = exact & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(f"{path} is held by another process: try again when it is done")
    if code == sqlite3.SQLITE_FULL or exact in _UNWRITTEN:
        return StoreFullError(f"no room on the disk (or in a quota) for {path}: free some space and try again")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorruptError(f"{path} is damaged ({text}): {remedy}")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return StoreReadOnlyError(
            f"{path} cannot be opened for writing: check its permissions, or set VADE_HOME elsewhere"
        )
    if isinstance(error, sqlite3.ProgrammingError) and "closed database" in text:
        return StoreError(f"{path} is closed: open the engine again, it was closed before this was asked")
    return StoreError(f"{path}: {text}")


def set_aside(path: Path) -> Path:
    """Rename a damaged file and its logs; return the unused name taken."""
    names = (path.with_name(f"{path.name}.damaged{f'-{number}' if number > 1 else ''}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    for suffix in ("", "-wal", "-shm", ".seal"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.replace(aside.with_name(aside.name + suffix))
    return aside


def opened(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """Open a file for writing, with its directory, for the user alone.

    Raises `sqlite3.Error`, or `StoreError` if the directory cannot be created.
    """
    try:
        private_folder(path.parent)
    except OSError as error:
        raise StoreReadOnlyError(
            f"cannot create {path.parent}: {error.strerror}; set VADE_HOME elsewhere"
        ) from error  # fmt: skip
    db = _connected(path, busy_seconds)  # creates an empty file; its log files get the same permissions
    keep_private(path, *(path.with_name(f"{path.name}-{end}") for end in ("wal", "shm")))
    return db


def opened_to_read(path: Path, busy_seconds: float, version: int) -> sqlite3.Connection | None:
    """Open a file for reading only; return None if not possible.

    The file may be missing, unreadable, or of another version.

    A log next to the file is read as well. If a log that is not empty cannot be read, nothing is opened: the file alone may lack
    half of the last write.
    """
    log = path.with_name(f"{path.name}-wal")
    for how in ("mode=ro", "mode=ro&immutable=1"):  # the latter if not even the log's index can be created
        if "immutable" in how and log.exists() and log.stat().st_size:
            return None
        try:
            db = _connected(f"file:{quote(str(path.absolute()))}?{how}", busy_seconds)
        except sqlite3.Error:
            continue
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if version_of(db) == version:
                return db
        except sqlite3.Error:
            pass
        db.close()
    return None


def log_ahead(db: sqlite3.Connection, busy_seconds: float) -> None:
    """Switch the file to a write-ahead log.

    SQLite does not wait if two processes open a new file at once, so this function does.
    """
    until = time.monotonic() + busy_seconds
    mode = ""
    while not mode:
        try:
            mode = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
            time.sleep(_AGAIN_SECONDS)


def version_of(db: sqlite3.Connection) -> int:
    """Return the number of migrations that a file has gone through."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _connected(place: Path | str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        place,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
        uri=isinstance(place, str),
    )
