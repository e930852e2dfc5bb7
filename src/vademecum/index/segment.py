"""A segment of code: the arrays of blobs, in one file.

Segments are derived from the database and immutable. They know content only, never paths: a blob's chunks are stored
once, whatever branches, worktrees or file names hold it; `view` joins them with a snapshot's files.

    blobs    int64 (B,)      database ids, ascending          starts  int64 (B + 1,)  blob b owns chunks starts[b]:starts[b+1]
    lines    int32 (N, 2)    first and last line              kinds   uint8 (N,)      index into KIND_CODES
    lengths  uint16 (N, 4)   terms per field                  vectors int8 (N, dim), scales float32 (N,)
    generated uint8 (N,)     1 where the content says that a program wrote it, INNER_TEST for a test among product code
    postings over the N chunks with the four fields of FIELDS, and what answers say of the chunks (`stored`)

Vectors are kept as whole numbers: row i stands for vectors[i] * scales[i]. That is a quarter of the memory of floats,
and since sums of products of whole numbers are exact, the order of rows never changes a score. A vector that is still to be
made is zeros with the scale PENDING; a segment of which none was made yet may have dim 0.

A cosine is the product of a question's int8 vector with a row, exact whatever the order of the rows and the processor.
100,000 rows of 256 dimensions take 1.5 ms of one core, read from the mapped file without a copy. Filters cost nothing,
since all scores are known. Approximate indexes lose most right answers under selective filters (recall 0.15-0.25
measured at a 2 % filter).

Segments are kept few by merging neighbours in age. Each segment is at least MERGED_BELOW times the one after it, so a million documents are a handful of segments, and a document is
rewritten a few times in all. This is how log-structured stores merge (O'Neil and others, "The log-structured merge-tree", 1996).

`Stored` holds the facts of a chunk for answers, so no database is asked for them.

    offsets  int64 (N + 1,)  chunk n has told[offsets[n]:offsets[n + 1]]
    told     uint8 (M,)      the fields of `StoredChunk`, a JSON list for each chunk, in ASCII

>>> stored = stored_of([StoredChunk(0, 9, "a1", "def f()", "Does f.", ("f",)), StoredChunk(9, 20, "b2", "", "", ())])
>>> stored.read([1, 0])[1]
StoredChunk(start=0, end=9, hash='a1', signature='def f()', summary='Does f.', symbols=('f',))
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vademecum.errors import StoreCorruptError
from vademecum.index.arrays import ranges, save_arrays, stored_arrays
from vademecum.index.bm25 import CODE, Postings, build, merge
from vademecum.types import ChunkKind

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class StoredChunk(NamedTuple):
    """The stored fields of one chunk."""

    start: int  # its first byte in its content
    end: int
    hash: str  # of its text
    signature: str  # "" for none
    summary: str
    symbols: tuple[str, ...]  # qualified names it defines, or the one it is part of


@dataclass(frozen=True)
class Stored:
    """The stored fields of N chunks. See the module's docstring for shapes."""

    offsets: NDArray[np.int64]
    told: NDArray[np.uint8]

    def read(self, chunks: Sequence[int]) -> list[StoredChunk]:
        """Return chunks' stored fields, in order. Raises `StoreCorruptError`."""
        places, told = np.asarray(chunks, np.intp), self.told.data
        begins, ends = self.offsets.take(places).tolist(), self.offsets.take(places + 1).tolist()
        lists = b",".join([told[begin:end] for begin, end in zip(begins, ends, strict=True)])
        try:
            found = json.loads(f"[{lists.decode('ascii')}]")
            return [
                StoredChunk(start, end, digest, signature, summary, tuple(symbols))
                for _, (start, end, digest, signature, summary, *symbols) in zip(chunks, found, strict=True)
            ]
        except (ValueError, TypeError) as error:
            raise StoreCorruptError(f"what was kept of chunks is damaged ({error}): run `vade index --full`") from error

    def part(self, first: int, last: int) -> Stored:
        """Return those of chunks first … last - 1."""
        begin, end = self.offsets[first], self.offsets[last]
        return Stored(self.offsets[first : last + 1] - begin, self.told[begin:end])


def stored_of(said: Iterable[StoredChunk]) -> Stored:
    """Return the stored fields of chunks as arrays."""
    told = [_encode([s.start, s.end, s.hash, s.signature, s.summary, *s.symbols]).encode("ascii") for s in said]
    return Stored(np.cumsum([0, *map(len, told)], dtype=np.int64), np.frombuffer(b"".join(told), np.uint8))


