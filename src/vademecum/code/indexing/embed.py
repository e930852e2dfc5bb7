"""Vectors of slow, remote or paid embedders, made after everything else.

    index the words → find chunks without a vector → take stored vectors → embed the rest, batch by batch, and store
    each batch → now and then, and at the end, write the vectors into the arrays that ranking reads

Nothing waits for the vectors: a chunk without one is found by its words. A failure or interruption loses only the
current batch, and the next run continues from there. Vectors are stored by chunk hash and embedder. So an edit embeds
only the changed chunks, and an embedder that was used before finds its own vectors again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vademecum.code.chunking.analyse import CHUNK_HASH, Analysis, analyse, is_prose, passage_of
from vademecum.code.snapshot.repository import Repository
from vademecum.code.snapshot.view import View
from vademecum.errors import StoreBusyError
from vademecum.index.segment import PENDING, Segment, quantise
from vademecum.index.tokenize import term_table
from vademecum.private import WAIT_SECONDS, exclusive
from vademecum.protocols import Condition, Embedder, Progress
from vademecum.result import Err, Ok
from vademecum.types import Passage

if TYPE_CHECKING:
    from vademecum.embedding import Side

FEW = 256  # chunks embedded before a search; more are left to an index run
WINDOW_BATCHES = 16  # batches sorted by length together, to reduce padding
PLACE_SECONDS = 60.0  # between two calls of `place`, which rewrites arrays
Vector = NDArray[np.float32]


class Piece(NamedTuple):
    """A chunk to embed: hash, blob, ordinal, length and kind of text."""

    hash: str
    blob: int
    ordinal: int
    bytes: int
    prose: bool


@dataclass(frozen=True, slots=True)
class Meaning:
    """The result of embedding: vectors made, vectors missing, and the problem."""

    made: int = 0
    missing: int = 0
    problem: str = ""


def fill(repo: Repository, kind: str, place: str, progress: Progress, most: int | None = None) -> Meaning:
    """Embed a snapshot's chunks that lack vectors, if at most `most`.

    Nothing is done if the repository's embedder runs in the workers. After a `StoreError`, earlier vectors are intact.
    """
    if repo.plan.embedder or not (pending := _pending(repo, kind, place)):
        return Meaning()
    if most is not None and len(pending) > most:
        return Meaning(0, len(pending), "`vade index` makes them")
    run = _Run(repo, progress)
    try:
        with exclusive(repo.catalogue.directory / "embed.lock", 0):
            try:
                run.embed(pending)
            finally:  # also after an interruption
                run.place()
    except StoreBusyError:
        run.problem = "another process is making them"
    return Meaning(run.made, len(_pending(repo, kind, place)), run.problem)


class _Run:
    """One run: the vectors made, and the error."""

    def __init__(self, repo: Repository, progress: Progress) -> None:
        self._repo, self._progress = repo, progress
        self.made = 0
        self.problem = ""

    def embed(self, pending: Sequence[Piece]) -> None:
        """Embed unknown chunks and store each batch; stop at a failure."""
        known = known_vectors(self._repo, ((piece.hash, piece.prose) for piece in pending))
        wanted = [piece for piece in pending if piece.hash not in known]
        placed = time.monotonic()
        for window in _cut(wanted, self._repo.batch * WINDOW_BATCHES):
            for batch in _batches(window, self._repo.batch):
                self._progress("embedding", len(known) + self.made, len(known) + len(wanted))
                self._embed_batch(batch)
                if self.problem:
                    return
            if time.monotonic() - placed > PLACE_SECONDS:
                self.place()
                placed = time.monotonic()

    def _embed_batch(self, batch: Sequence[Piece]) -> None:
        there = {(row[0], row[1]) for row in self._repo.catalogue.store.get("chunks", [p[1:3] for p in batch]).unwrap()}
        # a clean-up may have deleted the others
        batch = [piece for piece in batch if (piece.blob, piece.ordinal) in there]
        if not batch:
            return
        embedder = part_of(self._repo.embedder(), prose=batch[0].prose)
        match embedder.embed(_passages(self._repo, batch), "document"):
            case Ok(vectors):
                keep_vectors(self._repo, embedder.name, zip((p.hash for p in batch), vectors, strict=True))
                self.made += len(batch)
            case Err(error):
                self.problem = " ".join(str(error).split())

    def place(self) -> None:
        """Write the stored vectors into the arrays that ranking reads."""
        with exclusive(self._repo.lock, WAIT_SECONDS):
            self._repo.catalogue.rewrite(lambda segment: _placed(self._repo, segment))


def _cut(pieces: Sequence[Piece], size: int) -> Iterator[Sequence[Piece]]:
    return (pieces[first : first + size] for first in range(0, len(pieces), size))


def _batches(window: Sequence[Piece], size: int) -> Iterator[Sequence[Piece]]:
    """Yield batches of code or prose, of about equal lengths."""
    for prose in (False, True):
        yield from _cut(sorted((p for p in window if p.prose is prose), key=lambda piece: piece.bytes), size)


def _passages(repo: Repository, batch: Sequence[Piece]) -> list[Passage]:
    said = known_sentences(repo, {piece.hash for piece in batch})
    chunks = repo.catalogue.chunks([(piece.blob, piece.ordinal) for piece in batch])
    return [
        passage_of(chunk, said.get(piece.hash, ""), prose=piece.prose)
        for (chunk, _), piece in zip(chunks, batch, strict=True)
    ]


def _pending(repo: Repository, kind: str, place: str) -> list[Piece]:
    """Return a snapshot's distinct chunks without a vector, in file order."""
    loaded = repo.catalogue.load(kind, place)
    return [] if loaded is None else _pieces(repo, *pending_places(loaded[1]))


