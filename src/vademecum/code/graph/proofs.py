"""Proofs: the answers of compilers, kept beside the index.

A SCIP index that the user names, or that lies where indexers put it, is read once for each state of its file. What is
kept of it are proofs: at this line this name means that declaration, or nothing that is declared here. They hold for
the content that they were taken with, so a file that was edited has none until an index is made anew.

    proofs-<worktree>-<index>.json   lines of JSON: `Source`; path → blob id, place, length; then a line for each file
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from vademecum.code.graph.scip import Document, ScipError, documents, metadata
from vademecum.code.graph.scip_names import Proof, Taken, Taker
from vademecum.code.snapshot.repository import Opened
from vademecum.code.snapshot.view import FileTable
from vademecum.digests import blake2b
from vademecum.private import replacing
from vademecum.protocols import Clock, Progress

FOUND = "index.scip"  # where indexers put it: at the top of a repository
FORGOTTEN = "none"  # said instead of a file, it takes back those that were named
MOST_BYTES = 256_000_000  # of an index: reading one takes a minute
VERSION = 1  # raised when other proofs are made of an index
_NAMED, _LONGEST = 3, 100  # paths that a note names, and characters of each
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


@dataclass(frozen=True, slots=True)
class Source:
    """One index that was read."""

    version: int
    file: str  # the absolute path of the index
    shown: str  # its path in answers
    mtime_ns: int
    size: int
    key: str  # equal keys mean equal proofs, "" means none
    note: str

    def said(self, now: float) -> str:
        """Return the index and its age.

        >>> Source(1, "/app/index.scip", "index.scip", 0, 0, "", "").said(3 * 3600)
        'index.scip, 3 h old'
        """
        seconds = max(now - self.mtime_ns / 1e9, 0)
        age = next((f"{int(seconds // long)} {unit} old" for long, unit in _UNITS if seconds >= long), "just made")
        return f"{self.shown}, {age}"


@dataclass(frozen=True)
class _Kept:
    """The proofs of one index, as stored."""

    source: Source
    content: bytes

    @cached_property
    def table(self) -> tuple[int, Mapping[str, tuple[str, int, int]]]:
        """The start of the proofs; blob id, place and length by path."""
        first = self.content.index(b"\n") + 1
        second = self.content.index(b"\n", first) + 1
        return second, json.loads(self.content[first:second])

    def of(self, path: str, digest: str) -> bytes:
        """Return the proofs of a file as JSON, b"" for none."""
        begin, table = self.table
        held, at, size = table.get(path, ("", 0, 0))
        return self.content[begin + at : begin + at + size] if held and held == digest else b""


class Proofs:
    """The proofs that hold for the files of one snapshot."""

    def __init__(self, kept: Sequence[_Kept] = (), files: FileTable | None = None, clock: Clock | None = None) -> None:
        """Take the kept indexes and the snapshot's files.

        The clock tells the age of indexes.
        """
        self._kept, self._files, self._clock = kept, files, clock
        self._read: dict[str, tuple[Source | None, bytes]] = {}
        self.notes = tuple(each.source.note for each in kept)
        self.key = "+".join(each.source.key for each in kept if each.source.key)  # of the state of all, "" for none

    def _of(self, path: str) -> tuple[Source | None, bytes]:
        """Return the index of a file's proofs, and them as JSON."""
        if not self.key:
            return None, b""
        if path not in self._read:
            digest = self._files.digest(path) if self._files else ""
            found = ((kept.source, kept.of(path, digest)) for kept in self._kept)
            self._read[path] = next((each for each in found if each[1]), (None, b""))
        return self._read[path]

    def hold(self, path: str) -> bool:
        """Return whether there are proofs for a file as it is."""
        return bool(self._of(path)[1])

    def of(self, path: str) -> list[Proof]:
        """Return the proofs that hold for a file."""
        text = self._of(path)[1]
        return [Proof(*row) for row in json.loads(text)] if text else []

    def tells(self, path: str, line: int, name: str) -> bool:
        """Return whether a name at a line has a proof."""
        return b"[%d,%b," % (line, _json(name)) in self._of(path)[1]

    def said(self, path: str) -> str:
        """Return the index of a file's proofs and its age.

        As in "index.scip, 3 h old".
        """
        source = self._of(path)[0]
        return source.said(self._clock()) if source and self._clock else ""


NO_PROOFS = Proofs()


def proofs_of(opened: Opened, progress: Progress) -> Proofs:
    """Return the proofs of a worktree from its current indexes.

    An index that changed is read again. One that was named holds on when its file has gone, one that was found does not.
    """
    if opened.snapshot.kind != "worktree":
        return NO_PROOFS
    found = os.path.join(opened.repo.root.path, FOUND)
    kept: dict[str, _Kept] = {}
    for place in sorted(opened.repo.catalogue.directory.glob(_name(opened, "*"))):
        known = _load(place)
        if known is not None and known.source.file == found and not _stamp(found, follow=False):
            with suppress(OSError):
                place.unlink()
        elif known is not None:
            kept[known.source.file] = known
    for file in sorted({*kept, found}):
        stamp = _stamp(file, follow=file != found)
        source = kept[file].source if file in kept else None
        if stamp and (source is None or (source.version, source.mtime_ns, source.size) != (VERSION, *stamp)):
            with suppress(OSError):  # nothing can be written: the question is answered without
                kept[file] = _taken(opened, file, progress)
    return Proofs([kept[file] for file in sorted(kept)], opened.view.files, opened.repo.clock) if kept else NO_PROOFS


