"""Removed declarations of a range, and the code that names them.

The graph of the revision before the range knows.

diff → the names each changed file declared before → those it lacks now → who referred to them then, and still writes the name
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from vademecum.code.checkout import git
from vademecum.code.chunking.chunk import chunk_file
from vademecum.code.graph.changes import ChangedFile, base_of, commits_of
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Edge, Node, Relation, node_id
from vademecum.code.languages import HEAD, language_of

NAMED = 5  # of what is gone
Before = Callable[[str], Graph]  # from a commit to its graph


@dataclass(frozen=True, slots=True)
class Removed:
    """Removed declarations, and the nodes that still name them.

    A node of now comes with the edge it had.
    """

    nodes: Sequence[Node] = ()
    uses: Sequence[tuple[Node, Edge]] = ()

    @property
    def said(self) -> str:
        """The removed declarations, in words."""
        gone = [node.label for node in self.nodes]
        more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
        return f"{', '.join(gone[:NAMED])}{more} {'is' if len(gone) == 1 else 'are'} gone"


NOTHING_REMOVED = Removed()


def removed_by(
    graph: Graph, revisions: str, files: Sequence[ChangedFile], relations: Sequence[Relation], before: Before
) -> Removed:
    """Return the declarations a range removed, with their remaining users.

    A file that moved is gone from where it was for those who name it, or what is in it, there.

    Args:
        graph: of the worktree.
        revisions: as `changes.changed_files` takes it.
        files: what that returned.
        relations: what it is to name something.
        before: asked for the commit before the range, and only where declarations went.

    Raises:
        UsageError: the range begins with a dash.
        GitError: git does not know it.
    """
    commit = base_of(commits_of(graph.opened.repo.root, revisions))
    moved = [file.before for file in files if file.before and file.now not in {"", file.before}]
    less = [file for file in files if file.before and file.has_lost]
    lost = {number for file in less for number in _lost(graph, commit, file.before, file.now)}
    if not (lost or moved):
        return Removed()
    then = before(commit)
    nodes = list(then.nodes(sorted(lost)).values())
    uses = _uses(graph, then, nodes, relations)
    there = {node.id: node for node in then.in_files(moved) if node.id not in lost}
    missed = _uses(graph, then, list(there.values()), relations)  # by those who look for it where it was
    at = {there[edge.target].path for _, edge in missed}
    nodes += [node for node in there.values() if not node.qualified and node.path in at]
    return Removed(nodes, [*uses, *missed])


def _lost(graph: Graph, commit: str, path: str, now: str) -> Iterator[int]:
    """Yield the nodes that a file had in a commit and lost.

    Of a deleted file the file's own node is one.
    """
    content = git.read_file(graph.opened.repo.root, commit, path).unwrap()
    left = {node.qualified for node in graph.in_files([now])} if now else set()
    parsed = chunk_file(content.decode(errors="replace").encode(), language_of(path, content[:HEAD]))
    declared = {symbol.qualified for chunk in parsed.chunks for symbol in chunk.symbols}
    yield from (node_id(path, name) for name in sorted(declared - left))
    if not now:
        yield node_id(path)


def _uses(graph: Graph, then: Graph, nodes: Sequence[Node], relations: Sequence[Relation]) -> list[tuple[Node, Edge]]:
    """Return the remaining users of removed nodes.

    A user named a node then, is still there, still writes the name, and means nothing else by it now.
    """
    gone = {node.id: node for node in nodes}
    edges = [edge for edge in then.edges(list(gone), relations, into=True) if edge.source not in gone]
    left = graph.nodes(edge.source for edge in edges)
    meant: dict[int, set[str]] = {}
    leading = graph.edges(list(left), relations)
    targets = graph.nodes(edge.target for edge in leading)
    for edge in leading:
        if edge.target in targets:
            meant.setdefault(edge.source, set()).add(targets[edge.target].name)
    found: dict[int, tuple[Node, Edge]] = {}
    for edge in edges:
        name = gone[edge.target].name
        word = name.partition(".")[0] if not gone[edge.target].qualified else name
        if edge.source in left and name not in meant.get(edge.source, ()):
            line = _line_with(graph, left[edge.source], word)
            if line:
                found.setdefault(edge.source, (left[edge.source], replace(edge, line=line)))
    return list(found.values())


def _line_with(graph: Graph, node: Node, word: str) -> int:
    """Return a declaration's first line with a word, 0 for none."""
    text = graph.opened.repo.catalogue.content(graph.blob(node.path)).decode(errors="replace")
    lines = text.split("\n")[node.start_line - 1 : node.end_line]
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return next((number for number, line in enumerate(lines, node.start_line) if whole.search(line)), 0)
