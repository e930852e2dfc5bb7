"""The planned change of one file, and its unified diff for people.

The journal of installed parts lies in `<home>/installs`, with backups. A change is recorded before it is made. After a crash the journal recognises a file by its content: the earlier content
(the change was not made), our content (the change was made), or another (somebody changed the file since).
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vademecum.errors import SourceError, StoreBusyError, StoreCorruptError, StoreVersionError
from vademecum.install.formats import decoded, remove, upsert
from vademecum.install.json_text import bare
from vademecum.install.part import File, Placed, digest_of, make, placed
from vademecum.install.part import replace as replace_file
from vademecum.private import exclusive
from vademecum.version import __version__

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
            replace_file(path, content, 0o600)
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
        replace_file(self.path, (json.dumps(said, indent=1) + "\n").encode("utf-8", "surrogateescape"), 0o600)

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


CONTEXT = 1  # lines around a change; few, because settings hold secrets and terminals are shared
WIDTH = 160


@dataclass(frozen=True, slots=True)
class Change:
    """The planned change of one file."""

    file: File
    new: bytes | None  # the planned content, None for no file
    clean: bytes | None  # the content without our parts
    record: Record | None  # the planned journal entry; `before` is filled in when the file is written
    was: str = ""  # the digest of the content before our parts, if known

    @property
    def is_written(self) -> bool:
        """True if the file changes, and not the journal alone."""
        return self.file.content != self.new

    @property
    def action(self) -> str:
        """The change of the file: "none", "create", "remove" or "change"."""
        if not self.is_written:
            return "none"
        return "create" if self.file.content is None else "remove" if self.new is None else "change"

    @property
    def done(self) -> str:
        """The change in one word, to be followed by its path."""
        if self.new is None:
            return "removed"
        if self.record is not None:
            return "wrote"
        return "restored" if digest_of(self.new) == self.was else "took ours out of"


def with_parts(
    file: File, wanted: Sequence[Placed], installing: Collection[str], journal: Journal, project: str
) -> Change | None:
    """Return the change that adds parts to a file.

    Parts that only the installing agents use, and that are no longer wanted, are removed. None if nothing changes, not
    even the journal.

    Raises:
        EditError: the file breaks its format, or a part cannot be added.
    """
    old = _record(file, journal)
    text = decoded(file.content or b"")
    known: dict[str, Placed] = {}
    stale: list[Placed] = []
    for each in old.parts if old else ():
        others = tuple(agent for agent in each.agents if agent not in installing)
        if any(one.part.id == each.part.id for one in wanted):
            known[each.part.id] = each
        elif others:
            known[each.part.id] = replace(each, agents=others)
        else:
            stale.append(each)
    text = _removed(text, stale)
    for each in wanted:
        text = _added(text, each, known)
    new, parts, clean = text.encode(), tuple(known.values()), _clean(file, old, journal)
    if not parts:
        return Change(file, clean, clean, None, old.before) if old else None
    if file.content == new and old and old.parts == parts and old.after == (digest_of(new),):
        return None
    return Change(file, new, clean, Record("", (digest_of(new),), parts, __version__, project))


def _added(text: str, wanted: Placed, known: dict[str, Placed]) -> str:
    """Add a part to a text and to the known parts."""
    part = wanted.part
    before = known.get(part.id)
    if before is not None and before.part.head and text.startswith(before.part.head):
        text = part.head + text.removeprefix(before.part.head)  # the head of an older version, unchanged
    text, hint = upsert(text, part)
    if before is not None and (not hint or "replaced" in hint):
        hint = before.hint  # the part is ours already: its earlier hint still undoes it
    if hint or before:  # an equal entry that somebody wrote by hand stays theirs
        agents = {*(before.agents if before else ()), *wanted.agents}
        known[part.id] = Placed(part, hint, tuple(sorted(agents)))
    return text


def without_parts(file: File, old: Record, agents: Collection[str], journal: Journal) -> Change | None:
    """Return the change that removes some agents' parts.

    Parts that other agents also use stay. None if nothing changes.

    Raises:
        EditError: the file now breaks its format.
    """
    staying = tuple(
        replace(each, agents=others)
        for each in old.parts
        if (others := tuple(agent for agent in each.agents if agent not in agents))
    )
    if staying == old.parts:
        return None
    clean = _clean(file, _record(file, journal), journal)
    if not staying:
        return Change(file, clean, clean, None, old.before)
    remaining = {each.part.id for each in staying}
    text = _removed(decoded(file.content or b""), [each for each in old.parts if each.part.id not in remaining])
    new = text.encode()
    return Change(file, new, clean, replace(old, before="", after=(digest_of(new),), parts=staying))


def _removed(text: str, parts: Sequence[Placed]) -> str:
    for each in reversed(parts):
        text = remove(text, each.part, each.hint)
    return text


def _record(file: File, journal: Journal) -> Record | None:
    """Return a file's record, None for a file without our parts."""
    old = journal.records.get(str(file.path))
    return None if old is None or digest_of(file.content) == old.before else old


def _clean(file: File, old: Record | None, journal: Journal) -> bytes | None:
    """Return the exact backup, or others' later content without our parts."""
    if old is None or file.content is None:
        return file.content
    if digest_of(file.content) in old.after:
        if not old.before:
            return None
        if (kept := journal.kept(old.before)) is not None:
            return kept
    text = _removed(decoded(file.content), old.parts)
    return None if not old.before and not text.strip("\ufeff \t\r\n") else text.encode()


def diff(change: Change, home: Path) -> str:
    """Return a change as a unified diff.

    "" if only the journal changes. Settings on one long line are wrapped for the diff, so that a reader sees every
    command before agreeing.
    """
    if not change.is_written:
        return ""
    path, now = change.file.path, change.file.content
    name = f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)
    old, new = _lines(now), _lines(change.new)
    note = ""
    if any(len(line) > WIDTH for line in set(old) - set(new) - {line.removesuffix(",") for line in new}):
        rewrapped = _rewrapped(now), _rewrapped(change.new)
        if all(rewrapped):
            (old, new), note = rewrapped, "  (wrapped anew to be read: the file keeps its lines)"
    lines = difflib.unified_diff(
        old,
        new,
        name if now is not None else "/dev/null",
        name + note if change.new is not None else "/dev/null",
        lineterm="",
        n=CONTEXT,
    )
    return "".join(f"{_clipped(line, old)}\n" for line in lines)


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + " (no line end)"]


def _rewrapped(content: bytes | None) -> list[str]:
    """Return a JSON file with an entry a line; else []."""
    try:
        value = json.loads(bare((content or b"").decode("utf-8-sig")))
    except ValueError:
        return []
    return json.dumps(value, indent=2, ensure_ascii=False).split("\n")


def _clipped(line: str, old: Collection[str]) -> str:
    """Shorten a very long line, unless the line is our addition."""
    ours = line.startswith("+") and line[1:].removesuffix(",") not in old
    return line if ours or len(line) <= WIDTH else f"{line[:WIDTH]}…"
