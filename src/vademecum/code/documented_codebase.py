"""A codebase with the backlogs and document sources that belong to it.

`vade sync` fetches a source, and searches read the fetched copy. This module never uses the network.

Code and commits link to issues and pages. A link is a key such as `ABC-123`, `AB#42` or `CU-86a1b2`, or the address of a page. Every word shaped like a key is
stored, and resolved when someone asks: a key means an item once a source has an item of that key. `UTF-8` has the shape
too, and means nothing. New content is scanned at the next question. Commits are read from the last scan on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Protocol

from vademecum.code.checkout import git
from vademecum.code.checkout.commits import blame, messages
from vademecum.code.checkout.root import Root
from vademecum.code.codebase import ALL, Codebase, Parts, Where, no_source
from vademecum.code.indexing.index import index
from vademecum.code.search.open import parse_location, past_end
from vademecum.code.search.search import Reranking, joined, search
from vademecum.code.snapshot.repository import ItemRecord, Items, Opened, Repository, commit_of
from vademecum.errors import StoreBusyError, StoreError, UsageError
from vademecum.items import NamedItem
from vademecum.protocols import Row, silent
from vademecum.result import Err, Ok
from vademecum.types import Answer, Evidence, FileKind, Query

# A word in capitals with a dash or a hash and a number, `CU-` and a ClickUp id, or the key in an address. No letter,
# digit or dash comes before a key: `X-ABC-1` names nothing.
KEY = re.compile(
    r"(?<![\w-])(?P<word>[A-Z][A-Z0-9_]{1,19}(?:-\d{1,9}|#\d{1,9})|CU-[a-z0-9]{5,12})(?![\w-])"
    r"|(?:/pages/|[?&]pageId=)(?P<page>\d{3,20})(?![\w-])"
    r"|/_workitems/edit/(?P<work>\d{1,9})(?![\w-])"
    r"|app\.clickup\.com/t/(?:\d+/)?(?P<task>[a-z0-9]{5,12})(?![\w-])"
)
MOST_IN_ONE = 200  # keys stored per content: a changelog may hold thousands
MOST_PATHS = 200  # files stored per commit
BLOBS_AT_ONCE = 100
MOST_BLAMED = 3  # with more evidence, git is not asked for blame: a piece takes 0.1 s or more
_BLAMED = re.compile(rb"^([0-9a-f]{40}|[0-9a-f]{64}) ", re.MULTILINE)
SHOWN = 5  # places and commits shown per item


@dataclass(frozen=True, slots=True)
class Naming:
    """A reference to an item, and the reason it was found."""

    key: str
    why: str


def keys_in(text: str) -> list[tuple[str, int]]:
    r"""Return every word shaped like an item's key, with its line.

    >>> keys_in("Fix ABC-123, see\nhttps://x.example/wiki/spaces/T/pages/98765/Plan and AB#7; not sha-256 or x-ABC-1")
    [('ABC-123', 1), ('98765', 2), ('AB#7', 2)]
    """
    found: dict[tuple[str, int], None] = {}
    line, at = 1, 0
    for match in KEY.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        key = match["word"] or match["page"] or (f"AB#{match['work']}" if match["work"] else f"CU-{match['task']}")
        found[key, line] = None
    return list(found)


def read_on(repo: Repository) -> None:
    """Scan the content and commits added since the last scan."""
    store = repo.catalogue.store
    known: dict[str, str] = dict(
        store.scan("meta", [("name", "in", ["last_blob", "named_blob", "named_commit"])]).unwrap()
    )
    last, done = int(known.get("last_blob", 0)), int(known.get("named_blob", 0))
    for first in range(done, last, BLOBS_AT_ONCE):
        upto = min(first + BLOBS_AT_ONCE, last)
        rows = store.scan("blobs", [("id", ">", first), ("id", "<=", upto)], ("id", "content")).unwrap()
        named = [
            (key, blob, line) for blob, content in rows for key, line in _few(bytes(content).decode("utf-8", "replace"))
        ]
        with store.transaction():
            store.upsert("named_in_code", named).unwrap()
            store.upsert("meta", [("named_blob", str(upto))]).unwrap()
    match git.head(repo.root):
        case Ok(head) if head.commit and head.commit != known.get("named_commit", ""):
            _read_commits(repo, known.get("named_commit", ""), head.commit)
        case _:
            return


def _few(text: str) -> list[tuple[str, int]]:
    return keys_in(text)[:MOST_IN_ONE]


def _read_commits(repo: Repository, known: str, head: str) -> None:
    match messages(repo.root, known):
        case Err():  # without a history there is still an answer
            return
        case Ok(found):
            pass
    rows: list[Row] = []
    for message in found:
        subject = message.text.strip().partition("\n")[0][:200]
        for key in {key for key, _ in _few(message.text)}:
            rows += [(key, message.id, path, message.at, subject) for path in (message.paths or ("",))[:MOST_PATHS]]
    with repo.catalogue.store.transaction():
        repo.catalogue.store.upsert("named_in_commits", rows).unwrap()
        repo.catalogue.store.upsert("meta", [("named_commit", head)]).unwrap()


def namings(opened: Opened, evidence: Sequence[Evidence]) -> list[Naming]:
    """Return the items that evidence references.

    References in the lines come first, then those by commits that wrote the lines, then those by commits that changed
    the file. Commits come newest first. Git blames lines only where there is little evidence.
    """
    store, files = opened.repo.catalogue.store, opened.view.files
    in_lines: list[Naming] = []
    by_writing: list[Naming] = []
    by_changing: list[Naming] = []
    for item in evidence:
        place = files.number(item.path)
        if place is None:
            continue
        where = store.scan(
            "named_in_code", [("blob", "=", int(files.blobs[place]))], ("line", "key"), ("line",)
        ).unwrap()
        in_lines += [
            Naming(key, f"{item.path}:{line}") for line, key in where if item.start_line <= line <= item.end_line
        ]
        told = store.scan("named_in_commits", [("path", "=", item.path)]).unwrap()
        told.sort(key=lambda row: (-row[3], row[1], row[0]))
        wrote = writers(opened.repo.root, item) if told and len(evidence) <= MOST_BLAMED else set()
        for key, commit, _, at, subject in told:
            said = _commit(commit, at, subject)
            if commit in wrote:
                by_writing.append(Naming(key, f"lines by {said}"))
            else:
                by_changing.append(Naming(key, f"file changed by {said}"))
    return [*in_lines, *by_writing, *by_changing]


def writers(root: Root, item: Evidence) -> set[str]:
    """Return the commits that last wrote the lines, as git knows."""
    match blame(root, item.path, item.start_line, item.end_line):
        case Ok(output):
            return {found.decode() for found in _BLAMED.findall(output)}
        case Err():  # the file is not committed, or shorter in the commit
            return set()


def items_named(found: Sequence[Naming], sources: Iterable[Repository]) -> list[NamedItem]:
    """Return the items referenced, each once, in the order of reference."""
    why: dict[str, str] = {}
    for naming in found:
        why.setdefault(naming.key, naming.why)
    items: dict[str, NamedItem] = {}
    for source in sources:
        assert source.items is not None
        for key, record in source.items.named(set(why)).items():
            items.setdefault(key, _named(source.name, record, why[key]))
    return [items[key] for key in why if key in items]


def _named(source: str, record: ItemRecord, why: str) -> NamedItem:
    return NamedItem(
        source, record.key, record.title, record.kind, record.state, record.url, record.updated, record.path, why
    )  # fmt: skip


def told_of(key: str, repositories: Collection[Opened]) -> tuple[list[str], list[str]]:
    """Return places in code and commits that name an item.

    Places read `path:line`. Commits come newest first. There are at most five of each.
    """
    places: list[str] = []
    commits: dict[str, float] = {}
    for opened in repositories:
        files, store = opened.view.files, opened.repo.catalogue.store
        lines: dict[int, int] = {}
        for blob, line in store.scan("named_in_code", [("key", "=", key)], ("blob", "line"), ("blob", "line")).unwrap():
            lines.setdefault(blob, line)
        if lines:
            blobs = enumerate(files.blobs.tolist())
            places += [f"{files.paths[number]}:{lines[blob]}" for number, blob in blobs if blob in lines]
        for _, commit, _, at, subject in store.scan("named_in_commits", [("key", "=", key)]).unwrap():
            commits[_commit(commit, at, subject)] = at
    return places[:SHOWN], sorted(commits, key=lambda each: (-commits[each], each))[:SHOWN]


def with_item(evidence: Evidence, record: ItemRecord, synced_at: float, repositories: Collection[Opened]) -> Evidence:
    """Return evidence with its item's facts and references."""
    places, commits = told_of(record.key, repositories)
    known = {
        "key": record.key, "title": record.title, "kind": record.kind, "state": record.state, "labels": list(record.labels),
        "links": list(record.links), "synced": moment(synced_at), "named_in": places, "commits": commits,
    }  # fmt: skip
    metadata = {**evidence.metadata, **{name: value for name, value in known.items() if value}}
    return replace(evidence, url=record.url, updated=moment(record.updated), metadata=metadata)


def moment(at: float) -> str:
    """Format a time as `2026-02-03T04:05:06Z`, or "" for 0.

    >>> moment(0), moment(1_700_000_000)
    ('', '2023-11-14T22:13:20Z')
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


def _commit(commit: str, at: float, subject: str) -> str:
    return f"commit {commit[:9]} {moment(at)[:10]} {subject}".rstrip()


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
