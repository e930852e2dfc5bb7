"""Test files to run after a change, the surest first.

Coverage data comes first, where a tool left some: a test that ran the code. Then the tests that trusted edges lead to, and
those that guessed edges, calls by name or instances lead to. Where no test is found, and where lines changed that run
when a file is imported, whoever imports the file follows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.changes import ChangedFile
from vademecum.code.graph.coverage_files import runs_of
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node, Relation, Tier, node_id
from vademecum.code.graph.traverse import is_constructor, made_by
from vademecum.code.languages import language_of, rules_of
from vademecum.types import ChosenTest, FileKind

TEST_STEPS = 8  # tests call the public end of a chain
MOST_MET = 20_000  # nodes
_USES = (Relation.CALLS, Relation.REFERENCES, Relation.INHERITS, Relation.IMPLEMENTS)
_REASONS = ("changed", "ran", "calls", "imports")  # the surest first
_CHANGED, _RAN, _CALLS, _IMPORTS = range(len(_REASONS))
_BEGINS = re.compile(
    r"(?:Deno\.|\w+\.)?(?:test|it|describe|suite|specify|context)(?:\.\w+)?(?:/\d+)?"
)  # a test, in scripts


class _Found(NamedTuple):
    """The reason for a test file; the lesser one is surer."""

    because: int  # one of `_REASONS`
    tier: Tier
    steps: int = 0


class _Way(NamedTuple):
    """A file that was reached, and how."""

    path: str
    found: _Found


def tests_to_run(
    graph: Graph, changed: Sequence[Node], start: Sequence[Node], files: Sequence[ChangedFile]
) -> tuple[tuple[ChosenTest, ...], tuple[str, ...]]:
    """Return the test files to run, and sentences about coverage data.

    Args:
        graph: of the worktree.
        changed: the declarations, and files, that changed.
        start: these, and what may stand for them: overridden methods, users of what was removed.
        files: the changes, where they are known, to find lines as they were when they were measured.
    """
    runs = runs_of(graph, [node for node in changed if not _is_test(node)], files)
    found = {path: _Found(_RAN, Tier.EXACT if is_fresh else Tier.TYPED) for path, is_fresh in runs.ran.items()}
    reached = _reached(graph, start)
    perhaps = _reached(graph, _perhaps(graph, [node for node, *_ in reached.values()], changed), reached.keys())
    own = {node.id for node in changed}
    ways = [
        _Way(node.path, _Found(_CHANGED if node.id in own else _CALLS, tier, steps))
        for node, steps, tier in reached.values()
    ]
    ways += [_Way(node.path, _Found(_CALLS, Tier.GUESS, steps)) for node, steps, _ in perhaps.values()]
    _add(graph, found, ways, runs.spared)
    if not found or any(not node.qualified for node in changed):
        importing = _importing(graph, {node.path for node in changed})
        ways = [_Way(path, _Found(_IMPORTS, Tier.GUESS, steps)) for path, steps in importing.items()]
        _add(graph, found, ways, runs.spared)
    chosen = sorted(found.items(), key=lambda each: (each[1], each[0]))
    return tuple(ChosenTest(path, _REASONS[one.because], str(one.tier)) for path, one in chosen), tuple(runs.said)


def _add(graph: Graph, found: dict[str, _Found], ways: Iterable[_Way], spared: Collection[str]) -> None:
    """Keep the test files among those reached, each by its surest way."""
    for path, one in ways:
        if path in found:
            found[path] = min(found[path], one)
        elif path not in spared and file_kind(path) is FileKind.TEST and _holds_tests(graph, path):
            found[path] = one


def _reached(graph: Graph, start: Iterable[Node], known: Collection[int] = ()) -> dict[int, tuple[Node, int, Tier]]:
    """Return the users of nodes, theirs too, along trusted edges.

    Each comes with its steps and weakest tier. The walk goes on from a constructor to whoever makes its class, and ends
    early where it has met `MOST_MET` nodes. It leaves out nodes that are `known`.
    """
    met = {node.id: (node, 0, Tier.EXACT) for node in start if node.id not in known}
    frontier = [node for node, *_ in met.values()]
    for step in range(1, TEST_STEPS + 1):
        made = made_by(graph, frontier)
        edges = graph.edges([node.id for node in frontier], _USES, into=True)
        edges += graph.edges(made, (Relation.CALLS,), into=True) if made else []
        nodes = graph.nodes(edge.source for edge in edges)
        frontier = []
        for edge in sorted(edges, key=lambda edge: edge.tier):
            if edge.source in nodes and edge.source not in met and edge.source not in known:
                before = met[made.get(edge.target, edge.target)][2]
                met[edge.source] = (nodes[edge.source], step, max(before, edge.tier))
                frontier.append(nodes[edge.source])
        if not frontier or len(met) > MOST_MET:
            break
    return met


def _perhaps(graph: Graph, reached: Iterable[Node], changed: Iterable[Node]) -> list[Node]:
    """Return the nodes that may use reached ones.

    They lie in files that lead to a change by imports. These are guessed callers, whoever calls the name on something unknown, and the class of a method that the language
    calls by itself.
    """
    product = [node for node in reached if node.qualified and not _is_test(node)]
    named = {node.id: node.name for node in product if not (_is_special(node) or is_constructor(node))}
    found = graph.nodes(edge.source for edge in graph.edges(named, _USES, into=True, tiers=(Tier.GUESS,)))
    calling: dict[str, set[str]] = {}
    for name in set(named.values()):
        for path in graph.unresolved(name):
            calling.setdefault(path, set()).add(name)
    if found or calling:
        near = _importing(graph, {node.path for node in changed})
        found = {number: node for number, node in found.items() if node.path in near}
        within = calling.keys() & near.keys()
        is_test = {path: _is_named_a_test(path) for path in within}  # nobody calls a function of such a file
        found |= graph.nodes(node_id(path) for path in within if is_test[path])
        for path in within:
            found |= {} if is_test[path] else {node.id: node for node in graph.calling(path, calling[path])}
    found |= graph.nodes(node.parent for node in product if _is_special(node))
    return list(found.values())


def _importing(graph: Graph, paths: Collection[str]) -> dict[str, int]:
    """Return files and their importers, through others too, with the steps."""
    met = dict.fromkeys(paths, 0)
    frontier: Collection[str] = met.keys()
    step = 0
    while frontier and len(met) < MOST_MET:
        step += 1
        edges = graph.edges([node_id(path) for path in frontier], (Relation.IMPORTS,), into=True)
        sources = graph.nodes(edge.source for edge in edges).values()
        frontier = {node.path for node in sources} - met.keys()
        met |= dict.fromkeys(sorted(frontier), step)
    return met


def _is_test(node: Node) -> bool:
    return file_kind(node.path) is FileKind.TEST


def _is_special(node: Node) -> bool:
    """Return whether the language calls a method by itself, as `__eq__`."""
    return (
        "." in node.qualified and rules_of(language_of(node.path)).calls_itself(node.name) and not is_constructor(node)
    )


def _holds_tests(graph: Graph, path: str) -> bool:
    """Return whether a file among the tests is to be run.

    Others are help or data.
    """
    rules = rules_of(language_of(path))
    if path.rpartition("/")[2] in {rules.fixture_file, "__init__.py"}:
        return False
    if _is_named_a_test(path):
        return True
    if rules.fixture_file:
        return any(node.name.startswith("test") for node in graph.in_files([path]) if node.qualified)
    return not rules.has_exports or any(_BEGINS.fullmatch(called) for _, _, called in graph.references(path).calls)


def _is_named_a_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name != rules_of(language_of(path)).fixture_file and file_kind(name) is FileKind.TEST
