"""Commits as records, and uncommitted edits as if they were commits.

Merges are left out, because their changes belong to the commits they merge. A change holds git's blob ids, so two
versions of a file compare as two strings.

Uncommitted files are compared and blamed as if they were committed. They are read here and handed to git as objects, so no filter, driver or attribute of the repository is used.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from vademecum.code.checkout import git
from vademecum.code.checkout.plumbing import quarantined, run, run_in
from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import FORCED_FILE_BYTES, read_beneath
from vademecum.errors import GitError
from vademecum.result import Err, Ok, Result, attempt
from vademecum.types import CommitMessage, Skipped

MOST_BYTES = FORCED_FILE_BYTES  # bytes read per file at most: no larger file is indexed


@attempt(GitError, GitError)
def changed_on_disk(root: Root, commit: str, indexed: Mapping[str, str], options: Sequence[str]) -> bytes:
    """Compare a commit with the disk, as `git diff COMMIT` does.

    Only files that `indexed` maps to the git blob id of their content on disk are compared, and deleted ones.
    """
    before, tracked = git.tree_ids(root, commit).unwrap(), git.list_tracked(root).unwrap()
    gone = [path for path in before if path not in indexed and tracked.get(path, True) and not _is_file(root, path)]
    changed = [path for path, name in indexed.items() if path in tracked and before.get(path) != name]
    with Edits(root, commit) as edits:
        now = {path: edits.id_of(content) for path, content in _contents(root, before, changed)}
        differing = [path for path, name in now.items() if before.get(path) != name]
        then = {path: before[path] for path in (*gone, *differing) if path in before}
        return edits.diff(then, {path: now[path] for path in differing}, *options)


def _is_file(root: Root, path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(os.path.join(root.path, path)).st_mode)
    except OSError:
        return False


def _contents(root: Root, before: Mapping[str, str], paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each file's content, with line endings as in the commit."""
    ends: dict[str, list[tuple[str, bytes]]] = {}
    for path in paths:
        content = read_beneath(root.path, path, MOST_BYTES)
        if isinstance(content, Skipped):
            continue
        if path in before and b"\r\n" in content:
            ends.setdefault(before[path], []).append((path, content))
        else:
            yield path, content
    for name, then in git.read_blobs(root, list(ends)):
        for path, content in ends.pop(name):
            yield path, content if b"\r\n" in then else content.replace(b"\r\n", b"\n")


@attempt(GitError, GitError)
def blame(root: Root, path: str, first: int, last: int) -> bytes:
    """Return `git blame --porcelain` for lines of a file on disk."""
    content = read_beneath(root.path, path, MOST_BYTES)
    head = git.head(root).unwrap()
    if not head.commit or isinstance(content, Skipped):
        raise GitError(f"{path} is not committed")
    before = git.tree_ids(root, head.commit, [path]).unwrap()
    with Edits(root, head.commit) as edits:
        [(_, now)] = _contents(root, before, [path])
        return edits.blame(path, now, f"{first},{last}")


