"""A closer look at the candidates: what the fitted ranker knows of each of them and of the file it stands in.

Candidates are the rows that words, meaning, path and definition put first. A file is described by the best that its
candidates have, and by all its chunks taken together, so that an answer spread over several functions counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vademecum.arrays import numbered, ranges
from vademecum.retrieval.files import FILE_KINDS
from vademecum.retrieval.segment import FIELDS, KIND_CODES
from vademecum.retrieval.signals import Floats, Signals
from vademecum.types import ChunkKind, FileKind

Numbers = NDArray[np.int64]
Values = NDArray[Any]  # numbers of whatever type the step before made

_BODY, _NAME, _SIGNATURE, _DOCS = range(len(FIELDS))
_KINDS = (
    ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CLASS, ChunkKind.CONSTANT, ChunkKind.MODULE, ChunkKind.TYPE,
    ChunkKind.INTERFACE,
)  # fmt: skip
_UNASKED = (FileKind.TEST, FileKind.DOC, FileKind.CONFIG, FileKind.EXAMPLE, FileKind.VENDORED)
PIECE_FEATURES = (
    "lexical", "dense", "coverage", "in_body", "in_name", "in_docs", "definition", "definition_of_name", "fused",
    "height", "length", "first",
    *(f"is_{kind}" for kind in _KINDS),
)  # fmt: skip
FILE_FEATURES = (
    "fused", "coherence", "bm25", "lexical_mean", "path_dense", "coverage", "in_signature", "dense", "dense_of_all",
    "name_precision", "stem_precision", "file_coverage", "definition", "definition_of_name",
    *(f"unasked_{kind}" for kind in _UNASKED),
)  # fmt: skip
_OF_THE_BEST = ("fused", "coverage", "in_signature", "dense", "name_precision", "definition", "definition_of_name")
K1, B, NAME_COUNTS = 1.2, 0.75, 2  # BM25 of whole files, an occurrence in a chunk's name counting that much more


@dataclass(frozen=True, slots=True)
class Pool:
    """C candidates in G files.

    Attributes:
        rows, chunks: int64 (C,). fused: float32 (C,), the score that made them candidates, above 0.
        files: int64 (G,), ascending. slot: int64 (C,), the place of each candidate's file in `files`.
    """

    rows: Numbers
    chunks: Numbers
    fused: Floats
    files: Numbers
    slot: Numbers


def pool_of(signals: Signals, rows: Numbers, fused: Floats) -> Pool:
    """Return candidates by file."""
    files, slot = numbered(signals.files[rows])
    return Pool(rows, signals.rows[rows], fused, files, slot)


def describe(signals: Signals, pool: Pool, *, is_bare: bool) -> tuple[Floats, Floats]:
    """Return what is known of the pieces, float32 (C, len(PIECE_FEATURES)), and of their files, (G, len(FILE_FEATURES)).

    `is_bare` says whether the question is one name: its definition is then the answer, not a hint.
    """
    files, chunks = pool.files, pool.chunks
    first = np.searchsorted(signals.files, files)
    definition = signals.definition[chunks]
    known: dict[str, Values] = {
        "lexical": _relative(signals.lexical[chunks]),
        "dense": signals.dense[chunks],
        "definition": definition,
        "definition_of_name": definition * is_bare,
        "fused": _relative(pool.fused),
        "height": np.log1p(signals.heights[chunks]),
        "length": np.log1p(signals.lengths[chunks, _BODY]),
        "first": pool.rows == first[pool.slot],
        **_held(signals, pool),
        **_one_hot("is", signals.kinds[chunks], _KINDS, KIND_CODES),
    }
    whole: dict[str, Values] = {
        "coherence": _relative(np.bincount(pool.slot, pool.fused)),
        "path_dense": signals.path_dense[files],
        **_best({name: known[name] for name in _OF_THE_BEST}, pool),
        **_whole_files(signals, pool, first),
        **_one_hot("unasked", signals.unasked[files], _UNASKED, FILE_KINDS),
    }
    return _table(known, PIECE_FEATURES), _table(whole, FILE_FEATURES)


def _table(columns: Mapping[str, Values], names: tuple[str, ...]) -> Floats:
    table = np.empty((len(columns[names[0]]), len(names)), np.float32)
    for place, name in enumerate(names):
        table[:, place] = columns[name]
    return table


def _one_hot(prefix: str, codes: Values, wanted: Sequence[StrEnum], every: Sequence[StrEnum]) -> dict[str, Values]:
    """Return a column for each wanted kind: whether a code is that kind's place among all."""
    is_it = np.equal.outer([every.index(kind) for kind in wanted], codes)
    return {f"{prefix}_{kind}": column for kind, column in zip(wanted, is_it, strict=True)}


