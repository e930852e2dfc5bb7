"""An external vector index: searched, and kept in step.

An external index returns its nearest points. Each point is looked up in the searched snapshot, by path, content and
place. Points of other snapshots, or that fail the filters, are dropped, and more are requested until enough pass.
Chunks that the index does not return get no dense score. If the index fails or is out of date, the local arrays answer
and the answer says so.

The external index is kept in step with the catalogue's snapshots. The database and the arrays beside it are the truth; the external index is derived. Two stores cannot be written in one
transaction, so every write has steps, and a ledger in the database (the family `placements`) records the progress:

    plan     in one transaction, list the placements to add and to remove
    drop     delete the points of placements to remove, then their records
    write    write the points of placements to add, then mark them as written
    finish   activate the index, and record the catalogue's state

After a crash the next run continues from the ledger. Every step may be repeated, because a point's id is made from its
content: `<repo>:<commit>:<path>:<chunkHash>`, with the commit under which the content was first seen at that path. So
switching to another branch and back writes nothing, and an edit writes one file's points.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import file_kind
from vademecum.code.search.signals import Floats
from vademecum.code.snapshot.catalogue import (  # fmt: skip
    ANEW,
    DOOMED,
    SETTLED,
    THERE,
    WANTED,
    Catalogue,
    Placement,
    dropped,
    noted,
    placements_in,
    planned,
)
from vademecum.code.snapshot.repository import Alone, DenseSearch
from vademecum.code.snapshot.view import View
from vademecum.errors import ConsentError, EmbedError, PluginError, StoreError, UsageError, VectorIndexError
from vademecum.index.bm25 import sparse_weights
from vademecum.index.segment import PENDING, Segment
from vademecum.matching import Filter, Near, Payload, Point, point_key
from vademecum.protocols import Clock, Embedder, Progress, VectorIndex, silent
from vademecum.result import Err, Ok, Result
from vademecum.types import KINDS, Check, Query

T = TypeVar("T")


FILES_AT_ONCE = 200  # files per batch: a crash repeats at most one batch
NOT_EMPTIED = "not emptied"  # marks an index that may hold points unknown to its ledger
RESTED_S = 30.0  # pause after a failure, so that searches do not wait for a server that is down

Connect = Callable[[str, str, int], VectorIndex]  # collection, model, dim


@dataclass(frozen=True, slots=True)
class Standing:
    """The external index's state compared with the ledger."""

    kind: str
    files: int  # files that belong in the index
    lacking: int  # files whose points are not all there
    left_over: int  # files whose points are still to be deleted
    problem: str = ""  # the cause

    @property
    def is_whole(self) -> bool:
        """True when the index holds everything and has no problem."""
        return not self.lacking and not self.problem

    @property
    def said(self) -> str:
        """A message about missing files and their cause, or ""."""
        lacking = f"{self.kind} lacks {self.lacking} of {self.files} files" if self.lacking else ""
        return ": ".join(filter(None, (lacking, self.problem)))


@dataclass(frozen=True, slots=True)
class Drift:
    """The difference between expected and actual points, by key."""

    missing: set[str]
    orphans: set[str]  # points without a placement
    expected: int

    @property
    def said(self) -> str:
        """The difference in words, or ""."""
        parts = [
            (len(self.missing), f"of {self.expected} points missing"),
            (len(self.orphans), "points that belong to nothing"),
        ]
        return ", ".join(f"{count} {words}" for count, words in parts if count)