def pending_places(view: View) -> tuple[list[tuple[int, int]], dict[int, str]]:
    """Return chunks without a vector, by blob and ordinal, and blobs' languages."""
    rows = np.flatnonzero(view.pending)
    _, first = np.unique(view.row_chunk[rows], return_index=True)  # content at several paths is one chunk
    rows = rows[np.sort(first)]
    files = view.row_file[rows]
    blobs = view.files.blobs[files].tolist()
    languages = {blob: view.files.language(file) for blob, file in zip(blobs, files.tolist(), strict=True)}
    return list(zip(blobs, view.ordinals(rows.tolist()).tolist(), strict=True)), languages


def _pieces(repo: Repository, places: Sequence[tuple[int, int]], languages: Mapping[int, str]) -> list[Piece]:
    if not places:
        return []
    where: list[Condition] = [("blob", "in", sorted(languages))]
    columns = ("blob", "ordinal", "hash", "start_byte", "end_byte")
    rows = {(row[0], row[1]): row[2:] for row in repo.catalogue.store.scan("chunks", where, columns).unwrap()}
    found: dict[str, Piece] = {}
    for blob, ordinal in places:
        if (blob, ordinal) in rows:
            digest, start, end = rows[blob, ordinal]
            found.setdefault(digest, Piece(digest, blob, ordinal, end - start, is_prose(languages[blob])))
    return list(found.values())


def _placed(repo: Repository, segment: Segment) -> Segment | None:
    """Return a segment with its stored vectors, or None if unchanged."""
    rows = np.flatnonzero(segment.scales < 0)
    if not len(rows):
        return None
    owner = np.searchsorted(segment.starts, rows, side="right") - 1
    blobs = segment.blobs[owner].tolist()
    where: list[Condition] = [("id", "in", sorted(set(blobs)))]
    languages: dict[int, str] = dict(repo.catalogue.store.scan("blobs", where, ("id", "language")).unwrap())
    places = list(zip(blobs, (rows - segment.starts[owner]).tolist(), strict=True))
    hashes = {
        (row[0], row[1]): row[2]
        for row in repo.catalogue.store.scan("chunks", [("blob", "in", sorted(set(blobs)))], ("blob", "ordinal", "hash")).unwrap()
    }  # fmt: skip
    own = [(hashes[place], is_prose(languages[place[0]])) if place in hashes else ("", False) for place in places]
    known = known_vectors(repo, own)
    filled = [n for n, (digest, _) in enumerate(own) if digest in known]
    if not filled:
        return None
    whole, scale = quantise(np.stack([known[own[n][0]] for n in filled]))
    vectors = np.zeros((segment.size, whole.shape[1]), np.int8)
    vectors[:, : segment.vectors.shape[1]] = segment.vectors
    scales = np.array(segment.scales)
    vectors[rows[filled]], scales[rows[filled]] = whole, scale
    return replace(segment, vectors=vectors, scales=scales)


