"""A local copy of each snapshot's record, for offline searches.

It lists the files that a snapshot needs, so that searches work while a shared database is unreachable. Each snapshot
has a file `standing-<digest>.json`. The file is derived: it may vanish at any time, and is written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vademecum.digests import blake2b
from vademecum.private import replacing
from vademecum.protocols import Row

FILE = "standing-{}.json"
TABLE_FILE = 9  # the column of the file table's name in a snapshot's record

Place = tuple[str, str]  # kind and place of a snapshot, as `Catalogue.load` takes them


@dataclass(frozen=True, slots=True)
class Standing:
    """A snapshot's record, and its segment files, newest first."""

    segments: tuple[str, ...]
    record: Row


def keep(directory: Path, place: Place, standing: Standing) -> None:
    """Store a manifest, unless the disk is full, and delete outdated ones."""
    path = _path(directory, place)
    content = json.dumps({"place": place, "segments": standing.segments, "record": standing.record})
    with suppress(OSError):
        if path.exists() and path.read_text() == content:
            return
        with replacing(path) as file:
            file.write(content.encode())
        for other in directory.glob(FILE.format("*")):
            known = _read(other)
            if known is None or not (directory / known[1].record[TABLE_FILE]).exists():
                other.unlink(missing_ok=True)


def kept(directory: Path, place: Place) -> Standing | None:
    """Return a snapshot's manifest, or None."""
    found = _read(_path(directory, place))
    return found[1] if found is not None and found[0] == place else None


def worktrees_kept(home: Path) -> Iterator[str]:
    """Yield the worktrees that have a manifest below a home directory."""
    for path in sorted((home / "repos").glob(f"*/{FILE.format('*')}")):
        found = _read(path)
        if found is not None and found[0][0] == "worktree":
            yield found[0][1]


def _path(directory: Path, place: Place) -> Path:
    digest = blake2b("\0".join(place).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return directory / FILE.format(digest)


def _read(path: Path) -> tuple[Place, Standing] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
        kind, place = found["place"]
        return (kind, place), Standing(tuple(found["segments"]), tuple(found["record"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
