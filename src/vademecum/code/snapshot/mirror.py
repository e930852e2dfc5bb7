"""Mirror a snapshot's vectors in an outside vector index.

The database and the arrays beside it stay the truth; the index is derived from them. Two stores cannot be written at once,
so every write has two steps, and a ledger in the database (the family `placements`) says how far it is:

    plan     one transaction: what is to be there and is not, what is there and is not to be
    drop     delete the points of what is not to be there; then forget it
    write    write the points of what is to be there; then note that they are
    finish   activate the index, and note for which state of the catalogue all this was done

A crash after any of them leaves a ledger that the next run goes on from. Doing a step twice is doing it once, because a
point's id is made of what it is of: `<repo>:<commit>:<path>:<chunkHash>`, with the commit under which that content was
first seen at that path. So going to another branch and back writes nothing, and an edit writes one file's points.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TypeVar

from vademecum.code.snapshot.mirror_ledger import (  # fmt: skip
    ANEW,
    DOOMED,
    SETTLED,
    THERE,
    WANTED,
    Placement,
    dropped,
    noted,
    placements_in,
    planned,
)
from vademecum.code.snapshot.store import Catalogue
from vademecum.code.snapshot.vector_points import expected_keys, points_of, ready
from vademecum.errors import EmbedError, StoreError, VectorIndexError
from vademecum.points import Filter
from vademecum.protocols import Clock, Embedder, Progress, VectorIndex
from vademecum.result import Err, Ok, Result

T = TypeVar("T")

FILES_AT_ONCE = 200  # whose points are written, then noted: what a crash has written twice
NOT_EMPTIED = "not emptied"  # noted of an index that may hold points which its ledger does not know
RESTED_S = 30.0  # after a failure nothing is asked for so long: searches do not wait for a server that is down

Connect = Callable[[str, str, int], VectorIndex]  # collection, model, dim


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an index has what it is to have."""

    kind: str
    files: int  # that are to be there
    lacking: int  # of which the points are not, or not all
    left_over: int  # files whose points are there and are not to be
    problem: str = ""  # why

    @property
    def is_whole(self) -> bool:
        """Whether the index answers as the arrays would."""
        return not self.lacking and not self.problem

    @property
    def said(self) -> str:
        """What is lacking and why, "" for nothing."""
        lacking = f"{self.kind} lacks {self.lacking} of {self.files} files" if self.lacking else ""
        return ": ".join(filter(None, (lacking, self.problem)))


@dataclass(frozen=True, slots=True)
class Drift:
    """How what an index holds differs from what it is to hold, by key."""

    missing: set[str]
    orphans: set[str]  # belong to nothing
    expected: int

    @property
    def said(self) -> str:
        """The difference in words, "" for none."""
        parts = [
            (len(self.missing), f"of {self.expected} points missing"),
            (len(self.orphans), "points that belong to nothing"),
        ]
        return ", ".join(f"{count} {words}" for count, words in parts if count)


class Mirror:
    """Keeps one repository's vectors in an index outside.

    Args:
        kind: the name of the provider, as "qdrant".
        name: what the names of its collections begin with.
        connect: opens the index of a collection, a model and the length of its vectors. Raises `ConsentError`, `PluginError`.
        catalogue: what it is to be equal to.
        repo: what the repository is called in the points' ids; everybody who shares the catalogue calls it so.
        embedder: loads what made the vectors.
        clock: tells the time, in seconds since the epoch.
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
        self.problem = ""  # why it was left where it is

    def index(self) -> VectorIndex:
        """Return the index, opened for the repository's embedder. Raises what `connect` does."""
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
        """Return the name of the collection that belongs to these records alone, made when first needed."""
        if not self._owned():
            with self._store.transaction():  # a second process waits here, then finds the first one's
                if (
                    not self._owned()
                ):  # nobody's yet, or lost with a damaged database, while this process still knows it
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
        """Bring the index to the state of the catalogue, as far as it lets; what fails is tried again by the next run.

        `now` asks also an index that failed just before.

        Raises:
            StoreError: the database said no. An index that did only shows in what is returned.
        """
        try:
            index = self.index()
        except EmbedError as error:  # whose vectors it holds is not known while the embedder does not answer
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
        with self._store.transaction():  # another home of a shared database waits, and deletes nothing that we write
            if self._store.scan("meta", [ours], ("value",)).unwrap() == [(NOT_EMPTIED,)]:  # type: ignore[list-item]
                if not self._kept(index.delete(Filter())):  # whatever is there is of a ledger that was lost
                    return False
                self._store.upsert("meta", [(SETTLED + self._space, "")]).unwrap()
        return True

    def _drop(self, index: VectorIndex) -> bool:
        """Delete what is to go, each batch read and done as one: what another home wants meanwhile, it writes after."""
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
        """Note what is done, and forget the ledgers of what activating has dropped."""
        with self._store.transaction():
            for (name,) in self._store.scan("meta", [("name", "prefix", SETTLED)], ("name",)).unwrap():
                if name != SETTLED + self._space:
                    self._store.delete("placements", [("space", "=", name.removeprefix(SETTLED))]).unwrap()
                    self._store.delete("meta", [("name", "=", name)]).unwrap()
            self._store.upsert("meta", [(SETTLED + self._space, state)]).unwrap()
        self.problem = ""

    def _kept(self, outcome: Result[T, StoreError]) -> bool:
        """Whether the index did it; else say why not."""
        match outcome:
            case Err(error):
                self.problem = " ".join(str(error).split())
                self._failed_at = self._clock()
                return False
            case Ok():
                return True

    # -- how it stands -------------------------------------------------------------------------------------------

    def failed(self, error: StoreError) -> str:
        """Note that the index could not be asked. Returns why."""
        self._kept(Err(error))
        return self.problem

    def standing(self) -> Standing:
        """Say how far the index has what it is to have, by the ledger; the index itself is not asked."""
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

    # -- what it really holds ------------------------------------------------------------------------------------

    def drift(self) -> Result[Drift, StoreError]:
        """Compare what the index holds with what it is to hold by the ledger. Every key is listed: this is for `doctor`."""
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
        """Write what is missing, delete what belongs to nothing, and return how it was before."""
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
        """Return what tells one state of the catalogue's snapshots from another."""
        rows = self._store.scan("snapshots", columns=("id", "table_file"), order=("id",)).unwrap()
        return blake2b(repr(rows).encode(), digest_size=8).hexdigest()

    def _is_settled(self) -> bool:
        noted_state = self._store.scan("meta", [("name", "=", SETTLED + self._space)], ("value",)).unwrap()
        return noted_state == [(self._state(),)]

    def close(self) -> None:
        """Let go of the index."""
        if self._index is not None:
            self._index.close()
            self._index = None


def _batched(placements: Sequence[Placement]) -> Iterator[list[Placement]]:
    left = iter(placements)
    while batch := list(islice(left, FILES_AT_ONCE)):
        yield batch
