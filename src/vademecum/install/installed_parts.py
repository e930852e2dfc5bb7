"""The journal of installed parts, in `<home>/installs`, with backups.

A change is recorded before it is made. After a crash the journal recognises a file by its content: the earlier content
(the change was not made), our content (the change was made), or another (somebody changed the file since).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vademecum.code.checkout.lock import exclusive
from vademecum.errors import SourceError, StoreBusyError, StoreCorruptError, StoreVersionError
from vademecum.install.agent_file import digest_of, make, replace
from vademecum.install.part import Placed, placed

FORMAT = 1
WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one file that has our parts."""

    before: str  # the digest of the content without our parts; "" if there was no file
    after: tuple[str, ...]  # digests of the content with our parts; two during a change
    parts: tuple[Placed, ...]  # in the order of their insertion
    version: str  # of the vademecum that wrote last
    project: str  # the repository of the file; "" for the user's own

    def plain(self) -> dict[str, Any]:
        """Return the record as plain JSON."""
        return asdict(self) | {"parts": [part.record() for part in self.parts]}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Record:
        """Return the record from its JSON. Raises `KeyError` or `TypeError`."""
        names = {name: str(plain[name]) for name in ("before", "version", "project")}
        return cls(after=tuple(map(str, plain["after"])), parts=tuple(map(placed, plain["parts"])), **names)


class Journal:
    """The records by real path; the directory is created when needed."""

    def __init__(self, directory: Path) -> None:
        """Read the journal's file, if there is one.

        Raises:
            StoreCorruptError: the journal is damaged; the journal and the backups are not changed.
            StoreVersionError: a newer vademecum wrote it.
        """
        self.directory = directory
        self.path = directory / "journal.json"
        self.records: dict[str, Record] = {}
        self.folders: set[str] = set()  # created for files; an empty one is removed again
        self._read()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the journal's lock, and read the latest records.

        Raises:
            StoreBusyError: another install holds the lock for too long.
            StoreError: the directory cannot be written.
        """
        try:
            with exclusive(self.directory / "lock", WAIT_S):
                self._read()
                yield
        except StoreBusyError as error:
            raise StoreBusyError("another `vade install` is under way: try again when it is done") from error

    def put(self, path: Path, record: Record | None, folders: Iterable[str] = ()) -> None:
        """Store the record of a file about to be written.

        None removes the record. `folders` are about to be created for the file. Raises `SourceError`.
        """
        self.folders.update(folders)
        if record is None:
            self.records.pop(str(path), None)
        else:
            self.records[str(path)] = record
        self._write()

    def keep(self, content: bytes | None) -> str:
        """Back up a content; return its digest, "" for no file."""
        if content is None:
            return ""
        digest = digest_of(content)
        path = self._backup(digest)
        if not path.exists():
            make(path.parent, private=True)
            replace(path, content, 0o600)
        return digest

    def kept(self, digest: str) -> bytes | None:
        """Return a backup, or None if missing or damaged."""
        with suppress(OSError):
            content = self._backup(digest).read_bytes()
            if digest_of(content) == digest:
                return content
        return None

    def tidy(self) -> None:
        """Delete unused backups, and our empty directories; raise `SourceError`."""
        named = {record.before for record in self.records.values()}
        with suppress(OSError):
            for path in (self.directory / "backups").iterdir():
                if path.name not in named:
                    path.unlink()
        left = {
            folder for folder in self.folders if not any(Path(path).is_relative_to(folder) for path in self.records)
        }
        for folder in sorted(left, key=len, reverse=True):
            with suppress(OSError):  # not empty: the directory belongs to others now
                os.rmdir(folder)
        if left:
            self.folders -= left
            self._write()

    def _write(self) -> None:
        files = {name: each.plain() for name, each in sorted(self.records.items())}
        said = {"format": FORMAT, "files": files, "folders": sorted(self.folders)}
        make(self.directory, private=True)
        replace(self.path, (json.dumps(said, indent=1) + "\n").encode("utf-8", "surrogateescape"), 0o600)

    def _backup(self, digest: str) -> Path:
        return self.directory / "backups" / digest

    def _read(self) -> None:
        try:
            said = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            self.records, self.folders = {}, set()
            return
        except OSError as error:
            raise SourceError(f"cannot read {self.path}: {error.strerror}") from error
        except ValueError as error:
            raise self._damaged() from error
        try:
            if said["format"] > FORMAT:
                raise StoreVersionError(f"{self.path} was written by a newer vademecum: upgrade")
            self.records = {str(name): Record.read(each) for name, each in said["files"].items()}
            self.folders = set(map(str, said["folders"]))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise self._damaged() from error

    def _damaged(self) -> StoreCorruptError:
        return StoreCorruptError(
            f"{self.path} is damaged: move it away and install again; what files were before is in backups beside it"
        )
