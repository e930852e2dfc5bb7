"""A segment of memory: the arrays of events, in one file.

    numbers int64 (N,)   the events, ascending           at       int64 (N,)  milliseconds since the epoch
    roles   uint8 (N,)   index into ROLES                sessions int32 (N,)  index into `session_names`
    speakers int32 (N,)  index into `speaker_names`      lengths  int32 (N,)  terms
    vectors int8 (N, dim), scales float32 (N,)           postings over the N events, one field

Segments are derived from the journal and immutable; a file that is missing, damaged or of another journal's past is made
again. Text is never kept here, but its terms' keys are: what is forgotten leaves the files when they are next merged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import ranges, save_arrays, stored_arrays
from vademecum.index.bm25 import Postings, Schema, build, field_norms, merge
from vademecum.index.segment import quantise
from vademecum.memory.labels import Topics, nothing_known, searched_text
from vademecum.memory.records import Event, Role
from vademecum.memory.words import word_table
from vademecum.protocols import Embedder
from vademecum.types import Passage

ROLES = tuple(Role)
FORMAT = "memory-2"  # raised whenever terms or arrays change their meaning: older files are made again
EMBEDDED_CHARACTERS = 4_000  # of an event; the rest of a long output says nothing a bag of words would keep apart


@dataclass(frozen=True)
class Segment:
    """The arrays of events; the module's docstring has the shapes."""

    numbers: NDArray[np.int64]
    at: NDArray[np.int64]
    roles: NDArray[np.uint8]
    sessions: NDArray[np.int32]
    speakers: NDArray[np.int32]
    lengths: NDArray[np.int32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    postings: Postings
    session_names: tuple[str, ...]
    speaker_names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of events."""
        return len(self.numbers)


class Reader:
    """Turns events into segments, and keeps no words."""

    def __init__(self, embedder: Embedder, topics: Topics = nothing_known) -> None:
        """Take the embedder of the vectors, and the topics of events."""
        self.embedder = embedder
        self._topics = topics

    def segment(self, numbered: Sequence[tuple[int, Event]]) -> Segment:
        """Return the segment of events, which ascend by number.

        Raises `EmbedError`, `StoreError`.
        """
        events = [event for _, event in numbered]
        texts = [event.text for event in events]
        about = self._topics([event.id for event in events])
        words = word_table()
        counts = words.count([searched_text(event.text, about.get(event.id, "")) for event in events])
        keys = counts.values[counts.code]
        tf = np.minimum(counts.count, 255).astype(np.uint8)[:, None]
        passages = [Passage(text[:EMBEDDED_CHARACTERS]) for text in texts]
        whole, scales = quantise(self.embedder.embed(passages, "document").unwrap())
        sessions, session_names = _coded([event.session for event in events])
        speakers, speaker_names = _coded([event.speaker for event in events])
        return Segment(
            np.array([number for number, _ in numbered], np.int64),
            np.array([round(event.at * 1000) for event in events], np.int64),
            np.array([ROLES.index(event.role) for event in events], np.uint8),
            sessions, speakers,
            np.bincount(counts.text, counts.count, len(events)).astype(np.int32),
            whole, scales.astype(np.float32), build(keys, counts.text.astype(np.int32), tf),
            session_names, speaker_names,
        )  # fmt: skip


def _coded(values: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    names = {name: code for code, name in enumerate(dict.fromkeys(values))}
    return np.array([names[value] for value in values], np.int32), tuple(names)


def merge_segments(segments: Sequence[Segment], dead: NDArray[np.int64]) -> Segment:
    """Join segments in order of number; drop the events in `dead`."""
    renumber, keeps = [], []
    base = 0
    for segment in segments:
        keep = ~np.isin(segment.numbers, dead)
        new = np.where(keep, np.cumsum(keep) - 1 + base, -1).astype(np.int32)
        base += int(keep.sum())
        renumber.append(new)
        keeps.append(keep)

    def take(name: str) -> Any:
        return np.concatenate([getattr(segment, name)[keep] for segment, keep in zip(segments, keeps, strict=True)])

    sessions, session_names = _recoded(segments, "session", keeps)
    speakers, speaker_names = _recoded(segments, "speaker", keeps)
    return Segment(
        take("numbers"), take("at"), take("roles"), sessions, speakers, take("lengths"), take("vectors"), take("scales"),
        merge([segment.postings for segment in segments], renumber), session_names, speaker_names,
    )  # fmt: skip


def _recoded(
    segments: Sequence[Segment], kind: str, keeps: Sequence[NDArray[np.bool_]]
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the recoded sessions or speakers of kept events, with names."""
    names: dict[str, int] = {}
    codes = [np.zeros(0, np.int32)]
    for segment, keep in zip(segments, keeps, strict=True):
        own, known = getattr(segment, f"{kind}s")[keep], getattr(segment, f"{kind}_names")
        used = np.unique(own)
        new = np.full(len(known), -1, np.int32)
        new[used] = [names.setdefault(known[code], len(names)) for code in used.tolist()]
        codes.append(new[own])
    return np.concatenate(codes), tuple(names)


def save_segment(path: Path, segment: Segment, embedder: str, last_id: str) -> None:
    """Write a segment, its embedder's name, and its last event's id.

    Raises `StoreError`.
    """
    postings = segment.postings
    save_arrays(
        path,
        {
            "numbers": segment.numbers, "at": segment.at, "roles": segment.roles, "sessions": segment.sessions,
            "speakers": segment.speakers, "lengths": segment.lengths, "vectors": segment.vectors, "scales": segment.scales,
            "keys": postings.keys, "offsets": postings.offsets, "docs": postings.docs, "tf": postings.tf,
        },
        {
            "format": FORMAT, "embedder": embedder, "last_id": last_id,
            "sessions": json.dumps(segment.session_names), "speakers": json.dumps(segment.speaker_names),
        },
    )  # fmt: skip


def load_segment(path: Path, embedder: str) -> tuple[Segment, str]:
    """Return the segment of a file, memory-mapped, and its last event's id.

    Raises:
        StoreCorruptError: the file is missing, damaged, of another format, or its vectors are of another embedder.
    """
    with stored_arrays(path, format=FORMAT, embedder=embedder) as (arrays, metadata):
        a: dict[str, NDArray] = dict(arrays)  # type: ignore[type-arg]
        segment = Segment(
            a["numbers"], a["at"], a["roles"], a["sessions"], a["speakers"], a["lengths"], a["vectors"], a["scales"],
            Postings(a["keys"], a["offsets"], a["docs"], a["tf"]),
            tuple(json.loads(metadata["sessions"])), tuple(json.loads(metadata["speakers"])),
        )  # fmt: skip
        return segment, metadata["last_id"]


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
        """Bool (S,): whether a session is a talk between people alone.

        Notes without a session are none.
        """
        living = np.bincount(self.session[self.alive], minlength=self.session_count)
        others = np.bincount(self.session[self.alive & ~PEOPLE[self.roles]], minlength=self.session_count)
        named = np.array([name != "" for name in self.session_names], bool)
        found: NDArray[np.bool_] = (others == 0) & (living > 1) & named
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
