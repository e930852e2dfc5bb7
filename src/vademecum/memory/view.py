"""All events of one or several scopes, ready to be weighed: their segments laid end to end, and who stands next to whom.

A row is an event's position. Rows of deleted events stay until segments are merged and are never found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.records import Role
from vademecum.memory.segment import ROLES, Segment, recoded
from vademecum.retrieval.segment import quantise

K1 = 0.9  # how soon repeating a word stops to count; messages are short
B = 0.3  # how much a long message is held against its words; low, since most are of a few lines
SESSION_K1 = 1.2  # the textbook values, for sessions are as long as documents
SESSION_B = 0.75
_SUMMED = 512  # sessions whose vectors are made floats at once
PEOPLE = np.array([role in (Role.USER, Role.NOTE) for role in ROLES])


@dataclass(frozen=True)
class Part:
    """The segments of one scope, and the numbers of its events that were deleted since they were made."""

    scope: int
    segments: tuple[Segment, ...]
    dead: NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """The events of several scopes as rows 0..N."""

    parts: tuple[Part, ...]
    segments: tuple[Segment, ...] = field(repr=False)
    scope: NDArray[np.uint8] = field(repr=False)  # (N,) which scope each event is of
    session: NDArray[np.int32] = field(repr=False)  # (N,) which session; sessions of two scopes are two
    session_names: tuple[str, ...] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.session)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """int64 (N,): the events' numbers in their scopes."""
        return self._joined("numbers", np.int64)

    @cached_property
    def at(self) -> NDArray[np.int64]:
        """int64 (N,): milliseconds since the epoch."""
        return self._joined("at", np.int64)

    @cached_property
    def roles(self) -> NDArray[np.uint8]:
        """uint8 (N,): index into ROLES."""
        return self._joined("roles", np.uint8)

    @cached_property
    def speakers(self) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """int32 (N,) and the names it points to."""
        return recoded(self.segments, "speaker")

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """Bool (N,): False for events that were deleted."""
        alive = np.ones(len(self), bool)
        for part in self.parts:
            if len(part.dead):
                alive &= ~((self.scope == part.scope) & np.isin(self.numbers, part.dead))
        return alive

    @cached_property
    def is_whole(self) -> bool:
        """Whether nothing was deleted."""
        return bool(self.alive.all())

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """float32 (N,): terms of each event."""
        return self._joined("lengths", np.int32).astype(np.float32)

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """float32 (N,): what BM25 adds to a term's count before dividing by it, k1 (1 - b + b length / mean length)."""
        mean = max(float(self.lengths[self.alive].mean()), 1.0) if self.alive.any() else 1.0
        return np.asarray(K1 * (1 - B + B * self.lengths / mean), np.float32)

    @cached_property
    def session_norms(self) -> NDArray[np.float32]:
        """float32 (S,): the same for sessions."""
        total = np.bincount(self.session, self.lengths * self.alive, len(self.session_names))
        return np.asarray(
            SESSION_K1 * (1 - SESSION_B + SESSION_B * total / max(float(total.sum()) / max(len(total), 1), 1.0)),
            np.float32,
        )

    @cached_property
    def is_talk(self) -> NDArray[np.bool_]:
        """Bool (N,): whether the event's session is a talk between people, without an agent, commands or edits."""
        others = np.bincount(self.session[self.alive & ~PEOPLE[self.roles]], minlength=len(self.session_names))
        return np.asarray((others == 0)[self.session] & (self._session_size > 1)[self.session])

    @cached_property
    def has_talk(self) -> bool:
        """Whether any session is a talk between people."""
        return bool(self.is_talk.any())

    def rows_of(self, session: int) -> NDArray[np.int64]:
        """Return the rows of a session."""
        order, starts = self._by_session
        return order[starts[session] : starts[session + 1]]

    @cached_property
    def session_sizes(self) -> NDArray[np.int64]:
        """int64 (S,): events of each session."""
        return np.diff(self._by_session[1])

    @cached_property
    def session_means(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """int8 (S, dim) and scales float32 (S,): the mean of each session's vectors, of unit length."""
        dim = self.segments[0].vectors.shape[1] if self.segments else 0
        means = np.zeros((len(self.session_names), dim), np.float32)
        base = 0
        for segment in self.segments:
            own = self.session[base : base + segment.size]
            order = np.argsort(own, kind="stable")
            codes, first = np.unique(own[order], return_index=True)
            for begin in range(0, len(codes), _SUMMED):
                part = slice(begin, begin + _SUMMED)
                rows = order[first[begin] : first[begin + _SUMMED] if begin + _SUMMED < len(first) else len(order)]
                vectors = segment.vectors[rows] * segment.scales[rows, None]
                means[codes[part]] += np.add.reduceat(vectors, first[part] - first[begin], axis=0)
            base += segment.size
        length = np.sqrt(np.einsum("ij,ij->i", means, means))[:, None]
        return quantise(np.asarray(means / np.where(length > 0, length, 1), np.float32))

    @cached_property
    def _by_session(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.session, kind="stable")
        counts = np.bincount(self.session, minlength=len(self.session_names))
        return order, np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """int32 (N,) twice: the row before and after in the same session, N where there is none."""
        order = np.lexsort((self.numbers, self.at, self.session))
        order = order[self.alive[order]]
        same = self.session[order][1:] == self.session[order][:-1]
        before = np.full(len(self), len(self), np.int32)
        after = before.copy()
        before[order[1:][same]] = order[:-1][same]
        after[order[:-1][same]] = order[1:][same]
        return before, after

    @cached_property
    def _session_size(self) -> NDArray[np.int64]:
        return np.bincount(self.session[self.alive], minlength=len(self.session_names))

    def _joined(self, name: str, dtype: type) -> NDArray:  # type: ignore[type-arg]
        pieces = [getattr(segment, name) for segment in self.segments]
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype)


def view_of(parts: Sequence[Part]) -> View:
    """Lay the segments of scopes end to end."""
    segments = tuple(segment for part in parts for segment in part.segments)
    scope = np.concatenate(
        [np.full(s.size, p.scope, np.uint8) for p in parts for s in p.segments] or [np.zeros(0, np.uint8)]
    )
    codes: list[NDArray[np.int64]] = []
    names: list[str] = []
    for part in parts:
        own, own_names = recoded(part.segments, "session")
        codes.append(own.astype(np.int64) + len(names))
        names += own_names
    session = np.concatenate(codes) if codes else np.zeros(0, np.int64)
    return View(tuple(parts), segments, scope, np.asarray(session, np.int32), tuple(names))
