"""A codebase with the backlogs and document sources that belong to it.

`vade sync` fetches a source, and searches read the fetched copy. This module never uses the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Protocol

from vademecum.code.codebase import ALL, Codebase, Parts, Where, no_source
from vademecum.code.documents.issue_links import items_named, namings, read_on, with_item
from vademecum.code.indexing.index import index
from vademecum.code.search.open import parse_location, past_end
from vademecum.code.search.rerank import Reranking
from vademecum.code.search.search import joined, search
from vademecum.code.snapshot.entries import Items
from vademecum.code.snapshot.repository import Opened, Repository, commit_of
from vademecum.errors import StoreBusyError, StoreError, UsageError
from vademecum.items import NamedItem
from vademecum.protocols import silent
from vademecum.types import Answer, Evidence, FileKind, Query

LEAST_SHARE = 0.1  # of the best score: a document below is dropped
PIECES = 3  # chunks ranked per requested item: one item may match in several

Patterns = Mapping[str, Sequence[str]]  # for each source, the repositories it belongs to; () for all


class DocumentParts(Parts, Protocol):
    """The parts that a codebase with documents asks for."""

    @property
    def source_patterns(self) -> Patterns:
        """For each source, the repositories it belongs to."""

    def fetched_source(self, name: str) -> Repository | None:
        """Return a source, None if never fetched. Raises `StoreError`."""


class DocumentedCodebase(Codebase):
    """A codebase whose answers may hold items of backlogs and documents.

    Sources of other repositories are searched only by a search of everything on this machine.
    """

    def __init__(self, repositories: Sequence[tuple[Repository, tuple[str, ...]]], parts: DocumentParts) -> None:
        super().__init__(repositories, parts)
        self._everywhere = parts.source_patterns
        self._here = {
            name: patterns
            for name, patterns in self._everywhere.items()
            if any(belongs(repo, patterns) for repo, _ in repositories)
        }
        self._fetched = parts.fetched_source

    def items(self, evidence: Sequence[Evidence]) -> list[NamedItem]:
        """Return items and documents that evidence or commits to its files reference."""
        found: list[NamedItem] = []
        if not self.sources():
            return found
        for each in self._scanned():
            links = namings(each, [item for item in evidence if item.repo == each.repo.name])
            found += [
                item for item in items_named(links, self._belonging(self._here, [each.repo])) if item not in found
            ]
        return found

    def documents(self, text: str, k: int) -> tuple[Evidence, ...]:
        """Return the best evidence of each item that answers a question."""
        sources = [*map(_open, self._belonging(self._here, [repo for repo, _ in self._repositories]))]
        if not sources:
            return ()
        found = search(sources, Query(text, PIECES * k), self._parts.ranker).evidence
        best: dict[tuple[str, str], Evidence] = {}
        for each in found:
            if each.score >= LEAST_SHARE * found[0].score:
                best.setdefault((each.repo, each.path), each)
        return self._described([*best.values()][:k], sources)

    def open(self, location: str, commit: str = "", repo: str = "") -> Evidence:
        """Read lines of a file, or of an item named `source:KEY`."""
        name, colon, rest = (f"{repo}:{location}" if repo else location).strip().partition(":")
        if commit or not colon or name not in self._here:
            return super().open(location, commit, repo)
        [opened] = self._named(self._here, (name,))
        return self._described([_lines_of(opened, rest)], [opened])[0]

    def sources(self) -> list[Repository]:
        """Return the readable sources here that were fetched."""
        return [source for source in map(self._readable, self._here) if isinstance(source, Repository)]

    def _kept(self) -> list[Repository]:
        return [*super()._kept(), *self.sources()]

    def _search(self, query: Query, where: Where, ranker: str, reranking: Reranking) -> Answer:
        known = self._everywhere if where.scope == "all" else self._here
        # Evidence shows a source in the place of a repository, so a source may be named as one.
        as_repos = [name for name in where.repos if name in known and not self.is_open(name)]
        names, repos = (*where.sources, *as_repos), [name for name in where.repos if name not in as_repos]
        beside = query.kind == "doc" and not where.commit
        code = self._opened(replace(where, repos=repos)) if repos or not names else []
        sources = self._named(known, names) if names else []
        if beside and not names:
            sources = [*map(_open, self._belonging(known, [each.repo for each in code]))]
        found = search([*code, *sources], query, ranker, reranking)
        unread = [each for each in map(self._readable, known) if isinstance(each, str)] if beside else []
        return replace(
            found, evidence=self._described(found.evidence, sources), reason=joined(found.reason, *unread)
        )  # fmt: skip

    def _readable(self, name: str) -> Repository | str | None:
        """Return a source, None if never fetched, or its database's error.

        An answer about code does not need it.
        """
        try:
            return self._fetched(name)
        except StoreError as error:
            return f"source {name} is left out: {error}"

    def _named(self, known: Patterns, names: Sequence[str]) -> list[Opened]:
        """Return the named sources, for "all" each. Raises `UsageError` for others."""
        chosen: dict[str, Repository] = {}
        for name in known if ALL in names else names:
            if name not in known:
                raise no_source(names, known)
            source = self._fetched(name)
            if source is not None:
                chosen[name] = source
            elif ALL not in names:
                raise UsageError(f"source {name!r} was never fetched: run `vade sync {name}`")
        if not chosen:
            raise no_source(names, known)
        return [_open(source) for source in chosen.values()]

    def _belonging(self, known: Patterns, repositories: Sequence[Repository]) -> list[Repository]:
        """Return the readable sources that belong to one of the repositories."""
        return [
            source
            for source in map(self._readable, known)
            if isinstance(source, Repository) and any(belongs(repo, known[source.name]) for repo in repositories)
        ]

    def _described(self, evidence: Iterable[Evidence], opened: Sequence[Opened]) -> tuple[Evidence, ...]:
        """Return evidence with item facts: address, time, and references to the item."""
        evidence, items = tuple(evidence), {each.repo.name: each.repo.items for each in opened}
        if not any(piece.repo in items for piece in evidence):
            return evidence
        repositories = self._scanned()
        return tuple(_with_facts(piece, items.get(piece.repo), repositories) for piece in evidence)

    def _scanned(self) -> list[Opened]:
        """Return the indexed repositories, scanned for references to items.

        While another process writes, the last scan is used.
        """
        found = [(repo, repo.catalogue.load(*repo.place)) for repo, _ in self._repositories]
        indexed = [Opened(repo, *loaded) for repo, loaded in found if loaded is not None and not loaded[1].missing]
        for each in indexed:
            with suppress(StoreBusyError):
                read_on(each.repo)
        return indexed


def belongs(repo: Repository, patterns: Sequence[str]) -> bool:
    """Return whether a repository's name or path matches a pattern, if any."""
    return not patterns or any(
        fnmatchcase(repo.name, pattern) or fnmatchcase(repo.root.path, os.path.expanduser(pattern))
        for pattern in patterns
    )