class Mirror:
    """The writer of one repository's vectors to an external index.

    Args:
        kind: the provider's name, such as "qdrant".
        name: the prefix of the collections' names.
        connect: opens an index, given collection, model and vector length. Raises `ConsentError`, `PluginError`.
        catalogue: the snapshots to mirror.
        repo: the repository's name in the points' ids, the same for everyone who shares the catalogue.
        embedder: loads the embedder of the vectors.
        clock: returns the time in seconds since the epoch.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        connect: Connect,
        *,
        catalogue: Catalogue,
        repo: str,
        embedder: Callable[[], Embedder],
        clock: Clock,
    ) -> None:
        self.kind = kind
        self._name, self._connect, self._repo = name, connect, repo
        self._catalogue, self._store = catalogue, catalogue.store
        self._embedder, self._clock = embedder, clock
        self._index: VectorIndex | None = None
        self._opening = threading.Lock()  # several threads of a server may search at once
        self._space = ""
        self._owner = ""
        self._failed_at = -RESTED_S
        self.problem = ""  # the error of the last failed step

    def index(self) -> VectorIndex:
        """Return the index for the repository's embedder. Raises as `connect` does."""
        embedder = self._embedder()
        with self._opening:
            collection = self._collection()
            space = f"{self.kind} {collection} {embedder.name}"
            if self._index is None or space != self._space:
                self.close()
                self._index = self._connect(collection, embedder.name, embedder.dim)
                self._space = space
            return self._index

    def _collection(self) -> str:
        """Return the name of this database's collection, made when first needed."""
        if not self._owned():
            with self._store.transaction():  # a second process waits here, then finds the first one's name
                if not self._owned():  # no name yet, or a damaged database lost the name that this process still has
                    self._owner = self._owner or secrets.token_hex(4)
                    self._store.upsert("meta", [("mirror", self._owner)]).unwrap()
        return f"{self._name}-{self._owner}"

    def _owned(self) -> bool:
        known = self._store.scan("meta", [("name", "=", "mirror")], ("value",)).unwrap()
        self._owner = known[0][0] if known else self._owner
        return bool(known)

    # -- the flow ------------------------------------------------------------------------------------------------

    def catch_up(
        self, alone: Callable[[], AbstractContextManager[None]], progress: Progress, *, now: bool = False
    ) -> Standing:
        """Bring the index up to date with the catalogue.

        A failed step is tried again by the next run. `now` skips the pause after a failure.

        Raises:
            StoreError: the database failed. A failure of the index only shows in the returned `Standing`.
        """
        try:
            index = self.index()
        except EmbedError as error:  # without the embedder's answer, the collection to use is unknown
            return Standing(self.kind, 0, 0, 0, " ".join(str(error).split()))
        if self._is_settled():
            return Standing(self.kind, 0, 0, 0)
        if not now and self._clock() - self._failed_at < RESTED_S:
            return self.standing()
        with alone():
            state = self._state()
            if (
                self._plan(index)
                and self._drop(index)
                and self._write(index, progress)
                and self._kept(index.activate())
            ):
                self._finish(state)
        return self.standing()

    def _plan(self, index: VectorIndex) -> bool:
        ours = ("name", "=", SETTLED + self._space)
        with self._store.transaction():
            planned(self._store, self._space)
            begun = self._store.scan("meta", [ours], ("value",)).unwrap()  # type: ignore[list-item]
            is_new = not begun or begun == [(NOT_EMPTIED,)]
            self._store.upsert("meta", [(SETTLED + self._space, NOT_EMPTIED if is_new else "")]).unwrap()
        if not is_new:
            return True
        # another machine with a shared database waits, and deletes nothing that we write
        with self._store.transaction():
            if self._store.scan("meta", [ours], ("value",)).unwrap() == [(NOT_EMPTIED,)]:  # type: ignore[list-item]
                if not self._kept(index.delete(Filter())):  # any points there belong to a lost ledger
                    return False
                self._store.upsert("meta", [(SETTLED + self._space, "")]).unwrap()
        return True

    def _drop(self, index: VectorIndex) -> bool:
        """Delete the points of doomed placements, one batch per transaction.

        If another machine needs such points meanwhile, it writes them after the transaction.
        """
        while True:
            with self._store.transaction():
                batch = placements_in(self._store, self._space, (DOOMED, ANEW))[:FILES_AT_ONCE]
                for label in sorted({placement.label for placement in batch}):
                    paths = tuple(placement.path for placement in batch if placement.label == label)
                    if not self._kept(index.delete(Filter(commit=label, files=paths))):
                        return False
                dropped(self._store, [placement for placement in batch if placement.state == DOOMED])
                noted(self._store, [placement for placement in batch if placement.state == ANEW], WANTED)
            if len(batch) < FILES_AT_ONCE:
                return True

    def _write(self, index: VectorIndex, progress: Progress) -> bool:
        every = placements_in(self._store, self._space, (WANTED,))
        wanted = ready(self._catalogue, every)
        written = 0
        for batch in _batched(wanted):
            points = points_of(self._catalogue, self._repo, batch, with_tokens=hasattr(index, "fused"))
            if not self._kept(index.upsert(points)):
                return False
            noted(self._store, batch, THERE)
            written += len(batch)
            progress(f"writing to {self.kind}", written, len(wanted))
        self.problem = "" if len(wanted) == len(every) else "their vectors are not made yet: `vade index` makes them"
        return len(wanted) == len(every)

    def _finish(self, state: str) -> None:
        """Record the finished state and forget ledgers of dropped collections."""
        with self._store.transaction():
            for (name,) in self._store.scan("meta", [("name", "prefix", SETTLED)], ("name",)).unwrap():
                if name != SETTLED + self._space:
                    self._store.delete("placements", [("space", "=", name.removeprefix(SETTLED))]).unwrap()
                    self._store.delete("meta", [("name", "=", name)]).unwrap()
            self._store.upsert("meta", [(SETTLED + self._space, state)]).unwrap()
        self.problem = ""

    def _kept(self, outcome: Result[T, StoreError]) -> bool:
        """Return whether a step succeeded; record a failure."""
        match outcome:
            case Err(error):
                self.problem = " ".join(str(error).split())
                self._failed_at = self._clock()
                return False
            case Ok():
                return True

    # -- state ---------------------------------------------------------------------------------------------------

    def failed(self, error: StoreError) -> str:
        """Record that the index failed and return the error message."""
        self._kept(Err(error))
        return self.problem

    def standing(self) -> Standing:
        """Return the index's state by the ledger, without asking the index."""
        try:
            self.index()
        except EmbedError as error:
            return Standing(self.kind, 0, 0, 0, " ".join(str(error).split()))
        rested = self._clock() - self._failed_at < RESTED_S
        if self._is_settled():
            return Standing(self.kind, 0, 0, 0, self.problem if rested else "")
        rows = self._store.scan("placements", [("space", "=", self._space)], ("state",)).unwrap()
        states = [state for (state,) in rows]
        left_over = states.count(DOOMED)
        lacking = states.count(WANTED) + states.count(ANEW)
        return Standing(
            self.kind,
            len(states) - left_over,
            lacking,
            left_over,
            self.problem or ("" if lacking else f"{self.kind} is behind"),
        )

    # -- check and repair ----------------------------------------------------------------------------------------

    def drift(self) -> Result[Drift, StoreError]:
        """Compare the points in the index with the ledger.

        Every key is listed, which is slow: `doctor` alone uses this.
        """
        index = self.index()
        match index.keys(Filter()):
            case Err() as failed:
                self._kept(failed)
                return failed
            case Ok(there):
                expected = expected_keys(self._catalogue, self._repo, self._space)
                pending = expected_keys(self._catalogue, self._repo, self._space, (WANTED, ANEW, DOOMED))
                return Ok(Drift(set(expected) - there, there - set(expected) - set(pending), len(expected)))

    def repair(
        self, alone: Callable[[], AbstractContextManager[None]], progress: Progress
    ) -> Result[Drift, StoreError]:
        """Write missing points, delete orphans, and return the earlier drift."""
        index = self.index()
        with alone():
            match self.drift():
                case Err() as failed:
                    return failed
                case Ok(found):
                    pass
            if found.orphans:
                match index.delete(sorted(found.orphans)):
                    case Err() as failed:
                        return failed
                    case Ok():
                        pass
            expected = expected_keys(self._catalogue, self._repo, self._space)
            with self._store.transaction():
                noted(self._store, {expected[key] for key in found.missing}, WANTED)
                if found.missing:
                    self._store.upsert("meta", [(SETTLED + self._space, "")]).unwrap()
        standing = self.catch_up(alone, progress, now=True)
        return Ok(found) if standing.is_whole else Err(VectorIndexError(standing.problem))

    def _state(self) -> str:
        """Return a digest of the catalogue's snapshots."""
        rows = self._store.scan("snapshots", columns=("id", "table_file"), order=("id",)).unwrap()
        return blake2b(repr(rows).encode(), digest_size=8).hexdigest()

    def _is_settled(self) -> bool:
        noted_state = self._store.scan("meta", [("name", "=", SETTLED + self._space)], ("value",)).unwrap()
        return noted_state == [(self._state(),)]

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
            self._index = None


