"""The flow in: from a directory on disk to a snapshot that can be searched.

    walk → (known content?) → parse → chunk → metadata → enrich → embed → store

What was analysed before, in any branch or worktree, is never analysed again; what changed is found by size, time and
inode, then by content. A killed run has stored whole batches, and the next one goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from vademecum.codebase import git
from vademecum.codebase.analyse import Analysis
from vademecum.codebase.catalogue import BlobKey, Snapshot, tree_hash
from vademecum.codebase.classify import file_kind
from vademecum.codebase.languages import language_of
from vademecum.codebase.lock import exclusive
from vademecum.codebase.repository import Repository
from vademecum.codebase.source import Source, decode_source, read_source
from vademecum.codebase.walk import Walk, walk, walk_commit
from vademecum.codebase.workers import Job, analyse_all
from vademecum.protocols import Progress
from vademecum.result import Err, Ok
from vademecum.retrieval.files import LEFT_OUT, FileRow, FileTable, changed_table, file_table
from vademecum.retrieval.segment import quantise
from vademecum.types import FileEntry, IndexReport, Skipped

FLUSH_BYTES = 16_000_000  # content stored at once: what a kill can cost, and what memory holds
FLUSH_SECONDS = 5.0
NO_HASH = "0" * 40
WAIT_SECONDS = 600.0  # how long an index run waits for another one on the same repository
# A file written this recently may be written again within the clock's tick and look unchanged: it is not trusted.
RACY_NS = 20_000_000
COARSE_RACY_NS = 2_000_000_000  # on file systems that keep whole seconds


@dataclass(frozen=True, slots=True)
class Target:
    """Which snapshot to bring up to date, and what is to be in it."""

    kind: str  # "worktree" or "commit"
    place: str
    head: git.Head
    found: Walk


@dataclass(slots=True)
class Changes:
    """What differs between a snapshot and its target."""

    files: FileTable | None
    entries: list[FileEntry]  # new, or not known to be unchanged
    gone: list[str]
    left_out: dict[str, Skipped] = field(default_factory=dict)  # files that turned out not to be text, by path

    def __bool__(self) -> bool:
        return bool(self.entries or self.gone or self.files is None)


def index(repo: Repository, progress: Progress, *, revision: str = "", full: bool = False, wait: bool = True) -> IndexReport:
    """Bring a snapshot up to date: the worktree's, or that of a revision. Cheap when nothing changed.

    Raises:
        GitError: git failed, or does not know the revision.
        StoreBusyError: another process is indexing the repository and `wait` is False, or it takes too long.
        StoreError: the database said no; what it held before is intact.
    """
    started = time.perf_counter()
    target = find_target(repo, revision)
    snapshot = current(repo, target)
    if full or snapshot is None or compare(repo, target):
        with exclusive(repo.lock, WAIT_SECONDS if wait else 0.0, lambda: progress("waiting for another process", 0, 0)):
            changes = compare(repo, target, full=full)
            sources = read_changed(repo, target, changes, progress)
            numbers = keep_contents(repo, changes, sources, progress, full=full)
            snapshot = commit_snapshot(repo, target, changes, sources, numbers)
            report = report_on(repo, target, changes, len(sources))
    else:
        report = report_on(repo, target, Changes(None, [], []), 0)
    return replace(report, seconds=time.perf_counter() - started)


def find_target(repo: Repository, revision: str) -> Target:
    """List what the snapshot should hold."""
    if revision:
        commit = commit_place(repo, revision)
        return Target("commit", commit, git.Head(commit, ""), walk_commit(repo.root, commit, repo.walk).unwrap())
    found = walk(repo.root, repo.walk).unwrap()
    return Target("worktree", repo.root.path, git.head(repo.root).unwrap(), found)


def commit_place(repo: Repository, revision: str) -> str:
    """Return under which name a revision's snapshot is kept. Raises `GitError` when there is no such revision."""
    return git.resolve(repo.root, revision).unwrap()