def _open(source: Repository) -> Opened:
    """Open a source as fetched, with lost derived files rebuilt."""
    loaded = source.catalogue.load(*source.place)
    if loaded is None or loaded[1].missing:
        index(source, silent)
        loaded = source.catalogue.load(*source.place)
    assert loaded is not None
    return Opened(source, *loaded)


def _with_facts(piece: Evidence, items: Items | None, repositories: Sequence[Opened]) -> Evidence:
    record = None if items is None else items.at(piece.path)
    if items is None or record is None:
        return piece
    return with_item(piece, record, items.synced_at(), repositories)


def _lines_of(opened: Opened, location: str) -> Evidence:
    """Return lines of an item's document. Raises `UsageError` for missing ones."""
    name, items = opened.repo.name, opened.repo.items
    named, first, last = parse_location(location)
    assert items is not None
    record = items.at(named) or items.named((named,)).get(named)
    if record is None:
        raise UsageError(
            f"{name} has no item {named!r}: name its key, or its path as `vade search --source {name}` shows it"
        )
    text = next(source.text.decode() for _, source in items.read((record.path,)))
    lines = text.removesuffix("\n").split("\n")
    if first > len(lines):
        raise past_end(record.path, len(lines), first)
    first, last = first or 1, min(last or len(lines), len(lines))
    label = opened.snapshot.label
    return Evidence(
        f"{name}:{label}:{record.path}:{first}-{last}", name, "", commit_of(label), record.path, first, last,
        "\n".join(lines[first - 1 : last]), 1.0, "window", "markdown", file_kind=FileKind.DOC.value,
    )  # fmt: skip
