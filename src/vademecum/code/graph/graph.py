"""Questions to a snapshot's graph: nodes, edges, reach, gaps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from vademecum.code.checkout.classify import file_kind
from vademecum.code.checkout.source import contained
from vademecum.code.graph.build import bring_up_to_date
from vademecum.code.graph.proofs import NO_PROOFS, Proofs, proofs_of
from vademecum.code.graph.terms import TRUSTED, Edge, Node, Relation, Tier
from vademecum.code.languages import language_of, rules_of
from vademecum.code.languages.references import References
from vademecum.code.languages.scopes import CLASSES
from vademecum.code.search.open import line_in, parse_location, past_end
from vademecum.code.search.signals import holding
from vademecum.code.snapshot.repository import Opened
from vademecum.errors import UsageError
from vademecum.index.query import LONGEST_NAME, endings, is_meant, is_module, is_within, split_name
from vademecum.matching import is_below
from vademecum.protocols import Condition, Progress, Row
from vademecum.types import FileKind

DEEPEST = 3
_FEW = 8  # nodes whose children are asked for one by one: of all nodes of a file there may be thousands
_PARTS = 16  # in which the whole graph is read
ANY = tuple(relation for relation in Relation if relation is not Relation.CONTAINS)


def check_depth(depth: int) -> int:
    """Return a depth that may be asked for.

    Raises:
        UsageError: which is a `ValueError`: it is not 1, 2 or 3.
    """
    if not 1 <= depth <= DEEPEST:
        reason = ": what is further away is related to nearly everything" if depth > DEEPEST else ""
        raise UsageError(f"depth {depth} is not 1, 2 or {DEEPEST}{reason}")
    return depth


def graph_of(opened: Opened, progress: Progress, *, below: Sequence[str] = ()) -> Graph:
    """Return the current graph of a repository's snapshot.

    Raises `StoreError`.
    """
    repo, proofs = opened.repo, proofs_of(opened, progress)
    bring_up_to_date(repo.catalogue, opened.snapshot, opened.view, repo.plan, progress, proofs)
    return Graph(opened, below, proofs)


class Graph:
    """Reads the records of `build`.

    Every list is in a stable order.

    `below` are directories and files, from the repository's top: what is declared elsewhere is not what a name means.
    """

    def __init__(self, opened: Opened, below: Sequence[str] = (), proofs: Proofs = NO_PROOFS) -> None:
        self.opened, self.proofs = opened, proofs
        self.below = tuple(below)
        self._store = opened.repo.catalogue.store
        self._own: list[Condition] = [("snapshot", "=", opened.snapshot.id)]
        self._nodes: dict[int, Node] = {}
        self._imports: dict[str, frozenset[int]] = {}  # by path, the lines on which imports begin
        self._with_name: dict[str, list[Node]] = {}

    # -- nodes ---------------------------------------------------------------------------------------------------

    def nodes(self, ids: Iterable[int]) -> dict[int, Node]:
        """Return nodes by id, unknown ids left out."""
        wanted = list(dict.fromkeys(ids))
        missing = [(self.opened.snapshot.id, number) for number in wanted if number not in self._nodes]
        if missing:
            self._keep(self._store.get("nodes", missing).unwrap())
        return {number: self._nodes[number] for number in wanted if number in self._nodes}

    def overloads(self, nodes: Sequence[Node]) -> list[Node]:
        """Return declarations of one file, each overload at its own place."""
        places: dict[str, list[Row]] = {}
        where: list[Condition] = [("blob", "=", self.blob(nodes[0].path))] if nodes else []
        columns = ("qualified", "start_line", "end_line", "ordinal")
        for row in self.opened.repo.catalogue.symbols(where, columns) if nodes else ():
            places.setdefault(row[0], []).append(row[1:])
        return [
            node._replace(start_line=start, end_line=end, chunk=ordinal)
            for node in nodes
            for start, end, ordinal in places.get(node.qualified, (node[5:8],))
        ]

    def overload(self, node: Node, line: int) -> Node:
        """Return a node with the place of its overload around a line."""
        if not node.qualified or node.start_line <= line <= node.end_line:
            return node
        return next((each for each in self.overloads([node]) if each.start_line <= line <= each.end_line), node)

    def named(self, name: str) -> list[Node]:
        """Return the declarations that a name, a path or `path:line` means.

        The name may be qualified. Product code comes first.

        A member that a class does not declare is looked for in what it is based on.

        Raises:
            UsageError: `name` holds no name.
        """
        found = self.anywhere(name) or (self.located(name) if line_in(name) else [])
        return [node for node in found if is_below(node.path, self.below)]

    def located(self, location: str) -> list[Node]:
        """Return the innermost declarations of `path:line`, or a file.

        The end of a path will do where one file has it. [] if there is no such file.

        Raises:
            OutsideRootError: the location leads out of the repository.
            UsageError: the file has no such line.
        """
        named, first, last = parse_location(location)
        path, files = contained(self.opened.repo.root, named).unwrap(), self.opened.view.files
        if files.number(path) is None and first:
            path, *others = [known for known in files.paths if known.endswith(f"/{path}")] or [""]
            path = "" if others else path
        if not path or not first:
            return self.in_files([path])[:1]
        content = self.opened.repo.catalogue.content(self.blob(path))
        if first > (length := content.count(b"\n") + (not content.endswith(b"\n"))):
            raise past_end(path, length, first)
        return self.at(path, first, last)

    def anywhere(self, name: str) -> list[Node]:
        """Return the same of the whole repository. Raises `UsageError` as `named` does."""
        parts = split_name(name)
        rows = self._scan("nodes", ("name", "=", parts[-1])) if parts else []
        found = [node for node in self._keep(rows) if node.qualified and is_meant(parts, node.qualified, node.path)]
        found = [node for node in found if not rules_of(language_of(node.path)).is_document] or found  # no headings
        if "<" in name:  # of the `impl`s of a type the one with these arguments, or this trait
            own = name.strip().replace("::", ".")
            found = [node for node in found if node.qualified.replace("::", ".") == own] or found
        if not found:
            found = [node for node in self.in_files([name.removeprefix("./")]) if not node.qualified]
        if all(file_kind(node.path) is FileKind.TEST for node in found) and parts:
            found += self._modules(name.strip(), parts)
        if not found:
            found = self._written(name.strip())
        if len(name) > LONGEST_NAME or (not found and not parts):
            raise UsageError(f"{name[:80]!r} is not a name: write it as code does, `Engine.open` or `read_source`")
        if not found and len(parts) > 1:
            found = self._shown_by(parts, self._keep(rows)) or self._inherited(parts)
        return sorted(
            found, key=lambda node: (file_kind(node.path) is not FileKind.PRODUCT, node.path, node.start_line)
        )

    def _modules(self, name: str, parts: list[str]) -> list[Node]:
        """Return the files that a module's name or a path's end means."""
        if len(parts) < 2:
            return []
        paths = [
            path for path in self.opened.view.files.paths
            if parts[-1] in path and (path.endswith(f"/{name}") or is_module(parts, path))
        ]  # fmt: skip
        return [node for node in self.in_files(paths) if not node.qualified] if paths else []

    def _written(self, name: str) -> list[Node]:
        """Return the declarations with exactly this name, dots and all.

        Such are a heading with a version, and an assignment to `$("a.b").text`.
        """
        rows = [row for own in endings(name) for row in self._scan("nodes", ("name", "=", own))]
        return [node for node in self._keep(rows) if node.qualified == name]

    def _shown_by(self, parts: list[str], nodes: Iterable[Node]) -> list[Node]:
        """Return the declarations that a package shows under a name.

        The whole repository is a package too.
        """
        named, above = [node for node in nodes if node.qualified], self.opened.repo.name
        found = [node for node in named if is_within(parts, node.qualified, node.path)]
        return found or [node for node in named if is_within(parts, node.qualified, f"{above}/{node.path}")]

    def _inherited(self, parts: list[str]) -> list[Node]:
        """Return the members of a name in the nearest bases."""
        rows = self._scan("nodes", ("name", "=", parts[-2]))
        nodes = self._keep(rows)
        here = [node for node in nodes if is_meant(parts[:-1], node.qualified, node.path)]
        here = here or self._shown_by(parts[:-1], nodes)
        seen: set[int] = set()
        while here := [node for node in here if node.kind in CLASSES and node.id not in seen]:
            seen |= {node.id for node in here}
            found = [node for node in self.children({node.id for node in here}) if node.name == parts[-1]]
            if found:
                return found
            edges = self.edges([node.id for node in here], (Relation.INHERITS, Relation.IMPLEMENTS))
            here = list(self.nodes(edge.target for edge in edges).values())
        return []

    def with_name(self, name: str) -> list[Node]:
        """Return every declaration of just this name."""
        if name not in self._with_name:
            rows = self._scan("nodes", ("name", "=", name))
            self._with_name[name] = [node for node in self._keep(rows) if node.qualified]
        return self._with_name[name]

    def beginning(self, prefix: str) -> list[Node]:
        """Return the declarations whose name begins so, all for "", by qualified name."""
        rows = self._scan("nodes", ("name", "prefix", prefix)) if prefix else self._scan("nodes")
        found = (node for node in self._keep(rows) if node.qualified)
        return sorted(found, key=lambda node: (node.qualified, node.path, node.start_line))

    def in_files(self, paths: Sequence[str]) -> list[Node]:
        """Return the nodes of files by line, each file's own first."""
        found = self._keep(self._scan("nodes", ("path", "in", list(paths))))
        return sorted(found, key=_in_order)

    def at(self, path: str, first: int, last: int = 0) -> list[Node]:
        """Return the innermost declarations on lines `first` … `last`.

        Where there is none, return the file.
        """
        nodes = self.in_files([path])
        touching = [n for n in nodes if n.qualified and n.start_line <= (last or first) and first <= n.end_line]
        around = {node.parent for node in touching}
        return [node for node in touching if node.id not in around] or nodes[:1]

    def children(self, ids: Collection[int]) -> list[Node]:
        """Return the declarations directly inside of nodes."""
        around = self.nodes(ids).values()
        if len(around) > _FEW:
            return [node for node in self.in_files(sorted({node.path for node in around})) if node.parent in ids]
        rows = [
            row for node in around for row in self._scan("nodes", ("path", "=", node.path), ("parent", "=", node.id))
        ]
        return sorted(self._keep(rows), key=_in_order)

    def every(self) -> list[Node]:
        """Return every node."""
        return self._keep(self._scan("nodes"))

    def places(self) -> Iterator[list[Row]]:
        """Yield id, path, kind and parent of every node, in parts."""
        return self._in_parts("nodes", "id", ("id", "path", "kind", "parent"))

    # -- edges ---------------------------------------------------------------------------------------------------

    def edges(
        self,
        ids: Collection[int],
        relations: Sequence[Relation] = ANY,
        *,
        into: bool = False,
        tiers: Sequence[Tier] = TRUSTED,
    ) -> list[Edge]:
        """Return the edges out of nodes, or into them."""
        rows = self._scan("edges", ("target" if into else "source", "in", sorted(ids)), *_of(tiers))
        found = (_edge(row) for row in rows)
        return sorted((e for e in found if e.relation in relations), key=lambda e: (e.tier, e.source, e.line, e.target))

    def every_edge(self, tiers: Sequence[Tier] = TRUSTED) -> list[Edge]:
        """Return every edge."""
        return [_edge(row) for row in self._scan("edges", *_of(tiers))]

    def links(self) -> Iterator[list[Row]]:
        """Yield source, relation and target of trusted edges, by ranges of targets."""
        return self._in_parts("edges", "target", ("source", "kind", "target"), *_of(TRUSTED))

    def _in_parts(self, family: str, by: str, columns: Sequence[str], *where: Condition) -> Iterator[list[Row]]:
        """Yield rows by ranges of an id.

        Ids are hashes, and so evenly spread.
        """
        step = (1 << 63) // _PARTS
        for first in range(0, 1 << 63, step):
            within: list[Condition] = [(by, ">=", first), (by, "<=", first + step - 1)]
            yield self._store.scan(family, [*self._own, *within, *where], columns).unwrap()

    def reach(
        self, start: Sequence[int], relations: Sequence[Relation], depth: int, *, into: bool = False
    ) -> dict[int, int]:
        """Return the ids within `depth` trusted steps, with the least steps.

        The start has 0 steps.

        Raises:
            UsageError: `depth` is not 1, 2 or 3.
        """
        along = ("target", "source") if into else ("source", "target")
        where = [*self._own, *_reached(relations)]
        return dict(self._store.reach("edges", list(start), along, where, check_depth(depth)).unwrap())

    def is_import(self, edge: Edge, source: Node) -> bool:
        """Return whether an edge stands for an import.

        An edge to a name does if its line holds an import.
        """
        if edge.relation is not Relation.REFERENCES or source.qualified:
            return edge.relation is Relation.IMPORTS
        if source.path not in self._imports:
            read = self.references(source.path)
            self._imports[source.path] = frozenset(row[1] for row in (*read.imports, *read.exports) if row[3])
        return edge.line in self._imports[source.path]

    def blob(self, path: str) -> int:
        """Return the number of an indexed file's content."""
        files = self.opened.view.files
        return int(files.blobs[bisect_left(files.paths, path)])

    def lines(self, path: str) -> list[bytes]:
        """Return the lines of an indexed file."""
        return self.opened.repo.catalogue.content(self.blob(path)).split(b"\n")

    def references(self, path: str) -> References:
        """Return the references of an indexed file, as they are written."""
        rows = self._store.get("mentions", [(self.blob(path),)]).unwrap()
        return References.load(rows[0][1] if rows else "")

    # -- what is not known ---------------------------------------------------------------------------------------

    def unresolved(self, name: str) -> list[str]:
        """Return the files with an unresolved call of a name."""
        view = self.opened.view
        paths = [view.files.paths[number] for number in np.flatnonzero(holding(view, name)).tolist()]
        where: list[Condition] = [*self._own, ("path", "in", paths), ("unresolved", ">", "")]
        rows = self._store.scan("resolved", where, ("path", "unresolved")).unwrap()
        return sorted(path for path, names in rows if name in names.split("\n"))

    def calling(self, path: str, names: Collection[str]) -> list[Node]:
        """Return the declarations in a file that call one of these names.

        Where code outside of declarations does, the file is among them.
        """
        read = self.references(path)
        owners = {read.owners[owner] for owner, _, text in read.calls if _last(text) in names}
        nodes = {node.qualified: node for node in self.in_files([path])}
        found = {}
        for owner in owners:
            while owner not in nodes and owner:
                owner = owner.rpartition(".")[0]  # noqa: PLW2901 - a function without a name is part of what is around it
            if owner in nodes:
                found[owner] = nodes[owner]
        return list(found.values())

    def _scan(self, family: str, *where: Condition) -> list[Row]:
        return self._store.scan(family, [*self._own, *where]).unwrap()

    def _keep(self, rows: Iterable[Row]) -> list[Node]:
        found = [Node(*row[1:]) for row in rows]
        self._nodes.update((node.id, node) for node in found)
        return found


def _last(call: str) -> str:
    """Return the name that is called, without receiver and number of arguments.

    >>> _last("store.get/1"), _last("get")
    ('get', 'get')
    """
    return call.partition("/")[0].rpartition(".")[2]


def _in_order(node: Node) -> tuple[str, bool, int, int]:
    return node.path, bool(node.qualified), node.start_line, -node.end_line


def _of(tiers: Sequence[Tier]) -> list[Condition]:
    return [("tier", ">=", int(min(tiers))), ("tier", "<=", int(max(tiers)))]


def _reached(relations: Sequence[Relation]) -> list[Condition]:
    tiers: list[Condition] = [("tier", "<=", int(Tier.UNIQUE))]
    if len(relations) == 1:
        return [("kind", "=", int(relations[0])), *tiers]
    return [("kind", "in", [int(r) for r in relations]), *tiers] if len(relations) < len(ANY) else tiers


def _edge(row: Any) -> Edge:
    _, source, kind, target, tier, line = row
    return Edge(source, Relation(kind), target, Tier(tier), line)
