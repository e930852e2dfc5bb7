"""The records of one snapshot's graph, read and written by building."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any

from vademecum.code.checkout.classify import file_kind
from vademecum.code.chunking.analyse import PathReader, Plan
from vademecum.code.graph.definitions import File
from vademecum.code.graph.terms import Node
from vademecum.code.indexing.workers import find_references
from vademecum.code.languages import has_references
from vademecum.code.languages.references import VERSION, References
from vademecum.code.snapshot.catalogue import Catalogue
from vademecum.protocols import Condition, Progress, Row, Store, silent

if TYPE_CHECKING:
    from vademecum.code.graph.edges import Found

KEPT_AT_ONCE = 500  # contents: what a kill can cost of finding what they refer to
SYMBOL = ("ordinal", "position", "name", "qualified", "kind", "start_line", "end_line")  # columns that are read
ROWS_AT_ONCE = 50_000  # that one statement stores
Files = Mapping[str, tuple[int, str]]  # path → blob, language
UNFINISHED = "unfinished "  # leads the state that a graph will have, which is stored in parts


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a graph: dropped rows and added rows."""

    count: int  # of linked files
    rows: Iterable[Rows]  # in parts, each kept before the next is asked for
    whole: bool = True  # one part, kept all or nothing
    fresh: bool = False  # nothing is kept of what there was
    replaced: Sequence[str] = ()  # the paths of files that changed or went
    linked: Sequence[str] = ()  # the paths of files whose edges are dropped


@dataclass(slots=True)
class Rows:
    """Nodes, edges and consulted tokens as rows, without the snapshot."""

    nodes: list[Node] = field(default_factory=list)
    edges: array[int] = field(default_factory=lambda: array("q"))  # five numbers each, as objects they take 200 bytes
    resolved: list[Row] = field(default_factory=list)  # path, blob, consulted, unresolved

    def link(self, file: File, found: Found, consulted: set[str]) -> None:
        """Add a file's edges, and the tokens consulted for them."""
        for ends, (tier, line) in found.edges.items():
            self.edges.extend((*ends, tier, line))
        self.resolved.append((file.path, file.blob, "\n".join(sorted(consulted)), "\n".join(sorted(found.unresolved))))

    def join(self, other: Rows) -> None:
        """Add the rows of another part."""
        self.nodes += other.nodes
        self.edges += other.edges
        self.resolved += other.resolved


