"""Indexes in files on this machine: list, find and delete them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vademecum.code.checkout.lock import exclusive
from vademecum.errors import StoreError, UsageError
from vademecum.wiring.stores import INDEX, MEMORY, worktrees_in

_LOCK = "index.lock"
# nothing can make these again
_REMEMBERED = frozenset({MEMORY, f"{MEMORY}-wal", f"{MEMORY}-shm", f"{MEMORY}.seal", "memory"})


@dataclass(frozen=True, slots=True)
class Kept:
    """The index of one repository, and the memory beside it."""

    name: str
    folder: str
    paths: tuple[str, ...]  # of its worktrees, the last indexed first
    gone: tuple[str, ...]  # paths whose directory no longer exists
    indexed_at: float  # seconds since the epoch; 0 when never
    bytes: int  # of the index alone
    memory_bytes: int
    note: str = ""  # why the index cannot be read


def kept_indexes(home: Path) -> list[Kept]:
    """Return every index or memory below a home, the last indexed first."""
    folders = {database.parent for name in (INDEX, MEMORY) for database in (home / "repos").glob(f"*/{name}")}
    found = [_kept(folder) for folder in folders]
    return sorted(found, key=lambda kept: (-kept.indexed_at, kept.folder))


def index_called(kept: Sequence[Kept], wanted: str) -> Kept:
    """Return the one index of a name or path. Raises `UsageError`."""
    path = os.path.realpath(wanted)
    meant = [each for each in kept if path in each.paths or wanted == Path(each.folder).name]
    meant = meant or [each for each in kept if each.name == wanted]
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise UsageError(f"no index is called {wanted!r}: `vade repos` lists their names and paths")
    raise UsageError(f"{len(meant)} indexes are called {wanted!r}: name one by its path, as `vade repos` lists it")


def delete_index(kept: Kept, *, memory: bool) -> int:
    """Delete an index and return the number of bytes freed.

    `memory` also deletes the repository's memory.

    Raises:
        StoreBusyError: another process is writing the index.
        StoreReadOnlyError: the folder cannot be written.
    """
    folder = Path(kept.folder)
    with exclusive(folder / _LOCK, 0.0):
        for path in sorted(folder.iterdir()):
            if path.name == _LOCK or (path.name in _REMEMBERED and not memory):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        (folder / _LOCK).unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return kept.bytes + (kept.memory_bytes if memory else 0)


def _kept(folder: Path) -> Kept:
    database = folder / INDEX
    worktrees, note = [], ""
    try:
        worktrees = sorted(worktrees_in(database) if database.exists() else (), key=lambda worktree: -worktree[1])
    except StoreError as error:
        note = str(error)
    paths = tuple(path for path, _ in worktrees)
    sizes = {path.name: _size(path) for path in folder.iterdir()}
    remembered = sum(size for name, size in sizes.items() if name in _REMEMBERED)
    return Kept(
        folder.name.rpartition("-")[0],
        str(folder),
        paths,
        tuple(path for path in paths if not os.path.isdir(path)),
        worktrees[0][1] if worktrees else 0.0,
        sum(sizes.values()) - remembered,
        remembered,
        note,
    )


def _size(path: Path) -> int:
    return sum(each.stat().st_size for each in (path.rglob("*") if path.is_dir() else (path,)) if each.is_file())
