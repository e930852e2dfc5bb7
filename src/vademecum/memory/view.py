"""The events of several scopes end to end, ready to be weighed.

A row is an event's position; the rows of one scope follow those of another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vademecum.index.bm25 import Schema, field_norms
from vademecum.memory.session_index import Layout, Part, laid_out

EVENT = Schema(("text",), (1.0,), (0.3,), k1=0.9)  # messages are short, and most have a few lines
SESSION = Schema(("text",), (1.0,), (0.75,))  # the textbook values: sessions are as long as documents
_NAME = re.compile(r"\w+")
S = TypeVar("S", bound=np.generic)


class View:
    """The events of several scopes as rows 0..N."""

    def __init__(self, layouts: Sequence[Layout]) -> None:
        """Take the scopes' layouts in their order."""
        self.layouts = tuple(layouts)
        self.parts = tuple(layout.part for layout in layouts)
        self.segments = tuple(segment for part in self.parts for segment in part.segments)
        self._filled = [layout for layout in layouts if len(layout)]
        self._rows = _starts([len(layout) for layout in self._filled])
        self._sessions = _starts([len(layout.living) for layout in self._filled])

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows[-1]

    def scope_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """Return which scope each of some events is of: uint8 (R,)."""
        if len(self._filled) == 1:
            return np.full(len(rows), self._filled[0].part.scope, np.uint8)
        scopes = np.array([own.part.scope for own in self._filled], np.uint8)
        return scopes[np.searchsorted(self._rows, rows, "right") - 1]

    def rows_in(self, scope: int) -> slice:
        """Return where the events of a scope stand."""
        ends = zip(self._filled, self._rows, self._rows[1:], strict=False)
        return next((slice(begin, end) for own, begin, end in ends if own.part.scope == scope), slice(0, 0))

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
    def session(self) -> NDArray[np.int32]:
        """int32 (N,): which session; sessions of two scopes are two."""
        pieces = [own.session + np.int32(base) if base else own.session for own, base in self._by_session]
        return self._end_to_end(pieces, np.int32)

    @cached_property
    def session_names(self) -> tuple[str, ...]:
        """The sessions' names, by their codes."""
        return tuple(name for own in self._filled for name in own.sessions.first(len(own.living)))

    @property
    def session_count(self) -> int:
        """The number of sessions."""
        return self._sessions[-1]

    def sessions_named(self, name: str) -> list[int]:
        """Return the codes of the sessions with a name, one per scope."""
        codes = [(own.sessions.get(name), len(own.living), base) for own, base in self._by_session]
        return [code + base for code, count, base in codes if code is not None and code < count]

    @cached_property
    def speaker(self) -> NDArray[np.int32]:
        """int32 (N,): the speaker; a name in two scopes is two speakers."""
        starts = zip(self._filled, self._speakers, strict=False)
        pieces = [own.speaker + np.int32(base) if base else own.speaker for own, base in starts]
        return self._end_to_end(pieces, np.int32)

    @cached_property
    def speaker_words(self) -> dict[str, list[int]]:
        """The words of names, initials left out, and the speakers they name."""
        found: dict[str, list[int]] = {}
        for own, base in zip(self._filled, self._speakers, strict=False):
            for code, name in enumerate(own.speakers.first(len(own.speakers))):
                for word in _NAME.findall(name.lower()):
                    if len(word) > 2:
                        found.setdefault(word, []).append(base + code)
        return found

    @property
    def speaker_count(self) -> int:
        """The number of speakers."""
        return self._speakers[-1]

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """Bool (N,): False for events that were deleted."""
        return self._joined("alive", np.bool_)

    @cached_property
    def living(self) -> int:
        """The number of events that were not deleted."""
        return int(np.count_nonzero(self.alive))

    @property
    def is_whole(self) -> bool:
        """True if nothing was deleted."""
        return self.living == len(self)

    @cached_property
    def norms(self) -> NDArray[np.float32]:
        """An occurrence in each event for BM25, float32 (N, 1)."""
        mean = max(float(self.session_terms.sum()) / max(self.living, 1), 1.0)
        return field_norms(EVENT, self._joined("lengths", np.float32)[:, None], np.array([mean]))

    @cached_property
    def session_terms(self) -> NDArray[np.float64]:
        """float64 (S,): terms of each session."""
        return self._joined("terms", np.float64)

    @cached_property
    def talks(self) -> NDArray[np.bool_]:
        """Bool (S,): whether a session is a talk between people alone."""
        pieces = [(own.others == 0) & (own.living > 1) for own in self._filled]
        return self._end_to_end(pieces, np.bool_)

    @cached_property
    def has_talk(self) -> bool:
        """True if any session is a talk between people."""
        return bool(self.talks.any())

    def rows_of(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the rows of sessions."""
        if len(self._filled) == 1:
            return self._filled[0].rows_of(codes)
        pieces = []
        for (own, base), row in zip(self._by_session, self._rows, strict=False):
            pieces.append(own.rows_of(codes[(codes >= base) & (codes < base + len(own.living))] - base) + row)
        return self._end_to_end(pieces, np.int64)

    @cached_property
    def session_sizes(self) -> NDArray[np.int64]:
        """int64 (S,): events of each session."""
        return self._joined("living", np.int64)

    @cached_property
    def session_means(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Each session's mean vector, int8 (S, dim), scales float32 (S,)."""
        means = [own.means.of(own) for own in self._filled]
        return (self._end_to_end([whole for whole, _ in means], np.int8),
                self._end_to_end([scales for _, scales in means], np.float32))  # fmt: skip

    def before(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return each row's predecessor in its session, or -1, int32 (R,)."""
        return self._next_to(rows, lambda own, its: own.before.take(its))

    def after(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return each row's successor in its session, or -1, int32 (R,)."""
        return self._next_to(rows, lambda own, its: own.after.take(its))

    def _next_to(
        self, rows: NDArray[np.integer[Any]], of: Callable[[Layout, NDArray[np.integer[Any]]], NDArray[np.int32]]
    ) -> NDArray[np.int32]:
        if len(self._filled) == 1:
            return of(self._filled[0], rows)
        found = np.full(len(rows), -1, np.int32)
        for own, base in zip(self._filled, self._rows, strict=False):
            here = np.flatnonzero((rows >= base) & (rows < base + len(own)))
            next_to = of(own, rows[here] - base)
            found[here] = np.where(next_to >= 0, next_to + np.int32(base), next_to)
        return found

    def lay_out(self) -> None:
        """Compute the parts that a question waits for."""
        _ = self.session_means, self.norms, self.speaker_words

    @property
    def _by_session(self) -> list[tuple[Layout, int]]:
        """Each layout with the code of its first session."""
        return list(zip(self._filled, self._sessions, strict=False))

    @cached_property
    def _speakers(self) -> list[int]:
        return _starts([len(own.speakers) for own in self._filled])

    def _joined(self, name: str, dtype: type[S]) -> NDArray[S]:
        return self._end_to_end([getattr(own, name) for own in self._filled], dtype)

    @staticmethod
    def _end_to_end(pieces: Sequence[NDArray[S]], dtype: type[S]) -> NDArray[S]:
        """Return pieces as one array; a single piece is not copied."""
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces) if pieces else np.zeros(0, dtype)


def view_of(parts: Sequence[Part], known: View | None = None) -> View:
    """Lay the events of scopes end to end, reusing the view before."""
    before = known.layouts if known is not None else (None,) * len(parts)
    return View(
        [
            old if old is not None and old.part is part else laid_out(part, old)
            for part, old in zip(parts, before, strict=True)
        ]
    )


def _starts(sizes: Sequence[int]) -> list[int]:
    """Return the begin of each size end to end, then the end."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    return starts