def laid(parts: Sequence[Stored]) -> Stored:
    """Return parts one after the other.

    >>> parts = [stored_of([StoredChunk(0, 1, "a", "", "", ())]), stored_of([StoredChunk(1, 2, "b", "", "", ())])]
    >>> [said.hash for said in laid(parts).read([0, 1])]
    ['a', 'b']
    """
    bases = np.cumsum([0, *(len(part.told) for part in parts)])
    offsets = [part.offsets[1:] + base for part, base in zip(parts, bases, strict=False)]
    none = NOTHING_STORED
    return Stored(np.concatenate([none.offsets, *offsets]), np.concatenate([none.told, *(part.told for part in parts)]))


NOTHING_STORED = Stored(np.zeros(1, np.int64), np.zeros(0, np.uint8))


MERGED_BELOW = 4  # a segment less than this many times the one after it is merged with it
MOST_MERGED = 1 << 18  # documents in a merged segment: merging them takes some 1 GB of memory


def runs_to_merge(sizes: Sequence[int], *, everything: bool = False) -> list[slice]:
    """Return the runs of neighbours, oldest first, that become one segment each.

    With `everything`, as few as MOST_MERGED allows.

    >>> runs_to_merge([20_000, 20_000, 20_000, 200, 60, 1])
    [slice(0, 3, None), slice(3, 5, None), slice(5, 6, None)]
    >>> runs_to_merge([100, 0, 0]), runs_to_merge([])
    ([slice(0, 1, None), slice(1, 3, None)], [])
    >>> runs_to_merge([MOST_MERGED, MOST_MERGED // 2]), runs_to_merge([900, 1], everything=True)
    ([slice(0, 1, None), slice(1, 2, None)], [slice(0, 2, None)])
    """
    runs: list[slice] = []
    end = len(sizes)
    while end:
        begin = end - 1
        total = max(sizes[begin], 1)  # empty segments are merged, too
        while begin and (everything or sizes[begin - 1] < MERGED_BELOW * total):
            if total + sizes[begin - 1] > MOST_MERGED:
                break
            begin -= 1
            total += sizes[begin]
        runs.append(slice(begin, end))
        end = begin
    return runs[::-1]


FIELDS = CODE.fields
KIND_CODES = tuple(ChunkKind)
PENDING = -1.0  # the scale of a vector that is still to be made
INNER_TEST = 2
FORMAT = "17"  # raised whenever tokens, fields or arrays change their meaning, or files are cut otherwise: older ones are made again


@dataclass(frozen=True, slots=True)
class BlobArrays:
    """One blob's part of a segment, as analysis makes it.

    Shapes are those of `Segment`; `keys, docs, tf` are raw postings.

    `offsets, told` are those of `Stored`.
    """

    lines: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    keys: NDArray[np.uint64]
    docs: NDArray[np.int32]
    tf: NDArray[np.uint8]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    generated: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    told: NDArray[np.uint8]

    @property
    def stored(self) -> Stored:
        """The stored fields of these chunks."""
        return Stored(self.offsets, self.told)


def named_arrays(arrays: BlobArrays) -> dict[str, NDArray[np.generic]]:
    """Return one blob's arrays by name; one name carries the format."""
    return {f"{f.name}.{FORMAT}" if f.name == "keys" else f.name: getattr(arrays, f.name) for f in fields(BlobArrays)}


def blob_arrays(named: Mapping[str, NDArray[np.generic]]) -> BlobArrays:
    """Return arrays that `named_arrays` named. Raises `StoreCorruptError` for another format."""
    values: dict[str, Any] = {name.removesuffix(f".{FORMAT}"): value for name, value in named.items()}
    if values.keys() != {f.name for f in fields(BlobArrays)}:
        raise StoreCorruptError("these arrays were made by another version")
    return BlobArrays(**values)


@dataclass(frozen=True)
class Segment:
    """The arrays of blobs; the module's docstring has the shapes."""

    blobs: NDArray[np.int64]
    starts: NDArray[np.int64]
    lines: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    generated: NDArray[np.uint8]
    postings: Postings
    stored: Stored

    @property
    def size(self) -> int:
        """Number of chunks."""
        return len(self.kinds)


