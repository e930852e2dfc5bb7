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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import save_arrays, stored_arrays
from vademecum.index.postings import Postings, build, merge
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
