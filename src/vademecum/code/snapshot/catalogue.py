"""The records and arrays of one repository, always consistent.

The database is the truth: content by git blob id, chunks, symbols, and for each snapshot the content at each path.
Beside it lie derived files of arrays, which ranking maps into memory: segments (of content), one file table per
snapshot, and the history of each commit that a snapshot is of. A derived file is written first, and named in the transaction that makes it current. So a crash at any instant
leaves the last complete state, and a reader sees either the old state or the new one.

A ledger of an external vector index holds its contents, paths and pending work. Each placement has a state:

    wanted   the points are to be written
    there    all points are written
    anew     the chunks or vectors have changed: the old points are deleted, then the state is wanted
    doomed   no snapshot has the placement any more: the points are to be deleted
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path

from vademecum.code.chunking.analyse import Analysis, PathReader
from vademecum.code.snapshot.past_commits import Histories
from vademecum.code.snapshot.segments import Segments
from vademecum.code.snapshot.view import LEFT_OUT, FileRow, FileTable, View, file_table, load_files, save_files, view_of
from vademecum.digests import blake2b
from vademecum.errors import StoreBusyError, StoreCorruptError, StoreError
from vademecum.index.segment import Segment
from vademecum.private import private_folder
from vademecum.protocols import Condition, Row, Store
from vademecum.result import Err, Ok
from vademecum.types import Chunk, Skipped, Symbol

WANTED, ANEW, THERE, DOOMED = range(4)
SETTLED = "mirrored "  # the prefix of the names in `meta` that record a finished state


@dataclass(frozen=True, slots=True)
class Placement:
    """One content at one path, under the commit `label` in point ids."""

    space: str
    path: str
    blob: int
    label: str
    branch: str
    state: int

    @property
    def row(self) -> tuple[object, ...]:
        """The placement's record."""
        return astuple(self)


def planned(store: Store, space: str) -> None:
    """Record the work needed for every snapshot's files."""
    with store.transaction():
        named: dict[tuple[str, int], tuple[str, str]] = {}
        for number, label, branch in store.scan("snapshots", columns=("id", "label", "branch"), order=("id",)).unwrap():
            for path, blob in store.scan("files", [("snapshot", "=", number)], ("path", "blob")).unwrap():
                if blob != LEFT_OUT:
                    named.setdefault((path, blob), (label, branch))
        have = {(each.path, each.blob): each for each in placements_in(store, space)}
        changed = [Placement(space, *key, *of, WANTED) for key, of in named.items() if key not in have]
        for key, each in have.items():
            if key not in named and each.state != DOOMED:
                changed.append(replace(each, state=DOOMED))
            elif key in named and each.state == DOOMED:
                changed.append(replace(each, state=ANEW))
        store.upsert("placements", [each.row for each in changed]).unwrap()


def replaced(store: Store, blobs: Sequence[int]) -> None:
    """Mark contents as analysed again, inside the transaction that stores them."""
    rows = (
        [Placement(*row) for row in store.scan("placements", [("blob", "in", list(blobs))]).unwrap()] if blobs else []
    )
    if rows:
        store.upsert("placements", [replace(each, state=ANEW).row for each in rows if each.state != DOOMED]).unwrap()
        known = store.scan("meta", [("name", "prefix", SETTLED)], ("name",)).unwrap()
        store.upsert("meta", [(name, "") for (name,) in known]).unwrap()


def placements_in(store: Store, space: str, states: Sequence[int] = (WANTED, ANEW, THERE, DOOMED)) -> list[Placement]:
    """Return the placements in some states, in path order."""
    where: list[Condition] = [("space", "=", space), ("state", "in", list(states))]
    return [Placement(*row) for row in store.scan("placements", where, order=("path", "blob")).unwrap()]


def noted(store: Store, placements: Iterable[Placement], state: int) -> None:
    """Set the state of placements."""
    store.upsert("placements", [replace(each, state=state).row for each in placements]).unwrap()