NO_SEGMENT = Segment(
    np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros((0, 2), np.int32), np.zeros(0, np.uint8),
    np.zeros((0, len(FIELDS)), np.uint16), np.zeros((0, 0), np.int8), np.zeros(0, np.float32), np.zeros(0, np.uint8),
    build(np.zeros(0, np.uint64), np.zeros(0, np.int32), np.zeros((0, len(FIELDS)), np.uint8)), NOTHING_STORED,
)  # fmt: skip


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return unit vectors as int8 rows and the scale of each row.

    A row with a number that is not finite becomes zeros.

    >>> whole, scale = quantise(np.array([[0.6, -0.8]], np.float32))
    >>> whole.tolist(), np.round(whole * scale[:, None], 2).tolist()
    ([[95, -127]], [[0.6000000238418579, -0.800000011920929]])
    """
    scale = np.abs(vectors).max(axis=1, initial=0.0) / 127
    usable = (scale > 0) & (scale < np.inf)
    whole = np.zeros(vectors.shape, np.int8)
    whole[usable] = np.rint(vectors[usable] / scale[usable, None])
    return whole, scale.astype(np.float32)


def stacked(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one below the other; pending vectors are widened with zeros.

    >>> stacked([np.zeros((1, 0), np.int8), np.ones((1, 2), np.int8)]).tolist()
    [[0, 0], [1, 1]]
    """
    width = max((array.shape[1] for array in arrays if array.ndim == 2), default=0)
    return np.concatenate([
        np.zeros((len(array), width), array.dtype) if array.ndim == 2 and array.shape[1] < width else array for array in arrays
    ])  # fmt: skip


def segment_of(blobs: Sequence[tuple[int, BlobArrays]]) -> Segment:
    """Join the arrays of blobs, given with their ids, into one segment."""
    blobs = sorted(blobs, key=lambda pair: pair[0])
    pieces = [arrays for _, arrays in blobs]
    counts = np.array([len(piece.kinds) for piece in pieces], np.int64)
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    docs = [piece.docs + np.int32(start) for piece, start in zip(pieces, starts, strict=False)]
    return Segment(
        blobs=np.array([number for number, _ in blobs], np.int64),
        starts=starts,
        lines=np.concatenate([piece.lines for piece in pieces]),
        kinds=np.concatenate([piece.kinds for piece in pieces]),
        lengths=np.concatenate([piece.lengths for piece in pieces]),
        vectors=stacked([piece.vectors for piece in pieces]),
        scales=np.concatenate([piece.scales for piece in pieces]),
        generated=np.concatenate([piece.generated for piece in pieces]),
        postings=build(
            np.concatenate([piece.keys for piece in pieces]),
            np.concatenate(docs),
            np.concatenate([piece.tf for piece in pieces]),
        ),
        stored=laid([piece.stored for piece in pieces]),
    )


def blobs_of(segment: Segment) -> Iterator[tuple[int, BlobArrays]]:
    """Yield the arrays of each blob of a segment, with its id."""
    postings = segment.postings
    order = np.argsort(postings.docs, kind="stable")
    keys = np.repeat(postings.keys, np.diff(postings.offsets))[order]
    docs, tf = postings.docs[order], postings.tf[order]
    bounds = np.searchsorted(docs, segment.starts)
    for place, blob in enumerate(segment.blobs.tolist()):
        start = int(segment.starts[place])
        end = int(segment.starts[place + 1])
        rows, own = slice(start, end), slice(*bounds[place : place + 2].tolist())
        stored = segment.stored.part(start, end)
        yield blob, BlobArrays(
            segment.lines[rows], segment.kinds[rows], segment.lengths[rows], keys[own], docs[own] - np.int32(start), tf[own],
            segment.vectors[rows], segment.scales[rows], segment.generated[rows], stored.offsets, stored.told,
        )  # fmt: skip


def merge_segments(segments: Sequence[Segment], keep: NDArray[np.int64] | None = None) -> Segment:
    """Join segments; drop blobs outside `keep`, ascending ids, if given.

    A blob that is in two segments is taken once. The result is the same, whatever the segments were.
    """
    blobs = np.concatenate([segment.blobs for segment in segments])
    owner = np.repeat(np.arange(len(segments)), [len(segment.blobs) for segment in segments])
    slot = np.concatenate([np.arange(len(segment.blobs)) for segment in segments])
    chosen, first = np.unique(blobs, return_index=True)
    if keep is not None:
        kept = np.isin(chosen, keep)
        chosen, first = chosen[kept], first[kept]
    counts = np.concatenate([np.diff(segment.starts) for segment in segments])[first]
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    renumber = [np.full(segment.size, -1, np.int32) for segment in segments]
    order = []  # for each new chunk, its row in the concatenation of all segments
    base = np.concatenate(([0], np.cumsum([segment.size for segment in segments])))
    for index, segment in enumerate(segments):
        mine = np.flatnonzero(owner[first] == index)
        old = ranges(segment.starts[slot[first[mine]]], counts[mine])
        renumber[index][old] = ranges(starts[mine], counts[mine])
    for index in range(len(segments)):
        old = np.flatnonzero(renumber[index] >= 0)
        order.append((renumber[index][old], old + base[index]))
    rows = np.empty(int(starts[-1]), np.int64)
    for new, old in order:
        rows[new] = old

    def take(name: str) -> Any:
        return stacked([getattr(segment, name) for segment in segments])[rows]

    def stored() -> Stored:
        """Return the stored fields, blob by blob, to save memory."""
        places = zip(owner[first].tolist(), slot[first].tolist(), strict=True)
        return laid([segments[own].stored.part(*segments[own].starts[at : at + 2].tolist()) for own, at in places])

    return Segment(
        chosen, starts, take("lines"), take("kinds"), take("lengths"), take("vectors"), take("scales"), take("generated"),
        merge([segment.postings for segment in segments], renumber), stored(),
    )  # fmt: skip


