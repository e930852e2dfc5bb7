"""Indexing: from a directory on disk to a searchable snapshot.

    walk → (known content?) → parse → chunk → metadata → enrich → embed → store

Content that was analysed before, in any branch or worktree, is never analysed again. Changes are found by size, time
and inode, then by content. A killed run has stored whole batches, and the next run continues from there.

A search refreshes the index first, for a time that a person waits. Another process may be writing the index, or nothing can be written, as on
a full disk. Then the last complete state answers, and every answer says that recent edits may be missing.

`vade index --only` chooses the parts of a checkout that its index covers. The choice is remembered beside the index, for one checkout:

    only-<digest of the checkout's directory>.json   a list of paths below the directory
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from vademecum.code.checkout import git
from vademecum.code.checkout.source import Source, contained, decode_source, read_source
from vademecum.code.checkout.walk import NOTHING, Known, Walk, is_settled, walk, walk_commit
from vademecum.code.chunking.analyse import CHUNK_HASH, Analysis, Job, Plan, Task
from vademecum.code.indexing.embed import FEW, Meaning, analysed_again, fill, known_sentences, with_known_vectors
from vademecum.code.indexing.workers import uncollected
from vademecum.code.languages import HEAD, language_of
from vademecum.code.snapshot.catalogue import BlobKey, Snapshot, tree_hash
from vademecum.code.snapshot.repository import Items, Opened, Repository, commit_of
from vademecum.code.snapshot.view import LEFT_OUT, FileRow, FileTable, View, changed_table, file_rows, file_table
from vademecum.digests import blake2b
from vademecum.errors import StoreBusyError, StoreFullError, StoreReadOnlyError, UsageError
from vademecum.metrics import counter, histogram, span
from vademecum.private import WAIT_SECONDS, exclusive, replacing
from vademecum.protocols import Progress
from vademecum.result import Ok
from vademecum.types import FileEntry, IndexReport, Skipped

_RUNS = counter("vademecum_index_runs_total", "Looks at a repository, by whether anything had changed.")
_TOOK = histogram("vademecum_index_duration_seconds", "Seconds that a look at a repository took, by the same.")
_FILES = counter("vademecum_index_files_total", "Files taken in, by what became of them.")
_DEGRADED = counter(
    "vademecum_index_degraded_total", "Files indexed with less than all, by the step that was left out."
)


def covered(repo: Repository) -> tuple[str, ...]:
    """Return the files and folders to keep to, () for the whole checkout."""
    try:
        return tuple(map(str, json.loads(_place(repo).read_bytes())))
    except (OSError, ValueError, TypeError):  # nothing was chosen, or the file is damaged: then everything counts
        return ()


def cover(repo: Repository, paths: Sequence[str]) -> None:
    """Remember the parts to keep to; the root lifts the limit.

    Raises:
        OutsideRootError: a path leads out of the repository.
        UsageError: there is no file to index in the paths.
    """
    parts = tuple(sorted({contained(repo.root, path).unwrap() for path in paths}))
    place = _place(repo)
    if "." in parts:
        place.unlink(missing_ok=True)
        return
    if not walk(repo.root, replace(repo.walk, only=parts)).unwrap().entries:
        said = " or ".join(parts)
        raise UsageError(f"no file of {said} is to be indexed: name files or folders that git does not ignore")
    with replacing(place) as out:
        out.write(json.dumps(parts).encode())


def covered_said(repo: Repository) -> str:
    """Say which parts the index keeps to, "" for the whole checkout."""
    parts = covered(repo)
    return f"only {', '.join(parts)} is indexed: `vade index --only .` lifts that" if parts else ""


def _place(repo: Repository) -> Path:
    digest = blake2b(os.fsencode(repo.root.path), digest_size=6).hexdigest()
    return repo.catalogue.directory / f"only-{digest}.json"


FLUSH_BYTES = 16_000_000  # content per transaction: the most that a kill can lose and memory holds
FLUSH_SECONDS = 5.0
READ_BYTES = 128_000_000  # content that is read before it is analysed: memory holds it
NO_HASH = "0" * 40
FEW_PATHS = 20  # changed files compared with the commit before all files are
# A file written this recently is read again: another write within the clock's tick would leave its time unchanged.
RACY_NS = 20_000_000
COARSE_RACY_NS = 2_000_000_000  # on file systems that keep whole seconds


@dataclass(frozen=True, slots=True)
class Target:
    """A snapshot to update, its current state, and the differences."""

    kind: str  # "worktree", "commit" or "source"
    place: str
    head: git.Head
    found: Walk
    previous: tuple[Snapshot, View] | None
    looked_at: float  # seconds since the epoch, before the walk
    gone: list[str]  # paths of the snapshot that no longer exist

    @property
    def is_current(self) -> bool:
        """True when the snapshot needs no update."""
        if self.previous is None or self.found.entries or self.gone:
            return False
        snapshot, view = self.previous
        known = snapshot.rules, snapshot.skipped
        if self.kind == "worktree" and (self.found.rules, skipped_now(self, Reading(), view.files)) != known:
            return False
        return (snapshot.commit, snapshot.branch) == (self.head.commit, self.head.branch)


@dataclass(slots=True)
class Reading:
    """A target's changed files, as they were read and analysed."""

    keys: dict[str, BlobKey] = field(default_factory=dict)  # of each file's content, by path
    left_out: dict[str, Skipped] = field(default_factory=dict)  # files that are not text
    numbers: dict[BlobKey, int] = field(default_factory=dict)  # the database ids of contents
    new: set[BlobKey] = field(default_factory=set)  # contents that the database did not hold
    problems: dict[BlobKey, str] = field(default_factory=dict)  # contents cut by windows, with the reason
    undescribed: int = 0  # contents that Python's own parser rejected
    unread: int = 0  # files that are still to be read
    analysed: int = 0  # contents

    def note(self, key: BlobKey, analysis: Analysis) -> None:
        """Record a parse failure, and count contents without Python's metadata."""
        if analysis.problem:
            self.problems[key] = analysis.problem
        self.undescribed += not analysis.described

    @property
    def added(self) -> int:
        """The number of files with new content."""
        return sum(key in self.new for key in self.keys.values())

    @property
    def failures(self) -> tuple[Skipped, ...]:
        """The files cut by windows."""
        found = ((path, self.problems[key]) for path, key in self.keys.items() if key in self.problems)
        return tuple(Skipped(path, "unparsed", problem) for path, problem in found)


