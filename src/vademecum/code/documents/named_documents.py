"""Backlogs and document sources that belong to code.

`vade sync` fetches a source, and searches read the fetched copy. This module never uses the network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from vademecum.code.indexing.index import index
from vademecum.code.search.open import parse_location, past_end
from vademecum.code.search.search import search
from vademecum.code.snapshot.repository import Opened, Repository, commit_of
from vademecum.errors import StoreBusyError, StoreError, UsageError
from vademecum.types import Answer, Evidence, FileKind, Query

if TYPE_CHECKING:
    from vademecum.items import NamedItem

ALL = "all"
LEAST_SHARE = 0.1  # of the best score: a document below is dropped
PIECES = 3  # chunks ranked per requested item: one item may match in several


@dataclass(frozen=True, slots=True)
class Documents:
    """The sources that belong to the open repositories.

    Other sources are searched only by a search of everything on this machine.

    Attributes:
        open_source: returns a source by name; None for a source that was never fetched.
        repos: for each source, the repositories it belongs to, as patterns of names or paths; () for all.
        elsewhere: the same for the user's other sources; empty where the caller may not search those.
    """

    open_source: Callable[[str], Repository | None]
    repos: Mapping[str, tuple[str, ...]]
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def everywhere(self) -> Documents:
        """Return the sources here and those of other repositories."""
        return Documents(self.open_source, {**self.repos, **self.elsewhere})

    def any(self) -> bool:
        """Return whether any source was fetched."""
        return bool(self.every())

    def every(self) -> list[Repository]:
        """Return the readable sources that were fetched."""
        return [source for source in map(self._readable, self.repos) if isinstance(source, Repository)]

    def missing(self) -> list[str]:
        """Return a message for each source that cannot be read.

        An answer about code does not need them.
        """
        return [str(source) for source in map(self._readable, self.repos) if isinstance(source, str)]

    def _readable(self, name: str) -> Repository | str | None:
        """Return a source, None, or an error message.

        None: the source was never fetched. A message: its database cannot be read.
        """
        try:
            return self.open_source(name)
        except StoreError as error:
            return f"source {name} is left out: {error}"

    def named(
        self, sources: Sequence[str], repos: Sequence[str], known: Collection[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split the names of sources from those of repositories.

        Evidence shows a source in the place of a repository, so a source may be named as one.
        """
        own = [name for name in repos if name in self.repos and name not in known]
        return (*sources, *own), tuple(name for name in repos if name not in own)

    def opened(
        self, repositories: Sequence[Repository], names: Sequence[str] = (), *, every: bool = False
    ) -> list[Opened]:
        """Return the named sources, ready to search; "all" means all.

        Without names, `every` returns the sources that belong to the repositories.

        Raises:
            UsageError: no source has this name, or the source was never fetched.
        """
        if not names:
            return [_open(source) for source in self._belonging(repositories)] if every else []
        chosen: dict[str, Repository] = {}
        for name in self.repos if ALL in names else names:
            if name not in self.repos:
                known = (
                    f"choose among {', '.join(sorted(self.repos))}" if self.repos else "`vade sync` lists the sources"
                )
                raise UsageError(f"no source of the open repositories is called {name!r}: {known}")
            source = self.open_source(name)
            if source is not None:
                chosen[name] = source
            elif ALL not in names:
                raise UsageError(f"source {name!r} was never fetched: run `vade sync {name}`")
        if not chosen:
            raise UsageError("no source was ever fetched: set one up and run `vade sync --all`")
        return [_open(source) for source in chosen.values()]

    def _belonging(self, repositories: Sequence[Repository]) -> list[Repository]:
        return [
            source for source in self.every() if any(belongs(repo, self.repos[source.name]) for repo in repositories)
        ]

    def answering(
        self, text: str, k: int, ranker: str, repositories: Sequence[Repository], code: Callable[[], Sequence[Opened]]
    ) -> tuple[Evidence, ...]:
        """Return the best evidence of each item that answers a question.

        Only sources that belong to the repositories are searched.
        """
        own = self.opened(repositories, every=True)
        if not own:
            return ()
        found = search(own, Query(text, PIECES * k), ranker).evidence
        best: dict[tuple[str, str], Evidence] = {}
        for each in found:
            if each.score >= LEAST_SHARE * found[0].score:
                best.setdefault((each.repo, each.path), each)
        return tuple(self.described(list(best.values())[:k], own, code))

    def completed(
        self, answer: Answer, own: Sequence[Opened], code: Callable[[], Sequence[Opened]], *, beside: bool
    ) -> Answer:
        """Return an answer with facts about its items.

        `beside` code, the reason also lists the sources that cannot be read.
        """
        if not self.repos:
            return answer
        reason = "; ".join(filter(None, (answer.reason, *(self.missing() if beside else ()))))
        return replace(answer, evidence=tuple(self.described(answer.evidence, own, code)), reason=reason)

    def described(
        self, evidence: Sequence[Evidence], own: Sequence[Opened], code: Callable[[], Sequence[Opened]]
    ) -> list[Evidence]:
        """Return evidence with item facts: address, time, and references to the item."""
        sources = {each.repo.name: each.repo for each in own}
        if not any(item.repo in sources for item in evidence):
            return list(evidence)
        repositories = code()
        _read_on(repositories)
        return [_described(item, sources, repositories) for item in evidence]

    def open(self, location: str, code: Callable[[], Sequence[Opened]]) -> Evidence | None:
        """Return lines of an item's document, or None without a source.

        `location` is `source:path`, as a search shows it, or `source:KEY`.

        Raises:
            UsageError: the source has no such item, or the item has fewer lines.
        """
        name, colon, rest = location.strip().partition(":")
        if not colon or name not in self.repos:
            return None
        [own] = self.opened((), (name,))
        named, first, last = parse_location(rest)
        items = own.repo.items
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
        shown = Evidence(
            f"{name}:{own.snapshot.label}:{record.path}:{first}-{last}", name, "", commit_of(own.snapshot.label), record.path, first, last,
            "\n".join(lines[first - 1 : last]), 1.0, "window", "markdown", file_kind=FileKind.DOC.value,
        )  # fmt: skip
        return self.described([shown], [own], code)[0]

    def named_by(self, opened: Sequence[Opened], evidence: Sequence[Evidence]) -> list[NamedItem]:
        """Return the items that the evidence references.

        Code references items, and so do commits that changed its files.
        """
        from vademecum.code.documents.issue_links import (  # every command imports this module, few need the function
            items_named,
            namings,
        )

        found: list[NamedItem] = []
        _read_on(opened)
        for each in opened:
            own = namings(each, [item for item in evidence if item.repo == each.repo.name])
            found += [item for item in items_named(own, self._belonging([each.repo])) if item not in found]
        return found


