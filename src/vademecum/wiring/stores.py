"""Storage places: files below the home directory, or a shared database.

Each kind of record has one file, or one space of the shared database.

    records of        in files                      in a shared database, the space
    code              repos/<name>-<hash>/index.db  code:<origin>
    a repository's    repos/<name>-<hash>/memory.db memory:<owner>:<origin>, or memory:<origin> where all share it
      memory
    global memory     memory.db                     memory:<owner>
    tools             user.db                       tools:<owner>
    a source          sources/<name>/index.db       source:<owner>:<name>

Derived files lie below the home directory in both cases. Each machine has its own and remakes missing files from the records.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vademecum.code.checkout.root import Root, find_root, folder_name, index_directory, repository_name, shared_identity
from vademecum.config import Settings
from vademecum.errors import ConfigError, ConsentError, Error, StoreAwayError, StoreError, UsageError
from vademecum.plugins import find
from vademecum.private import exclusive, keep_private, private_folder, private_opener
from vademecum.protocols import Store

FILES = "sqlite"
INDEX, MEMORY, TOOLS = "index.db", "memory.db", "user.db"
MEMORY_REMEDY = (
    "nothing was changed; put a copy back in its place, or move it away yourself and bring back what was exported with "
    "`vade memory import` and what agents wrote with `vade memory sync`"
)
TOOLS_REMEDY = (
    "nothing was changed; put a copy back in its place, or move it away yourself, then register your servers and observe your "
    "traces again"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One store: its file and its space in a shared database."""

    of: str  # the repository's directory, or "everything"
    what: str  # INDEX, MEMORY or TOOLS
    file: Path
    space: str


