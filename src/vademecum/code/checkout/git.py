"""Queries to git: the checked-out commit, the files and their contents.

A few answers are read straight from git's files, because a process costs more than a lookup.
"""

# Paths are strings here: git lists tens of thousands, and some are not UTF-8
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf

from vademecum.code.checkout.plumbing import begin_on_files, quarantined, run, start, unknown_revision
from vademecum.code.checkout.root import Root, read_small
from vademecum.errors import GitError
from vademecum.result import Ok, Result, attempt
from vademecum.types import FileEntry

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1, or SHA-256 in the newer format
_BATCH = 64  # object ids per request: 64 x 65 bytes always fit into a pipe's buffer


@dataclass(frozen=True, slots=True)
class Head:
    """The checked-out commit and branch.

    `branch` is "" when detached. `commit` is "" before the first commit and outside git.
    """

    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The paths of a work tree that git does not ignore.

    Paths are relative to the root, each listed once.
    """

    files: list[str]
    repositories: list[str]  # submodules, and untracked directories that are repositories of their own
    sparse: list[str]  # files that a sparse checkout leaves out, of those listed
    plain: list[str] = field(default_factory=list)  # tracked files that git compares with the disk, of those listed


def head(root: Root) -> Result[Head, GitError]:
    """Return the checked-out commit and branch, usually without running git."""
    if root.git_dir is None or root.common_dir is None:
        return Ok(Head("", ""))
    content = read_small(os.path.join(root.git_dir, "HEAD")).strip()
    if _OBJECT_ID.fullmatch(content):
        return Ok(Head(content, ""))
    reference = content.removeprefix("ref:").strip()
    # The reftable format writes `.invalid` into HEAD for programs that cannot read reftables.
    if not content.startswith("ref:") or reference in {"", "refs/heads/.invalid"}:
        return _ask_head(root)
    commit = _dereference(reference, root.git_dir, root.common_dir)
    return _ask_head(root) if commit is None else Ok(Head(commit, reference.removeprefix("refs/heads/")))


def _dereference(reference: str, git_dir: str, common_dir: str) -> str | None:
    """Follow a reference to its commit.

    Returns "" for a reference that does not exist yet, None where git itself must be asked.
    """
    for _ in range(5):  # git's own limit on a chain of symbolic references
        loose = read_small(os.path.join(git_dir, reference)) or read_small(os.path.join(common_dir, reference))
        loose = loose.strip()
        if not loose:
            return _packed(reference, common_dir)
        if not loose.startswith("ref:"):
            return loose if _OBJECT_ID.fullmatch(loose) else None
        reference = loose.removeprefix("ref:").strip()
    return None


def _packed(reference: str, common_dir: str) -> str:
    """Look up a reference in `packed-refs`, lines of `<id> <name>`."""
    before, found, _ = read_small(os.path.join(common_dir, "packed-refs")).partition(f" {reference}\n")
    object_id = before.rpartition("\n")[2]
    return object_id if found and _OBJECT_ID.fullmatch(object_id) else ""


@attempt(GitError, GitError)
def _ask_head(root: Root) -> Head:
    commit = run(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", tolerate=(1,)).unwrap()
    reference = run(root, "symbolic-ref", "--quiet", "HEAD", tolerate=(1,)).unwrap()
    return Head(commit.decode().strip(), os.fsdecode(reference).strip().removeprefix("refs/heads/"))


def begin_listing(root: Root, only: Sequence[str] = ()) -> Callable[[], Result[Listing, GitError]]:
    """Start git's file listing and return a function that waits for it.

    Listed are the tracked files, of which some may be missing on disk, and the untracked files that are not ignored; with
    `only`, those of some files and folders. Git prints little before the listing is nearly done.
    """
    return partial(_listed, begin_on_files(root, "ls-files", "-z", "-v", "-s", "-c", "-o", *_chosen(root, only)))


def _chosen(root: Root, only: Sequence[str]) -> list[str]:
    """Return the arguments that choose the files to list.

    Ignored files are left out, and what is not in some parts.
    The repository's own exclude list is passed explicitly, because the quarantine has none.
    """
    own = os.path.join(root.common_dir or "", "info", "exclude")
    more = [f"--exclude-from={own}"] if os.path.isfile(own) else []
    return ["--exclude-standard", *more, "--", *(f":(literal){part}" for part in only)]


def begin_comparing(root: Root, only: Sequence[str] = ()) -> Callable[[], Result[list[str], GitError]]:
    """Start git's look at tracked files; return a function that waits.

    Returned are the paths whose status on disk is not what git's index notes. Git looks with several threads. It gets none
    of the user's settings: a file written as late as the index is compared by content, through the filters there.
    """
    parts = [f":(literal){part}" for part in only]
    options = ("-z", "--name-only", "--relative", "--ignore-submodules=all")
    return partial(_compared, begin_on_files(root, "diff-files", *options, "--", *parts, users=False))


@attempt(GitError, GitError)
def _compared(output_of: Callable[[], Result[bytes, GitError]]) -> list[str]:
    return os.fsdecode(output_of().unwrap()).split("\0")[:-1]


def index_time(root: Root) -> float:
    """Return when git's index was written, infinity without one.

    The time is in seconds since the epoch.
    """
    try:
        return os.stat(os.path.join(root.git_dir or "", "index")).st_mtime
    except OSError:
        return inf


@attempt(GitError, GitError)
def list_tracked(root: Root) -> dict[str, bool]:
    """Map tracked paths to whether they belong on disk (sparse checkouts)."""
    output = begin_on_files(root, "ls-files", "-z", "-t", "-c")().unwrap()
    records = (record.partition(" ") for record in os.fsdecode(output).split("\0") if record)
    return {path: tag.upper() != "S" for tag, _, path in records}


@attempt(GitError, GitError)
def _listed(output_of: Callable[[], Result[bytes, GitError]]) -> Listing:
    return _listing(os.fsdecode(output_of().unwrap()))


def _listing(output: str) -> Listing:
    r"""Parse the output of `ls-files -v -s -c -o`.

    Tracked: `<tag> <mode> <id> <stage>\t<path>`. Untracked: `? <path>`. A path in conflict is listed once per stage. An
    untracked repository is listed as a directory, with a slash at the end. The tag of a file that git was told to leave
    out of the worktree is S; it is a small letter where git was told to take the file as unchanged.
    """
    plain: list[str] = []
    files: dict[str, None] = {}
    repositories: dict[str, None] = {}
    sparse: list[str] = []
    for record in output.split("\0"):
        if record.startswith("H 100"):  # nearly all, and a path in conflict has another tag
            plain.append(record[record.index("\t") + 1 :])
        elif record.startswith("? "):
            path = record[2:]
            (repositories if path.endswith("/") else files)[path.removesuffix("/")] = None
        elif record:
            stage, _, path = record.partition("\t")
            (repositories if stage.startswith("160000", 2) else files)[path] = None
            if record[0] in "Ss":
                sparse.append(path)
    return Listing([*plain, *files], list(repositories), sparse, plain)


@attempt(GitError, GitError)
def list_ignored(root: Root, only: Sequence[str] = ()) -> list[str]:
    """List every ignored file, or those of some files and folders.

    Forcing files in requires checking them all.
    """
    output = begin_on_files(root, "ls-files", "-z", "-o", "-i", *_chosen(root, only))().unwrap()
    return [path for path in os.fsdecode(output).split("\0") if path and not path.endswith("/")]


@attempt(GitError, GitError)
def resolve(root: Root, revision: str) -> str:
    """Resolve a revision to a full commit id.

    A revision is a branch, a tag, `HEAD~2` or a short id.
    """
    if not revision or revision.startswith("-") or "\0" in revision:
        raise GitError(f"{revision!r} is not a revision: name a branch, a tag or a commit")
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = run(root, *arguments, tolerate=(1,)).unwrap().decode().strip().rpartition("\n")[2]
    if not commit:
        raise GitError(unknown_revision(root.path, revision))
    return commit


@attempt(GitError, GitError)
def tree(root: Root, revision: str) -> list[FileEntry]:
    """List the regular files of a commit below the root.

    Each entry has size and blob id. Links and submodules are left out.
    """
    records = _records(root, "-l", resolve(root, revision).unwrap(), ())
    return [FileEntry(path, int(facts[3]), 0, 0, facts[2]) for facts, path in records]


@attempt(GitError, GitError)
def tree_ids(root: Root, commit: str, paths: Sequence[str] = ()) -> dict[str, str]:
    """Map each regular file of a commit to its blob id.

    Only files below the root count, or those of `paths`. Faster than `tree`.
    """
    _check_id(commit)
    return {path: facts[2] for facts, path in _records(root, "-z", commit, paths)}


def _check_id(commit: str) -> None:
    """Refuse a commit that is not given by its full id."""
    if not _OBJECT_ID.fullmatch(commit):
        raise GitError(f"{commit!r} is not a commit id")


def _records(root: Root, option: str, commit: str, paths: Sequence[str]) -> list[tuple[list[str], str]]:
    r"""Parse the output of `ls-tree` and keep regular files. Raises `GitError`.

    A record reads `<mode> <type> <id>[ <size>]\t<path>`. Links have mode 120000, submodules 160000.
    """
    below = [root.prefix + path for path in paths or ([""] if root.prefix else ())]
    output = run(root, "ls-tree", "-r", "-z", option, commit, "--", *below).unwrap()
    records = (record.partition("\t") for record in os.fsdecode(output).split("\0"))
    return [(facts.split(), path.removeprefix(root.prefix)) for facts, _, path in records if facts[:3] == "100"]


@attempt(GitError, GitError)
def commit_times(root: Root, commit: str, most: int = 5000) -> dict[str, int]:
    """Map each file to the time of its last commit.

    Times are in seconds since the epoch, as of `commit`. Only the last `most` commits are read; a file that they leave
    alone has none.
    """
    _check_id(commit)
    wanted = ("--no-merges", "--no-renames", f"--max-count={most}", "--name-only", "-z", "--format=%x01%ct", commit)
    output = run(root, "log", *wanted, "--", *filter(None, [root.prefix])).unwrap()
    times: dict[str, int] = {}
    for record in os.fsdecode(output).split("\x01")[1:]:
        when, *paths = record.replace("\n", "\0", 1).split("\0")
        for path in filter(None, paths if when.isdigit() else ()):  # a name may hold the sign, too
            times.setdefault(path.removeprefix(root.prefix), int(when))
    return times


def read_file(root: Root, commit: str, path: str) -> Result[bytes, GitError]:
    """Return the content of a file below the root in a commit."""
    return run(root, "cat-file", "blob", f"{commit}:{root.prefix}{path}")


def read_blobs(root: Root, blob_ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield `(id, content)` pairs in the order requested.

    All blobs come through one git process, with one blob in memory at a time. A blob that the repository lacks, such as
    a partial clone's, is left out.

    Raises:
        GitError: git cannot be run or ended early, or an id is not an object id.
    """
    with quarantined(root) as apart:
        process = start(root, apart, ["cat-file", "--batch"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            batch: list[str] = []
            for blob_id in blob_ids:
                if not _OBJECT_ID.fullmatch(blob_id):
                    raise GitError(f"{blob_id!r} is not a blob id")
                batch.append(blob_id)
                if len(batch) == _BATCH:
                    yield from _exchange(process, batch)
                    batch = []
            yield from _exchange(process, batch)
        finally:
            process.kill()
            process.communicate()


def _exchange(process: subprocess.Popen[bytes], batch: list[str]) -> Iterator[tuple[str, bytes]]:
    """Request a few blobs, then read them, so that no pipe fills."""
    questions, answers = process.stdin, process.stdout
    assert questions is not None
    assert answers is not None
    try:
        questions.write("".join(f"{blob_id}\n" for blob_id in batch).encode())
        questions.flush()
    except BrokenPipeError as cause:
        raise GitError("git cat-file ended early") from cause
    for blob_id in batch:
        answer = answers.readline().split()  # `<id> <type> <size>`, or `<id> missing`
        if not answer:
            raise GitError(f"git cat-file ended early, before blob {blob_id}")
        if len(answer) != 3:
            continue
        content = answers.read(int(answer[2]) + 1)[:-1]  # a newline follows each blob
        if answer[1] == b"blob":
            yield blob_id, content
