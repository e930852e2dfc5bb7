"""Opening SQLite files, setting damaged ones aside, and naming errors."""

from __future__ import annotations

import sqlite3
import time
from itertools import count
from pathlib import Path
from urllib.parse import quote

from vademecum.errors import StoreBusyError, StoreCorruptError, StoreError, StoreFullError, StoreReadOnlyError
from vademecum.metrics import STORE_ERRORS
from vademecum.private import keep_private, private_folder

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
