"""What git knows, asked by plumbing: where a repository begins, which files it holds, what they contained.

git is run by name with a list of arguments, never through a shell, and never in a way that lets a repository run its
own programs (hooks, file-system monitors), reach the network (a partial clone fetching what it lacks), ask a question
or take a lock. What can be read from `.git` with a few `open` calls is, because a process costs more than a lookup.
"""

# Paths are strings here: they come from git by the ten thousand, some of them not even UTF-8
from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from vademecum.codebase.classify import words
from vademecum.codebase.root import MARKER as MARKER  # noqa: PLC0414 -- for those who say git.MARKER
from vademecum.codebase.root import Root as Root  # noqa: PLC0414 -- for those who say git.Root
from vademecum.codebase.root import find_root as find_root  # noqa: PLC0414 -- for those who say git.find_root
from vademecum.codebase.root import read_small
from vademecum.codebase.root import worktrees as worktrees  # noqa: PLC0414 -- for those who say git.worktrees
from vademecum.errors import GitError
from vademecum.result import Err, Ok, Result
from vademecum.types import FileEntry

TIMEOUT_SECONDS = 120.0  # listing a very large repository from a cold disk takes tens of seconds

_HARDENING = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.allow=never"),
)
# A git hook exports these, and they would point us at the repository that runs the hook (git rev-parse --local-env-vars).
_LOCATION_VARIABLES = words(
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE"
    " GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX"
    " GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE GIT_WORK_TREE"
)
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # SHA-1, or SHA-256 in the newer format
_BAD_REVISION = re.compile(r"^fatal: bad revision '(.+)'$", re.MULTILINE)
_BATCH = 64  # object ids asked for at once: 64 x 65 bytes always fit into a pipe's buffer


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out. `branch` is "" when detached, `commit` is "" before the first commit and outside git."""

    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The paths of a work tree that git does not ignore, relative to the root, each once."""

    files: list[str]
    repositories: list[str]  # submodules, and untracked directories that are repositories of their own


def head(root: Root) -> Result[Head, GitError]:
    """Tell the commit and branch that are checked out, as a rule without running git."""
    if root.git_dir is None or root.common_dir is None:
        return Ok(Head("", ""))
    content = read_small(os.path.join(root.git_dir, "HEAD")).strip()
    if _OBJECT_ID.fullmatch(content):
        return Ok(Head(content, ""))
    reference = content.removeprefix("ref:").strip()
    # `.invalid` is what the reftable format leaves in HEAD for those who cannot read it.
    if not content.startswith("ref:") or reference == "refs/heads/.invalid":
        return _ask_head(root)
    commit = _dereference(reference, root.git_dir, root.common_dir)
    return _ask_head(root) if commit is None else Ok(Head(commit, reference.removeprefix("refs/heads/")))


def _dereference(reference: str, git_dir: str, common_dir: str) -> str | None:
    """Follow a reference to its commit: "" when it does not exist yet, None when only git can tell."""
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
    """Look a reference up in `packed-refs`, whose lines read `<object id> <name>`."""
    before, found, _ = read_small(os.path.join(common_dir, "packed-refs")).partition(f" {reference}\n")
    object_id = before.rpartition("\n")[2]
    return object_id if found and _OBJECT_ID.fullmatch(object_id) else ""


