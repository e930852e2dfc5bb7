"""The contents of a vector index: points, payloads and filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter on points of a vector index.

    Each field that is not empty has to match; `Filter()` matches everything.

    `matching.matches` defines the meaning, for every index alike.
    """

    repo: str = ""
    commit: str = ""  # the label that the evidence id names
    files: tuple[str, ...] = ()  # exact paths; any may match
    paths: tuple[str, ...] = ()  # globs or prefixes, as in `Query.paths`; any may match
    exclude: tuple[str, ...] = ()  # globs or prefixes; none may match
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()  # kinds of chunk, as "function"
    file_kinds: tuple[str, ...] = ()  # kinds of file, as "test"
    symbol: str = ""  # a defined name, bare or qualified


@dataclass(frozen=True, slots=True)
class Payload:
    """The data stored with a vector.

    It is enough to filter by, to show, and to find the chunk again.
    """

    id: str  # the evidence id, <repo>:<commit>:<path>:<chunkHash>
    repo: str
    branch: str
    commit: str
    path: str
    language: str
    start_line: int
    end_line: int
    kind: str  # a ChunkKind value
    file_kind: str  # a FileKind value
    symbols: tuple[str, ...]  # qualified names
    text: str
    blob: str  # git's id of the content
    ordinal: int  # the chunk's index within the content, from 0

    @property
    def key(self) -> str:
        """The evidence id as a UUID, the point's id on servers.

        The same evidence id gives the same UUID everywhere.
        """
        return point_key(self.id)


def payload_of(record: Mapping[str, Any]) -> Payload:
    """Return the payload in an index's record. Raises `ValueError` for others."""
    values: dict[str, Any] = {}
    for known in fields(Payload):
        value = record.get(known.name)
        if known.name == "symbols":
            value = tuple(value) if isinstance(value, list | tuple) and all(isinstance(s, str) for s in value) else None
        if value is None or (known.type in ("str", "int") and type(value).__name__ != known.type):
            raise ValueError(f"a point has no {known.name} of the right type")
        values[known.name] = value
    return Payload(**values)


def point_key(evidence_id: str) -> str:
    """Return an evidence id as a UUID (version 5, RFC 9562).

    >>> point_key("app:0a1b:src/a.py:00ff00ff00ff00ff")
    'efc2d1a8-1a91-5dc3-a458-c6b2bc2d5426'
    """
    from uuid import UUID, uuid5

    return str(uuid5(UUID("5c9e1c0e-8d0b-5a86-9a55-6a1f0d7a2b11"), evidence_id))


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A vector with its payload.

    The vector is float32 of shape (dim,), of unit length or all zeros.

    `tokens` is the same text for search by words: term number (below 2**32) to weight. Indexes without such search ignore it.
    """

    payload: Payload
    vector: NDArray[np.float32]
    tokens: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Near:
    """A point with its score in a search."""

    payload: Payload
    score: float  # the cosine, -1..1; 0 if either vector is all zeros