def is_sound(segment: Segment) -> bool:
    """Return whether all numbers of a segment point inside it; reads everything."""
    postings, told, count = segment.postings, segment.stored, segment.size
    fit = [
        len(array) == count
        for array in (segment.lines, segment.lengths, segment.vectors, segment.scales, segment.kinds, segment.generated)
    ]
    parts = [
        (segment.starts, len(segment.blobs), count),
        (postings.offsets, len(postings.keys), len(postings.docs)),
        (told.offsets, count, len(told.told)),
    ]
    docs = postings.docs
    inside = not len(docs) or (docs.min() >= 0 and docs.max() < count)
    kinds = not count or int(segment.kinds.max()) < len(KIND_CODES)
    return (
        all(fit) and all(_parts(*each) for each in parts) and bool(inside) and kinds and len(postings.tf) == len(docs)
    )


def _parts(offsets: NDArray[np.int64], count: int, end: int) -> bool:
    """Return whether offsets cut `end` things into `count` parts."""
    return len(offsets) == count + 1 and offsets[0] == 0 and offsets[-1] == end and bool((np.diff(offsets) >= 0).all())


def save_segment(path: Path, segment: Segment, embedder: str) -> None:
    """Write a segment with its embedder's name. Raises `StoreError`."""
    postings = segment.postings
    save_arrays(
        path,
        {
            "blobs": segment.blobs, "starts": segment.starts, "lines": segment.lines, "kinds": segment.kinds,
            "lengths": segment.lengths, "vectors": segment.vectors, "scales": segment.scales, "generated": segment.generated,
            "keys": postings.keys, "offsets": postings.offsets, "docs": postings.docs, "tf": postings.tf,
            "told_offsets": segment.stored.offsets, "told": segment.stored.told,
        },
        {"format": FORMAT, "embedder": embedder},
    )  # fmt: skip


def load_segment(path: Path, embedder: str) -> Segment:
    """Return the segment of a file, memory-mapped.

    Raises:
        StoreCorruptError: the file is missing, damaged, of another format, or its vectors are of another embedder.
    """
    with stored_arrays(path, format=FORMAT, embedder=embedder) as (arrays, _):
        a: dict[str, NDArray] = dict(arrays)  # type: ignore[type-arg]
        return Segment(
            a["blobs"], a["starts"], a["lines"], a["kinds"], a["lengths"], a["vectors"], a["scales"], a["generated"],
            Postings(a["keys"], a["offsets"], a["docs"], a["tf"]), Stored(a["told_offsets"], a["told"]),
        )  # fmt: skip


# A question's unit vector as `quantise` returns it: int8 (1, dim) and float32 (1,).
Quantised = tuple[NDArray[np.int8], NDArray[np.float32]]


class Vectors(Protocol):
    """A segment: the vectors of rows 0..size, with a scale for each."""

    @property
    def size(self) -> int:
        """Number of rows."""
        ...

    @property
    def vectors(self) -> NDArray[np.int8]:
        """Whole numbers, (size, dim); dim is 0 before vectors are made."""
        ...

    @property
    def scales(self) -> NDArray[np.float32]:
        """The scale of each row."""
        ...


def cosines(segments: Sequence[Vectors], query: Quantised) -> NDArray[np.float32]:
    """Return the cosine of every row of the segments: float32 (N,)."""
    whole, scale = query
    parts = [
        scaled_products(s.vectors, whole, s.scales, scale) if s.vectors.shape[1] else np.zeros(s.size, np.float32)
        for s in segments
        if s.size
    ]
    return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.zeros(0, np.float32)


def scaled_products(
    vectors: NDArray[np.int8], whole: NDArray[np.int8], scales: NDArray[np.float32], scale: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return each row's scaled product with a question: float32 (n,).

    Rows are int8 (n, dim), the question int8 (1, dim).
    """
    import simsimd

    scaled: NDArray[np.float32] = scales * scale
    # whole numbers below 2**24 up to dim 1,040: exact in float32
    scaled *= np.asarray(simsimd.cdist(vectors, whole, "dot"), np.float32).reshape(-1)
    return scaled