class Edits:
    """Temporary git objects beside a repository's own objects.

    The objects lie in a directory that is deleted at the end. Its methods raise `GitError`.
    """

    def __init__(self, root: Root, commit: str) -> None:
        self._root, self._commit, self._digits = root, commit, len(commit)
        self._apart = quarantined(root, scratch=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._apart.close()

    def id_of(self, content: bytes) -> str:
        """Store a content as a blob and return the blob's id."""
        return self._apart.put("blob", content, self._digits)

    def diff(self, before: Mapping[str, str], now: Mapping[str, str], *options: str) -> bytes:
        """Compare two sets of files, each a map from path to id."""
        return self._run("diff-tree", "-r", "-p", *options, self._tree(before), self._tree(now), "--")

    def blame(self, path: str, content: bytes, lines: str) -> bytes:
        """Return git's blame of lines of a file that holds `content`.

        Lines that differ from the commit are attributed to a temporary commit.
        """
        tree = self._tree({path: self.id_of(content)})
        said = f"tree {tree}\nparent {self._commit}\nauthor v <> 0 +0000\ncommitter v <> 0 +0000\n\n"
        edited = self._apart.put("commit", said.encode(), self._digits)
        return self._run("blame", "--porcelain", "-L", lines, edited, "--", self._root.prefix + path)

    def _tree(self, files: Mapping[str, str]) -> str:
        index = os.path.join(self._apart.path, "index")
        if os.path.exists(index):
            os.unlink(index)
        listed = "".join(f"100644 {name}\t{self._root.prefix}{path}\0" for path, name in files.items())
        self._run("update-index", "-z", "--add", "--replace", "--index-info", feed=os.fsencode(listed))
        return self._run("write-tree", "--missing-ok").decode().strip()

    def _run(self, *arguments: str, feed: bytes | None = None) -> bytes:
        return run_in(self._root, self._apart, arguments, feed).unwrap()


_CHANGE = re.compile(r"\n?:\d{6} \d{6} ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*")
_MARKED = re.compile(r"[<>](?:[0-9a-f]{40}|[0-9a-f]{64})")
_MESSAGES = ("log", "-z", "--no-merges", "--no-renames", "--no-show-signature", "--no-ext-diff", "--name-only")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@.*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a commit changed.

    `status` is git's letter: `M` modified, `A` added, `D` deleted.
    """

    path: str  # relative to the root
    status: str
    before: str  # git blob ids; all zeros for a missing file
    after: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is no merge, with its changes below the root."""

    id: str
    author: str
    subject: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Advance:
    """The way from one commit to another.

    Attributes:
        gone: ids of commits that are not behind the other.
        new: the subjects of commits that are behind the other alone, oldest first.
        is_whole: whether `new` is everything, whatever was known.
    """

    gone: tuple[str, ...]
    new: tuple[CommitMessage, ...]
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """One run of changed lines.

    `start` and `count` are lines of the file before the change.
    """

    start: int
    count: int  # 0 where lines were only added, after line `start`
    removed: tuple[str, ...]
    added: tuple[str, ...]

    def span(self, lines: int) -> tuple[int, int]:
        """Return the first and last line in the file before the change.

        The file has `lines` lines. An insertion spans the lines around it.

        >>> Hunk(3, 2, ("a", "b"), ()).span(9), Hunk(0, 0, (), ("a",)).span(9), Hunk(9, 0, (), ("a",)).span(9)
        ((3, 4), (1, 1), (9, 9))
        """
        last = self.start + (self.count - 1 if self.count else 1)
        return max(1, self.start), max(1, min(last, lines))


def is_shallow(root: Root) -> bool:
    """Return whether the clone has only the newest part of the history."""
    return root.common_dir is not None and os.path.exists(os.path.join(root.common_dir, "shallow"))


@attempt(GitError, GitError)
def commits(root: Root, most: int) -> list[Commit]:
    """Return the newest commits without merges, newest first; [] before the first."""
    if not git.head(root).unwrap().commit:
        return []
    options = ("--no-merges", "--no-renames", "--no-abbrev", "--no-show-signature", "--no-ext-diff", below(root))
    arguments = ("log", "-z", "--raw", f"--max-count={most}", "--format=%H%x00%an%x00%s", *options)
    output = run(root, *arguments, "HEAD", "--").unwrap()
    return list(_records(output.decode(errors="surrogateescape")))


def below(root: Root) -> str:
    """Return the option that makes paths relative to the root."""
    return f"--relative={root.prefix}" if root.prefix else "--no-relative"


def _records(output: str) -> Iterator[Commit]:
    """Parse the log into commits.

    A record reads `<id> <author> <subject>`, then for each change `:<modes> <ids> <status>` and a path. Every field
    ends with NUL.
    """
    fields = output.split("\0")
    at = 0
    while at + 2 < len(fields):
        name, author, subject = fields[at : at + 3]
        at += 3
        changes: list[Change] = []
        while at + 1 < len(fields) and (facts := _CHANGE.fullmatch(fields[at])):
            changes.append(Change(fields[at + 1], facts[3], facts[1], facts[2]))
            at += 2
        yield Commit(name.strip(), author, subject, tuple(changes))


@attempt(GitError, GitError)
def messages(root: Root, known: str = "", most: int = 10_000) -> list[CommitMessage]:
    """Return the messages of the newest commits, oldest first.

    Only commits after `known` are returned, where the history still has that commit. Merges are left out.
    """
    arguments = (*_MESSAGES, "--format=%x01%H%x00%an%x00%at%x00%B%x00", f"--max-count={most}")
    if not git.head(root).unwrap().commit:
        return []
    if known:
        match run(root, *arguments, f"{known}..HEAD", "--"):
            case Ok(output):
                return _messages(output)
            case Err():  # rewritten or pruned history: return all; callers know commits by id
                pass
    return _messages(run(root, *arguments, "HEAD", "--").unwrap())


@attempt(GitError, GitError)
def advance(root: Root, commit: str, known: str = "", most: int = 10_000) -> Advance:
    """Return the way from the commit `known` to another, without merges.

    Everything behind `commit` is new where `known` is "", unknown to git, or `most` commits away. The newest `most` are
    returned.
    """
    arguments = (*_MESSAGES, "--format=%x01%m%H%x00%an%x00%at%x00%s%x00", f"--max-count={most}")
    if known:
        match run(root, *arguments, "--left-right", f"{known}...{commit}", "--"):
            case Ok(output) if len(marked := _marked(output)) < most:
                gone = tuple(message.id for mark, message in marked if mark == "<")
                return Advance(gone, tuple(message for mark, message in marked if mark == ">"))
            case _:  # rewritten or pruned, or a long way
                pass
    output = run(root, *arguments, commit, "--").unwrap()
    return Advance((), tuple(message for _, message in _marked(output)), is_whole=True)


def _marked(output: bytes) -> list[tuple[str, CommitMessage]]:
    """Parse messages whose ids have a mark, `<` or `>`.

    A subject may hold anything, so what has no id is left out.
    """
    return [
        (message.id[0], replace(message, id=message.id[1:]))
        for message in _messages(output)
        if _MARKED.fullmatch(message.id)
    ]


def _messages(output: bytes) -> list[CommitMessage]:
    r"""Parse `\x01<id> <author> <time> <words> <path>…`, separated by NUL."""
    found = []
    for record in output.decode(errors="replace").split("\x01")[1:]:
        id_, author, at, text, *rest = (*record.split("\0"), "", "", "", "")[: max(5, record.count("\0") + 1)]
        paths = tuple(path.strip("\n") for path in rest if path.strip("\n"))
        found.append(CommitMessage(id_, author, float(at) if at.isdigit() else 0.0, text, paths))
    return found[::-1]


def main_line(root: Root, most: int) -> Result[list[str], GitError]:
    """Return the newest commit ids along first parents, newest first."""
    return _ids(root, "--first-parent", f"--max-count={most}", "HEAD")


def commits_since(root: Root, base: str) -> Result[list[str], GitError]:
    """Return the ids of commits in HEAD that `base` lacks."""
    return _ids(root, "HEAD", f"^{base}")


@attempt(GitError, GitError)
def _ids(root: Root, *arguments: str) -> list[str]:
    return run(root, "rev-list", *arguments, "--").unwrap().decode().split()


@attempt(GitError, GitError)
def changed_lines(root: Root, change: Change) -> list[Hunk]:
    """Return the hunks of a change, in order; [] for binary files."""
    options = ("-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-algorithm=histogram")
    output = run(root, "diff", *options, change.before, change.after, "--").unwrap()
    return hunks_of(output.decode(errors="replace"))


def hunks_of(diff: str) -> list[Hunk]:
    r"""Parse the hunks of one file's `git diff -U0`.

    >>> hunks_of("--- a\n+++ b\n@@ -3 +3,2 @@ def f():\n-old\n+new\n+newer\n@@ -9,0 +11 @@\n+end\n")
    [Hunk(start=3, count=1, removed=('old',), added=('new', 'newer')), Hunk(start=9, count=0, removed=(), added=('end',))]
    """
    heads = list(_HUNK.finditer(diff))
    ends = [*(head.start() for head in heads[1:]), len(diff)]
    found = []
    for head, end in zip(heads, ends, strict=False):  # a binary file has no hunks
        lines = diff[head.end() : end].split("\n")
        removed = tuple(line[1:] for line in lines if line.startswith("-"))
        added = tuple(line[1:] for line in lines if line.startswith("+"))
        found.append(Hunk(int(head[1]), int(head[2] or 1), removed, added))
    return found
