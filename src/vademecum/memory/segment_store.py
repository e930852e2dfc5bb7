"""Keep segment files, and lay out their events for a process.

Segments lie beside the database as `events-FIRST-LAST.arrays`, and their names are all the register there is. A file
counts if the journal still has, under its last number, the event it ends with: a database that was put back to an earlier
state is noticed by that. New events are read into a small segment at hand, written out when it has grown, and merged with
its neighbours so that a thousand events and a million are a handful of files. What was written is mapped from then on, so that
a process that records for long holds little of its own of what it recorded.

A server has an engine for each of its threads. Engines that are handed one `Sharing` hold these arrays once, whichever of them
asks. They are derived from the databases alone, which each engine reads and writes through connections of its own.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreError
from vademecum.index.segment import runs_to_merge
from vademecum.memory.event_segment import Part, Reader, Segment, View, load_segment, merge_segments, save_segment
from vademecum.memory.journal import Journal, moved_id
from vademecum.memory.ledger import Scope
from vademecum.private import private_folder
from vademecum.protocols import Store

WRITTEN_FROM = 256  # events: a smaller tail is read again by the next process in a few milliseconds
READ_AT_ONCE = 20_000  # events in memory while a large journal is read for the first time
_NAME = re.compile(r"events-(\d+)-(\d+)\.arrays")


class Shelf:
    """The segments of one journal; for one thread at a time."""

    journal: Journal  # the one that is asked just now: each engine has a connection of its own to the same database

    def __init__(self, scope: int, directory: Path) -> None:
        """Take the scope's number and the directory of its files."""
        self.scope = scope
        self.directory = directory
        self._part: Part | None = None
        self._asked: tuple[Store, Hashable] | None = None  # of which store it was made last, and in which state
        self._last = 0  # the last event read
        self._last_written = 0
        self._tombstone = 0
        self._dead: list[int] = []

    def part(self, journal: Journal, reader: Reader) -> Part:
        """Return the scope's current segments; the same object while nothing changed.

        Raises:
            StoreError: the journal cannot be read.
            EmbedError: new events cannot be embedded.
        """
        self.journal = journal
        asked = journal.store, journal.store.state()  # asked first: what is written meanwhile makes the next one differ
        if self._part is not None and asked == self._asked and asked[1] is not None:
            return self._part
        if self._part is None:
            self._load(reader)
        dead, self._tombstone = self.journal.deleted(self._tombstone)
        segments = self._part.segments if self._part else ()
        new: list[Segment] = []
        try:
            for fresh in self.journal.after(self._last, READ_AT_ONCE):
                new.append(reader.segment(fresh))
                self._last = fresh[-1][0]
        except BaseException:  # what was read before it would be taken for known, and never be found
            self._part, self._last, self._tombstone, self._dead = None, 0, 0, []  # all but the files
            raise
        if dead:
            self._dead += dead
        if self._part is None or new or dead:
            segments = self._tidied((*segments, *new), reader)
            self._part = Part(self.scope, segments, np.array(self._dead, np.int64))
        self._asked = asked
        return self._part

    def _load(self, reader: Reader) -> None:
        """Load the longest run of files that continue each other."""
        self._part = None
        segments: list[Segment] = []
        for first, last, path in self._files():
            if first <= self._last:
                continue
            try:
                segment, last_id = load_segment(path, reader.embedder.name)
            except StoreError:
                continue
            if self._fits(first, last, last_id):
                segments.append(segment)
                self._last = last
        self._last_written = self._last
        if segments:
            self._part = Part(self.scope, tuple(segments), np.zeros(0, np.int64))

    def _fits(self, first: int, last: int, last_id: str) -> bool:
        """Return whether a file continues the loaded files.

        The file's last event is in the journal, or was deleted from it or moved.
        """
        end = self.journal.id_at(last)
        if end:
            return end == last_id and first == self._last + 1
        names = [last_id, moved_id(last_id, last)]
        gone = self.journal.store.scan("tombstones", [("id", "in", names)], ("event",)).unwrap()
        return last in [row[0] for row in gone] and first == self._last + 1

    def _is_of_this_journal(self, path: Path, last: int, embedder: str) -> bool:
        """Return whether a file ends as the journal does there."""
        try:
            _, last_id = load_segment(path, embedder)
        except StoreError:
            return False
        return last_id == (self.journal.id_at(last) or last_id)

    def _files(self) -> list[tuple[int, int, Path]]:
        try:
            matches = [(_NAME.fullmatch(entry.name), entry.path) for entry in os.scandir(self.directory)]
        except OSError:
            return []
        found = [(int(match[1]), int(match[2]), Path(path)) for match, path in matches if match]
        return sorted(found, key=lambda item: (item[0], -item[1]))  # of those that begin alike the longest first

    def _tidied(self, segments: tuple[Segment, ...], reader: Reader) -> tuple[Segment, ...]:
        """Merge small segments, and write grown segments unless the disk is full.

        Between two times of writing only what is not written yet is joined: a large one at hand would be a copy of files.
        """
        if self._last - self._last_written >= WRITTEN_FROM:
            with suppress(StoreError):
                if found := self._written(_groups(segments), reader.embedder.name):
                    return found
        unwritten = (i for i, s in enumerate(segments) if s.size and int(s.numbers[-1]) > self._last_written)
        fixed = next(unwritten, len(segments))
        nobody = np.zeros(0, np.int64)
        tail = (own[0] if len(own) == 1 else merge_segments(own, nobody) for own in _groups(segments[fixed:]))
        return (*segments[:fixed], *tail)

    def _written(self, groups: Sequence[Sequence[Segment]], embedder: str) -> tuple[Segment, ...]:
        """Write each group as one file, and load the files.

        None are returned where that has to wait. Raises `StoreError`.
        """
        written = self._write(groups, np.array(self._dead, np.int64), embedder)
        return tuple(load_segment(path, embedder)[0] for path in written)

    def _write(self, groups: Sequence[Sequence[Segment]], dead: NDArray[np.int64], embedder: str) -> list[Path]:
        """Write groups without a file; return all files, or none to wait.

        Raises `StoreError`.
        """
        private_folder(self.directory)
        there = {(first, last): path for first, last, path in self._files()}
        begin = 1
        wanted: dict[tuple[int, int], Path] = {}
        for i, group in enumerate(groups):
            last = max((int(segment.numbers[-1]) for segment in group if segment.size), default=begin - 1)
            end = self._last if i == len(groups) - 1 else last
            if end < begin:
                continue
            path = wanted[begin, end] = self.directory / f"events-{begin:012}-{end:012}.arrays"
            if (begin, end) not in there or not self._is_of_this_journal(path, end, embedder):
                id_ = self.journal.id_at(end)
                if not id_:
                    return []  # its last event has just been deleted: next time
                save_segment(path, merge_segments(group, dead), embedder, id_)
            begin = end + 1
        for span, path in there.items():
            if span not in wanted:  # another process may have it mapped: the mapping outlives the name
                with suppress(OSError):
                    path.unlink()
        self._last_written = self._last
        return list(wanted.values())