def index(
    repo: Repository,
    progress: Progress,
    *,
    revision: str = "",
    full: bool = False,
    wait_s: float | None = None,
    embed: int | None = None,
    references: bool = False,
) -> IndexReport:
    """Bring a snapshot up to date: the worktree's or a revision's.

    Fast when nothing changed.

    Args:
        repo: the repository.
        progress: receives the progress of each step.
        revision: the commit to index, by any name git knows; the worktree if empty.
        full: read every file again.
        wait_s: seconds to wait for another process that is indexing; WAIT_SECONDS unless given.
        embed: skip a slow embedder when more than this many chunks are pending.
        references: also find the files' references, which a graph needs and a search does not.

    Raises:
        GitError: git failed, or does not know the revision.
        StoreBusyError: another process is still indexing the repository.
        StoreError: the database failed; the previous state is intact.
    """
    started = time.perf_counter()
    wait_s = WAIT_SECONDS if wait_s is None else wait_s
    alone = partial(exclusive, repo.lock, wait_s, lambda: progress("waiting for another process", 0, 0))
    if full:
        with alone():
            repo.catalogue.mend()
    target = find_target(repo, revision, full=full)
    read = Reading()
    current = target.is_current and not repo.catalogue.segments.unread  # a commit drops their names
    before = target.previous[0].commit if target.previous else ""
    store_history = repo.catalogue.histories.begin(repo.root, target.head.commit, before, full=full)
    if not current:
        from vademecum.code.indexing.workers import one_thread

        with alone(), span("index"), one_thread():
            if repo.catalogue.load(target.kind, target.place) is not target.previous:
                target = find_target(repo, revision, full=full)  # another process indexed meanwhile
            plan = replace(repo.plan, task=Task.LINKED) if references else repo.plan
            for texts in read_changed(repo, target, read, progress):
                keep_contents(repo, read, texts, plan, progress, full=full)
            commit_snapshot(repo, target, read)
    elif target.kind == "worktree" and target.previous is not None:
        note_look(repo, target.previous, target.looked_at)
    store_history()
    meaning = fill(repo, target.kind, target.place, progress, embed)
    note = repo.dense.catch_up(alone, progress)
    report = report_on(repo, target, read, meaning)
    report = replace(report, notes=(note,) if note else (), seconds=time.perf_counter() - started)
    return observed(report, changed=not current)


