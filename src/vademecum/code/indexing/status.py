"""Status, checks and garbage collection of an index."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

from vademecum.amounts import counted
from vademecum.code.checkout import git
from vademecum.code.checkout.plumbing import available, remove_left_behind
from vademecum.code.checkout.source import Source, read_source
from vademecum.code.indexing.index import NO_HASH, Target, covered_said, digest_before, find_target
from vademecum.code.snapshot.repository import Repository, commit_of
from vademecum.errors import Error, StoreAwayError
from vademecum.private import WAIT_SECONDS, exclusive
from vademecum.protocols import silent
from vademecum.result import Err, Ok
from vademecum.types import Check, GcReport, Passage, RepoStatus

KEPT_COMMITS = 10  # the newest commits' snapshots, which a clean-up keeps
DAMAGED_KEPT_SECONDS = 7 * 86_400  # since a database was set aside
LEAST_FREE_BYTES = 200_000_000
AWAY = "start the server, or correct storage.url; until then searches go on with what this machine has of the index"


def status_of(repo: Repository) -> RepoStatus:
    """Describe a repository's index without changing it."""
    head = git.head(repo.root).unwrap()
    loaded = repo.catalogue.load("worktree", repo.root.path)
    database, note = repo.database, "; ".join(filter(None, (covered_said(repo), *repo.catalogue.untold())))
    if loaded is None:
        return RepoStatus(
            repo.name, repo.root.path, head.branch, "", 0, 0, {}, (), repo.embedder().name, database, 0,
            fresh=False, indexed_at=0.0, note=note,
        )  # fmt: skip
    snapshot, view = loaded
    languages = Counter(view.files.language(i) for i in range(len(view.files)) if view.files.blobs[i])
    fresh = not view.missing and _matches(repo, find_target(repo))
    return RepoStatus(
        repo.name, repo.root.path, head.branch, commit_of(snapshot.label), view.files.indexed, len(view),
        dict(languages.most_common()), snapshot.skipped, repo.embedder().name, database, _bytes(repo), fresh,
        snapshot.indexed_at, int(view.pending.sum()), note,
    )  # fmt: skip


def _matches(repo: Repository, target: Target) -> bool:
    """Return whether the disk holds the indexed state; contents decide doubts."""
    if not replace(target, found=replace(target.found, entries=[])).is_current:
        return False
    for entry in target.found.entries:
        source = read_source(repo.root, entry, repo.walk.max_file_bytes)
        if digest_before(target, entry.path) != (source.blob if isinstance(source, Source) else NO_HASH):
            return False
    return True


def _set_aside(repo: Repository) -> list[Path]:
    """Return the damaged databases that were set aside for inspection."""
    return sorted(repo.catalogue.directory.glob("index.db.damaged*"))


def _bytes(repo: Repository) -> int:
    return sum(path.stat().st_size for path in repo.catalogue.directory.iterdir() if path.is_file())


def collect_garbage(repo: Repository) -> GcReport:
    """Delete old snapshots, unused content and damaged databases.

    Old snapshots are those of missing worktrees and of all but the newest commits.
    """
    before = _bytes(repo)
    with exclusive(repo.lock, WAIT_SECONDS):  # contents that an index run has stored but not named yet must stay
        snapshots = repo.catalogue.snapshots()
        commits = sorted((s for s in snapshots if s.kind == "commit"), key=lambda s: -s.indexed_at)
        gone = [s.id for s in snapshots if s.kind == "worktree" and not os.path.isdir(s.place)]
        repo.catalogue.forget([*gone, *(s.id for s in commits[KEPT_COMMITS:])])
        blobs, chunks = repo.catalogue.collect()
        for path in _set_aside(repo):
            if repo.clock() - path.stat().st_ctime > DAMAGED_KEPT_SECONDS:
                path.unlink(missing_ok=True)
    repo.dense.catch_up(partial(exclusive, repo.lock, WAIT_SECONDS), silent)
    remove_left_behind()
    return GcReport(blobs, chunks, max(before - _bytes(repo), 0), "; ".join(repo.catalogue.untold()))


def check_repository(repo: Repository, *, repair: bool = False) -> list[Check]:
    """Check everything that an index depends on; `repair` external vectors."""
    checks = [_check_git(repo), _check_disk(repo), _check_database(repo), _check_embedder(repo), _check_index(repo)]
    return [*checks, *repo.dense.checks(partial(exclusive, repo.lock, WAIT_SECONDS), repair=repair)]


def _check_git(repo: Repository) -> Check:
    if repo.root.git_dir is None:
        return Check("git", ok=True, detail=f"{repo.root.path} is not a git repository; its directories are walked")
    if not available():
        return Check(
            "git", ok=False, detail="git is not on PATH", fix="install git, for exact ignore rules and commits"
        )
    match git.head(repo.root):
        case Ok(head):
            return Check("git", ok=True, detail=f"{head.branch or 'detached'} at {head.commit[:12] or 'no commit yet'}")
        case Err(error):
            return Check("git", ok=False, detail=str(error), fix="run `git status` in the repository")


def _check_disk(repo: Repository) -> Check:
    free = shutil.disk_usage(repo.catalogue.directory).free
    ok = free >= LEAST_FREE_BYTES
    return Check("disk", ok, f"{free / 1e9:.1f} GB free", "" if ok else "free some space, or set VADE_HOME elsewhere")


def _check_database(repo: Repository) -> Check:
    name = repo.database if repo.catalogue.here else f"{repo.database} (SQLite {sqlite3.sqlite_version})"
    match repo.catalogue.store.check():
        case Ok(said):
            ok = said == "ok"
            aside = ", ".join(str(path) for path in _set_aside(repo))
            name += f"; set aside as damaged, until `vade gc` a week later: {aside}" if aside else ""
            return Check("database", ok, name if ok else f"{name}: {said}", "" if ok else "run `vade index --full`")
        case Err(StoreAwayError() as error):
            return Check("database", ok=False, detail=str(error), fix=AWAY)
        case Err(error):
            return Check("database", ok=False, detail=str(error), fix="run `vade index --full`")


def _check_embedder(repo: Repository) -> Check:
    try:
        embedder = repo.embedder()
        vectors = embedder.embed([Passage("open a file")], "query").unwrap()
    except Error as error:
        return Check("embedder", ok=False, detail=str(error), fix="choose another with search.embedder")
    return Check("embedder", ok=True, detail=f"{embedder.name}, {vectors.shape[1]} dimensions")


def _check_index(repo: Repository) -> Check:
    try:
        status = status_of(repo)
    except Error as error:  # reading an index requires its embedder's name
        return Check("index", ok=False, detail=str(error), fix="fix the problems above first")
    if status.note:
        return Check(
            "index", ok=False, detail=status.note, fix="run `vade index`, or search: both make anew what is missing"
        )
    if not status.indexed_at:
        return Check("index", ok=True, detail="nothing is indexed yet; the first search does it")
    state = "up to date" if status.fresh else "behind the disk; the next search takes the changes in"
    unread = f", {status.pending} of them without a vector until `vade index` has made it" if status.pending else ""
    return Check(
        "index", ok=True, detail=f"{counted(status.files, 'file')}, {counted(status.chunks, 'chunk')}{unread}, {state}"
    )