def _read_on(repositories: Sequence[Opened]) -> None:
    """Scan new content and commits.

    While another process writes, the last scan is used.
    """
    from vademecum.code.documents.issue_links import read_on

    for each in repositories:
        with suppress(StoreBusyError):
            read_on(each.repo)


NO_DOCUMENTS = Documents(lambda _: None, {})


def _described(item: Evidence, sources: Mapping[str, Repository], repositories: Sequence[Opened]) -> Evidence:
    from vademecum.code.documents.issue_links import with_item

    source = sources.get(item.repo)
    record = source.items.at(item.path) if source is not None and source.items is not None else None
    if record is None:
        return item
    assert source is not None
    assert source.items is not None
    return with_item(item, record, source.items.synced_at(), repositories)


def belongs(repo: Repository, patterns: Sequence[str]) -> bool:
    """Return whether a repository's name or path matches a pattern.

    Without patterns every repository matches.
    """
    return not patterns or any(
        fnmatchcase(repo.name, pattern) or fnmatchcase(repo.root.path, os.path.expanduser(pattern))
        for pattern in patterns
    )


def _open(source: Repository) -> Opened:
    """Open a source as it was fetched.

    Lost derived files are rebuilt first.
    """
    loaded = source.catalogue.load(*source.place)
    if loaded is None or loaded[1].missing:
        index(source, lambda *_: None)
        loaded = source.catalogue.load(*source.place)
    assert loaded is not None
    return Opened(source, *loaded)
