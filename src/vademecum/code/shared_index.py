"""A codebase in a shared database, which its server searches.

Nothing of the repositories is needed on this machine.

    plan query → words + meaning + names, each ranked by the server → the files of the best hits → rank → confidence
    → read → evidence

The server finds candidates. The database stores the arrays of every content, so those of the candidates' files are ranked
here by the fitted ranker, as in any search, with the statistics of all searched repositories.

Several servers are asked as one. Each database holds whole repositories, so every server is asked the same, all at once, and their hits are put together. Word
statistics add up. A space is named by the number of its server and its own name: two databases may have one of the same name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import file_kind
from vademecum.code.checkout.root import Root
from vademecum.code.chunking.analyse import chunk_hashes, path_reader
from vademecum.code.chunking.enrich import summarise
from vademecum.code.codebase import NOT_OPEN, Where
from vademecum.code.documented_codebase import DocumentedCodebase, DocumentParts
from vademecum.code.search.evidence import FileState, compared, corresponding
from vademecum.code.search.rank import Ranked
from vademecum.code.search.search import (
    JUDGED,
    Found,
    Reranking,
    check_query,
    ranked_together,
    readings_of,
    together,
)
from vademecum.code.search.signals import Floats, signals_of
from vademecum.code.search.verdict import probability, verdict
from vademecum.code.snapshot.repository import Repository, commit_of
from vademecum.code.snapshot.segments import read_arrays
from vademecum.code.snapshot.view import FILE_KINDS, FileRow, View, file_table, view_of
from vademecum.errors import AccessError, StoreError, UsageError
from vademecum.index.bm25 import CODE, term_keys
from vademecum.index.query import Plan, plan_query
from vademecum.index.segment import PENDING, BlobArrays, segment_of
from vademecum.matching import glob_pattern
from vademecum.protocols import Embedder, Progress, SearchServer
from vademecum.result import Err, Ok, Result, attempt
from vademecum.types import (
    KINDS,
    Answer,
    Bm25f,
    Chunk,
    ChunkKind,
    Evidence,
    FileEntry,
    Freshness,
    Hit,
    IndexReport,
    Passage,
    Query,
    Scope,
    TermStatistics,
    Verdict,
)

T = TypeVar("T")


class SeveralServers:
    """A search server made of several; the first one is published to.

    An answer needs all of them: if one fails, so does the question.
    """

    def __init__(self, servers: Sequence[SearchServer]) -> None:
        self._servers = servers
        own = servers[0]
        self.unpublished, self.publish, self.forget = own.unpublished, own.publish, own.forget

    @attempt(StoreError, StoreError)
    def words(self, terms: Sequence[int], scope: Scope, k: int, constants: Bm25f) -> list[Hit]:
        """Return the `k` best chunks of each server."""
        return _joined(self._all(lambda server: server.words(terms, scope, k, constants)))

    @attempt(StoreError, StoreError)
    def near(self, vector: NDArray[Any], embedder: str, scope: Scope, k: int) -> list[Hit] | None:
        """Return each server's `k` nearest chunks; None if none has vectors."""
        found = self._all(lambda server: server.near(vector, embedder, scope, k))
        return None if all(hits is None for hits in found) else _joined([hits or [] for hits in found])

    @attempt(StoreError, StoreError)
    def named(self, names: Sequence[str], scope: Scope, k: int) -> list[Hit]:
        """Return the `k` best hits by name of each server."""
        return _joined(self._all(lambda server: server.named(names, scope, k)))

    @attempt(StoreError, StoreError)
    def statistics(self, terms: Sequence[int], scope: Scope) -> TermStatistics:
        """Return the statistics of all servers' documents together."""
        found = self._all(lambda server: server.statistics(terms, scope))
        documents = sum(each.documents for each in found)
        lengths = zip(*([mean * each.documents for mean in each.mean_lengths] for each in found), strict=True)
        means = tuple(max(sum(own) / max(documents, 1), 1.0) for own in lengths)
        holding = tuple(map(sum, zip(*(each.holding for each in found), strict=True)))
        return TermStatistics(documents, means, holding)

    @attempt(StoreError, StoreError)
    def arrays(self, contents: Sequence[tuple[str, int]], embedder: str) -> list[tuple[str, str, bytes]]:
        """Return language, embedder and packed arrays of each content."""
        placed = [(_place(space), blob) for space, blob in contents]
        return self._routed(
            [number for (number, _), _ in placed],
            [(space, blob) for (_, space), blob in placed],
            lambda server, own: server.arrays(own, embedder),
        )

    @attempt(StoreError, StoreError)
    def read(self, hits: Sequence[Hit]) -> list[Mapping[str, Any]]:
        """Return the stored record of each hit, in order."""
        placed = [(_place(hit.space), hit) for hit in hits]
        return self._routed(
            [number for (number, _), _ in placed],
            [replace(hit, space=space) for (_, space), hit in placed],
            lambda server, own: server.read(own),
        )

    def _all(self, ask: Callable[[SearchServer], Result[T, StoreError]]) -> list[T]:
        """Ask every server at once. Raises the first failure."""
        with ThreadPoolExecutor(len(self._servers)) as pool:
            return [answer.unwrap() for answer in pool.map(ask, self._servers)]

    def _routed(
        self,
        numbers: Sequence[int],
        items: Sequence[Any],
        ask: Callable[[SearchServer, list[Any]], Result[list[T], StoreError]],
    ) -> list[T]:
        """Ask each item's own server; return answers in the items' order."""
        found: dict[int, T] = {}
        for number in sorted(set(numbers)):
            places = [place for place, of in enumerate(numbers) if of == number]
            answers = ask(self._servers[number], [items[place] for place in places]).unwrap()
            found |= dict(zip(places, answers, strict=True))
        return [found[place] for place in range(len(items))]