def _batched(placements: Sequence[Placement]) -> Iterator[list[Placement]]:
    left = iter(placements)
    while batch := list(islice(left, FILES_AT_ONCE)):
        yield batch


def ready(catalogue: Catalogue, placements: Sequence[Placement]) -> list[Placement]:
    """Return the placements whose vectors have all been made by now."""
    there = _places(catalogue, sorted({each.blob for each in placements}))
    return [each for each in placements if each.blob in there]


def points_of(catalogue: Catalogue, repo: str, placements: Sequence[Placement], *, with_tokens: bool) -> list[Point]:
    """Return the points of placements.

    Content whose arrays are lost has none until the content is analysed again.
    """
    blobs = sorted({each.blob for each in placements})
    vectors = _vectors(catalogue, blobs)
    store = catalogue.store
    named = {row[0]: row[1:3] for row in store.get("blobs", [(blob,) for blob in blobs]).unwrap()}
    points: list[Point] = []
    for each in placements:
        own = vectors.get(each.blob)
        if own is None or each.blob not in named:
            continue
        digest, language = named[each.blob]
        chunks = catalogue.chunks([(each.blob, ordinal) for ordinal in range(len(own))])
        for ordinal, ((chunk, chunk_hash), vector) in enumerate(zip(chunks, own, strict=True)):
            symbols = tuple(symbol.qualified for symbol in chunk.symbols) or ((chunk.qualified,) if chunk.name else ())
            payload = Payload(
                evidence_id(repo, each, chunk_hash), repo, each.branch, each.label, each.path, language,
                chunk.start_line, chunk.end_line, str(chunk.kind), file_kind(each.path).value, symbols,
                chunk.text, digest, ordinal,
            )  # fmt: skip
            tokens = sparse_weights(f"{chunk.qualified} {chunk.signature} {chunk.text}") if with_tokens else {}
            points.append(Point(payload, vector, tokens))
    return points