@uncollected()  # a tuple and more for each file
def find_target(repo: Repository, revision: str = "", *, full: bool = False) -> Target:
    """Find a snapshot's new files, and those changed since they were read."""
    looked_at = repo.clock()
    if revision:
        commit = commit_place(repo, revision)
        previous = repo.catalogue.load("commit", commit)
        if previous is None or previous[1].missing or full:
            found = walk_commit(repo.root, commit, repo.walk).unwrap()
        else:  # a commit never changes
            found = Walk([], [], frozenset(previous[1].files.paths))
        return target_of("commit", commit, git.Head(commit, ""), found, previous, looked_at)
    previous = repo.catalogue.load(*repo.place)
    if repo.items is not None:
        found = items_found(repo.items, previous, full=full)
        return target_of(*repo.place, git.Head("", ""), found, previous, looked_at)
    known = NOTHING if previous is None or full else known_files(*previous)
    found = walk(repo.root, replace(repo.walk, only=covered(repo)), known).unwrap()
    return target_of("worktree", repo.root.path, git.head(repo.root).unwrap(), found, previous, looked_at)


def items_found(items: Items, previous: tuple[Snapshot, View] | None, *, full: bool) -> Walk:
    """Return a source's items whose content the snapshot lacks, as a walk."""
    known: dict[str, str] = {}
    if previous is not None and not full:
        known = {row.path: row.hash for row in file_rows(previous[1].files) if row.blob not in previous[1].missing}
    listed = items.listing()
    same = frozenset(entry.path for entry in listed if known.get(entry.path) == entry.blob)
    return Walk([entry for entry in listed if entry.path not in same], [], same)


def target_of(
    kind: str, place: str, head: git.Head, found: Walk, previous: tuple[Snapshot, View] | None, looked_at: float
) -> Target:
    """Return a target, with the paths that have gone."""
    gone: list[str] = []
    if previous is not None and len(found.unchanged) < len(previous[1].files):  # else none of them has gone
        here = found.unchanged.union(entry.path for entry in found.entries)
        gone = [path for path in previous[1].files.paths if path not in here]
    return Target(kind, place, head, found, previous, looked_at, gone)


def known_files(snapshot: Snapshot, view: View) -> Known:
    """Return the recorded status of a snapshot's files that have content."""
    files, lost = view.files, set(view.missing)
    stats = zip(files.sizes.tolist(), files.mtimes.tolist(), files.inodes.tolist(), strict=True)
    known = dict(zip(files.paths, stats, strict=True))
    if lost:
        for path, blob in zip(files.paths, files.blobs.tolist(), strict=True):
            if blob in lost:
                del known[path]
    return Known(known, snapshot.rules, snapshot.indexed_at)


def commit_place(repo: Repository, revision: str) -> str:
    """Return a revision's commit id, a snapshot's place. Raises `GitError`."""
    return git.resolve(repo.root, revision).unwrap()


