"""The events of one scope by session, each with its neighbours.

    row   an event's place among those of its scope, in order of number

Events are only added, so what is known of the old rows stays true but for the sessions that go on: `laid_out` takes what was
known before and works out the new rows alone. After one more event among 100,000 that is a hundredth of the work, and what was
known is not copied, so that a process that records and is asked in turns does not use up memory by what it lets go. Where an
event was deleted all is worked out again. Rows of deleted events stay until segments are merged and are never found.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import distinct, ranges
from vademecum.index.segment import quantise
from vademecum.memory.records import Role
from vademecum.memory.segment import ROLES, Segment

PEOPLE = np.array([role in (Role.USER, Role.NOTE) for role in ROLES])
LATE = 512  # rows that came since they were last sorted by session: so many are looked through one by one
_SUMMED = 1_024  # events whose vectors are made floats at once

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """The segments of one scope, and the numbers of events deleted since.

    `shrunk` counts how often deleted events left segments: rows stand elsewhere since.
    """

    scope: int
    segments: tuple[Segment, ...]
    dead: NDArray[np.int64]
    shrunk: int = 0


class Names:
    """Codes of names, in the order they are first seen.

    Names are only added, so old and new layouts share them.
    """

    def __init__(self) -> None:
        """Begin with no names."""
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._codes)

    def recoded(self, names: Sequence[str], codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return a segment's codes as codes of these names."""
        to = np.array([self._codes.setdefault(name, len(self._codes)) for name in names], np.int32)
        return to[codes]

    def first(self, count: int) -> tuple[str, ...]:
        """Return the names of the codes below `count`."""
        return tuple(self._codes)[:count]

    def get(self, name: str) -> int | None:
        """Return the code of a name, None where there is none."""
        return self._codes.get(name)


@dataclass(frozen=True)
class Layout:
    """The events of one scope as rows 0..N, in S sessions."""

    part: Part
    numbers: NDArray[np.int64] = field(repr=False)  # (N,) the events' numbers, ascending
    at: NDArray[np.int64] = field(repr=False)  # (N,) milliseconds since the epoch
    roles: NDArray[np.uint8] = field(repr=False)  # (N,) index into ROLES
    session: NDArray[np.int32] = field(repr=False)  # (N,)
    speaker: NDArray[np.int32] = field(repr=False)  # (N,)
    lengths: NDArray[np.float32] = field(repr=False)  # (N,) terms
    alive: NDArray[np.bool_] = field(repr=False)  # (N,) False for events that were deleted
    before: NDArray[np.int32] = field(repr=False)  # (N,) the row before in the same session, -1 where there is none
    after: NDArray[np.int32] = field(repr=False)  # (N,) the row after in the same session, -1 where there is none
    living: NDArray[np.int64] = field(repr=False)  # (S,) events of each session that were not deleted
    others: NDArray[np.int64] = field(repr=False)  # (S,) those of them that no person said
    terms: NDArray[np.float64] = field(repr=False)  # (S,) their terms
    order: NDArray[np.int32] = field(repr=False)  # (M,) the first M rows by session
    starts: Rows = field(repr=False)  # where each session begins among them
    sessions: Names = field(repr=False)
    speakers: Names = field(repr=False)
    means: SessionMeans = field(repr=False)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.numbers)

    def rows_of(self, codes: NDArray[np.integer[Any]]) -> Rows:
        """Return the rows of sessions, those that came late first."""
        return _rows_of(codes, self.session, self.order, self.starts)


def laid_out(part: Part, known: Layout | None = None) -> Layout:
    """Return the layout of a scope, extending the known one where possible."""
    begun = known if known is not None and len(known) and _continues(known, part) else _nothing(part)
    return _extended(begun, part)


def _continues(known: Layout, part: Part) -> bool:
    """Return whether a part continues a layout, without a deletion since."""
    if part.shrunk != known.part.shrunk:
        return False
    return len(part.dead) == len(known.part.dead) and sum(segment.size for segment in part.segments) >= len(known)


def _nothing(part: Part) -> Layout:
    whole, small = np.zeros(0, np.int64), np.zeros(0, np.int32)
    dim = part.segments[0].vectors.shape[1] if part.segments else 0
    return Layout(
        part, whole, whole, np.zeros(0, np.uint8), small, small, np.zeros(0, np.float32), np.zeros(0, bool), small, small,
        whole, whole, np.zeros(0), small, np.zeros(1, np.int64), Names(), Names(), SessionMeans(dim),
    )  # fmt: skip


def _extended(known: Layout, part: Part) -> Layout:
    """Return a layout extended by the new rows of a part."""
    tail = list(rows_from(part.segments, len(known)))

    def longer(name: str, old: NDArray[Any]) -> Any:
        pieces = [getattr(segment, name)[begin:] for segment, begin in tail]
        return np.concatenate([old, *pieces], dtype=old.dtype)

    numbers, at, roles = longer("numbers", known.numbers), longer("at", known.at), longer("roles", known.roles)
    lengths = longer("lengths", known.lengths)
    session = np.concatenate([known.session, *_codes(known.sessions, "session", tail)])
    speaker = np.concatenate([known.speaker, *_codes(known.speakers, "speaker", tail)])
    new = slice(len(known), len(numbers))
    living = ~np.isin(numbers[new], part.dead)
    own, count = session[new][living], len(known.sessions)
    order, starts = known.order, known.starts
    if len(numbers) - len(order) > LATE:
        order, starts = _by_session(known, session, count)
    alive = np.concatenate([known.alive, living])
    rows = _rows_of(distinct(session[new]), session, order, starts)
    before, after = _chained(known, rows[alive[rows]], session, (session, at, numbers))
    people = PEOPLE[roles[new][living]]
    return Layout(
        part, numbers, at, roles, session, speaker, lengths, alive, before, after,
        _added(known.living, np.bincount(own, minlength=count)),
        _added(known.others, np.bincount(own[~people], minlength=count)),
        _added(known.terms, np.bincount(own, lengths[new][living], count)),
        order, starts, known.sessions, known.speakers, known.means,
    )  # fmt: skip


