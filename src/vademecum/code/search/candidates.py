"""Features of the candidates and their files, for the fitted ranker.

Candidates are the rows that words, meaning, path and definition put first. A file is described by the best values of
its candidates, and by all its chunks together, so that an answer spread over several functions counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.code.search.signals import Floats, Signals
from vademecum.code.snapshot.files import FILE_KINDS
from vademecum.index.bm25 import saturated
from vademecum.index.schema import Schema
from vademecum.index.segment import FIELDS, KIND_CODES
from vademecum.types import ChunkKind, FileKind

Numbers = NDArray[np.int64]
Values = NDArray[Any]  # numbers of any type

_BODY, _NAME, _SIGNATURE, _DOCS = range(len(FIELDS))
_KINDS = (
    ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CLASS, ChunkKind.CONSTANT, ChunkKind.MODULE, ChunkKind.TYPE,
    ChunkKind.INTERFACE,
)  # fmt: skip
_UNASKED = (FileKind.TEST, FileKind.DOC, FileKind.CONFIG, FileKind.EXAMPLE, FileKind.VENDORED)
_OF_THE_BEST = ("fused", "coverage", "in_signature", "dense", "definition", "definition_of_name")
PIECE_FEATURES = (
    "dense", "coverage", "in_name", "definition", "definition_of_name", "length", *(f"is_{kind}" for kind in _KINDS),
)  # fmt: skip
FILE_FEATURES = (
    *_OF_THE_BEST, "coherence", "bm25", "path_dense", *(f"unasked_{kind}" for kind in _UNASKED),
)  # fmt: skip
WHOLE_FILE = Schema(("text",), (1.0,), (0.75,))
NAME_COUNTS = 2  # how much more an occurrence in a chunk's name counts for its file


def _one_hot(wanted: Sequence[StrEnum], every: Sequence[StrEnum]) -> Floats:
    """Return the kinds as one-hot rows, float32 (len(wanted), len(every)).

    Column `code` marks the wanted kind with that code.
    """
    return np.equal.outer([every.index(kind) for kind in wanted], np.arange(len(every))).astype(np.float32)


IS_KIND, IS_UNASKED = _one_hot(_KINDS, KIND_CODES), _one_hot(_UNASKED, FILE_KINDS)


@dataclass(frozen=True, slots=True)
class Pool:
    """C candidates in G files, grouped by file.

    Within a file, candidates keep their order.

    Attributes:
        rows, chunks: int64 (C,). fused: float32 (C,), the score that made them candidates, above 0.
        files: int64 (G,), ascending. slot: int64 (C,), the place of each candidate's file in `files`. starts: int64 (G,),
            the start of each file's candidates.
    """

    rows: Numbers
    chunks: Numbers
    fused: Floats
    files: Numbers
    slot: Numbers
    starts: Numbers


def pool_of(signals: Signals, rows: Numbers, fused: Floats) -> Pool:
    """Return candidates grouped by file."""
    files: Numbers = signals.files.take(rows).astype(np.int64)
    by_file = np.argsort(files, kind="stable")
    rows, files = rows.take(by_file), files.take(by_file)
    is_first = np.ones(len(files), bool)
    is_first[1:] = files[1:] != files[:-1]
    starts = np.flatnonzero(is_first)
    return Pool(rows, signals.rows.take(rows), fused.take(by_file), files.take(starts), np.cumsum(is_first) - 1, starts)


def describe(signals: Signals, pool: Pool, *, is_bare: bool) -> tuple[Floats, Floats]:
    """Return features of candidates and of their files.

    Candidates: float32 (C, len(PIECE_FEATURES)). Files: float32 (G, len(FILE_FEATURES)). `is_bare` says whether the
    question is one name: the definition is then the answer, not a hint.
    """
    files, chunks = pool.files, pool.chunks
    held, bm25 = _matches(signals, pool)
    definition = signals.definition.take(chunks)
    piece: dict[str, Values] = {
        "fused": _relative(pool.fused),
        "dense": signals.dense.take(chunks),
        "definition": definition,
        "definition_of_name": definition * np.float32(is_bare),
        "length": np.log1p(signals.lengths[chunks, _BODY]),
        **held,
    }
    best = np.maximum.reduceat(_rows(piece, _OF_THE_BEST), pool.starts, axis=1)
    whole: dict[str, Values] = {
        **dict(zip(_OF_THE_BEST, best, strict=True)),
        "coherence": _relative(np.add.reduceat(pool.fused, pool.starts)),
        "bm25": _relative(bm25),
        "path_dense": signals.path_dense[files],
    }
    return (
        _rows(piece, PIECE_FEATURES, IS_KIND.take(signals.kinds.take(chunks), axis=1)).T,
        _rows(whole, FILE_FEATURES, IS_UNASKED.take(signals.unasked.take(files), axis=1)).T,
    )


def _rows(known: Mapping[str, Values], names: tuple[str, ...], last: Floats | None = None) -> Floats:
    """Return named values as rows, float32 (len(names), n).

    `last` holds the rows of the last names.
    """
    named = names if last is None else names[: -len(last)]
    table = np.empty((len(names), len(known[names[0]])), np.float32)
    for place, name in enumerate(named):
        table[place] = known[name]
    if last is not None:
        table[len(named) :] = last
    return table


def _relative(values: Values) -> Values:
    """Divide by the highest value, if that is above 0."""
    highest = float(values.max(initial=0.0))
    return values / highest if highest > 0 else values


def _matches(signals: Signals, pool: Pool) -> tuple[dict[str, Values], Values]:
    """Return each candidate's matched shares, and each file's BM25.

    Shares are (C,) each: of the whole text and by field. BM25 is (G,), of all the file's chunks together, so that an
    answer spread over several functions counts.
    """
    contents = signals.file_content.take(pool.files)
    slot_of = np.full(int(signals.contents[-1]) + 1, -1, np.int32)
    slot_of[contents] = np.arange(len(contents))  # content at two paths is counted once, for both
    chunks, term, share, tf = signals.matches.laid_out()
    slot = slot_of.take(signals.contents.take(chunks))
    inside = np.flatnonzero(slot >= 0)
    slot, term, tf = slot.take(inside), term.take(inside), tf.take(inside, axis=0)
    held = _held(signals, pool, chunks.take(inside), share.take(inside), tf)
    return held, _bm25(signals, pool, slot, term, tf).take(slot_of.take(contents))


def _held(signals: Signals, pool: Pool, chunks: Values, share: Values, tf: Values) -> dict[str, Values]:
    """Return the share of the question in text, name and signature."""
    number = np.zeros(len(signals.lexical), np.int32)
    number[pool.chunks] = np.arange(1, len(pool.chunks) + 1)
    place, at = number.take(pool.chunks), number.take(chunks)

    def summed(weight: Values) -> Values:
        return np.bincount(at, weight, len(place) + 1).take(place)

    return {
        "coverage": summed(share),
        "in_name": summed(share * (tf[:, _NAME] > 0)),
        "in_signature": summed(share * (tf[:, _SIGNATURE] > 0)),
    }


def _bm25(signals: Signals, pool: Pool, slot: Values, term: Values, tf: Values) -> Values:
    """Return the BM25 of each file's chunks together."""
    count, terms = len(pool.files), len(signals.term_share)
    occurrences = tf[:, _BODY] + NAME_COUNTS * (tf[:, _NAME] > 0)
    found = np.bincount(slot * np.int64(terms) + term, occurrences, count * terms).reshape(count, terms)
    length = signals.file_lengths.take(pool.files)
    weighed: Values = saturated(WHOLE_FILE, found, length) @ signals.term_share[:, 0]
    return weighed