def read_changed(repo: Repository, target: Target, read: Reading, progress: Progress) -> Iterator[dict[BlobKey, bytes]]:
    """Read the changed files; yield texts, READ_BYTES at once.

    Files that are not text are recorded as left out.
    """
    entries = target.found.entries
    texts: dict[BlobKey, bytes] = {}
    weight = 0
    for done, (entry, source) in enumerate(_sources(repo, target, entries)):
        if isinstance(source, Skipped):
            read.left_out[entry.path] = source
        else:
            key = read.keys[entry.path] = source.blob, language_of(entry.path, source.text[:HEAD])
            texts[key] = source.text
            weight += len(source.text)
        progress("reading", done + 1, len(entries))
        if weight >= READ_BYTES:
            read.unread = len(entries) - done - 1
            yield texts
            texts, weight = {}, 0
    read.unread = 0
    yield texts


def _sources(
    repo: Repository, target: Target, entries: list[FileEntry]
) -> Iterator[tuple[FileEntry, Source | Skipped]]:
    if target.kind == "worktree":
        for entry in entries:
            yield entry, read_source(repo.root, entry, repo.walk.max_file_bytes)
        return
    if repo.items is not None:
        by_path = {entry.path: entry for entry in entries}
        yield from ((by_path.pop(path), source) for path, source in repo.items.read(list(by_path)))
        yield from ((entry, Skipped(entry.path, "unreadable", "deleted during the run")) for entry in by_path.values())
        return
    at: dict[str, list[FileEntry]] = {}
    for entry in entries:
        at.setdefault(entry.blob, []).append(entry)
    for blob, content in git.read_blobs(repo.root, list(at)):  # iterates over a copy, since `at` shrinks
        for entry in at.pop(blob):
            yield entry, decode_source(entry.path, content)
    for entry in (entry for left in at.values() for entry in left):
        yield entry, Skipped(entry.path, "unreadable", "the repository lacks this content")


def keep_contents(
    repo: Repository, read: Reading, texts: Mapping[BlobKey, bytes], plan: Plan, progress: Progress, *, full: bool
) -> None:
    """Analyse and store unknown contents, batch by batch."""
    known = repo.catalogue.known({blob for blob, _ in texts})
    read.new |= texts.keys() - known.keys()
    held = set() if full else repo.catalogue.held(known.values())
    read.numbers |= {key: n for key, n in known.items() if n in held}
    unknown = [key for key in texts if key not in read.numbers]
    if not unknown:
        return
    from vademecum.code.indexing.workers import analyse_all

    jobs: list[Job] = [(texts[key], key[1]) for key in unknown]
    found = analyse_all(jobs, plan, repo.embedder() if plan.embedder else None)
    batch: dict[str, list[Analysis]] = {}
    weight, since = 0, time.monotonic()
    total = read.analysed + len(jobs) + read.unread
    try:
        for done, (job, analysis) in enumerate(found):
            read.note(unknown[job], analysis)
            batch.setdefault(unknown[job][0], []).append(with_known_vectors(repo, spoken(repo, analysis)))
            weight += len(analysis.content)
            if weight >= FLUSH_BYTES or time.monotonic() - since >= FLUSH_SECONDS:
                read.numbers |= repo.catalogue.add(batch)
                batch, weight, since = {}, 0, time.monotonic()
            progress("indexing", read.analysed + done + 1, total)
    except KeyboardInterrupt:  # the next run continues from this batch
        read.numbers |= repo.catalogue.add(batch)
        progress("indexing", read.analysed + sum(key in read.numbers for key in unknown), total)
        raise
    read.analysed += len(jobs)
    if batch:
        progress("storing", 0, 0)
        read.numbers |= repo.catalogue.add(batch)


def spoken(repo: Repository, analysis: Analysis) -> Analysis:
    """Replace an analysis's summaries with a language model's sentences."""
    sentences = known_sentences(repo, [row[CHUNK_HASH] for row in analysis.chunks])
    if not sentences or analysis.problem:
        return analysis
    content, language, references = analysis.content, analysis.language, bool(analysis.references)
    return analysed_again(repo, content, language, sentences, references=references)