class Records:
    """Reads definitions by content, and stores nodes and edges by snapshot.

    Raises `StoreError`.
    """

    def __init__(self, catalogue: Catalogue, snapshot: int, plan: Plan) -> None:
        self._catalogue = catalogue
        self._store = catalogue.store
        self._snapshot = snapshot
        self.plan = plan
        self.content = catalogue.content  # of a blob
        self._mentions: dict[int, References] = {}
        self._symbols: dict[int, list[Row]] = {}
        self._by_name: dict[str, list[Node]] = {}
        self._by_id: dict[int, Node] = {}
        self._fresh = False
        self._replaced: frozenset[str] = frozenset()
        self.state = self._read_state()  # of which state of the snapshot the graph was made, "" for none

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the store: another process reads for itself."""
        plan = replace(self.plan, processes=1)
        return _reopened, (self._store, self._catalogue.directory, self._snapshot, plan)

    def _read_state(self) -> str:
        rows = self._store.scan("graphs", self._own, ("tree_hash",)).unwrap()
        return str(rows[0][0]) if rows else ""

    @property
    def _own(self) -> list[Condition]:
        return [("snapshot", "=", self._snapshot)]

    # -- reading -------------------------------------------------------------------------------------------------

    def blobs(self) -> dict[str, int]:
        """Return, by path, the blob that a file's edges come from."""
        return dict(self._store.scan("resolved", self._own, ("path", "blob")).unwrap())

    def consulting(self, tokens: set[str]) -> set[str]:
        """Return the paths of files whose edges consulted a token."""
        if not tokens:  # an edit inside a function: what the others consulted need not be read
            return set()
        rows = self._store.scan("resolved", self._own, ("path", "consulted")).unwrap()
        return {path for path, consulted in rows if not tokens.isdisjoint(consulted.split("\n"))}

    def held(self, blobs: Sequence[int]) -> set[int]:
        """Return those of these blobs whose content is still there."""
        rows = self._store.scan("blobs", [("id", "in", blobs)], ("id",)).unwrap()
        return {blob for (blob,) in rows}

    def file(self, path: str, blob: int, language: str) -> File:
        """Return a file as it was."""
        return File(path, blob, language, self)

    def read_symbols(self, blobs: Iterable[int]) -> None:
        """Read the symbols of many files at once."""
        found: dict[int, list[Row]] = {blob: [] for blob in blobs}
        for row in self._store.scan("symbols", [("blob", "in", list(found))], ("blob", *SYMBOL)).unwrap():
            found[row[0]].append(row[1:])
        for rows in found.values():
            rows.sort()
        self._symbols |= found

    def read_ahead(self, files: Iterable[tuple[int, str]], progress: Progress) -> None:
        """Read the symbols and references of many files at once.

        Files are given as blob and language; unknown references are found.
        """
        languages = {blob: own for blob, own in files if blob not in self._mentions or blob not in self._symbols}
        self.read_symbols(languages)
        self._read_mentions(languages, progress)

    def _read_mentions(self, languages: Mapping[int, str], progress: Progress) -> None:
        for blob, text in self._store.get("mentions", [(blob,) for blob in languages]).unwrap():
            read = References.load(text)
            if read.version == VERSION:
                self._mentions[blob] = read
        self._find({blob: own for blob, own in languages.items() if blob not in self._mentions}, progress)

    @property
    def loaded(self) -> int:
        """The number of contents whose references are held."""
        return len(self._mentions)

    def forget(self) -> None:
        """Let go of the symbols and references read so far."""
        self._symbols, self._mentions = {}, {}

    def _find(self, unread: Mapping[int, str], progress: Progress) -> None:
        """Find the references of contents that were indexed without them.

        They are stored as they come.
        """
        wanted = [(blob, language) for blob, language in unread.items() if has_references(language)]
        contents = self._catalogue.contents({blob for blob, _ in wanted})
        jobs = [(contents[blob], language) for blob, language in wanted]
        rows: list[Row] = []
        for done, (job, written) in enumerate(find_references(jobs, self.plan), 1):
            text = written or References(VERSION).dump()  # a content that no parser survives refers to nothing
            rows.append((wanted[job][0], text))
            self._mentions[wanted[job][0]] = References.load(text)
            if len(rows) >= KEPT_AT_ONCE or done == len(jobs):
                self._store.upsert("mentions", rows).unwrap()
                rows = []
            progress("reading references", done, len(jobs))

    def symbols(self, blob: int) -> list[Row]:
        """Return a blob's symbols in order, as the columns `SYMBOL`."""
        if blob not in self._symbols:
            self.read_symbols([blob])
        return self._symbols[blob]

    def mentions(self, blob: int, language: str) -> References:
        """Return the references of a blob, found now if none are stored."""
        if blob not in self._mentions and has_references(language):
            self._read_mentions({blob: language}, silent)
        return self._mentions.setdefault(blob, References())

    def look_through(self, nodes: Sequence[Node], changed: Sequence[str], gone: Sequence[str], *, fresh: bool) -> None:
        """Look names up as after the change.

        `nodes` count as those of the changed files, and nodes of gone files as gone.
        """
        self._fresh = fresh
        self._replaced = frozenset((*changed, *gone))
        self._by_name = {}
        self._by_id = {node.id: node for node in nodes}
        for node in nodes:
            self._by_name.setdefault(node.name, []).append(node)

    def named(self, name: str) -> list[Node]:
        """Return the declarations of a name, and the files that bear it."""
        own = self._by_name.get(name, [])
        if self._fresh:
            return own
        rows = self._store.scan("nodes", [*self._own, ("name", "=", name)], Node._fields).unwrap()
        return own + [
            Node(number, intern(path), name, qualified, intern(kind), *rest)
            for number, path, _, qualified, kind, *rest in rows
            if path not in self._replaced
        ]

    def nodes(self, ids: Iterable[int]) -> dict[int, Node]:
        """Return nodes of files that declare a name, by id."""
        wanted = set(ids)
        found = {number: self._by_id[number] for number in wanted & self._by_id.keys()}
        left = [] if self._fresh else [(self._snapshot, number) for number in wanted - found.keys()]
        rows = self._store.get("nodes", left).unwrap()
        return found | {row[1]: Node._make(row[1:]) for row in rows}

    def names_in(self, paths: Sequence[str]) -> set[str]:
        """Return the names that files declare in the stored graph."""
        rows = self._store.scan("nodes", [*self._own, ("path", "in", list(paths))], ("name",)).unwrap()
        return {name for (name,) in rows}

    # -- writing -------------------------------------------------------------------------------------------------

    def replace(self, change: Change, state: str) -> bool:
        """Store a change; return False if the graph is another by now.

        What comes in one part is kept all or nothing. Of several each is kept as it comes, and until the last is kept there
        is no graph, whatever happens: the next one who asks goes on from there.
        """
        known = self.state
        for number, part in enumerate(change.rows):
            after = state if change.whole else f"{UNFINISHED}{state} {os.urandom(8).hex()}"
            with self._store.transaction():
                if self._read_state() != known:
                    return False
                if not number:
                    self._make_room(change)
                self._write(part)
                self._name(after)
            known = after
        return known == state or self._finish(known, state)

    def _finish(self, known: str, state: str) -> bool:
        """Name a graph stored in parts; return False if it changed."""
        with self._store.transaction():
            is_ours = self._read_state() == known
            if is_ours:
                self._name(state)
        return is_ours

    def _name(self, state: str) -> None:
        self._store.upsert("graphs", [(self._snapshot, state)]).unwrap()

    def _make_room(self, change: Change) -> None:
        """Drop the rows that a change replaces."""
        if change.fresh:
            for family in ("nodes", "edges", "resolved", "graphs"):
                self._store.delete(family, self._own).unwrap()
        else:
            self._drop(change.replaced, change.linked)

    def _drop(self, replaced: Sequence[str], linked: Sequence[str]) -> None:
        """Drop the nodes of replaced files, and the edges of relinked files."""
        where: list[Condition] = [*self._own, ("path", "in", list(replaced))]
        both: list[Condition] = [*self._own, ("path", "in", [*replaced, *linked])]
        sources = [number for (number,) in self._store.scan("nodes", both, ("id",)).unwrap()]
        self._store.delete("edges", [*self._own, ("source", "in", sources)]).unwrap()
        self._store.delete("nodes", where).unwrap()
        self._store.delete("resolved", where).unwrap()

    def _write(self, rows: Rows) -> None:
        edges = zip(*[iter(rows.edges)] * 5, strict=True)
        for family, part in (("nodes", iter(rows.nodes)), ("edges", edges), ("resolved", iter(rows.resolved))):
            while some := [(self._snapshot, *row) for row in islice(part, ROWS_AT_ONCE)]:
                self._store.upsert(family, some).unwrap()


def _reopened(store: Store, directory: Path, snapshot: int, plan: Plan) -> Records:
    return Records(Catalogue(store, directory, str, lambda: PathReader(file_kind)), snapshot, plan)