def _joined(found: list[list[Hit]]) -> list[Hit]:
    """Return all hits, best first, each with its server's number."""
    named = [replace(hit, space=f"{number} {hit.space}") for number, hits in enumerate(found) for hit in hits]
    return sorted(named, key=lambda hit: -hit.score)


def _place(space: str) -> tuple[int, str]:
    """Return a server's number and the space's name there."""
    number, _, own = space.partition(" ")
    return int(number), own


DEPTH = 100  # hits per ranking, at least; filters that the server does not know need more
MOST_DEPTH = 3_200
PUBLISHED_AT_ONCE = 500  # contents
NO_DIGEST = "0" * 40  # of a file that is read from the database alone


class SharedParts(DocumentParts, Protocol):
    """The parts that a codebase with a shared index asks for."""

    personal: bool  # whether the caller may search the whole shared database

    @property
    def search_server(self) -> SearchServer:
        """The server that searches the database."""


class SharedCodebase(DocumentedCodebase):
    """A codebase that publishes its index, and searches the shared database."""

    def __init__(self, repositories: Sequence[tuple[Repository, tuple[str, ...]]], parts: SharedParts) -> None:
        super().__init__(repositories, parts)
        self._shared = parts

    def _index(
        self, repo: Repository, progress: Progress, commit: str, *, full: bool, scip: Sequence[str] = ()
    ) -> IndexReport:
        report = super()._index(repo, progress, commit, full=full, scip=scip)
        publish(self._shared.search_server, repo, progress, anew=full)
        return report

    def _answer(self, query: Query, where: Where, ranker: str, reranking: Reranking) -> Answer:
        if where.scope != "shared":
            return super()._answer(query, where, ranker, reranking)
        if not self._shared.personal:
            raise AccessError(NOT_OPEN)
        if where.commit or where.sources:
            raise UsageError(
                "scope 'shared' searches neither commits nor sources: leave them out, or choose another scope"
            )
        return search_shared(self._shared.search_server, query, self._repositories[0][0], where.repos, ranker)


