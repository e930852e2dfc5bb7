"""A codebase in a shared database, which its server searches.

Nothing of the repositories is needed on this machine.

    plan query → words + meaning + names, each ranked by the server → fuse → confidence → read → evidence

Rankings are fused as in the first step of any search: a convex sum times the prior of the file kind. `rrf` is available
too. The server also returns the inputs of confidence, so verdicts are comparable to those of other searches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vademecum.code.checkout.classify import file_kind
from vademecum.code.checkout.root import Root
from vademecum.code.chunking.analyse import chunk_hashes
from vademecum.code.chunking.enrich import summarise
from vademecum.code.codebase import NOT_OPEN, Where
from vademecum.code.documents.documented_codebase import DocumentedCodebase, DocumentParts
from vademecum.code.search.confidence import probability, verdict
from vademecum.code.search.freshness import FileState, compared, corresponding
from vademecum.code.search.rank import WEIGHTS, Ranked, worth_of
from vademecum.code.search.rerank import Reranking
from vademecum.code.search.search import JUDGED, check_query
from vademecum.code.search.signals import kind_priors, unasked_kinds
from vademecum.code.snapshot.files import FILE_KINDS
from vademecum.code.snapshot.repository import Repository, commit_of
from vademecum.errors import AccessError, UsageError
from vademecum.index.bm25 import CODE, term_keys
from vademecum.index.fusion import convex, reciprocal_rank, top
from vademecum.index.query import Plan, plan_query
from vademecum.index.segment import segment_of
from vademecum.matching import glob_pattern
from vademecum.protocols import Embedder, Progress, SearchServer
from vademecum.result import Err, Ok
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
    Verdict,
)

DEPTH = 100  # hits per ranking, at least; filters that the server does not know need more
MOST_DEPTH = 3_200
RANKINGS = ("lexical", "dense", "names")
PUBLISHED_AT_ONCE = 500  # contents

Place = tuple[str, str, int, int]  # space, path, blob, ordinal


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
    scope, embedder = scope_of(query, repos), asking.embedder
    plan = plan_query(query.text)
    depth = max(DEPTH, 4 * query.k)
    while True:
        rankings, trouble = rankings_of(server, plan, scope, embedder, depth)
        ranked, hits = fused(rankings, query, plan, ranker)
        full = any(len(hits_of) >= depth for hits_of in rankings.values())
        if len(hits) >= max(query.k, JUDGED) or not full or depth >= MOST_DEPTH:
            break
        depth *= 4
    probable = probability(ranked, "" if trouble else embedder().name)
    decided = verdict(plan, ranked, probable)
    if decided is Verdict.NOT_FOUND:
        near = tuple(dict.fromkeys(named_in(server, rankings["names"])))
        why = "nothing in the shared database matches: publish repositories with `vade index` or a worker"
        return Answer(query.text, decided, probable, (), why, near, ranked.searched)
    evidence = evidence_of(server, hits[: query.k], ranked, asking)
    return Answer(query.text, decided, probable, evidence, trouble, (), ranked.searched)


def scope_of(query: Query, repos: Sequence[str]) -> Scope:
    """Return the server's filters.

    Raises `UsageError` for a filter that the server does not support.
    """
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


def rankings_of(
    server: SearchServer, plan: Plan, scope: Scope, embedder: Callable[[], Embedder], depth: int
) -> tuple[dict[str, list[Hit]], str]:
    """Return the server's hits by words, meaning and name, best first.

    The second value is the problem, or "".
    """
    terms = term_keys(plan.terms + plan.joined).view(np.int64).tolist()
    constants = Bm25f(CODE.k1, CODE.weights, CODE.b)
    found = {
        "lexical": server.words(terms, len(plan.terms), scope, depth, constants).unwrap() if terms else [],
        "names": server.named(plan.names, scope, depth).unwrap(),
        "dense": [],
    }
    trouble = ""
    match embedder().embed([Passage(plan.text)], "query"):
        case Ok(vectors):
            near = server.near(vectors[0], embedder().name, scope, depth).unwrap()
            found["dense"] = near or []
            trouble = "" if near is not None else "ranked by words alone: the server has no pgvector"
        case Err(error):
            trouble = f"ranked by words alone: {error}"
    return found, trouble


def fused(
    rankings: Mapping[str, Sequence[Hit]], query: Query, plan: Plan, ranker: str = "default"
) -> tuple[Ranked, list[Hit]]:
    """Join rankings by constants or by rank.

    Returns rows with the values that confidence needs, and the hits.
    """
    places: dict[Place, Hit] = {}
    for hits in rankings.values():
        for hit in hits:
            if query.kind == "all" or file_kind(hit.path) in KINDS[query.kind]:
                places.setdefault((hit.space, hit.path, hit.blob, hit.ordinal), hit)
    number = {place: n for n, place in enumerate(sorted(places))}
    signals = {name: np.zeros(len(number), np.float32) for name in rankings}
    coverage = np.zeros(len(number), np.float32)
    for name, hits in rankings.items():
        for hit in hits:
            if (n := number.get((hit.space, hit.path, hit.blob, hit.ordinal))) is not None:
                signals[name][n] = hit.score
                coverage[n] = max(coverage[n], hit.share)
    signals["definition"] = (signals["names"] >= 1).astype(np.float32)
    found = [places[place] for place in number]
    scores = _by_rank(signals) if ranker == "rrf" else _by_score(signals, found, query, plan)
    best = top(scores, max(query.k, JUDGED))
    best = best[scores[best] > 0]
    told = np.stack([*signals.values(), coverage, scores, coverage])[:, best]
    told[len(signals)] = worth_of(scores[best])
    ranked = Ranked(np.arange(len(best)), (*signals, "worth", "score", "coverage"), told, len(found))
    return ranked, [found[n] for n in best.tolist()]


def _by_rank(signals: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    return reciprocal_rank([signals[name] for name in RANKINGS], DEPTH)


def _by_score(
    signals: Mapping[str, NDArray[np.float32]], found: Sequence[Hit], query: Query, plan: Plan
) -> NDArray[np.float32]:
    """Return the scores of `code.search.rank.fuse`, without paths.

    `names` hits take the place of the definition signal.
    """
    share = WEIGHTS.dense_symbol if plan.is_bare else WEIGHTS.dense
    scores = convex([signals["lexical"], signals["dense"]], [1 - share, share])
    scores += np.float32(WEIGHTS.definition if plan.is_bare else WEIGHTS.definition_in_prose) * signals["names"]
    priors = dict(zip(FILE_KINDS, kind_priors(unasked_kinds(plan.text, KINDS[query.kind])), strict=True))
    return scores * np.array([priors[file_kind(hit.path)] for hit in found], np.float32)


def named_in(server: SearchServer, hits: Sequence[Hit]) -> list[str]:
    """Return the names that some hits define."""
    return [name for row in server.read(hits[:5]).unwrap() for name in (row["symbols"] or [row["name"]]) if name]


def evidence_of(server: SearchServer, hits: Sequence[Hit], ranked: Ranked, asking: Repository) -> tuple[Evidence, ...]:
    """Read the hits and check their files on this machine."""
    rows = server.read(hits).unwrap()
    return tuple(
        _evidence(
            row, float(ranked.scores[n]), {name: round(float(v[n]), 4) for name, v in ranked.signals.items()}, asking
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
