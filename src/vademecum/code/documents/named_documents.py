"""Documents and issues that are searched beside the code.

Each was fetched by `vade sync` and is searched as it was then. Nothing here asks anybody outside.
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
LEAST_SHARE = 0.1  # of the best score: a document below is no answer beside it
PIECES = 3  # that are looked at for each item wanted: one item may match in several


@dataclass(frozen=True, slots=True)
class Documents:
    """The sources that belong to the repositories that are open. Any other is reached by asking for everything on this machine.

    Attributes:
        open_source: returns one, given its name; None where nothing was fetched of it yet.
        repos: by name, the repositories that each belongs to, as patterns of names or paths; () for all.
        elsewhere: the same of the user's other sources; none where those are not open to whoever asks.
    """

    open_source: Callable[[str], Repository | None]
    repos: Mapping[str, tuple[str, ...]]
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def everywhere(self) -> Documents:
        """Return these with those of repositories that are not open."""
        return Documents(self.open_source, {**self.repos, **self.elsewhere})

    def any(self) -> bool:
        """Whether there is anything fetched."""
        return bool(self.every())

    def every(self) -> list[Repository]:
        """Return those of which something was fetched, and that can be read."""
        return [source for source in map(self._readable, self.repos) if isinstance(source, Repository)]

    def missing(self) -> list[str]:
        """Say which cannot be read: an answer about code stands without them."""
        return [str(source) for source in map(self._readable, self.repos) if isinstance(source, str)]

    def _readable(self, name: str) -> Repository | str | None:
        """A source, None where nothing was fetched of it, or what is wrong with its database."""
        try:
            return self.open_source(name)
        except StoreError as error:
            return f"source {name} is left out: {error}"

    def named(
        self, sources: Sequence[str], repos: Sequence[str], known: Collection[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names of sources and those of repositories: evidence calls its source a repository, so people do as well."""
        own = [name for name in repos if name in self.repos and name not in known]
        return (*sources, *own), tuple(name for name in repos if name not in own)

    def opened(
        self, repositories: Sequence[Repository], names: Sequence[str] = (), *, every: bool = False
    ) -> list[Opened]:
        """Return the named sources, "all" for all, ready to be searched; with `every` those that belong to the repositories.

        Raises:
            UsageError: there is no source of this name here, or nothing was fetched of it yet.
        """
        if not names:
            return [_open(source) for source in self._belonging(repositories)] if every else []
        chosen: dict[str, Repository] = {}
        for name in self.repos if ALL in names else names:
            if name not in self.repos:
                known = (
                    f"choose among {', '.join(sorted(self.repos))}"
                    if self.repos
                    else "`vade sync` lists those there are"
                )
                raise UsageError(f"no source of the repositories that are open is called {name!r}: {known}")
            source = self.open_source(name)
            if source is not None:
                chosen[name] = source
            elif ALL not in names:
                raise UsageError(f"nothing is known of source {name!r} yet: run `vade sync {name}`")
        if not chosen:
            raise UsageError("nothing is known of any source yet: set one up and run `vade sync --all`")
        return [_open(source) for source in chosen.values()]

    def _belonging(self, repositories: Sequence[Repository]) -> list[Repository]:
        return [
            source for source in self.every() if any(belongs(repo, self.repos[source.name]) for repo in repositories)
        ]

    def answering(
        self, text: str, k: int, ranker: str, repositories: Sequence[Repository], code: Callable[[], Sequence[Opened]]
    ) -> tuple[Evidence, ...]:
        """Return what belongs to the repositories and answers a question, the best piece of each item."""
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
        """Return an answer with what is known of the items in it, and where they stood `beside` code, which sources are missing."""
        if not self.repos:
            return answer
        reason = "; ".join(filter(None, (answer.reason, *(self.missing() if beside else ()))))
        return replace(answer, evidence=tuple(self.described(answer.evidence, own, code)), reason=reason)

    def described(
        self, evidence: Sequence[Evidence], own: Sequence[Opened], code: Callable[[], Sequence[Opened]]
    ) -> list[Evidence]:
        """Return evidence whose pieces of items say where a person sees them, and which code and commits name them."""
        sources = {each.repo.name: each.repo for each in own}
        if not any(item.repo in sources for item in evidence):
            return list(evidence)
        repositories = code()
        _read_on(repositories)
        return [_described(item, sources, repositories) for item in evidence]

    def open(self, location: str, code: Callable[[], Sequence[Opened]]) -> Evidence | None:
        """Return lines of an item's document: `source:path`, as a search shows it, or `source:KEY`; None where no source is named.

        Raises:
            UsageError: it has no such item, or not that many lines.
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
        """Return the items that code names, or commits that changed its files."""
        from vademecum.code.documents.issue_links import (  # every command imports this module, and few come here
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
    """Take in what came since; while another process writes, what is known is good enough."""
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
    """Return whether a repository's name or path matches one of the patterns; where there are none, every one's does."""
    return not patterns or any(
        fnmatchcase(repo.name, pattern) or fnmatchcase(repo.root.path, os.path.expanduser(pattern))
        for pattern in patterns
    )


def _open(source: Repository) -> Opened:
    """A source as it was fetched; what ranking reads of it is made anew where it was lost."""
    loaded = source.catalogue.load(*source.place)
    if loaded is None or loaded[1].missing:
        index(source, lambda *_: None)
        loaded = source.catalogue.load(*source.place)
    assert loaded is not None
    return Opened(source, *loaded)