def publish(server: SearchServer, repo: Repository, progress: Progress, *, anew: bool = False) -> int:
    """Make a repository's index searchable by the server.

    Returns the number of contents newly published. Earlier ones stay, unless all are published `anew`.

    Raises:
        StoreError: the server failed; published contents stay, and the next run continues from there.
    """
    space, embedder = repo.space, repo.embedder().name
    count = 0
    if anew:
        server.forget(space).unwrap()
    while blobs := server.unpublished(space, embedder, PUBLISHED_AT_ONCE).unwrap():
        arrays = repo.catalogue.segments.kept(blobs)
        if not arrays:
            break
        server.publish(space, embedder, segment_of(arrays)).unwrap()
        count += len(arrays)
        progress("publishing", count, 0)
    return count


def search_shared(server: SearchServer, query: Query, asking: Repository, repos: Sequence[str], ranker: str) -> Answer:
    """Answer a question from the repositories of a shared database.

    `repos` are the repositories to search, all if empty. `asking` is a repository open here.

    Raises:
        UsageError: the question or a filter is not usable here.
        StoreError: the server failed.
    """
    scope, embedder = scope_of(query, repos), asking.embedder()
    plan = plan_query(query.text)
    plans = readings_of(plan, query.text, ranker)
    readings = [read_question(server, each, query, scope, embedder) for each in plans]
    candidates = candidates_of(server, [hit for reading in readings for hit in reading.hits], query, embedder)
    found = [candidates.ranked(server, reading, query, scope, ranker) for reading in readings]
    best = together(*found)
    judged = best.ranked.first(max(query.k, JUDGED))
    decided = verdict(plan, judged, best.probable, best.unknown)
    if decided is Verdict.NOT_FOUND:
        near = tuple(dict.fromkeys(named_in(server, readings[0].named)))
        why = "nothing in the shared database matches: publish repositories with `vade index` or a worker"
        probable = 0.0 if plan.is_symbol else best.probable
        return Answer(query.text, decided, probable, (), why, near, judged.searched)
    first = judged.first(query.k)
    evidence = evidence_of(server, candidates.hits(first.rows), first, asking)
    return Answer(query.text, decided, best.probable, evidence, best.trouble, (), judged.searched)


def scope_of(query: Query, repos: Sequence[str]) -> Scope:
    """Return the server's filters. Raises `UsageError` for an unsupported one."""
    check_query(replace(query, pattern=""))
    if query.pattern:
        raise UsageError("a regular expression is matched on this machine: leave it out, or search another scope")
    return Scope(
        tuple(repos), query.languages, tuple(map(_posix, query.paths)), tuple(map(_posix, query.exclude)), query.symbol
    )


def _posix(glob: str) -> str:
    """Return a glob as a regular expression for SQL servers.

    >>> _posix("docs/**/*.md").count("?s:")
    0
    """
    return glob_pattern(glob).replace("(?s:", "(?:").replace("(?>", "(?:")


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a question, and the server's hits for it.

    `named` are the hits by name. `embedder` names the embedder of the vector, "" where there is no vector.
    """

    plan: Plan
    vector: Floats | None
    embedder: str
    hits: Sequence[Hit]
    named: Sequence[Hit]
    trouble: str


def read_question(server: SearchServer, plan: Plan, query: Query, scope: Scope, embedder: Embedder) -> Reading:
    """Return the server's hits for a question, by words, meaning and name.

    More are asked for until enough are of the kinds that the query asks for.
    """
    vector, trouble = None, ""
    match embedder.embed([Passage(plan.text)], "query"):
        case Ok(vectors):
            vector = vectors[0]
        case Err(error):
            trouble = f"ranked by words alone: {error}"
    terms, constants = terms_of(plan), Bm25f(CODE.k1, CODE.weights, CODE.b)
    depth = max(DEPTH, 4 * query.k)
    while True:
        near = None if vector is None else server.near(vector, embedder.name, scope, depth).unwrap()
        if vector is not None and near is None:
            trouble = "candidates were found by words alone: the server has no pgvector"
        named = server.named(plan.names, scope, depth).unwrap()
        rankings = [server.words(terms, scope, depth, constants).unwrap() if terms else [], near or [], named]
        hits = [hit for ranking in rankings for hit in ranking]
        passed = sum(file_kind(hit.path) in KINDS[query.kind] for hit in hits)
        is_full = any(len(ranking) >= depth for ranking in rankings)
        if passed >= max(query.k, JUDGED) or not is_full or depth >= MOST_DEPTH:
            return Reading(plan, vector, "" if vector is None else embedder.name, hits, named, trouble)
        depth *= 4


def terms_of(plan: Plan) -> list[int]:
    """Return a question's terms as the server stores them."""
    keys: list[int] = term_keys(plan.terms + plan.joined).view(np.int64).tolist()
    return keys