def commit_snapshot(repo: Repository, target: Target, read: Reading) -> Snapshot:
    """Make the target's files current, all at once."""
    rows = []
    for entry in target.found.entries:
        mtime = -1 if target.kind == "worktree" and _is_racy(entry.mtime_ns, target.looked_at) else entry.mtime_ns
        stat = (entry.size, mtime, entry.inode)
        if entry.path in read.left_out:
            rows.append(FileRow(entry.path, LEFT_OUT, NO_HASH, "text", *stat))
        else:
            key = read.keys[entry.path]
            rows.append(FileRow(entry.path, read.numbers[key], *key, *stat))
    gone = target.gone
    if target.previous is None:
        table = file_table(rows, repo.catalogue.read_paths())
    else:
        table = changed_table(target.previous[1].files, rows, frozenset(gone), repo.catalogue.read_paths())
    own = tree_hash(table)
    skipped = skipped_now(target, read, table)
    snapshot = Snapshot(
        0, target.kind, target.place, label(repo, target, table, rows, skipped, own), target.head.branch,
        target.head.commit, own, target.looked_at, skipped, rules=target.found.rules,
    )  # fmt: skip
    return repo.catalogue.commit(snapshot, table, rows, gone)


def note_look(repo: Repository, found: tuple[Snapshot, View], looked_at: float) -> None:
    """Keep a look's time, if the next look is cheaper."""
    settled = partial(is_settled, repo.root, len(found[1].files))
    if not settled(found[0].indexed_at) and settled(looked_at):
        repo.catalogue.keep_look(found, looked_at)


def skipped_now(target: Target, read: Reading, table: FileTable) -> tuple[Skipped, ...]:
    """Return everything left out.

    Files were left out by the walk, by this reading, or by an earlier reading.
    """
    left_out = {table.paths[i] for i in np.flatnonzero(table.blobs == LEFT_OUT)}
    earlier = {s.path: s for s in (target.previous[0].skipped if target.previous else ()) if s.path in left_out}
    every = [*target.found.skipped, *(earlier | read.left_out).values()]
    return tuple(sorted(every, key=lambda skipped: skipped.path))


def label(
    repo: Repository, target: Target, table: FileTable, changed: list[FileRow], skipped: tuple[Skipped, ...], own: str
) -> str:
    """Return the name of a state in evidence.

    It is the commit if the files equal that commit, else the commit with the tree's hash.
    """
    commit = target.head.commit
    if target.kind == "commit" or not commit:
        return commit or own
    some = [row for row in changed if row.blob != LEFT_OUT][:FEW_PATHS]
    match git.tree_ids(repo.root, commit, [row.path for row in some]):  # after an edit, a few paths settle the matter
        case Ok(ids) if all(ids.get(row.path) == row.hash for row in some):
            committed = git.tree_ids(repo.root, commit)
        case _:
            return f"{commit}+{own}"
    left_out = {item.path for item in skipped}
    here = {row.path: row.hash for row in file_rows(table) if row.blob != LEFT_OUT}
    match committed:
        case Ok(ids) if here.items() <= ids.items() and ids.keys() <= here.keys() | left_out:
            return commit
        case _:
            return f"{commit}+{own}"


def report_standing(repo: Repository, revision: str = "") -> IndexReport | None:
    """Describe a snapshot without an update; None if it cannot be searched."""
    place = ("commit", commit_place(repo, revision)) if revision else repo.place
    loaded = repo.catalogue.load(*place)
    if loaded is None or loaded[1].missing:
        return None
    snapshot, view = loaded
    return IndexReport(
        repo=repo.name, commit=commit_of(snapshot.label), files=view.files.indexed, chunks=len(view), added=0, removed=0,
        unchanged=view.files.indexed, skipped=snapshot.skipped,
    )  # fmt: skip


def report_on(repo: Repository, target: Target, read: Reading, meaning: Meaning) -> IndexReport:
    """Return the report of an indexing run."""
    loaded = repo.catalogue.load(target.kind, target.place)
    assert loaded is not None
    snapshot, view = loaded
    changed = sum(digest_before(target, path) != blob for path, (blob, _) in read.keys.items())
    return IndexReport(
        repo=repo.name, commit=commit_of(snapshot.label), files=view.files.indexed, chunks=len(view), added=read.added,
        removed=len(target.gone), unchanged=view.files.indexed - changed, skipped=snapshot.skipped,
        failures=read.failures, trouble=meaning.problem,
        degraded={
            step: count for step, count in (("metadata", read.undescribed), ("vectors", meaning.missing)) if count
        },
    )  # fmt: skip


