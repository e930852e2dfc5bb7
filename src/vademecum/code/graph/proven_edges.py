"""Proven edges of a file, and its other references.

Where a proof says what a name means nothing else is asked: an edge of tier `proven` leads to the declaration, or none
does. All other references of the file are resolved as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from vademecum.code.graph.definitions import Definitions, File
from vademecum.code.graph.scip_names import Proof
from vademecum.code.graph.terms import Node, Relation
from vademecum.code.languages import has_references
from vademecum.code.languages.declarations import LEAVES
from vademecum.code.languages.expression import chain, plain_type
from vademecum.code.languages.references import VALUE, References

Site = tuple[int, str, bool]  # line, name, and whether it is written after a receiver
Row = TypeVar("Row", bound=tuple[Any, ...])


class Proven:
    """The proofs of one file, with the declarations they lead to."""

    def __init__(self, definitions: Definitions, file: File, proofs: Sequence[Proof]) -> None:
        self._definitions, self._file = definitions, file
        self._sites: dict[Site, list[Node]] = {}  # what is meant; nothing, where the repository declares nothing such
        self._begun: dict[Site, Site] = {}  # by the line on which the expression begins
        self.unlisted: set[Site] = set()  # variables and members that are no declarations of ours, yet may hold one
        for proof in proofs:
            site = proof.line, proof.name, proof.is_member
            node = self._declaration(proof)
            if node is None and proof.path and not proof.qualified:
                self.unlisted.add(site)
            elif node is not None or not proof.path:  # else it has gone since: what the name means now is not known
                self._sites.setdefault(site, []).extend([node] if node is not None else [])
            self._begun.setdefault((proof.begins, *site[1:]), site)
        self.unlisted.difference_update(self._sites)

    def _declaration(self, proof: Proof) -> Node | None:
        """Return the declaration of a proof, None if absent."""
        if not proof.qualified:
            return None
        if proof.path not in self._definitions:
            self._definitions.consulted.add("/" + proof.path.rpartition("/")[2])
            return None
        return self._definitions.file(proof.path).nodes.get(proof.qualified)

    def _site(self, line: int, spelled: str) -> Site | None:
        """Return the proven place of a chain's last name, None without one.

        `line` is the one on which the chain begins.
        """
        receiver, _, name = spelled.rpartition(".")
        site = line, name, bool(receiver)
        site = site if site in self._sites else self._begun.get(site, site)
        return site if site in self._sites else None

    def rest(self) -> References:
        """Return the references of the file that have no proof."""
        refs = self._file.refs
        return replace(
            refs,
            calls=self._unproven(refs.calls, _called),
            news=self._unproven(refs.news, _made),
            loads=self._unproven(refs.loads, lambda row: row[2]),
            types=self._unproven(refs.types, lambda row: plain_type(row[2]).removesuffix("[]")),
            bindings=self._unproven(refs.bindings, lambda row: row[4] if row[3] == VALUE else ""),
            returns=self._unproven(refs.returns, lambda row: row[3] if row[2] == VALUE else ""),
        )

    def _unproven(self, rows: list[Row], spelled: Callable[[Row], str]) -> list[Row]:
        return [row for row in rows if self._site(row[1], spelled(row)) is None]

    def edges(self) -> Iterator[tuple[Node, Relation, Node, int]]:
        """Yield source, relation, target and line of each proven edge."""
        calls = self._calls()
        around = self._around()
        for site, nodes in self._sites.items():
            for node in nodes:
                if site in calls:
                    yield from ((source, Relation.CALLS, node, site[0]) for source in calls[site])
                else:
                    yield around[site[0]], Relation.REFERENCES, node, site[0]

    def _calls(self) -> dict[Site, list[Node]]:
        """Return the declarations that call at each proven site."""
        refs = self._file.refs
        found: dict[Site, dict[int, Node]] = {}
        for rows, spelled in ((refs.calls, _called), (refs.news, _made)):
            for row in rows:
                site = self._site(row[1], spelled(row))
                if site is not None:
                    source = self._file.around(refs.owners[row[0]])
                    found.setdefault(site, {})[source.id] = source
        if not has_references(self._file.language):  # no calls were read: a bracket tells
            lines, around = self._definitions.content(self._file.path).split("\n"), self._around()
            for site in self._sites:
                if re.search(rf"\b{re.escape(site[1])}\s*\(", lines[site[0] - 1]):
                    found[site] = {0: around[site[0]]}
        return {site: list(sources.values()) for site, sources in found.items()}

    def _around(self) -> list[Node]:
        """Return, by line, the innermost declaration that holds code."""
        holders = [node for node in self._file.nodes.values() if node.kind not in LEAVES]
        last = max((site[0] for site in self._sites), default=0)
        found = [self._file.itself] * (last + 1)
        for node in sorted(holders, key=lambda each: each.start_line - each.end_line):
            for line in range(node.start_line, min(node.end_line, last) + 1):
                found[line] = node
        return found


def _called(row: tuple[int, int, str]) -> str:
    return row[2].partition("/")[0]


def _made(row: tuple[int, int, str]) -> str:
    return chain(row[2]) or ""