@dataclass(frozen=True, slots=True)
class Candidates:
    """The files of a server's hits, as a view over stored arrays.

    `places` has a hit of each file of the view. `allowed` are the rows that pass the query's filters, ascending.
    """

    view: View
    places: Sequence[Hit]
    allowed: NDArray[np.int64]

    def ranked(self, server: SearchServer, reading: Reading, query: Query, scope: Scope, ranker: str) -> Found:
        """Rank the rows for one reading of the question, as over arrays.

        A word counts as much as it is rare in all searched repositories.
        """
        plan = reading.plan
        whole = server.statistics(terms_of(plan), scope).unwrap()
        signals, unknown = signals_of(self.view, plan, reading.vector, KINDS[query.kind], whole=whole)
        depth = max(query.k, JUDGED)
        ranked = ranked_together(
            [self.view], [signals], plan, self.allowed, depth,
            lambda rows: [row["text"] for row in server.read(self.hits(rows)).unwrap()],
            ranker=ranker, embedder=reading.embedder,
        )  # fmt: skip
        probable = probability(ranked.first(depth), reading.embedder)
        return Found(ranked, probable, unknown, reading.trouble, "")

    def hits(self, rows: NDArray[np.int64]) -> list[Hit]:
        """Return rows as hits."""
        files, ordinals = self.view.row_file[rows].tolist(), self.view.ordinals(rows.tolist()).tolist()
        return [replace(self.places[file], ordinal=ordinal) for file, ordinal in zip(files, ordinals, strict=True)]


def candidates_of(server: SearchServer, hits: Sequence[Hit], query: Query, embedder: Embedder) -> Candidates:
    """Return the files of hits as a view."""
    contents = sorted({(hit.space, hit.blob) for hit in hits})
    number = {content: n for n, content in enumerate(contents, 1)}
    pieces: list[tuple[int, BlobArrays]] = []
    language: dict[int, str] = {}
    for n, (written_in, by, data) in enumerate(server.arrays(contents, embedder.name).unwrap(), 1):
        if (arrays := read_arrays(data)) is not None:
            pieces.append((n, arrays if by == embedder.name else without_vectors(arrays)))
            language[n] = written_in
    by_file = {(hit.path, hit.space): hit for hit in hits if number[hit.space, hit.blob] in language}
    places = [by_file[file] for file in sorted(by_file)]
    numbers = [number[hit.space, hit.blob] for hit in places]
    rows = [FileRow(hit.path, n, NO_DIGEST, language[n], 0, 0, 0) for hit, n in zip(places, numbers, strict=True)]
    view = view_of(file_table(rows, path_reader(embedder)), [segment_of(pieces)] if pieces else [])
    return Candidates(view, places, allowed_rows(view, places, hits, query))


def without_vectors(arrays: BlobArrays) -> BlobArrays:
    """Return arrays with pending vectors: another embedder made them."""
    count = len(arrays.kinds)
    return replace(arrays, vectors=np.zeros((count, 0), np.int8), scales=np.full(count, PENDING, np.float32))