def expected_keys(
    catalogue: Catalogue, repo: str, space: str, states: Sequence[int] = (THERE,)
) -> dict[str, Placement]:
    """Map the expected points' keys to placements in the given states."""
    placements = placements_in(catalogue.store, space, states)
    blobs = sorted({each.blob for each in placements})
    hashes: dict[int, list[str]] = {}
    for blob, digest in catalogue.store.scan("chunks", [("blob", "in", blobs)], ("blob", "hash")).unwrap():
        hashes.setdefault(blob, []).append(digest)
    return {
        point_key(evidence_id(repo, each, digest)): each for each in placements for digest in hashes.get(each.blob, ())
    }


def evidence_id(repo: str, each: Placement, chunk_hash: str) -> str:
    """Return a point's stable id."""
    return f"{repo}:{each.label}:{each.path}:{chunk_hash}"


def _vectors(catalogue: Catalogue, blobs: Sequence[int]) -> dict[int, NDArray[np.float32]]:
    """Return unit vectors, float32 (chunks, dim), of each content that has all."""
    found: dict[int, NDArray[np.float32]] = {}
    for blob, (segment, rows) in _places(catalogue, blobs).items():
        whole = segment.vectors[rows].astype(np.float32) * segment.scales[rows, None]
        lengths = np.linalg.norm(whole, axis=1, keepdims=True)
        found[blob] = np.asarray(whole / np.where(lengths > 0, lengths, 1), np.float32)
    return found


def _places(catalogue: Catalogue, blobs: Sequence[int]) -> dict[int, tuple[Segment, slice]]:
    """Return the segment and rows of each content's vectors.

    The newest segment counts. Content with pending vectors is left out.
    """
    found: dict[int, tuple[Segment, slice]] = {}
    for segment in _segments(catalogue):
        for blob, slot in zip(blobs, np.searchsorted(segment.blobs, blobs).tolist(), strict=True):
            if blob not in found and slot < len(segment.blobs) and segment.blobs[slot] == blob:
                found[blob] = segment, slice(*segment.starts[slot : slot + 2].tolist())
    return {blob: place for blob, place in found.items() if not (place[0].scales[place[1]] == PENDING).any()}


def _segments(catalogue: Catalogue) -> Sequence[Segment]:
    for snapshot in catalogue.snapshots():
        loaded = catalogue.load(snapshot.kind, snapshot.place)
        if loaded is not None:
            return loaded[1].segments
    return ()


ENOUGH = 500  # chunks with a dense score: more than the candidates of the second step
MOST_ASKED = 16 * ENOUGH  # the most points to request
FOR_SCALE = 20  # unfiltered points requested for scale; some may be of another snapshot
FEW_FILES = 500  # a filter that so few files pass is sent as their paths

Mask = NDArray[np.bool_] | None


