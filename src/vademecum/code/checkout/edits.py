"""Diff and blame of uncommitted files, as if they were committed.

Files are read here and handed to git as objects, so no filter, driver or attribute of the repository is used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from vademecum.code.checkout import git
from vademecum.code.checkout.plumbing import quarantined, run_in
from vademecum.code.checkout.root import Root
from vademecum.code.checkout.source import FORCED_FILE_BYTES, read_beneath
from vademecum.errors import GitError
from vademecum.result import attempt
from vademecum.types import Skipped

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