class Stores:
    """Opens the stores of records, as the settings say.

    Raises, from every method:
        ConfigError: a shared database is chosen and not named.
        ConsentError: the database is on another machine, and the user did not agree to that.
        StoreError: the store cannot be opened.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.home
        if not settings.storage.home:  # the default folder is ours; a configured one keeps its permissions
            keep_private(self.home)
        self.shared = settings.storage.provider != FILES

    @property
    def here(self) -> str:
        """The name of this machine's home directory; "" with files.

        It tells apart the machines that share one database.
        """
        return machine(self.home) if self.shared else ""

    def code(self, root: Root) -> Store:
        """Open the index of a repository.

        A damaged file is set aside: the index can be made again from the files on disk.
        """
        if self.shared:
            return self._space(self.code_space(root), at_once=False)  # a search continues without the database
        return self._file(index_directory(self.home, root) / INDEX, set_aside=True)

    def memory(self, root: Root | None, *, busy_seconds: float = 60.0) -> Store:
        """Open the memory of a repository, or the global memory.

        A damaged file is never set aside, because its records cannot be made again.
        """
        if self.shared:
            return self._space(self.memory_space(root), durable=True)
        return self._file(self._memory_file(root), durable=True, remedy=MEMORY_REMEDY, busy_seconds=busy_seconds)

    def has_memory(self, root: Root | None) -> bool:
        """Return whether the memory exists. Never creates one."""
        if not self.shared:
            return self._memory_file(root).exists()
        return self.memory_space(root) in self.spaces(self.memory_space(root))

    def source(self, name: str) -> Store:
        """Open the store of a backlog or documents source.

        A damaged file is set aside: the source can be fetched again.
        """
        if self.shared:
            return self._space(self._source_space(name))
        return self._file(self._source_file(name), set_aside=True)

    def has_source(self, name: str) -> bool:
        """Return whether the source has a store yet."""
        space = self._source_space(name)
        return space in self.spaces(space) if self.shared else self._source_file(name).exists()

    def _source_file(self, name: str) -> Path:
        return self.home / "sources" / name / INDEX

    def _source_space(self, name: str) -> str:
        return f"source:{self.owner}:{name}"

    def tools(self) -> Store:
        """Open the user's tools. A damaged file is never set aside."""
        if self.shared:
            return self._space(f"tools:{self.owner}", durable=True)
        return self._file(self.home / TOOLS, remedy=TOOLS_REMEDY)

    def has_tools(self) -> bool:
        """Return whether any tool or trace was ever stored."""
        space = f"tools:{self.owner}"
        return space in self.spaces(space) if self.shared else (self.home / TOOLS).exists()

    def where(self, file: Path) -> str:
        """Return the records' place for display: `file`, or the shared database."""
        return str(self._provider().place(self.url)) if self.shared else str(file)

    def elsewhere(self) -> str:
        """Return a remote shared database's address, safe to show, or ""."""
        return str(self._provider().place(self.url)) if self.shared and self._provider().is_remote(self.url) else ""

    def roots_in_spaces(self) -> list[Root]:
        """Return this machine's existing worktrees with an index in the database."""
        prefix = f"{self.here}:"
        try:
            rows = self._provider().across(
                self.url, "snapshots", [("kind", "=", "worktree"), ("place", "prefix", prefix)], ("place",),
                timeout_s=self.settings.storage.timeout_s,
            )  # fmt: skip
        except StoreAwayError:  # this machine's derived files can still be searched
            from vademecum.code.snapshot.segments import worktrees_kept

            return [root for place in dict.fromkeys(worktrees_kept(self.home)) for root in _standing(place)]
        places = [(space, place.removeprefix(prefix)) for space, place in rows]
        roots = {root.path: (space, root) for space, place in places for root in _standing(place)}
        return [root for space, root in roots.values() if self.code_space(root) == space]

    def spaces(self, beginning: str) -> list[str]:
        """Return the names of database spaces that begin with `beginning`."""
        timeout_s = self.settings.storage.timeout_s
        names: list[str] = self._provider().spaces(self.url, beginning, timeout_s=timeout_s)
        return names

    def reach(self) -> None:
        """Check that the shared database answers; files are checked when read."""
        if self.shared:
            self.spaces(self.memory_space(None))

    def space(self, root: Root) -> str:
        """Return the database space of a repository's index; "" with files."""
        return self.code_space(root) if self.shared else ""

    def called(self, root: Root) -> str:
        """Return the repository's name in records.

        In a shared database the name comes from the origin, so clones in directories of any name share it.
        """
        return folder_name(shared_identity(root, "")) if self.shared else repository_name(root)

    def code_space(self, root: Root) -> str:
        """Return the database space of a repository's index."""
        return f"code:{shared_identity(root, self.here)}"

    def memory_space(self, root: Root | None) -> str:
        """Return the space of a repository's memory, or the global one."""
        if root is None:
            return f"memory:{self.owner}"
        origin = shared_identity(root, self.here)
        return f"memory::{origin}" if self.settings.storage.shared_memory else f"memory:{self.owner}:{origin}"

    def pairs(self) -> list[Pair]:
        """Return this machine's stores, existing or not, as file and space."""
        found = [
            Pair("everything", MEMORY, self._memory_file(None), self.memory_space(None)),
            Pair("everything", TOOLS, self.home / TOOLS, f"tools:{self.owner}"),
        ]
        names = [path.parent.name for path in sorted((self.home / "sources").glob(f"*/{INDEX}"))]
        prefix = self._source_space("")
        names += [space.removeprefix(prefix) for space in self.spaces(prefix)]
        found += [Pair(f"source {name}", INDEX, self._source_file(name), self._source_space(name)) for name in names]
        for root in (*roots_in_files(self.home), *self.roots_in_spaces()):
            found.append(Pair(root.path, INDEX, index_directory(self.home, root) / INDEX, self.code_space(root)))
            if root.common_dir:
                found.append(Pair(root.path, MEMORY, self._memory_file(root), self.memory_space(root)))
        return list({pair.file: pair for pair in found}.values())  # worktrees of a repository share one file

    def both(self, pair: Pair) -> tuple[Store, Store]:
        """Open the file and the database space of a pair."""
        durable = pair.what != INDEX
        return self._file(pair.file, durable=durable), self._space(pair.space, durable=durable)

    @property
    def owner(self) -> str:
        """The owner of this memory and these tools."""
        return self.settings.storage.owner or self.here

    @property
    def url(self) -> str:
        """The shared database's address, after checking consent."""
        url = self.settings.storage.url
        if not url:
            raise ConfigError(
                "no shared database is set: set storage.url in your user file or as VADE_STORAGE__URL, "
                "as in postgresql://user:password@host/database"
            )
        return self._agreed(url, "keeps code and memory")

    @property
    def searched(self) -> list[str]:
        """The addresses of all databases to search, after checking consent."""
        more = self.settings.storage.more_urls.split()
        if not all("://" in url for url in more):  # not shown: it may be a password
            raise ConfigError(
                "storage.more_urls must be addresses like postgresql://user:password@host/database, separated by spaces"
            )
        return [self.url, *(self._agreed(url, "is asked what you ask") for url in more)]

    def _agreed(self, url: str, does: str) -> str:
        provider = self._provider()
        if provider.is_remote(url) and not self.settings.privacy.allow_remote:
            raise ConsentError(
                f"{provider.place(url)} {does} on another machine: set privacy.allow_remote in your user file "
                "or VADE_PRIVACY__ALLOW_REMOTE=1 to agree"
            )
        return url

    def _provider(self) -> Any:
        return find("store", self.settings.storage.provider)

    def _memory_file(self, root: Root | None) -> Path:
        return (self.home if root is None else index_directory(self.home, root)) / MEMORY

    def _file(self, path: Path, **arguments: Any) -> Store:
        store: Store = find("store", FILES)(path=path, **arguments)
        return store

    def _space(self, space: str, *, durable: bool = False, at_once: bool = True) -> Store:
        timeout_s = self.settings.storage.timeout_s
        store: Store = self._provider()(
            url=self.url, space=space, timeout_s=timeout_s, durable=durable, at_once=at_once
        )
        return store