def digest_before(target: Target, path: str) -> str:
    """Return the content hash at a path in the snapshot, or ""."""
    return target.previous[1].files.digest(path) if target.previous else ""


def _is_racy(mtime_ns: int, looked_at: float) -> bool:
    margin = COARSE_RACY_NS if mtime_ns % 1_000_000_000 == 0 else RACY_NS
    return looked_at * 1e9 - mtime_ns < margin


def observed(report: IndexReport, *, changed: bool) -> IndexReport:
    """Count an indexing run and return its report."""
    outcome = "changed" if changed else "unchanged"
    _RUNS.add(outcome=outcome)
    _TOOK.observe(report.seconds, outcome=outcome)
    if changed:
        counts = {"added": report.added, "removed": report.removed, "failed": len(report.failures)}
        for name, number in counts.items():
            _FILES.add(number, outcome=name)
        for step, number in report.degraded.items():
            _DEGRADED.add(number, step=step)
    return report


PATIENCE_SECONDS = 2.0  # the wait for a writing process: an edit is indexed by then, and a person still waits


class Refresher:
    """Opens repositories for a question, with their changes taken in.

    Remembers the repositories that could not be brought up to date, and the errors.
    """

    def __init__(self) -> None:
        self._behind: dict[tuple[str, str, str], StoreBusyError | StoreFullError | StoreReadOnlyError] = {}

    def refresh(self, repo: Repository, progress: Progress, commit: str = "", *, linked: bool = False) -> IndexReport:
        """Index the changes, or fall back to the last complete state.

        Raises:
            StoreError: indexing failed, and there is no complete state.
        """
        place = snapshot_place(repo, commit)
        self._behind.pop((repo.name, *place), None)
        try:
            with repo.catalogue.store.waiting(PATIENCE_SECONDS):
                return index(repo, progress, revision=commit, wait_s=PATIENCE_SECONDS, embed=FEW, references=linked)
        except (StoreBusyError, StoreFullError, StoreReadOnlyError) as error:
            standing = report_standing(repo, commit)
            if standing is not None:
                self._behind[repo.name, *place] = error
                return replace(standing, notes=(self._behind_note(repo, place),))
            if not isinstance(error, StoreBusyError):
                raise
        return index(repo, progress, revision=commit, embed=FEW, references=linked)

    def opened(
        self, repo: Repository, prefixes: tuple[str, ...], commit: str, progress: Progress, *, refresh: bool
    ) -> Opened:
        """Return a repository with the snapshot to search.

        With `refresh` the snapshot is brought up to date first.

        Raises:
            StoreError: there is no state to search.
        """
        place = snapshot_place(repo, commit)
        loaded = repo.catalogue.load(*place)
        if loaded is None or loaded[1].missing or (refresh and not commit):
            self.refresh(repo, progress, commit)
            loaded = repo.catalogue.load(*place)
        assert loaded is not None
        return Opened(
            repo,
            *loaded,
            prefixes,
            "; ".join(filter(None, (*repo.catalogue.damaged(), self._behind_note(repo, place)))),
        )

    def _behind_note(self, repo: Repository, place: tuple[str, str]) -> str:
        error = self._behind.get((repo.name, *place))
        loaded = None if error is None else repo.catalogue.load(*place)
        if error is None or loaded is None:
            return ""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(loaded[0].indexed_at))
        return f"recent edits may be missing: the index is as of {when}, since {error}"


def snapshot_place(repo: Repository, commit: str) -> tuple[str, str]:
    """Return kind and place of a commit's snapshot, or the usual one."""
    return ("commit", commit_place(repo, commit)) if commit else repo.place
