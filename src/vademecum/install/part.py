"""A part: one entry of ours in a file, with undo data."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vademecum.errors import SourceError, UsageError
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


Hint = dict[str, Any]  # plain JSON with a format's data for removal
MEND = "mend it and run this again"  # the fix for an unreadable file


class EditError(UsageError):
    """A file cannot be changed without damage, and stays as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of our entries in one file."""

    id: str  # within the file: `mcp`, `instructions`, `hook session-start`
    format: str  # json, jsonc, toml, yaml, or a kind of block
    value: Any  # a mapping for an entry, a text for a block
    path: tuple[str, ...] = ()  # the keys of the entry, or of the list that `value` is added to
    mark: str = ""  # for a list: text by which our element is recognised
    head: str = ""  # for a block: the beginning of a file that we create


@dataclass(frozen=True, slots=True)
class Placed:
    """A part in a file, with its undo data and its agents."""

    part: Part
    hint: Hint = field(default_factory=dict)
    agents: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the placed part as plain JSON."""
        return asdict(self.part) | {"hint": self.hint, "agents": self.agents}


def placed(record: Mapping[str, Any]) -> Placed:
    """Return the part from `Placed.record`. Raises `KeyError` or `TypeError`."""
    names = {name: str(record[name]) for name in ("id", "format", "mark", "head")}
    part = Part(value=record["value"], path=tuple(map(str, record["path"])), **names)
    return Placed(part, dict(record["hint"]), tuple(map(str, record["agents"])))


def newline_of(text: str) -> str:
    r"""Return the line end that most lines of a text use.

    >>> newline_of("a\r\nb\r\n"), newline_of("a\nb"), newline_of("")
    ('\r\n', '\n', '\n')
    """
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value at the keys of a path, or None."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def contains(there: Any, wanted: Any) -> bool:
    """Return whether an entry holds the wanted keys and values.

    Other keys do not matter.

    >>> contains({"command": "a", "disabled": True}, {"command": "a"})
    True
    """
    if isinstance(there, dict) and isinstance(wanted, dict):
        return all(key in there and there[key] == value for key, value in wanted.items())
    return bool(there == wanted)


def without(value: Any, path: tuple[str, ...]) -> Any:
    """Return a value without an entry and without emptied parents.

    >>> without({"a": {"b": 1}, "c": 2}, ("a", "b"))
    {'c': 2}
    """
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {key: each for key, each in value.items() if key != path[0]}
    inner = without(value[path[0]], path[1:]) if path[1:] else None
    return rest if inner in (None, {}, []) else rest | {path[0]: inner}


def verify(before: Any, after: Any, part: Part) -> None:
    """Check that a file gained an entry and nothing else. Raises `EditError`."""
    if not contains(value_at(after, part.path), part.value) or without(after, part.path) != without(before, part.path):
        raise EditError(f"{'.'.join(part.path)} cannot be added without changing something else")


def cut(text: str, span: tuple[int, int], hint: Hint) -> str:
    """Return a text without our lines, or with the replaced lines.

    The hint holds the earlier lines in `replaced`, and the line ends put before ours in `glue`.
    """
    start, end = span
    if "replaced" in hint:
        return text[:start] + str(hint["replaced"]) + text[end:]
    kept = text[:start].removesuffix(str(hint.get("glue", "")))
    if text[end:] and kept and not kept.endswith("\n"):  # others appended text: it must begin on its own line
        kept += newline_of(text)
    return kept + text[end:]