def current(repo: Repository, target: Target) -> Snapshot | None:
    """Return the target's snapshot as it stands, or None when it has to be written again."""
    loaded = repo.catalogue.load(target.kind, target.place)
    if loaded is None or loaded[1].missing:
        return None
    snapshot = loaded[0]
    return snapshot if (snapshot.commit, snapshot.branch) == (target.head.commit, target.head.branch) else None


def compare(repo: Repository, target: Target, *, full: bool = False) -> Changes:
    """Find the files that must be read: new ones, and those whose size, time or inode differ from when last read."""
    loaded = repo.catalogue.load(target.kind, target.place)
    if loaded is None:
        return Changes(None, target.found.entries, [])
    files, missing = loaded[1].files, set(loaded[1].missing)
    columns = (files.sizes, files.mtimes, files.inodes, files.blobs)
    known = dict(zip(files.paths, zip(*(c.tolist() for c in columns), strict=True), strict=True))
    entries: list[FileEntry] = []
    for entry in target.found.entries:
        stat = known.pop(entry.path, None)
        same = stat is not None and stat[:3] == (entry.size, entry.mtime_ns, entry.inode) and stat[3] not in missing
        if full or not same:
            entries.append(entry)
    if target.kind == "commit":  # a commit never changes: its files are there, or were lost
        entries = [e for e in entries if full or e.path not in files.paths or missing]
    return Changes(files, entries, list(known))


def read_changed(repo: Repository, target: Target, changes: Changes, progress: Progress) -> dict[str, tuple[Source, str]]:
    """Return each changed file's content and language; those that are not text after all are noted as left out."""
    found: dict[str, tuple[Source, str]] = {}
    for done, (entry, source) in enumerate(_sources(repo, target, changes.entries)):
        if isinstance(source, Skipped):
            changes.left_out[entry.path] = source
        else:
            found[entry.path] = (source, language_of(entry.path, source.text[:4096]))
        progress("reading", done + 1, len(changes.entries))
    return found


def _sources(repo: Repository, target: Target, entries: list[FileEntry]) -> Iterator[tuple[FileEntry, Source | Skipped]]:
    if target.kind == "worktree":
        for entry in entries:
            yield entry, read_source(repo.root, entry, repo.walk.max_file_bytes)
        return
    at: dict[str, list[FileEntry]] = {}
    for entry in entries:
        at.setdefault(entry.blob, []).append(entry)
    for blob, content in git.read_blobs(repo.root, at):
        for entry in at.pop(blob):
            yield entry, decode_source(entry.path, content)
    for entry in (entry for left in at.values() for entry in left):
        yield entry, Skipped(entry.path, "unreadable", "the repository lacks this content")


def keep_contents(
    repo: Repository, changes: Changes, sources: dict[str, tuple[Source, str]], progress: Progress, *, full: bool
) -> dict[BlobKey, int]:
    """Analyse what is not known yet and store it, batch by batch. Returns the database id of every content."""
    wanted = {(source.blob, language): source.text for source, language in sources.values()}
    held = set() if full else repo.catalogue.held()
    numbers = {key: n for key, n in repo.catalogue.known({blob for blob, _ in wanted}).items() if n in held}
    unknown = [key for key in wanted if key not in numbers]
    if not unknown:
        return numbers
    jobs: list[Job] = [(wanted[key], key[1]) for key in unknown]
    batch: dict[str, list[Analysis]] = {}
    weight, since = 0, time.monotonic()
    for done, (job, analysis) in enumerate(analyse_all(jobs, repo.plan, repo.embedder() if repo.plan.embedder else None)):
        digest, language = unknown[job]
        if analysis is None:
            for path in (path for path, (source, lang) in sources.items() if (source.blob, lang) == unknown[job]):
                changes.left_out[path] = Skipped(path, "crash", f"the {language} parser died of it")
        else:
            batch.setdefault(digest, []).append(embedded(repo, analysis))
            weight += len(analysis.content)
        if weight >= FLUSH_BYTES or time.monotonic() - since >= FLUSH_SECONDS:
            numbers |= repo.catalogue.add(batch)
            batch, weight, since = {}, 0, time.monotonic()
        progress("indexing", done + 1, len(jobs))
    if batch:
        progress("storing", 0, 0)
        numbers |= repo.catalogue.add(batch)
    return numbers


