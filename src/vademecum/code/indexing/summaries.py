"""Enrichment: a language model's sentence about each chunk, in the background.

    chunks without a sentence → requests, so many at once and per minute → store each answer → now and then add them to the index

Answers are stored as they come, so a stopped or killed run continues later. A failure is counted, and the offline
summary stays. After several failures in a row the run stops, and the next run asks again.

Sentences are stored by chunk hash and used in place of offline summaries. So an edit requests sentences only for
changed chunks, and going back to an earlier commit requests none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from vademecum.code.chunking.analyse import Analysis
from vademecum.code.indexing.embed import analysed_again, fill, known_sentences, with_known_vectors
from vademecum.code.snapshot.catalogue import BlobKey
from vademecum.code.snapshot.repository import Repository
from vademecum.code.snapshot.view import FILE_KINDS, View
from vademecum.errors import EnrichError
from vademecum.private import WAIT_SECONDS, exclusive
from vademecum.protocols import Enricher, Progress
from vademecum.result import Err, Ok, Result
from vademecum.types import ChunkKind, EnrichReport, FileKind, Passage

SPOKEN_OF = frozenset(ChunkKind) - {ChunkKind.SECTION, ChunkKind.WINDOW}  # prose needs no summary
FIRST = (ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CLASS, ChunkKind.INTERFACE, ChunkKind.TYPE)
MOST_FAILURES = 5  # in a row: the server is down, or the model is useless
FOLDED_AT_ONCE = 200  # contents per transaction, all held in memory
FOLD_SECONDS = 60.0  # between two calls of `fold`, which rewrites arrays
Wanted = tuple[str, tuple[int, int]]  # a chunk's hash, blob and ordinal


@dataclass(frozen=True, slots=True)
class Pace:
    """The request rate: `per_minute`, 0 for no limit; `parallel` at once."""

    per_minute: int = 0
    parallel: int = 1


def enrich(
    repo: Repository,
    enricher: Enricher,
    pace: Pace,
    progress: Progress,
    stop: threading.Event,
) -> EnrichReport:
    """Request the missing sentences and add them to the index.

    The worktree must have been indexed, and `repo.enricher` is the enricher's name. `stop` ends the run after the pending
    answers.

    Raises:
        StoreBusyError: another process is enriching this repository.
        StoreError: the database failed; earlier sentences are intact.
    """
    started = time.perf_counter()
    with exclusive(repo.catalogue.directory / "enrich.lock", 0):
        wanted, known = missing_of(repo)
        run = _Run(repo, enricher, pace, wanted)
        fold(repo)  # the sentences that an earlier run stored but did not fold
        folded = time.monotonic()
        for asked in run.answers(stop):
            progress("describing", known + asked, known + len(wanted))
            if time.monotonic() - folded > FOLD_SECONDS:
                fold(repo)
                folded = time.monotonic()
        fold(repo)
        fill(repo, "worktree", repo.root.path, progress)  # the embedder reads a chunk with its sentence
    return EnrichReport(
        repo.name, repo.enricher, known + len(wanted), known, run.made, run.failed, run.problem,
        time.perf_counter() - started,
    )  # fmt: skip


def missing_of(repo: Repository) -> tuple[list[Wanted], int]:
    """Return the chunks without a sentence, and the number with one.

    Each distinct chunk comes once, declarations of product code first.
    """
    view = _view(repo)
    if view is None:
        return [], 0
    place: dict[int, int] = {}  # the first file of each blob
    for number, blob in enumerate(view.files.blobs.tolist()):
        place.setdefault(blob, number)
    where = ("blob", "in", sorted(place))
    rows = repo.catalogue.store.scan("chunks", [where], ("hash", "blob", "ordinal", "kind")).unwrap()  # type: ignore[list-item]
    spoken = [row for row in rows if row[3] in SPOKEN_OF]
    known = known_sentences(repo, {row[0] for row in spoken})

    def order(row: tuple[str, int, int, str]) -> tuple[bool, bool, int, int]:
        _, blob, ordinal, kind = row
        aside = FILE_KINDS[view.file_kinds[place[blob]]] is not FileKind.PRODUCT
        return aside, kind not in FIRST, place[blob], ordinal

    wanted = {row[0]: (row[1], row[2]) for row in sorted(spoken, key=order, reverse=True) if row[0] not in known}
    return list(wanted.items())[::-1], len(known)


def _view(repo: Repository) -> View | None:
    loaded = repo.catalogue.load("worktree", repo.root.path)
    return loaded[1] if loaded else None


class _Run:
    """One run: its requests, answers and failures."""

    def __init__(self, repo: Repository, enricher: Enricher, pace: Pace, wanted: Sequence[Wanted]) -> None:
        self._repo, self._enricher, self._pace, self._wanted = repo, enricher, pace, wanted
        self.made = self.failed = 0
        self._began = 0.0
        self.problem = ""
        self._on_end = 0  # failures in a row

    def answers(self, stop: threading.Event) -> Iterator[int]:
        """Request sentences in batches, store them, and yield the progress.

        A batch has `parallel` requests. The progress is the number of chunks requested.
        """
        step = self._pace.parallel
        with ThreadPoolExecutor(step) as pool:
            for first in range(0, len(self._wanted), step):
                if self._on_end >= MOST_FAILURES or self._waited(stop, first):
                    return
                batch = self._wanted[first : first + step]
                chunks = self._repo.catalogue.chunks([place for _, place in batch])
                passages = [
                    Passage(c.text, c.signature if c.metadata.get("part", 1) > 1 else "", c.scope) for c, _ in chunks
                ]
                outcomes = [pool.submit(self._enricher.sentence, passage) for passage in passages]
                said = {
                    digest: self._read(self._outcome(outcome))
                    for (digest, _), outcome in zip(batch, outcomes, strict=True)
                }
                keep_sentences(self._repo, {digest: sentence for digest, sentence in said.items() if sentence})
                yield first + len(batch)

    def _outcome(self, asked: Future[Result[str, EnrichError]]) -> object:
        """Return the enricher's answer; an exception is this chunk's failure."""
        raised = asked.exception()
        if raised is None:
            return asked.result()
        return Err(EnrichError(f"enricher {self._enricher.name!r} raised {type(raised).__name__}: {raised}"))

    def _waited(self, stop: threading.Event, asked: int) -> bool:
        """Wait for the next request; True if the run was stopped."""
        if asked == 0:
            self._began = time.monotonic()
        if not self._pace.per_minute:
            return stop.is_set()
        turn = self._began + asked * 60.0 / self._pace.per_minute
        return stop.wait(max(0.0, turn - time.monotonic()))

    def _read(self, outcome: object) -> str:
        """Return the sentence, or "" for a failure; count both."""
        match outcome:
            case Ok(str() as said) if said.strip():
                self.made += 1
                self._on_end = 0
                return " ".join(said.split())
            case Err(error):
                self.problem = " ".join(str(error).split())
            case _:
                self.problem = (
                    f"enricher {self._enricher.name!r} did not answer with a sentence: report it to its author"
                )
        self.failed += 1
        self._on_end += 1
        return ""


def fold(repo: Repository) -> int:
    """Add the stored sentences to the index.

    Terms, vectors and displayed summaries all change. Returns the number of contents changed.
    """
    view = _view(repo)
    if view is None:
        return 0
    with exclusive(repo.lock, WAIT_SECONDS):
        files = view.files
        keys: dict[int, BlobKey] = {
            blob: (files.digests[number].tobytes().hex(), files.language(number))
            for number, blob in enumerate(files.blobs.tolist())
        }
        changed = _behind(repo, sorted(keys))
        for first in range(0, len(changed), FOLDED_AT_ONCE):
            folded: dict[str, list[Analysis]] = {}
            for blob in list(changed)[first : first + FOLDED_AT_ONCE]:
                digest, language = keys[blob]
                folded.setdefault(digest, []).append(_with_sentences(repo, blob, language, changed[blob]))
            repo.catalogue.add(folded)
        if changed:
            repo.catalogue.join()
    return len(changed)


def _with_sentences(repo: Repository, blob: int, language: str, hashes: set[str]) -> Analysis:
    """Analyse a content with its sentences.

    Chunks with a sentence lose their vectors and are embedded again.
    """
    known = known_sentences(repo, hashes)
    return with_known_vectors(repo, analysed_again(repo, repo.catalogue.content(blob), language, known), anew=known)


def _behind(repo: Repository, blobs: Sequence[int]) -> dict[int, set[str]]:
    """Return contents whose index lacks a stored sentence, with all chunks' hashes."""
    rows = repo.catalogue.store.scan("chunks", [("blob", "in", list(blobs))], ("blob", "hash", "summary")).unwrap()
    known = known_sentences(repo, {digest for _, digest, _ in rows})
    behind = {blob for blob, digest, summary in rows if known.get(digest, summary) != summary}
    found: dict[int, set[str]] = {blob: set() for blob in behind}
    for blob, digest, _ in rows:
        if blob in found:
            found[blob].add(digest)
    return found


def keep_sentences(repo: Repository, made: Mapping[str, str]) -> None:
    """Store sentences by chunk hash. Raises `StoreError`."""
    repo.catalogue.store.upsert("summaries", [(repo.enricher, digest, said) for digest, said in made.items()]).unwrap()