def rows_from(segments: Sequence[Segment], row: int) -> Iterator[tuple[Segment, int]]:
    """Yield the segments from a row on, and the place there."""
    base = 0
    for segment in segments:
        if base + segment.size > row:
            yield segment, max(row - base, 0)
        base += segment.size


def _codes(names: Names, kind: str, tail: Sequence[tuple[Segment, int]]) -> list[NDArray[np.int32]]:
    return [
        names.recoded(getattr(segment, f"{kind}_names"), getattr(segment, f"{kind}s")[begin:])
        for segment, begin in tail
    ]


def _by_session(known: Layout, session: NDArray[np.int32], count: int) -> tuple[NDArray[np.int32], Rows]:
    """Return the rows by session, late ones included, and each session's begin."""
    old, begins = known.order, np.full(count + 1, len(known.order))
    begins[: len(known.starts)] = known.starts
    late = session[len(old) :]
    ascending = np.argsort(late, kind="stable")
    codes, more = late[ascending], np.bincount(late, minlength=count)
    shift = np.concatenate(([0], np.cumsum(more)))
    starts = begins + shift
    order = np.empty(len(session), np.int32)
    order[np.arange(len(old)) + shift.take(session.take(old))] = old
    order[begins[codes + 1] + np.arange(len(codes))] = ascending + len(old)
    return order, starts


def _chained(
    known: Layout, rows: Rows, session: NDArray[np.int32], by: tuple[NDArray[Any], ...]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return each row's neighbours; the sessions of `rows` are ordered by `by`."""
    ranked = rows[np.lexsort([array[rows] for array in reversed(by)])]
    same = session[ranked[1:]] == session[ranked[:-1]]
    fresh = np.full(len(session) - len(known), -1, np.int32)
    before, after = np.concatenate([known.before, fresh]), np.concatenate([known.after, fresh])
    before[ranked], after[ranked] = -1, -1
    before[ranked[1:][same]], after[ranked[:-1][same]] = ranked[:-1][same], ranked[1:][same]
    return before, after


def _rows_of(
    codes: NDArray[np.integer[Any]], session: NDArray[np.int32], order: NDArray[np.int32], starts: Rows
) -> Rows:
    last = int(codes.max(initial=-1))
    sorted_ones = codes if last < len(starts) - 1 else codes[codes < len(starts) - 1]
    begin = starts.take(sorted_ones)
    rows = order.take(ranges(begin, starts.take(sorted_ones + 1) - begin)).astype(np.int64)
    late = session[len(order) :]
    if not len(late) or not len(codes):
        return rows
    wanted = np.zeros(last + 2, bool)  # its end stands for all codes beyond
    wanted[codes] = True
    came = wanted.take(late, mode="clip").nonzero()[0]
    return np.concatenate((came + len(order), rows)) if len(came) else rows


def _added(known: Any, more: Any) -> Any:
    """Return the known counts of sessions plus more."""
    total = more.astype(known.dtype)
    total[: len(known)] += known
    return total


class SessionMeans:
    """The mean vector of each session: unit length, whole numbers, made lazily."""

    def __init__(self, dim: int) -> None:
        """Begin with no rows, of vectors of `dim` numbers."""
        self._rows = 0
        self._sums = np.zeros((0, dim), np.float32)
        self._whole = np.zeros((0, dim), np.int8)
        self._scales = np.zeros(0, np.float32)
        self._lock = threading.Lock()

    def of(self, layout: Layout) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return int8 (S, dim) and scales float32 (S,) of a layout's sessions."""
        count = len(layout.living)
        with self._lock:
            if self._rows < len(layout):
                self._take_in(layout, count)
            return self._whole[:count], self._scales[:count]

    def _take_in(self, layout: Layout, count: int) -> None:
        self._widen(count)
        row = self._rows
        for segment, begin in rows_from(layout.part.segments, row):
            own = layout.session[row : row + segment.size - begin]
            self._add(own, segment, begin)
            row += len(own)
        touched = distinct(layout.session[self._rows :])
        sums = self._sums[touched]
        length = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
        whole, scales = self._whole.copy(), self._scales.copy()  # subtle: who asked before may still be reading
        whole[touched], scales[touched] = quantise(np.asarray(sums / np.where(length > 0, length, 1), np.float32))
        self._whole, self._scales, self._rows = whole, scales, len(layout)

    def _widen(self, count: int) -> None:
        have, dim = self._whole.shape
        if count > len(self._sums):  # with room for more, since a copy takes as long as all the rest
            self._sums = np.concatenate([self._sums, np.zeros((count + count // 8 - len(self._sums), dim), np.float32)])
        if count > have:
            self._whole = np.concatenate([self._whole, np.zeros((count - have, dim), np.int8)])
            self._scales = np.concatenate([self._scales, np.zeros(count - have, np.float32)])

    def _add(self, session: NDArray[np.int32], segment: Segment, begin: int) -> None:
        order = np.argsort(session, kind="stable")
        for start in range(0, len(order), _SUMMED):
            rows = order[start : start + _SUMMED]
            heads = np.flatnonzero(np.diff(session[rows], prepend=-1))
            vectors = segment.vectors[rows + begin] * segment.scales[rows + begin, None]
            self._sums[session[rows[heads]]] += np.add.reduceat(vectors, heads, axis=0)