def allowed_rows(view: View, places: Sequence[Hit], hits: Sequence[Hit], query: Query) -> NDArray[np.int64]:
    """Return the rows that pass the filters, ascending.

    The server knows no kinds of files. It has applied a filter on symbols to its hits, and other rows of their files do not
    pass.
    """
    asked = [FILE_KINDS.index(kind) for kind in KINDS[query.kind]]
    passed = np.isin(view.file_kinds, asked)[view.row_file]
    if query.symbol:
        found = {(hit.space, hit.path, hit.ordinal) for hit in hits}
        rows = zip(view.row_file.tolist(), view.ordinals(range(len(view))).tolist(), strict=True)
        passed &= np.fromiter(((places[file].space, places[file].path, at) in found for file, at in rows), bool)
    return np.flatnonzero(passed)


def named_in(server: SearchServer, hits: Sequence[Hit]) -> list[str]:
    """Return the names that some hits define."""
    return [name for row in server.read(hits[:5]).unwrap() for name in (row["symbols"] or [row["name"]]) if name]


def evidence_of(server: SearchServer, hits: Sequence[Hit], ranked: Ranked, asking: Repository) -> tuple[Evidence, ...]:
    """Read the hits and check their files on this machine."""
    rows = server.read(hits).unwrap()
    return tuple(
        _evidence(
            row, float(ranked["score"][n]), {name: round(float(v[n]), 4) for name, v in ranked.signals.items()}, asking
        )
        for n, row in enumerate(rows)
    )


def _evidence(row: Mapping[str, Any], score: float, signals: Mapping[str, float], asking: Repository) -> Evidence:
    repo = row["of"].removesuffix("/.git").rpartition("/")[2].removeprefix("code:")
    chunk = Chunk(
        row["start_line"], row["end_line"], row["start_byte"], row["end_byte"], ChunkKind(row["kind"]), row["text"],
        row["name"], row["scope"], row["signature"], "", row["summary"],
    )  # fmt: skip
    symbols, label, digest, state = tuple(row["symbols"]), row["label"], row["hash"], state_of(row, asking)
    held = state.freshness
    if state.now is not None:
        new = corresponding(chunk, state.now)
        held = Freshness.STALE if new is None else held
        if new is not None:
            chunk, digest = new, chunk_hashes([new], state.now.language)[0]
            symbols = tuple(symbol.qualified for symbol in new.symbols)
            label = f"{row['commit_id']}+edited" if row["commit_id"] else "edited"
    return Evidence(
        id=f"{repo}:{label}:{row['path']}:{digest}", repo=repo, branch=row["branch"], commit=commit_of(label),
        path=row["path"], start_line=chunk.start_line, end_line=chunk.end_line, snippet=chunk.text.rstrip("\n"),
        score=round(score, 6), kind=str(chunk.kind), language=row["language"],
        symbols=symbols or ((chunk.qualified,) if chunk.name else ()), signature=chunk.signature,
        summary=chunk.summary or summarise(chunk, row["language"]), file_kind=str(file_kind(row["path"])),
        signals=signals, freshness=held,
    )  # fmt: skip


def state_of(row: Mapping[str, Any], asking: Repository) -> FileState:
    """Return the current state of a hit's file.

    A commit's file never changes, a worktree's file on this machine is checked, and another machine's file counts as
    stale.
    """
    if row["snapshot_kind"] == "commit":
        return FileState(Freshness.FRESH)
    machine, _, place = row["place"].partition(":")
    if machine != asking.catalogue.here or not os.path.isdir(place):
        return FileState(Freshness.STALE)
    entry = FileEntry(row["path"], 0, 0, 0)
    most, deadline_s = asking.walk.max_file_bytes, asking.plan.deadline_s
    return compared(Root(place), entry, row["content"], max_bytes=most, deadline_s=deadline_s)
