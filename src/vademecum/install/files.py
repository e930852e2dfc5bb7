"""An agent's file: its content, or a refusal if not writable."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from vademecum.install.part import EditError

MOST_BYTES = 64_000_000  # of a settings file: Claude Code keeps its history in one, which takes megabytes


@dataclass(frozen=True, slots=True)
class Found:
    """A file.

    Attributes:
        path: The real path, with links followed.
        content: The content; None if there is no file.
        mode: The permissions, or those of the new file.
        owner: The user and group, None if there is no file.
        folders: Directories to create for the file, outermost first.
    """

    path: Path
    content: bytes | None
    mode: int
    owner: tuple[int, int] | None
    folders: tuple[str, ...]


def look(path: Path, within: Path | None) -> Found:
    """Read a file before changing it; links are followed.

    Args:
        path: The file, which need not exist.
        within: The repository of the file, or None. A link that leads out of the repository is refused.

    Raises:
        EditError: the file is no plain file, is read-only, too large, or leads out of the repository.
    """
    real = Path(os.path.realpath(path))
    if within is not None and not real.is_relative_to(os.path.realpath(within)):
        raise EditError(f"it leads out of the repository, to {real}")
    try:
        state = os.lstat(real)
    except FileNotFoundError:
        return Found(real, None, 0o600 if within is None else 0o644, None, _missing(real.parent))
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
    return Found(real, content, stat.S_IMODE(state.st_mode), (state.st_uid, state.st_gid), ())


def _missing(folder: Path) -> tuple[str, ...]:
    """Return the missing directories, outermost first."""
    missing: list[str] = []
    while not os.path.lexists(folder):
        missing.insert(0, str(folder))
        folder = folder.parent
    if not folder.is_dir():
        raise EditError(f"{folder} is no directory")
    return tuple(missing)