def roots_in_files(home: Path) -> list[Root]:
    """Return the existing worktrees that have an index in files."""
    known: dict[str, Root] = {}
    for database in sorted((home / "repos").glob(f"*/{INDEX}")):
        with suppress(Error):  # another process may be writing the file, or `vade repos` and `doctor` tell of damage
            roots = [root for place, _ in worktrees_in(database) for root in _standing(place)]
            known |= {root.path: root for root in roots if index_directory(home, root) == database.parent}
    return list(known.values())


def worktrees_in(database: Path) -> list[tuple[str, float]]:
    """Return an index file's worktrees, with indexing times. Raises `StoreError` if unreadable."""
    store: Store = find("store", FILES)(path=database)
    try:
        rows = store.scan("snapshots", [("kind", "=", "worktree")], ("place", "indexed_at"), ("id",)).unwrap()
    finally:
        store.close()
    return [(place, indexed_at) for place, indexed_at in rows]


def _standing(place: str) -> list[Root]:
    return [find_root(place)] if os.path.isdir(place) else []


def machine(home: Path) -> str:
    """Return the unique name of a home directory.

    The first call creates the name. Host names would not do: two machines may share one, or change it.
    """
    from uuid import uuid4

    path = home / "machine"
    try:
        private_folder(home)
        beside = home / f"machine.{os.getpid()}.tmp"
        if not path.exists():
            with open(beside, "w", encoding="ascii", opener=private_opener) as file:
                file.write(uuid4().hex[:12])
            try:
                os.link(beside, path)  # of two concurrent processes one wins, and both read its name
            except FileExistsError:
                pass
            finally:
                beside.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}; set VADE_HOME to a directory that can be written"
        ) from error


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
    import shutil

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
