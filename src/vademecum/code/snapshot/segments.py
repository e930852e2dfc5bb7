"""The segments of one repository on this machine, kept few.

A segment is written before the transaction that names it ends. Where several machines share a store, each names its own
segments (`<machine>/<file>`). The arrays of every content are in the store as well, so a machine that lacks some
fetches them instead of computing them again.

A manifest is a local copy of a snapshot's record, for offline searches: `standing-<digest>.json` lists the files that
the snapshot needs, so that searches work while a shared database is unreachable. It is derived: it may vanish at any
time, and is written again.
"""

from __future__ import annotations

import json
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.digests import blake2b
from vademecum.errors import StoreCorruptError, StoreOutdatedError
from vademecum.index.arrays import packed, unpacked
from vademecum.index.segment import (
    BlobArrays,
    Segment,
    blob_arrays,
    blobs_of,
    is_sound,
    load_segment,
    merge_segments,
    named_arrays,
    runs_to_merge,
    save_segment,
    segment_of,
)
from vademecum.private import replacing
from vademecum.protocols import Condition, Row, Store

MANY_DEAD = 5_000  # chunks that no snapshot names; when they also outweigh the rest, they are dropped
BROUGHT_AT_ONCE = 2_000  # contents


class Segments:
    """The segments of one repository on this machine."""

    def __init__(self, store: Store, directory: Path, embedder: Callable[[], str], here: str = "") -> None:
        """Open the segments that `store` names in `directory`.

        `embedder` returns the name of the vectors' embedder. `here` names this machine where machines share a store.
        """
        self._store = store
        self._directory = directory
        self._embedder = embedder
        self._shared = bool(here)
        self._prefix = f"{here}/" if here else ""
        self._loaded: dict[str, Segment] = {}
        self.unread = 0  # segments that were missing or damaged when they were last asked for
        self.damaged: list[str] = []  # what was found of damaged files, and is still to be told

    def names(self) -> tuple[str, ...]:
        """Return the segment files, newest first: the newest content counts."""
        rows = self._store.scan("segments", self._own(), ("file",), ("id",)).unwrap()
        return tuple(name.removeprefix(self._prefix) for (name,) in rows[::-1])

    def current(self) -> list[Segment]:
        """Return the segments, newest first.

        A missing or damaged segment is left out, and its contents are analysed again.
        """
        names = self.names()
        found: dict[str, Segment] = {}
        for name in names:
            try:
                found[name] = self._loaded.get(name) or load_segment(self._directory / name, self._embedder())
            except StoreCorruptError as error:
                if self.names() != names:  # joined by another process since we asked
                    return self.current()
                self.note(error)
        self._loaded, self.unread = found, len(names) - len(found)
        return list(found.values())

    def note(self, error: StoreCorruptError) -> None:
        """Keep the word of a damaged file until somebody is told."""
        if not isinstance(error, StoreOutdatedError) and str(error) not in self.damaged:
            self.damaged.append(str(error))

    def held(self) -> set[int]:
        """Return the contents whose arrays are on this machine."""
        return {blob for segment in self.current() for blob in segment.blobs.tolist()}

    def forget(self) -> None:
        """Clear the cache of loaded segments."""
        self._loaded = {}

    # -- writing, inside a transaction ---------------------------------------------------------------------------

    def add(self, blobs: Sequence[tuple[int, BlobArrays]]) -> None:
        """Store the arrays of contents."""
        self._keep(blobs)
        self._write(segment_of(blobs))

    def _keep(self, blobs: Iterable[tuple[int, BlobArrays]]) -> None:
        """Store arrays where other machines can fetch them."""
        if self._shared:
            rows = [(number, self._embedder(), packed(named_arrays(arrays), {})) for number, arrays in blobs]
            self._store.upsert("arrays", rows).unwrap()

    def kept(self, blobs: Sequence[int]) -> list[tuple[int, BlobArrays]]:
        """Return the stored arrays of contents, if of this format version."""
        rows = self._store.get("arrays", [(number, self._embedder()) for number in blobs]).unwrap()
        return [(number, arrays) for number, _, data in rows if (arrays := read_arrays(data)) is not None]

    def bring(self, blobs: Iterable[int]) -> set[int]:
        """Fetch arrays that other machines made; return the contents found."""
        wanted, brought = list(blobs), set[int]()
        for start in range(0, len(wanted), BROUGHT_AT_ONCE):
            found = self.kept(wanted[start : start + BROUGHT_AT_ONCE])
            if found:
                with self._store.transaction():
                    self._write(segment_of(found))
                brought |= {number for number, _ in found}
        return brought

    def join(self, *, everything: bool = False) -> None:
        """Merge neighbours in age (`runs_to_merge`), without content that is gone.

        One run after the other is merged, written and let go of, so that memory does not grow with the repository.
        """
        self.current()
        there = _needed(self._loaded)[::-1]  # oldest first
        runs = runs_to_merge([segment.size for _, segment in there], everything=everything)
        if len(runs) == len(self.names()) and not everything:  # a file that cannot be read loses its name
            return
        keep = None
        if everything or len(runs) == 1:
            keep = np.array(sorted(n for (n,) in self._store.scan("blobs", columns=("id",)).unwrap()), np.int64)
        self._store.delete("segments", self._own()).unwrap()
        groups = deque(there[run][::-1] for run in runs)
        del there
        while groups:
            self._join(groups.popleft(), keep)

    def _join(self, newest_first: Sequence[tuple[str, Segment]], keep: NDArray[np.int64] | None) -> None:
        """Name one segment in place of several; an unchanged single one stays."""
        if len(newest_first) == 1 and keep is None:
            self._name(*newest_first[0])
            return
        for name, _ in newest_first:
            del self._loaded[name]
        segment = merge_segments([segment for _, segment in newest_first], keep)
        if segment.size or len(segment.blobs):
            self._write(segment)

    def rewrite(self, change: Callable[[Segment], Segment | None]) -> None:
        """Replace each segment for which `change` returns a new one."""
        old = {name: segment for segment, name in zip(self.current(), self._loaded, strict=True)}
        changed = {name: new for name, segment in old.items() if (new := change(segment)) is not None}
        if not changed:
            return
        self._store.delete("segments", self._own()).unwrap()
        for name, segment in reversed(list(old.items())):  # the order stays
            if name in changed:
                self._keep(blobs_of(changed[name]))
                self._write(changed[name])
            else:
                self._name(name, segment)

    def weed(self) -> bool:
        """Drop damaged or inconsistent segments, to be analysed again; return whether any."""
        kept = [
            (name, segment) for segment, name in zip(self.current(), self._loaded, strict=True) if is_sound(segment)
        ]
        if len(kept) == len(self.names()):
            return False
        with self._store.transaction():
            self._store.delete("segments", self._own()).unwrap()
            for name, segment in reversed(kept):
                self._name(name, segment)
        self.forget()
        return True

    def mostly_dead(self, named: NDArray[np.int64]) -> bool:
        """Return whether most chunks belong to no snapshot, as after many edits.

        `named` are the contents of one snapshot. The database is asked for those of all only where these are too few.
        """
        if not self._is_mostly_apart(named):
            return False
        rows: list[Row] = self._store.scan("files", columns=("blob",)).unwrap()
        return self._is_mostly_apart(np.array([blob for (blob,) in rows], np.int64))

    def _is_mostly_apart(self, named: NDArray[np.int64]) -> bool:
        sizes = [(np.diff(s.starts), np.isin(s.blobs, named)) for s in self.current()]
        dead = sum(int(chunks[~alive].sum()) for chunks, alive in sizes)
        return dead > max(MANY_DEAD, sum(int(chunks[alive].sum()) for chunks, alive in sizes))

    def _own(self) -> list[Condition]:
        return [("file", "prefix", self._prefix)] if self._shared else []

    def _write(self, segment: Segment) -> None:
        name = f"segment-{uuid.uuid4().hex}.safetensors"
        save_segment(self._directory / name, segment, self._embedder())
        self._name(name, segment)

    def _name(self, name: str, segment: Segment) -> None:
        self._store.upsert("segments", [(None, self._prefix + name, len(segment.blobs))]).unwrap()


def _needed(newest_first: Mapping[str, Segment]) -> list[tuple[str, Segment]]:
    """Return segments without those whose contents newer ones hold, all of them."""
    found: list[tuple[str, Segment]] = []
    newer = np.zeros(0, np.int64)
    for name, segment in newest_first.items():
        if not len(segment.blobs) or len(newer) < len(segment.blobs) or not np.isin(segment.blobs, newer).all():
            found.append((name, segment))
            newer = np.concatenate((newer, segment.blobs))
    return found


def read_arrays(data: bytes) -> BlobArrays | None:
    """Unpack arrays, or return None for another format version."""
    try:
        return blob_arrays(unpacked(data)[0])
    except StoreCorruptError:
        return None


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