def _ask_head(root: Root) -> Result[Head, GitError]:
    match run(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", tolerate=(1,)):
        case Err() as failure:
            return failure
        case Ok(output):
            commit = output.decode().strip()
    match run(root, "symbolic-ref", "--quiet", "HEAD", tolerate=(1,)):
        case Err() as failure:
            return failure
        case Ok(output):
            return Ok(Head(commit, os.fsdecode(output).strip().removeprefix("refs/heads/")))


def available() -> bool:
    """Whether there is a git to run."""
    return shutil.which("git") is not None


def list_files(root: Root) -> Result[Listing, GitError]:
    """List what is tracked, and what is neither tracked nor ignored. Some of it may be gone from the disk."""
    return begin_listing(root)()


def begin_listing(root: Root) -> Callable[[], Result[Listing, GitError]]:
    """Have git begin to list files, and return what waits for the listing: it prints little before it is nearly done."""
    return partial(_listed, begin(root, "ls-files", "-z", "-t", "-s", "-c", "-o", "--exclude-standard"))


def _listed(output_of: Callable[[], Result[bytes, GitError]]) -> Result[Listing, GitError]:
    match output_of():
        case Err() as failure:
            return failure
        case Ok(output):
            return Ok(_listing(os.fsdecode(output)))


def _listing(output: str) -> Listing:
    r"""Read `ls-files -t -s -c -o`: tracked `<tag> <mode> <id> <stage>\t<path>`, untracked `? <path>`.

    A path in conflict comes once per stage. An untracked repository comes as a directory, its slash at the end.
    """
    files: dict[str, None] = {}
    repositories: dict[str, None] = {}
    for record in output.split("\0"):
        if record.startswith("? "):
            path = record[2:]
            (repositories if path.endswith("/") else files)[path.removesuffix("/")] = None
        elif record:
            stage, _, path = record.partition("\t")
            (repositories if stage.startswith("160000", 2) else files)[path] = None
    return Listing(list(files), list(repositories))


def list_ignored(root: Root) -> Result[list[str], GitError]:
    """List the files that git ignores, one by one: whoever forces some in has to look through them all."""
    match run(root, "ls-files", "-z", "-o", "-i", "--exclude-standard"):
        case Err() as failure:
            return failure
        case Ok(output):
            return Ok([path for path in os.fsdecode(output).split("\0") if path and not path.endswith("/")])


def resolve(root: Root, revision: str) -> Result[str, GitError]:
    """Turn a revision (branch, tag, `HEAD~2`, short id) into a full commit id."""
    if not revision or revision.startswith("-") or "\0" in revision:
        return Err(GitError(f"{revision!r} is not a revision: name a branch, a tag or a commit"))
    match run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", tolerate=(1,)):
        case Err() as failure:
            return failure
        case Ok(output):
            commit = output.decode().strip().rpartition("\n")[2]
            return Ok(commit) if commit else Err(GitError(_unknown(root, revision)))


def tree(root: Root, revision: str) -> Result[list[FileEntry], GitError]:
    """List the regular files of a commit below the root, with size and blob id; links and submodules are left out."""
    match resolve(root, revision):
        case Err() as failure:
            return failure
        case Ok(commit):
            listed = run(root, "ls-tree", "-r", "-z", "-l", commit)
    match listed:
        case Err() as failure:
            return failure
        case Ok(output):
            records = os.fsdecode(output).split("\0")
            return Ok([entry for record in records if (entry := _tree_entry(record)) is not None])


def tree_ids(root: Root, commit: str, paths: Sequence[str] = ()) -> Result[dict[str, str], GitError]:
    """Map each regular file of a commit below the root, or those of `paths`, to its blob id; faster than `tree`."""
    if not _OBJECT_ID.fullmatch(commit):
        return Err(GitError(f"{commit!r} is not a commit id"))
    match run(root, "ls-tree", "-r", "-z", commit, "--", *paths):
        case Err() as failure:
            return failure
        case Ok(output):
            facts = (record.partition("\t") for record in os.fsdecode(output).split("\0"))
            return Ok({path: fact.split()[2] for fact, _, path in facts if fact.startswith("100")})


def _tree_entry(record: str) -> FileEntry | None:
    r"""Read `<mode> <type> <id> <size>\t<path>`. Modes 100644 and 100755 are files, 120000 links, 160000 submodules."""
    facts, _, path = record.partition("\t")
    if not facts.startswith("100"):
        return None
    _, _, blob, size = facts.split()
    return FileEntry(path, int(size), 0, 0, blob)


def read_blobs(root: Root, blob_ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield `(id, content)` in the order asked for, through one git process and one blob in memory at a time.

    A blob that the repository lacks (a partial clone's, say) is left out.

    Raises:
        GitError: git cannot be run, or died on the way; or something asked for is not an object id.
    """
    process = _start(root, "cat-file", "--batch")
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
    """Ask for a few blobs, then read them all, so that neither side ever waits on a full pipe."""
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
        content = answers.read(int(answer[2]) + 1)[:-1]  # a newline ends each
        if answer[1] == b"blob":
            yield blob_id, content


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _LOCATION_VARIABLES}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",  # errors are recognised by their English words
    }


def _command(root: Root, arguments: tuple[str, ...]) -> list[str]:
    return ["git", "--no-pager", *_HARDENING, "-C", root.path, *arguments]


def _start(root: Root, *arguments: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            _command(root, arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
    except OSError as cause:
        raise GitError(f"git cannot be run: {cause.strerror}") from cause


def run(root: Root, *arguments: str, tolerate: tuple[int, ...] = ()) -> Result[bytes, GitError]:
    """Run git and return what it printed; exit statuses in `tolerate` count as success."""
    return begin(root, *arguments, tolerate=tolerate)()


def begin(root: Root, *arguments: str, tolerate: tuple[int, ...] = ()) -> Callable[[], Result[bytes, GitError]]:
    """Start git and return what waits for it, and returns what `run` does: something else can be done meanwhile."""
    failed: Err[GitError]
    try:
        process = subprocess.Popen(
            _command(root, arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
        )
    except FileNotFoundError:
        failed = Err(GitError("git is not installed, or not on PATH"))
        return lambda: failed
    except OSError as cause:
        failed = Err(GitError(f"git cannot be run: {cause.strerror}"))
        return lambda: failed
    return partial(_finish, process, root, arguments[0], tolerate)


def _finish(
    process: subprocess.Popen[bytes], root: Root, verb: str, tolerate: tuple[int, ...]
) -> Result[bytes, GitError]:
    with process:
        try:
            printed, complaint = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return Err(GitError(f"git {verb} did not finish within {TIMEOUT_SECONDS:.0f} s in {root.path}"))
        except BaseException:  # an interrupt: nobody will read what it prints
            process.kill()
            raise
    if process.returncode == 0 or process.returncode in tolerate:
        return Ok(printed)
    return Err(GitError(_explain(root, verb, complaint.decode(errors="replace"))))


def _unknown(root: Root, revision: str) -> str:
    return f"{root.path} has no revision {revision!r}: name a branch, a tag or a commit"


def _explain(root: Root, verb: str, complaint: str) -> str:
    """Turn what git printed into what is wrong and how to mend it."""
    if unknown := _BAD_REVISION.search(complaint):
        return _unknown(root, unknown[1])
    if "dubious ownership" in complaint:
        return (
            f"git does not trust {root.path}, because another user owns it; "
            f"if you do, run: git config --global --add safe.directory {root.path}"
        )
    if "not a git repository" in complaint.casefold():  # after which `git diff` prints all of its options
        return f"{root.path} is not in a git repository: there are no revisions to name"
    if "must be run in a work tree" in complaint:
        return (
            f"{root.path} belongs to a bare repository, which has no files to index; make a work tree of it, "
            f"`git -C {root.path} worktree add ../work`, and name that"
        )
    return f"git {verb} failed in {root.path}: {complaint.strip() or 'no reason given'}"