def dropped(store: Store, placements: Iterable[Placement]) -> None:
    """Delete placements whose points are gone."""
    with store.transaction():
        for each in placements:
            store.delete(
                "placements", [("space", "=", each.space), ("path", "=", each.path), ("blob", "=", each.blob)]
            ).unwrap()


BlobKey = tuple[str, str]  # git blob id, language
COMMITS_KEPT = 8  # commits whose views are cached
CHUNKS_KEPT = 4096  # cached chunks
CONTENTS_KEPT = 16_000_000  # bytes of cached content
LEFT_BEHIND_S = 3600  # an unfinished file of this age belongs to a killed process
ELSEWHERE = "elsewhere:"  # the prefix of the place of another machine's worktree


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One searchable state: a commit, a worktree or a source."""

    id: int
    kind: str  # "commit", "worktree" or "source"
    place: str  # the commit id, the worktree's directory, or the source's name
    label: str  # the name in evidence: `<commit>`, `<commit>+<treeHash>`, or `<treeHash>` outside git
    branch: str
    commit: str
    tree_hash: str
    indexed_at: float  # seconds since the epoch
    skipped: tuple[Skipped, ...]
    table_file: str = ""  # the name of the file table
    rules: str = ""  # the `Walk.rules` that judged the files


def tree_hash(files: FileTable) -> str:
    """Return 12 hex digits for a set of paths and contents."""
    digest = blake2b("\0".join(files.paths).encode("utf-8", "surrogatepass"), digest_size=6)
    digest.update(files.digests.tobytes())
    return digest.hexdigest()


class Catalogue:
    """The records and arrays of one repository; use one per process."""

    def __init__(
        self,
        store: Store,
        directory: Path,
        embedder: Callable[[], str],
        read_paths: Callable[[], PathReader],
        here: str = "",
    ) -> None:
        """Open the records in `store` and the derived files in `directory`.

        `embedder` returns the name of the vectors' embedder, `read_paths` the reader of paths. `here` names this
        machine where others share the store: each machine has its own worktrees and derived files.
        """
        self.store, self.directory = store, directory
        self.read_paths = read_paths
        self.here = here
        self.segments = Segments(store, directory, embedder, here)
        self.histories = Histories(directory, self.segments.note)
        self._loaded: dict[tuple[str, str], tuple[tuple[str, ...], tuple[Snapshot, View]]] = {}
        self._asked: dict[tuple[str, str], tuple[Hashable, tuple[str, ...]]] = {}
        self._told = ""  # the last damaged database that was told of
        self._forget_read()
        private_folder(directory)

    # -- reading -------------------------------------------------------------------------------------------------

    def load(self, kind: str, place: str) -> tuple[Snapshot, View] | None:
        """Return a snapshot and its view, or None when never indexed.

        The same object is returned while it is current.

        A derived file that is missing or damaged makes its blobs `missing` in the view, to be analysed again.
        """
        names = self._names(kind, place)
        if not names:
            return None
        known = self._loaded.get((kind, place))
        if known is None or known[0] != names:
            rows = self._scan("snapshots", self._at(kind, place))
            if not rows:
                return None
            snapshot = self._snapshot(rows[0])
            told = len(self.segments.damaged)
            known = (names, (snapshot, self._view(self._files(snapshot))))
            if self._names(kind, place) != names:  # another process wrote meanwhile: parts of two states were read
                del self.segments.damaged[told:]  # and files of the first one may be gone
                return self.load(kind, place)
            self._loaded[(kind, place)] = known
            for old in [key for key in self._loaded if key[0] == "commit"][:-COMMITS_KEPT]:
                self._loaded.pop(old, None)
                self._asked.pop(old, None)
            if self.here:
                from vademecum.code.snapshot.segments import Standing, keep

                keep(self.directory, (kind, place), Standing(names[1:], rows[0]))
        return known[1]

    def _names(self, kind: str, place: str) -> tuple[str, ...]:
        """Return a snapshot's derived files now, kept until something is written."""
        state = self.store.state()  # read first: a write from now on changes the next state
        then, names = self._asked.get((kind, place), (None, ()))
        if state is None or state != then:
            own = self._scan("snapshots", self._at(kind, place), ("table_file",))
            names = (*(name for (name,) in own), *self.segments.names())
            self._asked[kind, place] = state, names
        return names

    def _view(self, files: FileTable) -> View:
        """Join files with their content, fetching arrays that other machines made."""
        view = view_of(files, self.segments.current())
        if view.missing and self.here and self.segments.bring(view.missing):
            return view_of(files, self.segments.current())
        return view

    def damaged(self) -> tuple[str, ...]:
        """Return, once, the words on damaged files that are made anew."""
        found = self.untold()
        self._told, self.segments.damaged = self.store.aside, []
        return found

    def untold(self) -> tuple[str, ...]:
        """Return the same words, and leave them for an answer."""
        aside = self.store.aside
        if not aside or aside == self._told:
            return tuple(self.segments.damaged)
        lost = (
            f"the index was damaged and is made anew: what was left of it is {aside} (`vade gc` removes it in a week)"
        )
        return (lost, *self.segments.damaged)

    def snapshots(self) -> list[Snapshot]:
        """Return every snapshot, oldest first, without other machines' worktrees."""
        found = [self._snapshot(row) for row in self._scan("snapshots", order=("id",))]
        return [each for each in found if each.kind != "worktree" or not each.place.startswith(ELSEWHERE)]

    def _at(self, kind: str, place: str) -> list[Condition]:
        """Return the conditions that find a snapshot in a shared store."""
        return [("kind", "=", kind), ("place", "=", self._stored_place(kind, place))]

    def _stored_place(self, kind: str, place: str) -> str:
        return f"{self.here}:{place}" if self.here and kind == "worktree" else place

    def _snapshot(self, row: Row) -> Snapshot:
        snapshot = snapshot_of(row)
        if not self.here or snapshot.kind != "worktree":
            return snapshot
        machine, _, place = snapshot.place.partition(":")
        return replace(snapshot, place=place if machine == self.here else f"{ELSEWHERE}{snapshot.place}")

    def known(self, hashes: Iterable[str]) -> dict[BlobKey, int]:
        """Return the ids of analysed contents, by blob id and language."""
        rows = self._scan("blobs", [("hash", "in", list(hashes))], ("hash", "language", "id"))
        return {(digest, language): number for digest, language, number in rows}

    def held(self, wanted: Iterable[int] = ()) -> set[int]:
        """Return ids of contents with arrays here, once `wanted` ones are fetched."""
        held = self.segments.held()
        lacking = sorted(set(wanted) - held) if self.here else []
        return held | self.segments.bring(lacking) if lacking else held

    def chunks(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[Chunk, str]]:
        """Return chunks with hashes, by place. Raises `StoreCorruptError` for missing ones."""
        found = {key: self._chunks[key] for key in wanted if key in self._chunks}
        keys = list(dict.fromkeys(key for key in wanted if key not in found))
        if not keys:
            return [found[key] for key in wanted]
        symbols: dict[tuple[int, int], list[Symbol]] = {key: [] for key in keys}
        for row in sorted(self.store.get("symbols", keys).unwrap()):
            symbols[row[0], row[1]].append(Symbol(*row[3:]))
        contents = self.contents({blob for blob, _ in keys})
        for row in self.store.get("chunks", keys).unwrap():
            own = row[0], row[1]
            found[own] = _chunk(row, contents[row[0]], tuple(symbols[own])), row[11]
        for blob, ordinal in keys:
            if (blob, ordinal) not in found:
                raise StoreCorruptError(f"chunk {ordinal} of blob {blob} is missing: run `vade index --full`")
        if len(self._chunks) > CHUNKS_KEPT:
            self._chunks.clear()
        self._chunks.update(found)
        return [found[key] for key in wanted]

    def part_of(self, blob: int, ordinal: int) -> dict[str, int]:
        """Return a chunk's `part` and `parts`, or {} for a whole declaration."""
        [(metadata,)] = self._scan("chunks", [("blob", "=", blob), ("ordinal", "=", ordinal)], ("metadata",)) or [("",)]
        known = json.loads(metadata) if '"parts"' in metadata else {}
        return {name: known[name] for name in ("part", "parts") if name in known}

    def symbols(self, where: Sequence[Condition], columns: Sequence[str] = ()) -> list[Row]:
        """Return symbol records, ordered by blob."""
        return self._scan("symbols", where, columns, ("blob", "ordinal", "position"))

    def contents(self, blobs: Collection[int]) -> Mapping[int, bytes]:
        """Return the stored content of blobs; the last ones read are cached."""
        lacking = [blob for blob in blobs if blob not in self._contents]
        rows = self.store.get("blobs", [(blob,) for blob in lacking]).unwrap() if lacking else []
        self._contents.update((row[0], bytes(row[3])) for row in rows)
        self._contents_size += sum(len(row[3]) for row in rows)
        if missing := set(lacking).difference(self._contents):
            raise StoreCorruptError(f"blob {min(missing)} is missing: run `vade index --full`")
        found = {blob: self._contents[blob] for blob in blobs}
        while self._contents_size > CONTENTS_KEPT:
            self._contents_size -= len(self._contents.pop(next(iter(self._contents))))
        return found

    def with_errors(self) -> set[int]:
        """Return the blobs in which a grammar found errors."""
        return {blob for (blob,) in self._scan("blobs", [("has_errors", "=", 1)], ("id",))}

    def content(self, blob: int) -> bytes:
        """Return the stored content of one blob."""
        return self.contents((blob,))[blob]

    def _forget_read(self) -> None:
        self._chunks: dict[tuple[int, int], tuple[Chunk, str]] = {}
        self._contents: dict[int, bytes] = {}
        self._contents_size = 0

    def _files(self, snapshot: Snapshot) -> FileTable:
        try:
            return load_files(self.directory / snapshot.table_file, self.read_paths().embedder)
        except StoreCorruptError as error:
            self.segments.note(error)
            table = file_table(self._file_rows(snapshot.id), self.read_paths())
            with suppress(StoreError):  # a full disk still answers, and the next load tries again
                save_files(self.directory / snapshot.table_file, table, self.read_paths().embedder)
            return table

    def _file_rows(self, snapshot: int) -> list[FileRow]:
        rows = self._scan("files", [("snapshot", "=", snapshot)], ("path", "blob", "size", "mtime_ns", "inode"))
        blobs = self._scan("blobs", [("id", "in", sorted({row[1] for row in rows}))], ("id", "hash", "language"))
        named = {number: (digest, language) for number, digest, language in blobs}
        return [FileRow(path, blob, *named[blob], *stat) for path, blob, *stat in rows if blob in named]

    def _scan(
        self, family: str, where: Sequence[Condition] = (), columns: Sequence[str] = (), order: Sequence[str] = ()
    ) -> list[Row]:
        return self.store.scan(family, where, columns, order).unwrap()

    # -- writing -------------------------------------------------------------------------------------------------

    def add(self, analysed: Mapping[str, Sequence[Analysis]]) -> dict[BlobKey, int]:
        """Store analyses by git blob id, all or nothing.

        An earlier analysis of the same content is replaced.

        Raises:
            StoreError: nothing was stored.
        """
        if not analysed:
            return {}
        with self.store.transaction():
            numbers = self.known(analysed)
            again = [numbers[digest, a.language] for digest, analyses in analysed.items() for a in analyses
                     if (digest, a.language) in numbers]  # fmt: skip
            last = self._scan("meta", [("name", "=", "last_blob")])
            number = int(last[0][1]) if last else 0
            rows: list[tuple[int, str, Analysis]] = []
            for digest, analyses in analysed.items():
                for analysis in analyses:
                    if (digest, analysis.language) not in numbers:
                        number += 1
                        numbers[digest, analysis.language] = number
                    rows.append((numbers[digest, analysis.language], digest, analysis))
            replaced(self.store, again)
            for family in ("chunks", "symbols"):
                self._delete(family, [("blob", "in", again)])
            self._write_rows(rows)
            self._upsert("meta", [("last_blob", str(number))])
            self.segments.add([(n, analysis.arrays) for n, _, analysis in rows])
        self._forget_read()
        return numbers

    def _write_rows(self, rows: list[tuple[int, str, Analysis]]) -> None:
        self._upsert(
            "blobs",
            [(n, digest, a.language, a.content, "\n".join(a.imports), int(a.has_errors)) for n, digest, a in rows],
        )
        self._upsert("chunks", [(n, *row) for n, _, a in rows for row in a.chunks])
        self._upsert("symbols", [(n, *row) for n, _, a in rows for row in a.symbols])
        self._upsert("mentions", [(n, a.references) for n, _, a in rows if a.references])

    def commit(self, snapshot: Snapshot, table: FileTable, changed: Sequence[FileRow], gone: Iterable[str]) -> Snapshot:
        """Make `table` a snapshot's files and return the snapshot.

        The snapshot becomes current at once; the result has its id. `changed` are the rows that differ from the
        database, `gone` the paths to delete.

        Raises:
            StoreError: the previous state stays.
        """
        with self.store.transaction():
            previous = self._scan("snapshots", self._at(snapshot.kind, snapshot.place), ("id",))
            others = [] if previous else self._scan("snapshots", (), ("id",))
            number = previous[0][0] if previous else 1 + max((n for (n,) in others), default=0)
            snapshot = replace(snapshot, id=number, table_file=f"files-{uuid.uuid4().hex}.safetensors")
            self._check_kept(changed)
            save_files(self.directory / snapshot.table_file, table, self.read_paths().embedder)
            stored = replace(snapshot, place=self._stored_place(snapshot.kind, snapshot.place))
            self._upsert("snapshots", [_snapshot_row(stored)])
            self._delete("files", [("snapshot", "=", number), ("path", "in", list(gone))])
            self._upsert("files", [(number, r.path, r.blob, r.size, r.mtime_ns, r.inode) for r in changed])
            self.segments.join()
        self.sweep()
        if self.segments.mostly_dead(table.blobs):
            self.collect()
        return snapshot

    def keep_look(self, found: tuple[Snapshot, View], looked_at: float) -> None:
        """Keep when the files were last found as a snapshot has them.

        Nothing is kept where the snapshot was replaced, or nothing can be written.
        """
        snapshot, view = found
        place = snapshot.kind, snapshot.place
        with suppress(StoreError), self.store.transaction():
            names = self._names(*place)
            if self._loaded.get(place, ("", None))[1] is found and self._loaded[place][0] == names:
                snapshot = replace(snapshot, indexed_at=looked_at)
                self._upsert("snapshots", [_snapshot_row(replace(snapshot, place=self._stored_place(*place)))])
                self._loaded[place] = names, (snapshot, view)

    def _check_kept(self, changed: Sequence[FileRow]) -> None:
        """Reject contents that another machine deleted meanwhile."""
        wanted = {row.blob for row in changed if row.blob != LEFT_OUT} if self.here else set()
        gone = (
            wanted - {n for (n,) in self._scan("blobs", [("id", "in", sorted(wanted))], ("id",))} if wanted else set()
        )
        if gone:
            raise StoreBusyError(
                f"{len(gone)} contents were dropped by a clean-up on another machine meanwhile: run `vade index` again"
            )

    def join(self) -> None:
        """Join segments after contents were replaced."""
        with self.store.transaction():
            self.segments.join()
        self.sweep()

    def rewrite(self, change: Callable[[Segment], Segment | None]) -> None:
        """Replace segments, all or none, for which `change` returns another."""
        with self.store.transaction():
            self.segments.rewrite(change)
        self.sweep()

    def forget(self, snapshots: Iterable[int]) -> None:
        """Delete snapshots; the next `collect` deletes their content."""
        with self.store.transaction():
            for number in snapshots:
                for family in ("files", "nodes", "edges", "resolved", "graphs"):
                    self._delete(family, [("snapshot", "=", number)])
                self._delete("snapshots", [("id", "=", number)])

    def mend(self) -> bool:
        """Start over a damaged database, drop damaged segments; return whether any."""
        match self.store.check():
            case Ok("ok"):
                return self.segments.weed()
            case Err(error) if not isinstance(error, StoreCorruptError):
                raise error
        self.store.start_over()
        self._loaded = {}
        self.segments.forget()
        self._forget_read()
        return True

    def collect(self) -> tuple[int, int]:
        """Delete content that no snapshot has; return numbers of blobs and chunks."""
        with self.store.transaction():
            named = {blob for (blob,) in self._scan("files", columns=("blob",))}
            dead = [n for (n,) in self._scan("blobs", columns=("id",)) if n not in named]
            self._delete("blobs", [("id", "in", dead)])
            chunks = self._delete("chunks", [("blob", "in", dead)])
            for family in ("symbols", "mentions", "named_in_code", "arrays"):
                self._delete(family, [("blob", "in", dead)])
            alive = {digest for (digest,) in self._scan("chunks", columns=("hash",))}
            for family, maker in (("vectors", "embedder"), ("summaries", "enricher")):
                unused = [key for key in self._scan(family, columns=(maker, "hash")) if key[1] not in alive]
                # without the maker, each part of a long list would scan everything
                for name in {by for by, _ in unused}:
                    self._delete(family, [(maker, "=", name), ("hash", "in", [it for by, it in unused if by == name])])
            self.segments.join(everything=True)
        self._forget_read()
        self.sweep()
        return len(dead), chunks

    def sweep(self) -> None:
        """Delete derived files that are no longer named.

        Leftovers of killed runs go too. Files are written inside transactions only, so during our transaction a file
        without a name has no owner.
        """
        with self.store.transaction():
            named = {*self.segments.names()}
            for snapshot in self.snapshots():
                named |= {snapshot.table_file, self.histories.name(snapshot.commit)}
            for path in self.directory.glob("*.safetensors*"):
                if path.name not in named:
                    path.unlink(missing_ok=True)
        for path in self.directory.glob("*.tmp"):  # of a seal or a manifest, which another process may be writing
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > LEFT_BEHIND_S:
                    path.unlink()

    def _upsert(self, family: str, rows: Sequence[Row]) -> None:
        self.store.upsert(family, rows).unwrap()

    def _delete(self, family: str, where: Sequence[Condition]) -> int:
        return self.store.delete(family, where).unwrap()


def _chunk(row: Row, content: bytes, symbols: tuple[Symbol, ...]) -> Chunk:
    _, _, first, last, start, end, kind, name, scope, signature, summary, _, calls, metadata = row
    return Chunk(
        first, last, start, end, kind, content[start:end].decode("utf-8", "replace"), name, scope, signature, "", summary,
        symbols, tuple(calls.split("\n")) if calls else (), json.loads(metadata) if metadata else {},
    )  # fmt: skip


def snapshot_of(row: Row) -> Snapshot:
    """Parse a record of the family `snapshots`."""
    number, kind, place, label, branch, commit, tree, indexed_at, skipped, table_file, rules = row
    left_out = tuple(Skipped(**item) for item in json.loads(skipped))
    return Snapshot(number, kind, place, label, branch, commit, tree, indexed_at, left_out, table_file, rules)


def _snapshot_row(snapshot: Snapshot) -> Row:
    s = snapshot
    skipped = json.dumps([asdict(item) for item in s.skipped])
    return (s.id, s.kind, s.place, s.label, s.branch, s.commit, s.tree_hash, s.indexed_at, skipped, s.table_file,
            s.rules)  # fmt: skip
