"""Segments written to a file as one, without a copy of what they hold: a piece of memory's files goes over when it is ten times as large.

Every column is written from where it is mapped, a stretch of rows that stay after the other. Only the postings are worked out,
some terms at a time, since each of them takes ten times its size while it is put in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.arrays import save_arrays
from vademecum.memory.segment import FORMAT, Segment
from vademecum.retrieval.postings import Postings, merge

AT_ONCE = 32_768  # postings that are put in order together, unless one term has more

Kept = list[tuple[Segment, slice]]  # stretches of rows that stay, in order of number


def save_joined(path: Path, segments: Sequence[Segment], dead: NDArray[np.int64], embedder: str, last_id: str) -> None:
    """Write segments as one, in order of number, without the events numbered in `dead`.

    With it go the embedder's name, and the id of the last event, by which its journal is known again. There is at least one segment.
    Raises `StoreError`.
    """
    kept = [(segment, rows) for segment in segments for rows in _stretches(segment, dead)]
    postings = list(_postings(segments, dead))
    sessions, session_names = _coded(kept, "session")
    speakers, speaker_names = _coded(kept, "speaker")
    offsets, held = [np.zeros(1, np.int64)], 0
    for own in postings:
        offsets.append(own.offsets[1:] + held)
        held += int(own.offsets[-1])

    def rows(name: str) -> list[NDArray[Any]]:
        return [getattr(segments[0], name)[:0], *(getattr(segment, name)[own] for segment, own in kept)]

    def words(name: str) -> list[NDArray[Any]]:
        return [getattr(segments[0].postings, name)[:0], *(getattr(own, name) for own in postings)]

    save_arrays(
        path,
        {
            "numbers": rows("numbers"), "at": rows("at"), "roles": rows("roles"), "sessions": sessions,
            "speakers": speakers, "lengths": rows("lengths"), "vectors": rows("vectors"), "scales": rows("scales"),
            "keys": words("keys"), "offsets": offsets, "docs": words("docs"), "tf": words("tf"),
        },
        {
            "format": FORMAT, "embedder": embedder, "last_id": last_id,
            "sessions": json.dumps(session_names), "speakers": json.dumps(speaker_names),
        },
    )  # fmt: skip


def _stretches(segment: Segment, dead: NDArray[np.int64]) -> Iterator[slice]:
    """Yield the rows of a segment that stay, as few slices as there are."""
    begin = 0
    for row in np.flatnonzero(np.isin(segment.numbers, dead)).tolist():
        if row > begin:
            yield slice(begin, row)
        begin = row + 1
    if segment.size > begin:
        yield slice(begin, segment.size)


def _coded(kept: Kept, kind: str) -> tuple[list[NDArray[np.int32]], tuple[str, ...]]:
    """Return the session or speaker of every row by one list of names, in pieces, and the names."""
    names: dict[str, int] = {}
    codes = [np.zeros(0, np.int32)]
    for segment, rows in kept:
        own = getattr(segment, f"{kind}s")[rows]
        used = np.unique(own)
        to = np.zeros(len(getattr(segment, f"{kind}_names")), np.int32)
        to[used] = [names.setdefault(getattr(segment, f"{kind}_names")[code], len(names)) for code in used.tolist()]
        codes.append(to[own])
    return codes, tuple(names)


def _postings(segments: Sequence[Segment], dead: NDArray[np.int64]) -> Iterator[Postings]:
    """Yield the postings of all rows that stay, numbered anew, some terms after the other."""
    renumber, base = [], 0
    for segment in segments:
        keep = ~np.isin(segment.numbers, dead)
        renumber.append(np.where(keep, np.cumsum(keep, dtype=np.int32) + np.int32(base - 1), np.int32(-1)))
        base += int(keep.sum())
    pieces = [segment.postings for segment in segments]
    if len(pieces) == 1 and base == segments[0].size:
        yield pieces[0]
        return
    keys = np.unique(np.concatenate([piece.keys for piece in pieces]))
    held = np.zeros(len(keys), np.int64)
    for piece in pieces:
        held[np.searchsorted(keys, piece.keys)] += np.diff(piece.offsets)
    upto = np.cumsum(held)
    begin = 0
    while begin < len(keys):
        most = int(upto[begin] - held[begin]) + AT_ONCE
        end = max(begin + 1, int(np.searchsorted(upto, most, "right")))
        found = merge([_between(piece, keys[begin], keys[end - 1]) for piece in pieces], renumber)
        if len(found.keys):
            yield found
        begin = end


def _between(piece: Postings, first: np.uint64, last: np.uint64) -> Postings:
    """Return the postings of the terms from one to another, both included."""
    begin, end = int(np.searchsorted(piece.keys, first)), int(np.searchsorted(piece.keys, last, "right"))
    start, stop = int(piece.offsets[begin]), int(piece.offsets[end])
    return Postings(
        piece.keys[begin:end], piece.offsets[begin : end + 1] - start, piece.docs[start:stop], piece.tf[start:stop]
    )