def with_known_vectors(repo: Repository, analysis: Analysis, anew: Collection[str] = ()) -> Analysis:
    """Return an analysis with its chunks' stored vectors.

    Missing vectors are marked as pending. An embedder inside the workers has made all vectors already. Stored vectors
    of the hashes in `anew` are deleted first.
    """
    if repo.plan.embedder:
        return analysis
    hashes = [row[CHUNK_HASH] for row in analysis.chunks]
    forget_vectors(repo, [digest for digest in hashes if digest in anew])
    known = known_vectors(repo, ((digest, is_prose(analysis.language)) for digest in hashes))
    width = len(next(iter(known.values()))) if known else 0
    vectors, scales = np.zeros((len(hashes), width), np.int8), np.full(len(hashes), PENDING, np.float32)
    filled = [number for number, digest in enumerate(hashes) if digest in known]
    if filled:
        vectors[filled], scales[filled] = quantise(np.stack([known[hashes[number]] for number in filled]))
    return replace(analysis, passages=(), arrays=replace(analysis.arrays, vectors=vectors, scales=scales))


def part_of(embedder: Embedder, *, prose: bool) -> Embedder:
    """Return the embedder for code or prose; a single one reads both."""
    from vademecum.embedding import DualEmbedder

    if isinstance(embedder, DualEmbedder):
        return embedder.prose if prose else embedder.code
    return embedder


def known_vectors(repo: Repository, wanted: Iterable[tuple[str, bool]]) -> dict[str, Vector]:
    """Return stored vectors by chunk hash, as ranking compares them.

    `wanted` gives each hash and whether the chunk is prose.
    """
    from vademecum.embedding import DualEmbedder

    embedder = repo.embedder()
    found: dict[str, Vector] = {}
    hashes: dict[bool, list[str]] = {False: [], True: []}
    for digest, prose in wanted:
        hashes[prose].append(digest)
    for prose, own in hashes.items():
        kept = kept_vectors(repo, part_of(embedder, prose=prose).name, own) if own else {}
        if kept and isinstance(embedder, DualEmbedder):
            side: Side = "prose" if prose else "code"
            match embedder.joined(np.stack(list(kept.values())), side, "document"):
                case Ok(rows):
                    kept = dict(zip(kept, rows, strict=True))
                case Err():  # the scale is unknown while the model cannot be asked
                    kept = {}
        found |= kept
    return found


def kept_vectors(repo: Repository, embedder: str, hashes: Sequence[str]) -> dict[str, Vector]:
    """Return an embedder's stored vectors, float32 (dim,), by chunk hash."""
    where: list[Condition] = [("embedder", "=", embedder), ("hash", "in", list(hashes))]
    rows = repo.catalogue.store.scan("vectors", where, ("hash", "vector")).unwrap()
    return {digest: np.frombuffer(vector, np.float32) for digest, vector in rows}


def keep_vectors(repo: Repository, embedder: str, vectors: Iterable[tuple[str, Vector]]) -> None:
    """Store vectors by chunk hash. Raises `StoreError`."""
    rows = [(embedder, digest, np.asarray(vector, np.float32).tobytes()) for digest, vector in vectors]
    repo.catalogue.store.upsert("vectors", rows).unwrap()


def forget_vectors(repo: Repository, hashes: Sequence[str]) -> None:
    """Delete the vectors of chunks whose text has changed. Raises `StoreError`."""
    for name in {part_of(repo.embedder(), prose=prose).name for prose in (False, True)}:
        repo.catalogue.store.delete("vectors", [("embedder", "=", name), ("hash", "in", list(hashes))]).unwrap()


def known_sentences(repo: Repository, hashes: Iterable[str]) -> dict[str, str]:
    """Return the stored sentences by chunk hash, {} without an enricher."""
    if not repo.enricher:
        return {}
    where: list[Condition] = [("enricher", "=", repo.enricher), ("hash", "in", list(hashes))]
    return dict(repo.catalogue.store.scan("summaries", where, ("hash", "summary")).unwrap())


def analysed_again(
    repo: Repository, content: bytes, language: str, sentences: Mapping[str, str], *, references: bool = True
) -> Analysis:
    """Analyse a content again, with `sentences` (by chunk hash) as summaries."""
    embedder = repo.embedder() if repo.plan.embedder else None
    job, terms = (content, language), term_table()
    return analyse([job], embedder, repo.plan.deadline_s, terms, references=references, sentences=sentences)[0]
