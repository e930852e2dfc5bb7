"""The events of several scopes end to end, ready to be weighed.

A row is an event's position: in order of number within a scope, the rows of one scope after those of another. Rows of deleted
events stay until segments are merged and are never found. A view is made anew when an event comes or goes, which takes some
milliseconds for ten thousand events.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import ranges
from vademecum.index.bm25 import Schema, field_norms
from vademecum.memory.records import Role
from vademecum.memory.segment import ROLES, Segment

EVENT = Schema(("text",), (1.0,), (0.3,), k1=0.9)  # messages are short, and most have a few lines
WHOLE_SESSION = Schema(("text",), (1.0,), (0.75,))  # the textbook values: sessions are as long as documents
PEOPLE = np.array([role in (Role.USER, Role.NOTE) for role in ROLES])
_NAME = re.compile(r"\w+")


@dataclass(frozen=True)
class Part:
    """The segments of one scope, and the numbers of events deleted since."""

    scope: int
    segments: tuple[Segment, ...]
    dead: NDArray[np.int64]


class View:
    """The events of several scopes as rows 0..N, in S sessions.

    Attributes:
        parts: The scopes' segments, in the order of the rows.
        segments: All segments, in the order of the rows.
        numbers: int64 (N,), the events' numbers in their scopes.
        at: int64 (N,), milliseconds since the epoch.
        roles: uint8 (N,), index into ROLES.
        session: int32 (N,), which session; sessions of two scopes are two.
        session_names: The sessions' names, by their codes.
        speaker: int32 (N,), who spoke; a name in two scopes is two speakers.
        session_count, speaker_count: How many of each there are.
        alive: bool (N,), False for events that were deleted.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        """Take the segments of the scopes, in their order."""
        self.parts = tuple(parts)
        self.segments = tuple(segment for part in parts for segment in part.segments)
        sizes = [sum(segment.size for segment in part.segments) for part in parts]
        self._starts = [0, *accumulate(sizes)]
        self.numbers: NDArray[np.int64] = self._joined("numbers", np.int64)
        self.at: NDArray[np.int64] = self._joined("at", np.int64)
        self.roles: NDArray[np.uint8] = self._joined("roles", np.uint8)
        sessions, self.session = self._coded("session")
        self._speakers, self.speaker = self._coded("speaker")
        self.session_names = tuple(name for _, name in sessions)
        self.session_count, self.speaker_count = len(sessions), len(self._speakers)
        dead = [~np.isin(self.numbers[self.rows_in(part.scope)], part.dead) for part in parts]
        self.alive: NDArray[np.bool_] = np.concatenate([np.zeros(0, bool), *dead])

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._starts[-1]

    def scope_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """Return which scope each of some events is of: uint8 (R,)."""
        scopes = np.array([part.scope for part in self.parts], np.uint8)
        return scopes[np.searchsorted(self._starts[1:], rows, "right")]

    def rows_in(self, scope: int) -> slice:
        """Return where the events of a scope stand."""
        ends = zip(self.parts, self._starts, self._starts[1:], strict=False)
        return next((slice(begin, end) for part, begin, end in ends if part.scope == scope), slice(0, 0))

    def sessions_named(self, name: str) -> list[int]:
        """Return the codes of the sessions with a name, one per scope."""
        return [code for code, own in enumerate(self.session_names) if own == name]

    @cached_property
    def speaker_words(self) -> dict[str, list[int]]:
        """The words of names, initials left out, and the speakers they name."""
        found: dict[str, list[int]] = {}
        for code, (_, name) in enumerate(self._speakers):
            for word in _NAME.findall(name.lower()):
                if len(word) > 2:
                    found.setdefault(word, []).append(code)
        return found

    @cached_property
    def living(self) -> int:
        """The number of events that were not deleted."""
        return int(np.count_nonzero(self.alive))

    @property
    def is_whole(self) -> bool:
        """True if nothing was deleted."""
        return self.living == len(self)

    def knows(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which terms any event holds: bool (T,)."""
        found = np.zeros(len(keys), bool)
        for own in (segment.postings.keys for segment in self.segments if len(segment.postings.keys)):
            found |= own.take(own.searchsorted(keys), mode="clip") == keys
        return found

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """An occurrence in each event for BM25, float32 (N, 1)."""
        mean = max(float(self.session_terms.sum()) / max(self.living, 1), 1.0)
        return field_norms(EVENT, self._joined("lengths", np.float32)[:, None], np.array([mean]))

    @cached_property
    def session_terms(self) -> NDArray[np.float64]:
        """float64 (S,): terms of each session."""
        lengths = self._joined("lengths", np.float64) * self.alive
        return np.bincount(self.session, lengths, self.session_count).astype(np.float64)

    @cached_property
    def talks(self) -> NDArray[np.bool_]:
        """Bool (S,): whether a session is a talk between people alone."""
        living = np.bincount(self.session[self.alive], minlength=self.session_count)
        others = np.bincount(self.session[self.alive & ~PEOPLE[self.roles]], minlength=self.session_count)
        found: NDArray[np.bool_] = (others == 0) & (living > 1)
        return found

    @cached_property
    def has_talk(self) -> bool:
        """True if any session is a talk between people."""
        return bool(self.talks.any())

    def rows_of(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the rows of sessions."""
        order, starts = self._by_session
        return order.take(ranges(starts[codes], starts[codes + 1] - starts[codes]))

    def before(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return each row's predecessor in its session, or -1, int32 (R,)."""
        return self._neighbours[0].take(rows)

    def after(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return each row's successor in its session, or -1, int32 (R,)."""
        return self._neighbours[1].take(rows)

    def lay_out(self) -> None:
        """Compute the parts that a question waits for."""
        _ = self.norms, self.speaker_words, self.has_talk and self._neighbours

    @cached_property
    def _by_session(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All rows by session, and where each session begins among them."""
        sizes = np.bincount(self.session, minlength=self.session_count)
        return np.argsort(self.session, kind="stable"), np.concatenate(([0], np.cumsum(sizes)))

    @cached_property
    def _neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Each living row's neighbours in its session, or -1: int32 (N,)."""
        before, after = np.full(len(self), -1, np.int32), np.full(len(self), -1, np.int32)
        ranked = np.lexsort((self.at, self.session))  # stable: the rows of a session ascend by number
        ranked = ranked[self.alive[ranked]]
        one, next_one = ranked[:-1], ranked[1:]
        same = self.session[one] == self.session[next_one]
        before[next_one[same]], after[one[same]] = one[same], next_one[same]
        return before, after

    def _joined(self, name: str, dtype: Any) -> NDArray[Any]:
        pieces = [getattr(segment, name) for segment in self.segments]
        return np.concatenate([np.zeros(0, dtype), *pieces], dtype=dtype, casting="same_kind")

    def _coded(self, kind: str) -> tuple[tuple[tuple[int, str], ...], NDArray[np.int32]]:
        """Return (scope, name) of each session or speaker, and every row's code."""
        names: dict[tuple[int, str], int] = {}
        pieces = [np.zeros(0, np.int32)]
        for scope, segment in ((part.scope, segment) for part in self.parts for segment in part.segments):
            own = [names.setdefault((scope, name), len(names)) for name in getattr(segment, f"{kind}_names")]
            pieces.append(np.array(own, np.int32)[getattr(segment, f"{kind}s")])
        return tuple(names), np.concatenate(pieces)
