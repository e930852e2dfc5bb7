"""Segments written to a file as one, without a copy of what they hold: a piece of memory's files goes over when it is ten times as large.

Every column is written from where it is mapped, a stretch of rows that stay after the other. Only postings and names are worked
out, some at a time, and gather in files without names (`memory.columns`), so that joining takes as much of the process for many events as
for few.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import save_arrays
from vademecum.index.postings import Postings, build
from vademecum.memory.columns import Columns
from vademecum.memory.segment import FORMAT, Segment

AT_ONCE = 8_192  # postings that are put in order together, or rows whose names are looked up: each takes some 60 bytes meanwhile

Kept = list[tuple[Segment, slice]]  # stretches of rows that stay, in order of number
Triples = tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]  # keys, documents, occurrences


def save_joined(path: Path, segments: Sequence[Segment], dead: NDArray[np.int64], embedder: str, last_id: str) -> None:
    """Write segments as one, in order of number, without the events numbered in `dead`.

    With it go the embedder's name, and the id of the last event, by which its journal is known again. There is at least one segment.
    Raises `StoreError`.
    """
    gone = [_rows_of(segment, dead) for segment in segments]
    kept = [(segment, rows) for segment, own in zip(segments, gone, strict=True) for rows in _stretches(segment, own)]
    postings = _postings(segments, gone, Columns(path.parent))
    sessions, session_names = _coded(kept, "session", Columns(path.parent))
    speakers, speaker_names = _coded(kept, "speaker", Columns(path.parent))

    def rows(name: str) -> list[NDArray[Any]]:
        return [getattr(segments[0], name)[:0], *(getattr(segment, name)[own] for segment, own in kept)]

    save_arrays(
        path,
        {
            "numbers": rows("numbers"), "at": rows("at"), "roles": rows("roles"), "sessions": sessions,
            "speakers": speakers, "lengths": rows("lengths"), "vectors": rows("vectors"), "scales": rows("scales"),
            "keys": postings.keys, "offsets": postings.offsets, "docs": postings.docs, "tf": postings.tf,
        },
        {
            "format": FORMAT, "embedder": embedder, "last_id": last_id,
            "sessions": json.dumps(session_names), "speakers": json.dumps(speaker_names),
        },
    )  # fmt: skip


def _rows_of(segment: Segment, dead: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of a segment whose events are dead, ascending."""
    numbers = np.unique(dead)
    place = np.searchsorted(segment.numbers, numbers)
    here = place < segment.size
    found: NDArray[np.int64] = place[here][segment.numbers[place[here]] == numbers[here]]
    return found


def _stretches(segment: Segment, gone: NDArray[np.int64]) -> Iterator[slice]:
    """Yield the rows of a segment that stay, as few slices as there are."""
    begin = 0
    for row in gone.tolist():
        if row > begin:
            yield slice(begin, row)
        begin = row + 1
    if segment.size > begin:
        yield slice(begin, segment.size)


