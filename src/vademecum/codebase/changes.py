"""Which declarations a change in git touches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from vademecum.codebase import git
from vademecum.codebase.graph.graph import Graph
from vademecum.codebase.graph.terms import Node
from vademecum.errors import UsageError

# Behind its `index` line, which no line of a file can be taken for: each of those begins with a mark.
_FILE = re.compile(r"^index .*\n--- (?:a/)?(.+?)\t?\n\+\+\+ (?:b/)?(.+?)\t?$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_OPTIONS = ("-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--dst-prefix=b/", "--src-prefix=a/", "--relative")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """What a range of revisions did to a file.

    Attributes:
        before, now: its path on either side, "" where it was, or is, not there.
        spans: first and last line of each change, as they are now; where lines only went, those around.
        has_lost: whether any line went, or is another.
    """

    before: str
    now: str
    spans: tuple[tuple[int, int], ...]
    has_lost: bool


def changed_files(graph: Graph, revisions: str) -> list[ChangedFile]:
    """Return what a range of revisions changed: `HEAD~3..HEAD`, `main...`, or one revision, compared with the files on disk.

    Raises:
        UsageError: the range begins with a dash.
        GitError: git does not know it.
    """
    check_range(revisions)
    diff = git.run(graph.opened.repo.root, "diff", *_OPTIONS, revisions, "--").unwrap()
    return read_diff(diff.decode(errors="replace"))


def check_range(revisions: str) -> None:
    """Refuse what git would take for an option."""
    if revisions.startswith("-"):
        raise UsageError(f"{revisions!r} is not a range of revisions: write HEAD~3..HEAD, or main...")


def changed_nodes(graph: Graph, files: Iterable[ChangedFile]) -> list[Node]:
    """Return the innermost declarations, as they stand now, that lines were changed of."""
    found: dict[int, Node] = {}
    for file in files:
        for first, last in file.spans if file.now else ():
            found |= {node.id: node for node in graph.at(file.now, first, last)}
    return list(found.values())


def read_diff(diff: str) -> list[ChangedFile]:
    r"""Read what git prints without lines of context.

    >>> for file in read_diff("index 1..2\n--- a/a.py\n+++ b/a.py\n@@ -3 +3,2 @@\n--- x\n+++ y\n@@ -9,0 +10 @@\n+z\nindex 3..0\n--- a/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"):
    ...     print(file.before, file.now or "gone", file.spans, file.has_lost)
    a.py a.py ((3, 4), (10, 10)) True
    b.py gone ((1, 1),) True
    """
    heads = list(_FILE.finditer(diff))
    ends = [*(head.start() for head in heads), len(diff)][1:]
    found = []
    for head, end in zip(heads, ends, strict=True):
        before, now = ("" if path == "/dev/null" else path for path in head.groups())
        hunks = [tuple(map(int, (gone or 1, at, come or 1))) for gone, at, come in
                 (hunk.groups() for hunk in _HUNK.finditer(diff, head.end(), end))]  # fmt: skip
        spans = tuple((max(at, 1), max(at + come - 1, at, 1)) for _, at, come in hunks)
        found.append(ChangedFile(before, now, spans, any(gone for gone, *_ in hunks)))
    return found
