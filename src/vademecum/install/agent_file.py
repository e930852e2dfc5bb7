"""An agent's file: read before a change, and replaced atomically."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vademecum.errors import SourceError
from vademecum.install.part import EditError
from vademecum.private import private_folder

MOST_BYTES = 64_000_000  # of a settings file: Claude Code keeps its history in one, which takes megabytes
PARTIAL = ".vade-"  # prefix of unfinished files


@dataclass(frozen=True, slots=True)
class File:
    """An agent's file, as it was read."""

    path: Path  # the real one, with links followed
    content: bytes | None  # None if there is no file
    mode: int  # the permissions, also those of a new file
    owner: tuple[int, int] | None  # user and group, None if there is no file
    folders: tuple[str, ...]  # to create for the file, outermost first


def look(path: Path, within: Path | None) -> File:
    """Read a file before changing it; links are followed.

    The file need not exist. A link that leads out of `within`, the file's repository, is refused.

    Raises:
        EditError: the file is no plain file, is read-only, too large, or leads out of the repository.
    """
    real = Path(os.path.realpath(path))
    if within is not None and not real.is_relative_to(os.path.realpath(within)):
        raise EditError(f"it leads out of the repository, to {real}")
    try:
        state = os.lstat(real)
    except FileNotFoundError:
        return File(real, None, 0o600 if within is None else 0o644, None, _missing(real.parent))
    except OSError as error:
        raise EditError(f"it cannot be read: {error.strerror}") from error
    if stat.S_ISLNK(state.st_mode):
        raise EditError("it is a link that leads nowhere")
    if not stat.S_ISREG(state.st_mode):
        raise EditError("it is no plain file")
    if not state.st_mode & stat.S_IWUSR or not os.access(real, os.W_OK):
        raise EditError("it is read-only: make it writable")
    if state.st_size > MOST_BYTES:
        raise EditError(f"it is larger than {MOST_BYTES // 1_000_000} MB")
    try:
        content = real.read_bytes()
    except OSError as error:
        raise EditError(f"it cannot be read: {error.strerror}") from error
    return File(real, content, stat.S_IMODE(state.st_mode), (state.st_uid, state.st_gid), ())


def _missing(folder: Path) -> tuple[str, ...]:
    """Return the missing directories, outermost first."""
    missing: list[str] = []
    while not os.path.lexists(folder):
        missing.insert(0, str(folder))
        folder = folder.parent
    if not folder.is_dir():
        raise EditError(f"{folder} is no directory")
    return tuple(missing)


def digest_of(content: bytes | None) -> str:
    """Return the digest of a content; "" for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def sweep(path: Path) -> None:
    """Delete a crashed write's files; the caller holds the journal's lock."""
    with suppress(OSError):
        for partial in path.parent.glob(f"{PARTIAL}{glob.escape(path.name[:40])}.*"):
            partial.unlink()


def make(folder: Path, *, private: bool = False) -> None:
    """Create a missing directory; raise `SourceError`."""
    try:
        if private:
            private_folder(folder)
        else:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"cannot make {folder}: {error.strerror}; make it by hand, and writable") from error


def replace(path: Path, content: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Replace a file atomically, synced to disk; raise `SourceError`."""
    partial = ""
    try:
        handle, partial = tempfile.mkstemp(prefix=f"{PARTIAL}{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, mode)
        if owner is not None and hasattr(os, "chown"):
            with suppress(OSError):  # only root may give a file away
                os.chown(partial, *owner)
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(partial)
        raise SourceError(f"cannot write {path}: {error.strerror}; make its directory writable") from error


def delete(path: Path) -> None:
    """Delete a file, if there is one; raise `SourceError`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"cannot remove {path}: {error.strerror}; remove it by hand") from error
