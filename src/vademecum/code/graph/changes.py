"""The declarations that a change in git touches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vademecum.code.checkout import git
from vademecum.code.checkout.commits import below, changed_on_disk
from vademecum.code.checkout.plumbing import run
from vademecum.code.checkout.root import Root
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node
from vademecum.code.snapshot.view import LEFT_OUT, file_rows
from vademecum.errors import UsageError
from vademecum.result import Err

# Behind its `index` line, which no line of a file can be taken for: each of those begins with a mark. A file that moved and
# is the same has no such line.
_FILE = re.compile(
    r"^index .*\n--- (?P<before>.+?)\t?\n\+\+\+ (?P<now>.+?)\t?$"
    r"|^rename from (?P<left>.+)\nrename to (?P<come>.+)$(?!\nindex )",
    re.MULTILINE,
)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_OPTIONS = (
    *("-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"),
    *("--dst-prefix=b/", "--src-prefix=a/"),
)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """The changes to one file in a range of revisions.

    Attributes:
        before, now: its path on either side, "" where it was, or is, not there.
        spans: first and last line of each change, as they are now; where lines only went, those around.
        has_lost: whether any line went, or is another.
        hunks: of each change the first line before and how many there were, the first line now and how many there are. Where
            there are none, the line is the one before.
    """

    before: str
    now: str
    spans: tuple[tuple[int, int], ...]
    has_lost: bool
    hunks: tuple[tuple[int, int, int, int], ...] = ()

    def before_line(self, line: int) -> int:
        """Return a line's number before the change.

        A new line has the number of the nearest one.

        >>> file = ChangedFile("a", "a", (), True, ((3, 2, 3, 1), (9, 0, 9, 2)))
        >>> [file.before_line(line) for line in (2, 3, 4, 8, 9, 10, 11)]
        [2, 3, 5, 9, 9, 9, 10]
        """
        moved = 0
        for at, gone, now, come in self.hunks:
            if line < now + (not come):
                break
            if line < now + come:
                return min(at + line - now, at + max(gone - 1, 0))
            moved += gone - come
        return line + moved


def changed_files(graph: Graph, revisions: str) -> list[ChangedFile]:
    """Return the changes of a range of revisions, file by file.

    A range is `HEAD~3..HEAD`, `main...`, or one revision, compared with the files on disk.

    Raises:
        UsageError: the range begins with a dash, or names files of a commit.
        GitError: git does not know it.
    """
    root, files = graph.opened.repo.root, graph.opened.view.files
    said = commits_of(root, revisions)
    options = (*_OPTIONS, below(root))
    if len(said) > 1:
        diff = run(root, "diff-tree", "-r", "-p", *options, base_of(said), said[0], "--")
    else:
        indexed = {row.path: row.hash for row in file_rows(files) if row.blob != LEFT_OUT}
        diff = changed_on_disk(root, base_of(said), indexed, options)
    return read_diff(os.fsdecode(diff.unwrap()))


def base_of(said: Sequence[str]) -> str:
    """Return the commit that a range starts after.

    Of `a..b` this is a, of `a...b` the commit where they parted, of one revision itself.

    >>> base_of(["b", "^a"]), base_of(["b", "a", "^root"]), base_of(["a"])
    ('a', 'root', 'a')
    """
    return next((each[1:] for each in said if each.startswith("^")), said[0])


def commits_of(root: Root, revisions: str) -> list[str]:
    """Return the commits of a range, `^` before those it excludes.

    Raises:
        UsageError: git would take it for an option, or it names files of a commit: git compares those too, with every path cut short.
        GitError: git does not know it.
    """
    if revisions.startswith("-"):
        raise UsageError(f"{revisions!r} is not a range of revisions: write HEAD~3..HEAD, or main...")
    names = run(root, "rev-parse", "--revs-only", revisions, "--").unwrap().decode().split()
    if any(isinstance(git.resolve(root, name.lstrip("^")), Err) for name in names):
        raise UsageError(f"{revisions!r} names files, not commits: write HEAD~3..HEAD, or main...")
    return names


def changed_nodes(graph: Graph, files: Iterable[ChangedFile]) -> list[Node]:
    """Return the innermost declarations, as they stand now, whose lines were changed."""
    found: dict[int, Node] = {}
    for file in files:
        for first, last in file.spans if file.now else ():
            found |= {node.id: node for node in graph.at(file.now, first, last)}
    return list(found.values())


def read_diff(diff: str) -> list[ChangedFile]:
    r"""Read a diff without lines of context.

    >>> for file in read_diff("index 1..2\n--- a/a.py\n+++ b/a.py\n@@ -3 +3,2 @@\n--- x\n+++ y\n@@ -9,0 +10 @@\n+z\nindex 3..0\n--- a/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"):
    ...     print(file.before, file.now or "gone", file.spans, file.has_lost)
    a.py a.py ((3, 4), (10, 10)) True
    b.py gone ((1, 1),) True
    """
    heads = list(_FILE.finditer(diff))
    ends = [*(head.start() for head in heads), len(diff)][1:]
    found = []
    for head, end in zip(heads, ends, strict=True):
        before = _path(head["before"], "a/") if head["before"] else _path(head["left"])
        now = _path(head["now"], "b/") if head["now"] else _path(head["come"])
        hunks = tuple(
            (int(at), int(gone or 1), int(to), int(come or 1))
            for at, gone, to, come in (hunk.groups() for hunk in _HUNK.finditer(diff, head.end(), end))
        )
        spans = tuple((max(at, 1), max(at + come - 1, at, 1)) for _, _, at, come in hunks)
        found.append(ChangedFile(before, now, spans, any(gone for _, gone, *_ in hunks), hunks))
    return found


def _path(said: str, prefix: str = "") -> str:
    r"""Return the path in the head of a diff, "" for none.

    >>> _path("a/b.py", "a/"), _path('"a/say \\"\\303\\251\\".py"', "a/"), _path("/dev/null", "b/")
    ('b.py', 'say "é".py', '')
    """
    if said.startswith('"'):
        said = os.fsdecode(_ESCAPE.sub(_plain, os.fsencode(said[1:-1])))
    return "" if said == "/dev/null" else said.removeprefix(prefix)


def _plain(escape: re.Match[bytes]) -> bytes:
    """Return the character that a backslash sequence stands for.

    This is a byte by its octal number, a control character, or the character itself.
    """
    said = escape[1]
    return bytes([int(said, 8) & 0xFF]) if len(said) == 3 else _ESCAPED.get(said, said)