def embedded(repo: Repository, analysis: Analysis) -> Analysis:
    """Return the analysis with its vectors, where the embedder could not run beside the parser."""
    if not analysis.passages:
        return analysis
    vectors, scales = quantise(repo.embedder().embed(analysis.passages, "document").unwrap())
    return replace(analysis, passages=(), arrays=replace(analysis.arrays, vectors=vectors, scales=scales))


def commit_snapshot(
    repo: Repository, target: Target, changes: Changes, sources: dict[str, tuple[Source, str]], numbers: dict[BlobKey, int]
) -> Snapshot:
    """Make the target's files current, all at once."""
    now = repo.clock()
    rows = []
    for entry in changes.entries:
        mtime = -1 if target.kind == "worktree" and _is_racy(entry.mtime_ns, now) else entry.mtime_ns
        stat = (entry.size, mtime, entry.inode)
        if entry.path in changes.left_out:
            rows.append(FileRow(entry.path, LEFT_OUT, NO_HASH, "text", *stat))
        else:
            source, language = sources[entry.path]
            rows.append(FileRow(entry.path, numbers[source.blob, language], source.blob, language, *stat))
    gone = set(changes.gone)
    if changes.files is None:
        table = file_table(rows, file_kind)
    else:
        table = changed_table(changes.files, rows, gone & set(changes.files.paths), file_kind)
    own = tree_hash(table)
    snapshot = Snapshot(
        0, target.kind, target.place, label(repo, target, table, own), target.head.branch, target.head.commit, own, now,
        skipped_now(repo, target, changes, table),
    )  # fmt: skip
    return repo.catalogue.commit(snapshot, table, rows, gone)


def skipped_now(repo: Repository, target: Target, changes: Changes, table: FileTable) -> tuple[Skipped, ...]:
    """Return everything left out: by the walk, by reading just now, and by reading earlier."""
    loaded = repo.catalogue.load(target.kind, target.place)
    left_out = {table.paths[i] for i in np.flatnonzero(table.blobs == LEFT_OUT)}
    earlier = {s.path: s for s in (loaded[0].skipped if loaded else ()) if s.path in left_out}
    every = [*target.found.skipped, *(earlier | changes.left_out).values()]
    return tuple(sorted(every, key=lambda skipped: skipped.path))


def label(repo: Repository, target: Target, table: FileTable, own: str) -> str:
    """Return what evidence calls a state: the commit where it is exactly that, else with the tree's hash added."""
    commit = target.head.commit
    if target.kind == "commit" or not commit:
        return commit or own
    committed = git.tree_ids(repo.root, commit)
    match committed:
        case Err():
            return f"{commit}+{own}"
        case Ok(ids):
            pass
    digests = table.digests.tobytes().hex()
    here = {path: digests[40 * i : 40 * i + 40] for i, path in enumerate(table.paths)}
    left_out = {skipped.path for skipped in target.found.skipped}
    for path in [path for path, digest in here.items() if digest == NO_HASH]:
        left_out.add(path)
        del here[path]
    clean = all(ids.get(path) == digest for path, digest in here.items()) and all(
        path in here or path in left_out for path in ids
    )
    return commit if clean else f"{commit}+{own}"


def report_on(repo: Repository, target: Target, changes: Changes, read: int) -> IndexReport:
    """Say what was done."""
    loaded = repo.catalogue.load(target.kind, target.place)
    assert loaded is not None
    snapshot, view = loaded
    return IndexReport(
        repo=repo.name, commit=snapshot.label, files=view.files.indexed, chunks=len(view), added=read,
        removed=len(changes.gone), unchanged=view.files.indexed - read, skipped=snapshot.skipped,
        failures=tuple(s for s in snapshot.skipped if s.reason == "crash"),
    )  # fmt: skip


def _is_racy(mtime_ns: int, now: float) -> bool:
    margin = COARSE_RACY_NS if mtime_ns % 1_000_000_000 == 0 else RACY_NS
    return now * 1e9 - mtime_ns < margin