def _relative(values: Values) -> Values:
    """Divide by the highest; what is below 0, as a cosine may be, counts as 0."""
    highest = float(values.max(initial=0.0))
    return np.maximum(values, 0) / highest if highest > 0 else np.zeros(len(values))


def _best(columns: Mapping[str, Values], pool: Pool) -> dict[str, Values]:
    """Return (G,) for each column: the highest value among each file's candidates."""
    by_file = np.argsort(pool.slot, kind="stable")
    starts = np.searchsorted(pool.slot[by_file], np.arange(len(pool.files)))
    highest = np.maximum.reduceat(np.stack(list(columns.values()))[:, by_file], starts, axis=1)
    return dict(zip(columns, highest, strict=True))


def _held(signals: Signals, pool: Pool) -> dict[str, Values]:
    """Return, for each candidate, the share of the question that it holds, in all and by field.

    `name_precision` is the other way round: the share of the name's terms that the question asks for.
    """
    number = np.full(len(signals.lexical), -1, np.int32)
    number[pool.chunks] = np.arange(len(pool.chunks))
    place = number[pool.chunks]  # content that is a candidate at two paths is counted once, and read by both
    at = number[signals.matched]
    inside = np.flatnonzero(at >= 0)
    at, share, present = at[inside], signals.share[inside], signals.tf[inside] > 0

    def summed(weight: Values) -> Values:
        return np.bincount(at, weight, len(pool.chunks))[place]

    named = summed(present[:, _NAME] & (share > 0))
    return {
        "coverage": summed(share),
        "in_body": summed(share * present[:, _BODY]),
        "in_name": summed(share * present[:, _NAME]),
        "in_signature": summed(share * present[:, _SIGNATURE]),
        "in_docs": summed(share * present[:, _DOCS]),
        "name_precision": named / np.maximum(signals.lengths[pool.chunks, _NAME], 1),
    }


def _whole_files(signals: Signals, pool: Pool, first: Numbers) -> dict[str, Values]:
    """Return, for each file of the pool, what all its chunks say together."""
    count, terms = len(pool.files), len(signals.term_share)
    sizes = np.searchsorted(signals.files, pool.files, side="right") - first
    owner_of_row = np.repeat(np.arange(count), sizes)
    chunks = signals.rows[ranges(first, sizes)]
    owner = np.full(len(signals.lexical), -1, np.int32)
    owner[chunks[::-1]] = owner_of_row[::-1]  # content that stands at two paths counts for the first
    at = owner[signals.matched]
    inside = np.flatnonzero(at >= 0)
    tf = signals.tf[inside, _BODY] + NAME_COUNTS * (signals.tf[inside, _NAME] > 0).astype(np.float64)
    cell = at[inside] * np.int64(terms) + signals.term[inside]
    occurrences = np.bincount(cell, tf, count * terms).reshape(count, terms)
    length = np.bincount(owner_of_row, signals.lengths[chunks, _BODY], count)
    saturation = K1 * (1 - B + B * length / max(float(length.mean()), 1.0))
    share = signals.term_share[:, 0]
    in_path, stem = _in_paths(signals, pool)
    return {
        "bm25": _relative(occurrences / (occurrences + saturation[:, None]) @ share),
        "lexical_mean": np.bincount(owner_of_row, signals.lexical[chunks], count)
        / np.maximum(sizes, 1)
        / max(float(signals.lexical.max(initial=0.0)), 1e-9),
        "dense_of_all": _relative(np.maximum.reduceat(signals.dense[chunks], np.cumsum(sizes) - sizes)),
        "file_coverage": ((occurrences > 0) | in_path) @ share,
        "stem_precision": stem / np.maximum(signals.stem_terms[pool.files], 1),
    }


def _in_paths(signals: Signals, pool: Pool) -> tuple[NDArray[np.bool_], Values]:
    """Return bool (G, T), which path holds which term, and (G,), how many asked terms each file's own name holds."""
    place = np.minimum(np.searchsorted(pool.files, signals.named), len(pool.files) - 1)
    own = np.flatnonzero(pool.files[place] == signals.named)
    place, term = place[own], signals.named_term[own]
    holds = np.zeros((len(pool.files), len(signals.term_share)), bool)
    holds[place, term] = True
    asked = signals.named_stem[own] & (signals.term_share[term, 0] > 0)
    return holds, np.bincount(place, asked, len(pool.files))