def _coded(kept: Kept, kind: str, columns: Columns) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the session or speaker of every row by one list of names, and the names."""
    names: dict[str, int] = {}
    codes, place = columns.room(sum(rows.stop - rows.start for _, rows in kept), np.int32), 0
    for segment, rows in kept:
        own, known = getattr(segment, f"{kind}s"), getattr(segment, f"{kind}_names")
        to = np.full(len(known), -1, np.int32)
        for begin in range(rows.start, rows.stop, AT_ONCE):
            some = own[begin : min(begin + AT_ONCE, rows.stop)]
            used = np.unique(some)
            to[used] = [names.setdefault(known[code], len(names)) for code in used.tolist()]
            codes[place : place + len(some)] = to[some]
            place += len(some)
    return codes, tuple(names)


def _postings(segments: Sequence[Segment], gone: Sequence[NDArray[np.int64]], columns: Columns) -> Postings:
    """Return the postings of all rows that stay, numbered anew."""
    pieces = [segment.postings for segment in segments]
    if len(pieces) == 1 and not len(gone[0]):
        return pieces[0]
    growing = _Growing(pieces, columns)
    moved, base = [], 0
    for segment, own in zip(segments, gone, strict=True):
        moved.append(_Moved(segment.postings, own, base))
        base += segment.size - len(own)
    while found := [each for each in moved if not each.is_over]:
        before = min(each.reach(AT_ONCE // len(found)) for each in found)
        if any(each.next < before for each in found):
            growing.add(_sorted([each.until(before) for each in found]))
            continue
        for each in found:  # a term with so many postings that they are not put in order, but follow each other
            if each.next == before:
                for docs, tf in each.of_next(AT_ONCE):
                    growing.extend(before, docs, tf)
    return growing.all


class _Moved:
    """The postings of a segment, read term by term, with the numbers that its rows have among all that stay."""

    def __init__(self, postings: Postings, gone: NDArray[np.int64], base: int) -> None:
        """Take the rows that do not stay, ascending, and what number the first row has that does."""
        self._postings, self._gone, self._base = postings, gone, base
        self._at = 0

    @property
    def is_over(self) -> bool:
        """Whether all terms were read."""
        return self._at == len(self._postings.keys)

    @property
    def next(self) -> int:
        """The key of the next term."""
        return int(self._postings.keys[self._at])

    def reach(self, most: int) -> int:
        """Return the first key at which the postings from the next term on are more than `most`; 2**64 for none."""
        offsets = self._postings.offsets
        place = int(np.searchsorted(offsets, offsets[self._at] + most, "right")) - 1
        return int(self._postings.keys[place]) if place < len(self._postings.keys) else 1 << 64

    def until(self, key: int) -> Triples:
        """Return the postings of all terms before a key."""
        keys, begin = self._postings.keys, self._at
        self._at = end = len(keys) if key >> 64 else int(np.searchsorted(keys, np.uint64(key)))
        offsets = self._postings.offsets[begin : end + 1]
        docs, tf, stay = self._renumbered(int(offsets[0]), int(offsets[-1]))
        return np.repeat(keys[begin:end], np.diff(offsets))[stay], docs, tf

    def of_next(self, most: int) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
        """Yield the postings of the next term, at most so many at a time."""
        begin, end = self._postings.offsets[self._at : self._at + 2].tolist()
        self._at += 1
        for start in range(begin, end, most):
            yield self._renumbered(start, min(start + most, end))[:2]

    def _renumbered(self, begin: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.uint8], Any]:
        """Return the new numbers and the occurrences of postings of rows that stay, and which do: all, or a mask."""
        docs, tf = self._postings.docs[begin:end], self._postings.tf[begin:end]
        if not len(self._gone):
            return docs + np.int32(self._base), tf, slice(None)
        before = np.searchsorted(self._gone, docs)
        stay = self._gone.take(before, mode="clip") != docs
        return (docs + self._base - before)[stay].astype(np.int32), tf[stay], stay


def _sorted(pieces: Sequence[Triples]) -> Postings:
    """Return postings of pieces that follow each other in order of their documents."""
    keys, docs, tf = zip(*pieces, strict=True)
    return build(np.concatenate(keys), np.concatenate(docs), np.concatenate(tf))


class _Growing:
    """Postings to which terms are added in the order of their keys."""

    def __init__(self, pieces: Sequence[Postings], columns: Columns) -> None:
        """Make room for all that the pieces hold."""
        terms, held = (sum(map(len, own)) for own in ([p.keys for p in pieces], [p.docs for p in pieces]))
        self._keys, self._offsets = columns.room(terms, np.uint64), columns.room(terms + 1, np.int64)
        self._docs, self._tf = columns.room(held, np.int32), columns.room(held, np.uint8)
        self._terms = self._held = 0

    def add(self, more: Postings) -> None:
        """Add terms that are not there yet."""
        end = self._terms + len(more.keys)
        self._keys[self._terms : end] = more.keys
        self._offsets[self._terms : end] = more.offsets[:-1] + self._held
        self._terms = end
        self._put(more.docs, more.tf)

    def extend(self, key: int, docs: NDArray[np.int32], tf: NDArray[np.uint8]) -> None:
        """Add postings of a term that is the last one or comes after it."""
        if not len(docs):
            return
        if not self._terms or int(self._keys[self._terms - 1]) != key:
            self._keys[self._terms], self._offsets[self._terms] = np.uint64(key), self._held
            self._terms += 1
        self._put(docs, tf)

    def _put(self, docs: NDArray[np.int32], tf: NDArray[np.uint8]) -> None:
        end = self._held + len(docs)
        self._docs[self._held : end], self._tf[self._held : end] = docs, tf[:, 0]
        self._held = end

    @property
    def all(self) -> Postings:
        """What was added."""
        self._offsets[self._terms] = self._held
        return Postings(
            self._keys[: self._terms],
            self._offsets[: self._terms + 1],
            self._docs[: self._held],
            self._tf[: self._held, None],
        )