def take(opened: Opened, file: str, progress: Progress) -> None:
    """Read an index that the user names; "none" forgets all.

    Raises:
        ScipError: the file cannot be read, or is no index. What was kept of it before stays.
    """
    if file == FORGOTTEN:
        for place in opened.repo.catalogue.directory.glob(_name(opened, "*")):
            place.unlink(missing_ok=True)
        return
    try:
        _taken(opened, os.path.realpath(file), progress, is_named=True)
    except OSError as error:
        raise ScipError(f"{file} cannot be taken: {error.strerror}") from error


def _taken(opened: Opened, file: str, progress: Progress, *, is_named: bool = False) -> _Kept:
    """Read an index and keep its proofs.

    A damaged one raises if the user named it, and proves nothing otherwise.
    """
    root = opened.repo.root.path
    shown = os.path.relpath(file, root).replace(os.sep, "/") if file.startswith(f"{root}{os.sep}") else file
    stamp = _stamp(file) or (0, 0)
    try:
        data = _content(file, stamp[1])
        made = metadata(data)
        progress(f"reading {shown}", 0, 0)
        taken = Taker(opened, _prefix(root, file, made.project_root)).take(_counted(documents(data), shown, progress))
        note = _note(f"{shown} by {made.tool[:_LONGEST]}" if made.tool else shown, taken)
    except ScipError as error:
        if is_named:
            raise ScipError(f"{shown} is not taken: {error}") from error
        taken, note = Taken(), f"{shown} is ignored: {error}"
    texts = {path: (digest, _json(rows)) for path, (digest, rows) in sorted(taken.files.items())}
    key = blake2b(repr(list(texts.items())).encode(), digest_size=6).hexdigest() if texts else ""
    source = Source(VERSION, file, shown, *stamp, key, note)
    kept = _Kept(source, _written(source, texts))
    place = opened.repo.catalogue.directory / _name(opened, _short(file))
    with replacing(place) as out:
        out.write(kept.content)
    return kept


def _content(file: str, size: int) -> bytes:
    """Return the content of an index. Raises `ScipError` and `OSError`."""
    if not _stamp(file):
        raise ScipError("it is no file: name one that a SCIP indexer wrote")
    if size > MOST_BYTES:
        raise ScipError(f"it is larger than {MOST_BYTES // 1_000_000} MB: make one for each part of the repository")
    with open(file, "rb") as read:
        return read.read(MOST_BYTES)


def _written(source: Source, texts: Mapping[str, tuple[str, bytes]]) -> bytes:
    """Return a file's content, as the module's docstring gives it."""
    table, at = {}, 0
    for path, (digest, text) in texts.items():
        table[path] = digest, at, len(text)
        at += len(text) + 1
    return b"\n".join((_json(asdict(source)), _json(table), *(text for _, text in texts.values()))) + b"\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _load(place: Path) -> _Kept | None:
    """Return a kept index, None if damaged or gone."""
    try:
        stat_ = place.stat()
        return _loaded(str(place), stat_.st_mtime_ns, stat_.st_size)
    except (OSError, ValueError, TypeError):
        return None


@lru_cache(maxsize=8)
def _loaded(place: str, _mtime_ns: int, _size: int) -> _Kept:
    content = Path(place).read_bytes()
    return _Kept(Source(**json.loads(content[: content.index(b"\n")])), content)


def _name(opened: Opened, index: str) -> str:
    """Return the file name of a worktree's proofs from one index."""
    return f"proofs-{_short(opened.repo.root.path)}-{index}.json"


def _short(path: str) -> str:
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()


def _stamp(file: str, *, follow: bool = True) -> tuple[int, int] | None:
    """Return time and size of a plain file, None for others."""
    try:
        found = os.stat(file, follow_symlinks=follow)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None


def _prefix(root: str, file: str, project: str) -> str:
    """Return the folder of an index's project below a root.

    The index says what it was made of; one made elsewhere is of the folder that it lies in.

    >>> _prefix("/app", "/app/index.scip", "file:///app/web"), _prefix("/app", "/app/web/index.scip", "file:///ci/x")
    ('web/', 'web/')
    >>> _prefix("/app", "/tmp/index.scip", "")
    ''
    """
    top = f"{root}/"
    for folder in (unquote(urlparse(project).path), os.path.dirname(file)):
        if f"{folder.rstrip('/')}/".startswith(top):
            return f"{folder.rstrip('/')}/".removeprefix(top)
    return ""


def _counted(read: Iterator[Document], shown: str, progress: Progress) -> Iterator[Document]:
    for done, document in enumerate(read, 1):
        yield document
        progress(f"reading {shown}", done, 0)


def _note(index: str, taken: Taken) -> str:
    """Say how much of an index was taken."""
    every = len(taken.files) + len(taken.stale) + len(taken.outside)
    parts = [f"{index}: {len(taken.files)} of {every} files taken"]
    parts += [f"changed since: {_some(taken.stale)}"] if taken.stale else []
    parts += [f"outside of the repository: {_some(taken.outside)}"] if taken.outside else []
    parts += [f"{taken.absent} more not indexed"] if taken.absent else []
    return "; ".join(parts)


def _some(paths: Sequence[str]) -> str:
    return ", ".join(
        [
            *(path[:_LONGEST] for path in paths[:_NAMED]),
            *([f"and {len(paths) - _NAMED} more"] if len(paths) > _NAMED else []),
        ]
    )
