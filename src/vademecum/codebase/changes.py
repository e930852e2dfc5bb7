"""Which declarations a change in git touches."""

from __future__ import annotations

import re

from vademecum.codebase import git
from vademecum.codebase.graph.graph import Graph
from vademecum.codebase.graph.terms import Node
from vademecum.errors import UsageError

_FILE = re.compile(r"^\+\+\+ (?:b/)?(.+?)\t?$", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_OPTIONS = ("-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--dst-prefix=b/", "--src-prefix=a/", "--relative")


def changed_nodes(graph: Graph, revisions: str) -> list[Node]:
    """Return the innermost declarations, as they stand now, that a range of revisions changed lines of.

    Args:
        graph: of the worktree.
        revisions: `HEAD~3..HEAD`, `main...`, or one revision, which is compared with the files on disk.

    Raises:
        UsageError: the range begins with a dash.
        GitError: git does not know it.
    """
    found: dict[int, Node] = {}
    for path, first, last in changed_spans(difference(graph, revisions)):
        found |= {node.id: node for node in graph.at(path, first, last)}
    return list(found.values())


def difference(graph: Graph, revisions: str) -> str:
    """Return what git says of a range, without lines of context. Raises as `changed_nodes` does."""
    check_range(revisions)
    return git.run(graph.opened.repo.root, "diff", *_OPTIONS, revisions, "--").unwrap().decode(errors="replace")


def check_range(revisions: str) -> None:
    """Refuse what git would take for an option."""
    if revisions.startswith("-"):
        raise UsageError(f"{revisions!r} is not a range of revisions: write HEAD~3..HEAD, or main...")


def changed_spans(diff: str) -> list[tuple[str, int, int]]:
    r"""Return (path, first line, last line) of every hunk, by the lines of the newer side.

    >>> changed_spans("+++ b/a.py\n@@ -3 +3,2 @@\n+x\n@@ -9,2 +10,0 @@\n-y\n+++ /dev/null\n@@ -1 +0,0 @@\n")
    [('a.py', 3, 4), ('a.py', 10, 10)]
    """
    files = list(_FILE.finditer(diff))
    ends = [*(file.start() for file in files), len(diff)][1:]
    found = []
    for file, end in zip(files, ends, strict=True):
        if file[1] == "/dev/null":
            continue
        for hunk in _HUNK.finditer(diff, file.end(), end):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.append((file[1], max(first, 1), max(first + count - 1, first, 1)))
    return found
