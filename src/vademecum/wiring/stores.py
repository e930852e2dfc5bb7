"""Where each kind of record is kept: a file each below the home directory, or a space each of one shared database.

    records of        in files                      in a shared database, the space
    code              repos/<name>-<hash>/index.db  code:<origin>
    a repository's    repos/<name>-<hash>/memory.db memory:<owner>:<origin>, or memory:<origin> where all share it
      memory
    the rest of it    memory.db                     memory:<owner>
    tools             user.db                       tools:<owner>
    a source          sources/<name>/index.db       source:<owner>:<name>

Derived files lie below the home directory in both cases: each machine has its own, made again from the records where they
are missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vademecum.code.checkout.identity import folder_name, index_directory, repository_name, shared_identity
from vademecum.code.checkout.root import Root, find_root
from vademecum.code.snapshot.manifest import worktrees_kept
from vademecum.config import Settings
from vademecum.errors import ConfigError, ConsentError, Error, StoreAwayError, StoreError
from vademecum.plugins import find
from vademecum.private import keep_private, private_folder, private_opener
from vademecum.protocols import SearchServer, Store

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
    """One store, in files and in a shared database."""

    of: str  # the repository's directory, or "everything"
    what: str  # INDEX, MEMORY or TOOLS
    file: Path
    space: str


class Stores:
    """Opens what records are kept in, as the settings say.

    Raises, from every method:
        ConfigError: a shared database is chosen and not named.
        ConsentError: it is on another machine, and nobody agreed to that.
        StoreError: it cannot be opened.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.home
        if not settings.storage.home:  # the usual place is ours; a folder that somebody named is left as it is
            keep_private(self.home)
        self.shared = settings.storage.provider != FILES

    @property
    def here(self) -> str:
        """The name of this machine, or rather of its home directory, where others share the database; "" in files."""
        return machine(self.home) if self.shared else ""

    def code(self, root: Root) -> Store:
        """Open the index of a repository. A damaged file is set aside: all it held can be read from the disk again."""
        if self.shared:
            return self._space(self.code_space(root), at_once=False)  # a search goes on without it
        return self._file(index_directory(self.home, root) / INDEX, set_aside=True)

    def memory(self, root: Root | None, *, busy_seconds: float = 60.0) -> Store:
        """Open the memory of a repository, or of everything. It is never set aside: nothing remakes it."""
        if self.shared:
            return self._space(self.memory_space(root), durable=True)
        return self._file(self._memory_file(root), durable=True, remedy=MEMORY_REMEDY, busy_seconds=busy_seconds)

    def has_memory(self, root: Root | None) -> bool:
        """Return whether there is such a memory yet; none is made for being asked."""
        if not self.shared:
            return self._memory_file(root).exists()
        return self.memory_space(root) in self.spaces(self.memory_space(root))

    def source(self, name: str) -> Store:
        """Open what is kept of a backlog or a source of documents; all of it can be fetched again."""
        if self.shared:
            return self._space(self._source_space(name))
        return self._file(self._source_file(name), set_aside=True)

    def has_source(self, name: str) -> bool:
        """Return whether anything is kept of it yet."""
        space = self._source_space(name)
        return space in self.spaces(space) if self.shared else self._source_file(name).exists()

    def _source_file(self, name: str) -> Path:
        return self.home / "sources" / name / INDEX

    def _source_space(self, name: str) -> str:
        return f"source:{self.owner}:{name}"

    def tools(self) -> Store:
        """Open the user's tools. They are never set aside either."""
        if self.shared:
            return self._space(f"tools:{self.owner}", durable=True)
        return self._file(self.home / TOOLS, remedy=TOOLS_REMEDY)

    def has_tools(self) -> bool:
        """Return whether any tool or trace was ever kept."""
        space = f"tools:{self.owner}"
        return space in self.spaces(space) if self.shared else (self.home / TOOLS).exists()

    def where(self, file: Path) -> str:
        """Return where records are, to be shown: `file`, or the shared database."""
        return str(self._provider().place(self.url)) if self.shared else str(file)

    def elsewhere(self) -> str:
        """Return a shared database that is on another machine, as it may be shown; "" for one that is here, or files."""
        return str(self._provider().place(self.url)) if self.shared and self._provider().is_remote(self.url) else ""

    def roots_in_spaces(self) -> list[Root]:
        """Return the worktrees on this machine that a shared database has an index of and that are still there."""
        prefix = f"{self.here}:"
        try:
            rows = self._provider().across(
                self.url, "snapshots", [("kind", "=", "worktree"), ("place", "prefix", prefix)], ("place",),
                timeout_s=self.settings.storage.timeout_s,
            )  # fmt: skip
        except StoreAwayError:  # what this machine read of it before can be searched all the same
            return [root for place in dict.fromkeys(worktrees_kept(self.home)) for root in _standing(place)]
        places = [(space, place.removeprefix(prefix)) for space, place in rows]
        roots = {root.path: (space, root) for space, place in places for root in _standing(place)}
        return [root for space, root in roots.values() if self.code_space(root) == space]

    def spaces(self, beginning: str) -> list[str]:
        """Return the names of a shared database's spaces that begin so."""
        timeout_s = self.settings.storage.timeout_s
        names: list[str] = self._provider().spaces(self.url, beginning, timeout_s=timeout_s)
        return names

    def reach(self) -> None:
        """Check that a shared database answers. Files are opened when they are read, so they are not looked at."""
        if self.shared:
            self.spaces(self.memory_space(None))

    def space(self, root: Root) -> str:
        """Return what a shared database calls a repository's index, "" in files."""
        return self.code_space(root) if self.shared else ""

    def called(self, root: Root) -> str:
        """Return what a repository's records call it: in a shared database by its origin, whatever each directory is called."""
        return folder_name(shared_identity(root, "")) if self.shared else repository_name(root)

    def searcher(self) -> Callable[[], SearchServer] | None:
        """Return what opens the server that searches a shared database, None where records are in files."""
        if not self.shared:
            return None

        @cache
        def opened() -> SearchServer:
            own = self.settings.storage
            server: SearchServer = find("searcher", own.provider)(url=self.url, timeout_s=own.timeout_s)
            return server

        return opened

    def code_space(self, root: Root) -> str:
        """Return the space of a repository's index."""
        return f"code:{shared_identity(root, self.here)}"

    def memory_space(self, root: Root | None) -> str:
        """Return the space of a repository's memory, or of that of everything."""
        if root is None:
            return f"memory:{self.owner}"
        origin = shared_identity(root, self.here)
        return f"memory::{origin}" if self.settings.storage.shared_memory else f"memory:{self.owner}:{origin}"

    def pairs(self) -> list[Pair]:
        """Return what this machine keeps, or may keep: each with its file and its space of a shared database."""
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
        return list({pair.file: pair for pair in found}.values())  # the worktrees of a repository share one

    def both(self, pair: Pair) -> tuple[Store, Store]:
        """Open a file and its space."""
        durable = pair.what != INDEX
        return self._file(pair.file, durable=durable), self._space(pair.space, durable=durable)

    @property
    def owner(self) -> str:
        """Whose memory and tools these are."""
        return self.settings.storage.owner or self.here

    @property
    def url(self) -> str:
        """The shared database, with consent to what it is sent."""
        url = self.settings.storage.url
        if not url:
            raise ConfigError(
                "no shared database is set: set storage.url in your user file or as VADE_STORAGE__URL, "
                "as in postgresql://user:password@host/database"
            )
        provider = self._provider()
        if provider.is_remote(url) and not self.settings.privacy.allow_remote:
            raise ConsentError(
                f"{provider.place(url)} keeps code and memory on another machine: set privacy.allow_remote in your user file "
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
    """Return the worktrees that have an index of their own below a home directory and are still there."""
    known: dict[str, Root] = {}
    for database in sorted((home / "repos").glob(f"*/{INDEX}")):
        roots = [root for place, _ in worktrees_in(database) for root in _standing(place)]
        known |= {root.path: root for root in roots if index_directory(home, root) == database.parent}
    return list(known.values())


def worktrees_in(database: Path) -> list[tuple[str, float]]:
    """Return the worktrees that a file holds an index of, and when each was last indexed; none where it cannot be read."""
    try:
        store: Store = find("store", FILES)(path=database)
        rows = store.scan("snapshots", [("kind", "=", "worktree")], ("place", "indexed_at"), ("id",))
        store.close()
        return [(place, indexed_at) for place, indexed_at in rows.unwrap()]
    except Error:
        return []  # another process may be making it, or `doctor` will tell


def _standing(place: str) -> list[Root]:
    return [find_root(place)] if os.path.isdir(place) else []


def machine(home: Path) -> str:
    """Return the name of a home directory, given when it is first asked for: machines may have one name, or change it."""
    from uuid import uuid4

    path = home / "machine"
    try:
        private_folder(home)
        beside = home / f"machine.{os.getpid()}.tmp"
        if not path.exists():
            with open(beside, "w", encoding="ascii", opener=private_opener) as file:
                file.write(uuid4().hex[:12])
            try:
                os.link(beside, path)  # of two processes at once one wins, and both read its name
            except FileExistsError:
                pass
            finally:
                beside.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}; set VADE_HOME to a directory that can be written"
        ) from error