def _groups(segments: Sequence[Segment]) -> list[Sequence[Segment]]:
    """Return neighbours that are to be one segment together."""
    return [segments[run] for run in runs_to_merge([segment.size for segment in segments])]


class Laid:
    """The events of some scopes, side by side; threads take turns.

    Attributes:
        weighing: held while events are weighed for a question. What that takes, some 90 bytes for each event that answers at all, is there
            once then; and threads that weigh at the same time are no sooner done, since most of it holds the interpreter's lock.
    """

    def __init__(self, scopes: Sequence[Scope]) -> None:
        """Take the scopes whose derived files are read."""
        self._shelves = [Shelf(scope.number, scope.directory / "memory") for scope in scopes]
        self._view: View | None = None
        self._taking_turns = (
            threading.Lock()
        )  # a second thread would work out the same, over what the first has half done
        self.weighing = threading.Lock()

    def view(self, scopes: Sequence[Scope], reader: Reader) -> View:
        """Return every current event; the same object while nothing changed.

        Raises what `Shelf.part` does.
        """
        with self._taking_turns:
            pairs = zip(self._shelves, scopes, strict=True)
            parts = tuple(shelf.part(scope.journal, reader) for shelf, scope in pairs)
            if self._view is None or any(a is not b for a, b in zip(self._view.parts, parts, strict=True)):
                self._view = View(parts)
            return self._view


class Sharing:
    """Hands the engines of a process one `Laid` for the same scopes."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: WeakValueDictionary[tuple[str, ...], Laid] = WeakValueDictionary()
        self._lock = threading.Lock()

    def of(self, scopes: Sequence[Scope]) -> Laid:
        """Return the `Laid` of all scopes with files in the same directories."""
        with self._lock:
            places = tuple(str(scope.directory) for scope in scopes)
            found = self._known.get(places)
            if found is None:
                found = self._known[places] = Laid(scopes)
            return found
