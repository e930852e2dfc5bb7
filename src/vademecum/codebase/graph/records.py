"""The graph's records of one snapshot: what building it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from vademecum.codebase.catalogue import Catalogue
from vademecum.codebase.chunk import chunk_file
from vademecum.codebase.graph.definitions import File
from vademecum.codebase.graph.edges import Found
from vademecum.codebase.graph.terms import Node
from vademecum.codebase.languages import has_references
from vademecum.codebase.references import VERSION, References
from vademecum.protocols import Condition, Row

_BATCH = 20_000  # edges written at once


class Records:
    """Reads definitions by content, and keeps nodes and edges by snapshot. Raises `StoreError`."""

    def __init__(self, catalogue: Catalogue, snapshot: int, deadline_s: float) -> None:
        self._catalogue = catalogue
        self._store = catalogue.store
        self._snapshot = snapshot
        self._deadline_s = deadline_s
        self._mentions: dict[int, References] = {}
        self._symbols: dict[int, list[Row]] = {}
        self._by_name: dict[str, list[str]] | None = None
        self.names_gone: set[str] = set()  # names declared in files that are gone

    @property
    def state(self) -> str:
        """Of which state of the snapshot the graph was made, "" for none."""
        rows = self._store.scan("graphs", self._own, ("tree_hash",)).unwrap()
        return str(rows[0][0]) if rows else ""

    @property
    def _own(self) -> list[Condition]:
        return [("snapshot", "=", self._snapshot)]

    # -- reading -------------------------------------------------------------------------------------------------

    def resolved(self) -> dict[str, tuple[int, frozenset[str]]]:
        """Return of each path the blob its edges were made of, and what was consulted for them."""
        rows = self._store.scan("resolved", self._own, ("path", "blob", "consulted")).unwrap()
        return {path: (blob, frozenset(consulted.split("\n"))) for path, blob, consulted in rows}

    def file(self, path: str, blob: int, language: str) -> File:
        """Return a file as it was."""
        return File(path, blob, language, self.symbols, self.mentions)

    def symbols(self, blob: int) -> list[Row]:
        """Return a blob's symbols in order, their blob left out."""
        if blob not in self._symbols:
            rows = self._store.get("symbols", [(blob,)]).unwrap()
            self._symbols[blob] = sorted(row[1:] for row in rows)
        return self._symbols[blob]

    def mentions(self, blob: int, language: str) -> References:
        """Return what a blob refers to: as stored, or found now where the index is older than the graph."""
        if blob not in self._mentions:
            rows = self._store.get("mentions", [(blob,)]).unwrap() if has_references(language) else []
            found = References.load(rows[0][1] if rows else "")
            if has_references(language) and not (rows and found.version == VERSION):
                written = chunk_file(
                    self._catalogue.content(blob), language, self._deadline_s, references=True
                ).references
                self._store.upsert("mentions", [(blob, written or References(VERSION).dump())]).unwrap()
                found = References.load(written)
            self._mentions[blob] = found
        return self._mentions[blob]

    def named(self, name: str) -> Iterable[str]:
        """Return the paths of files that declare a name."""
        if self._by_name is not None:
            return self._by_name.get(name, ())
        rows = self._store.scan("nodes", [*self._own, ("name", "=", name)], ("path",)).unwrap()
        return {path for (path,) in rows}

    # -- writing -------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Drop all that is kept of the snapshot's graph."""
        for family in ("nodes", "edges", "resolved", "graphs"):
            self._store.delete(family, self._own).unwrap()

    def replace_nodes(
        self, paths: Sequence[str], gone: Sequence[str], nodes: Iterable[Node], *, replacing: bool
    ) -> None:
        """Make `nodes` those of `paths` and of what is gone, and drop the edges of those that were there."""
        if replacing:
            where: list[Condition] = [*self._own, ("path", "in", [*paths, *gone])]
            old = self._store.scan("nodes", where, ("id", "name", "path")).unwrap()
            self._store.delete("edges", [*self._own, ("source", "in", [number for number, _, _ in old])]).unwrap()
            self._store.delete("nodes", where).unwrap()
            lost = set(gone)
            self.names_gone = {name for _, name, path in old if path in lost}
        rows = [
            (self._snapshot, n.id, n.path, n.name, n.qualified, n.kind, n.start_line, n.end_line, n.chunk, n.parent)
            for n in nodes
        ]
        self._store.upsert("nodes", rows).unwrap()
        if not replacing:
            self._by_name = {}
            for row in rows:
                self._by_name.setdefault(row[3], []).append(row[2])

    @contextmanager
    def writing(self) -> Iterator[Callable[[File, Found, set[str]], None]]:
        """Give what keeps a file's edges; they are written in batches."""
        edges: list[Row] = []
        resolved: list[Row] = []
        sources: list[int] = []

        def flush() -> None:
            self._store.delete("edges", [*self._own, ("source", "in", sources)]).unwrap()
            self._store.upsert("edges", edges).unwrap()
            self._store.upsert("resolved", resolved).unwrap()
            for written in (edges, resolved, sources):
                written.clear()

        def write(file: File, found: Found, consulted: set[str]) -> None:
            if self._by_name is None:  # some of it may be there already
                sources.extend([file.itself.id, *(node.id for node in file.nodes.values())])
            edges.extend((self._snapshot, s, r, t, int(tier), line) for (s, r, t), (tier, line) in found.edges.items())
            resolved.append(
                (
                    self._snapshot,
                    file.path,
                    file.blob,
                    "\n".join(sorted(consulted)),
                    "\n".join(sorted(found.unresolved)),
                )
            )
            if len(edges) >= _BATCH:
                flush()

        yield write
        flush()

    def finish(self, gone: Sequence[str], state: str) -> None:
        """Forget paths that are gone, and say of which state the graph is."""
        self._store.delete("resolved", [*self._own, ("path", "in", list(gone))]).unwrap()
        self._store.upsert("graphs", [(self._snapshot, state)]).unwrap()