class MirroredVectors(DenseSearch):
    """Dense search in the external index that mirrors a repository's vectors."""

    def __init__(self, mirror: Mirror) -> None:
        self.mirror = mirror

    def cosines(self, view: View, vector: Floats, query: Query, mask: Mask) -> tuple[Floats, str]:
        """Return the cosines of the nearest chunks, 0 for all others."""
        state = self.mirror.standing()
        problem = state.said
        if state.is_whole:
            index = self.mirror.index()
            try:
                return nearest(index, view, vector, filter_of(view, query, mask), mask), ""
            except StoreError as error:
                problem = self.mirror.failed(error)
        scores, _ = super().cosines(view, vector, query, mask)
        return scores, f"meaning is from this machine's own vectors, since {problem}"

    def catch_up(self, alone: Alone, progress: Progress) -> str:
        """Write the catalogue's changes to the index."""
        return self.mirror.catch_up(alone, progress).said

    def checks(self, alone: Alone, *, repair: bool) -> list[Check]:
        """Compare the points of the index with its ledger."""
        return [check_vectors(self.mirror, alone, repair=repair)]


def nearest(index: VectorIndex, view: View, vector: Floats, where: Filter, mask: Mask) -> Floats:
    """Return the cosines of an index's nearest chunks, float32 (N,).

    Raises `StoreError` when the index fails.
    """
    scores = np.zeros(int(view.bases[-1]), np.float32)
    if mask is not None:  # signals are divided by their maximum over all chunks, whatever the filters
        add_scores(scores, view, index.nearest(vector, FOR_SCALE, Filter()).unwrap(), None)
    wanted = ENOUGH
    while True:
        found = index.nearest(vector, wanted, where).unwrap()
        if add_scores(scores, view, found, mask) >= ENOUGH or len(found) < wanted or wanted >= MOST_ASKED:
            return scores
        wanted *= 4


def add_scores(scores: Floats, view: View, found: Iterable[Near], mask: Mask) -> int:
    """Add the scores of matching points to their chunks.

    A point matches if it is a row of the view that the mask allows. Returns the number of matching points.
    """
    passed = 0
    for near in found:
        row = row_of(view, near.payload)
        if row is not None and (mask is None or mask[row]):
            chunk = view.row_chunk[row]
            scores[chunk] = max(scores[chunk], near.score)
            passed += 1
    return passed


def row_of(view: View, payload: Payload) -> int | None:
    """Return a point's row in a view, or None.

    None means that the point belongs to another snapshot.
    """
    file = view.files.number(payload.path)
    if file is None or view.files.digests[file].tobytes().hex() != payload.blob:
        return None
    first, last = np.searchsorted(view.row_file, [file, file + 1])
    row = int(first) + payload.ordinal
    return row if payload.ordinal >= 0 and row < last else None


def filter_of(view: View, query: Query, mask: Mask) -> Filter:
    """Return the part of a query's filters to send.

    The results are filtered again here.
    """
    if mask is None:
        return Filter()
    files = np.unique(view.row_file[mask]).tolist()
    if len(files) <= FEW_FILES:
        return Filter(files=tuple(view.files.paths[file] for file in files) or ("",))
    kinds = KINDS[query.kind]
    return Filter(languages=query.languages, file_kinds=() if kinds == KINDS["all"] else tuple(sorted(kinds)))


def check_vectors(mirror: Mirror, alone: Alone, *, repair: bool) -> Check:
    """Compare the points of an external vector index with the ledger."""
    try:
        name = mirror.index().name
        match mirror.repair(alone, silent) if repair else mirror.drift():
            case Err(error):
                return Check("vectors", ok=False, detail=str(error), fix="mend that, then run `vade doctor --repair`")
            case Ok(drift):
                behind = mirror.standing()
    except (ConsentError, EmbedError, PluginError, UsageError) as error:
        return Check("vectors", ok=False, detail=str(error), fix="see the message, or set search.vectors to exact")
    where = f"{name}{', from another machine' if mirror.index().remote else ''}"
    if repair and drift.said:
        return Check("vectors", ok=True, detail=f"{where}: mended, there were {drift.said}")
    if drift.said or behind.lacking or behind.left_over:
        late = (
            f"{behind.lacking + behind.left_over} files still to be brought up to date" if not behind.is_whole else ""
        )
        said = ", ".join(filter(None, (drift.said, late)))
        return Check("vectors", ok=False, detail=f"{where}: {said}", fix="run `vade doctor --repair`")
    return Check("vectors", ok=True, detail=f"{where}: {drift.expected} points, all as they should be")
