"""Evidence from coverage data: the tests that ran a declaration.

Data is read where tools leave it: beside the manifests of a repository, under the names they give. Its age is told, and it
counts less where the code changed since; lines are then those from before the change, if that is known.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from vademecum.amounts import counted, long_ago
from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.changes import ChangedFile
from vademecum.code.graph.coverage_files import Measured, Ran, UnreadableError, read_coverage
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node
from vademecum.types import FileKind

NAMES = (
    *(".coverage", "coverage.lcov", "lcov.info", "coverage/lcov.info", "coverage/coverage-final.json"),
    *("coverage.out", "cover.out", "c.out", "coverage.txt"),
)
MOST_FOLDERS = 200  # looked into
MOST_NAMED = 5  # declarations, and files, in a sentence
_MANIFEST = re.compile(r"(?:(.*)/)?(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|go\.mod)")
_INSTALLED = re.compile(r"[/\\](?:site-packages|node_modules)[/\\]")


@dataclass(slots=True)
class Runs:
    """The findings in coverage data about declarations.

    Attributes:
        ran: test files that ran one, and whether the code is still as it was then.
        spared: test files that were measured and ran none, the code being as it was.
        said: a sentence for each coverage file with its age: how many test files ran the code, and what none runs.
    """

    ran: dict[str, bool] = field(default_factory=dict)
    spared: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)


def runs_of(graph: Graph, nodes: Sequence[Node], files: Sequence[ChangedFile]) -> Runs:
    """Return the findings in coverage data about declarations.

    Args:
        graph: of the worktree.
        nodes: the declarations, and files.
        files: the changes to them, where they are known.
    """
    runs, root, paths = Runs(), graph.opened.repo.root.path, graph.opened.view.files.paths
    names = list(_coverage_files(root, paths)) if nodes else []
    places = _Places(root, paths if names else ())
    changes = {file.now: file for file in files if file.now}
    for name in names:
        place = partial(_wanted, places, {node.path for node in nodes}, name)
        try:
            since = os.stat(os.path.join(root, name)).st_mtime
            found = read_coverage(os.path.join(root, name), place)
        except (OSError, UnreadableError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            runs.said.append(f"{name} was not read: {reason}; delete it, or measure again")
            continue
        asked = [_Asked(root, node, changes.get(node.path), since) for node in nodes if node.path in found.files]
        if asked:
            runs.said.append(
                f"{name}, measured {long_ago(time.time() - since)}: {_judge(runs, places, found, asked, name)}"
            )
    runs.spared -= runs.ran.keys()
    return runs


def _wanted(places: _Places, wanted: Collection[str], coverage_file: str, said: str) -> str:
    """Return the wanted file meant by a path, "" for any other."""
    path = places.of(said, coverage_file)
    return path if path in wanted else ""


class _Places:
    """The paths of a repository, found by paths as tools write them."""

    def __init__(self, root: str, paths: Sequence[str]) -> None:
        self._root = root
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths, key=len, reverse=True):
            self._by_name[path.rpartition("/")[2]].append(path)

    def of(self, said: str, coverage_file: str) -> str:
        """Return the file meant by a path, "" for none."""
        said = said.removeprefix(f"{self._root}{os.sep}").replace("\\", "/").removeprefix("./")
        named = self._by_name.get(said.rpartition("/")[2], [])
        folder = coverage_file
        while folder:
            folder = folder.rpartition("/")[0]
            if f"{folder}/{said}".removeprefix("/") in named:
                return f"{folder}/{said}".removeprefix("/")
        if _INSTALLED.search(said):
            return ""
        # measured elsewhere, or by a package's name: the end is the same, which one name alone does not tell of an absolute path
        is_absolute = said.startswith("/") or said[1:2] == ":"
        return next((path for path in named if said.endswith(f"/{path}") and ("/" in path or not is_absolute)), "")

    def test(self, said: str, coverage_file: str) -> str:
        """Return the file of a test, "" for none.

        A test is named `tests/test_a.py::test_b|run`, `tests.test_a.test_b`, or by a path.
        """
        path, is_id, _ = said.partition("::")
        found = self.of(path, coverage_file)
        parts = [] if found or is_id else said.split(".")
        for count in range(len(parts), 0, -1):
            found = found or self.of(f"{'/'.join(parts[:count])}.py", coverage_file)
        return found if file_kind(found) is FileKind.TEST else ""


class _Asked:
    """A declaration, and its lines in a coverage file."""

    def __init__(self, root: str, node: Node, change: ChangedFile | None, since: float) -> None:
        self.node = node
        try:
            self.is_fresh = os.stat(os.path.join(root, node.path)).st_mtime <= since
        except OSError:
            self.is_fresh = False
        first, last = node.start_line, node.end_line
        if change is not None and not self.is_fresh:
            first, last = change.before_line(first), change.before_line(last)
        self.lines = range(first + 1, last + 1) if last > first and node.qualified else range(first, last + 1)

    def tests(self, ran: Ran) -> Iterator[str]:
        """Yield the tests that ran a line of the declaration."""
        yield from (test for test, lines in ran.by_test.items() if test and not lines.isdisjoint(self.lines))

    def is_idle(self, ran: Ran) -> bool:
        """Return whether no line of the declaration ran, though some could."""
        some = any(not lines.isdisjoint(self.lines) for lines in ran.by_test.values())
        return bool(self.node.qualified) and not some and (not ran.missed or not ran.missed.isdisjoint(self.lines))


def _coverage_files(root: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths of coverage files: at the top, and beside manifests."""
    folders = dict.fromkeys(["", *(found[1] or "" for path in paths if (found := _MANIFEST.fullmatch(path)))])
    for folder in list(folders)[:MOST_FOLDERS]:
        for name in NAMES:
            path = f"{folder}/{name}" if folder else name
            if os.path.lexists(os.path.join(root, path)):
                yield path


def _judge(runs: Runs, places: _Places, found: Measured, asked: Sequence[_Asked], name: str) -> str:
    """Add the findings of one coverage file, and sum them up."""
    ran: dict[str, bool] = {}
    of_test = {test: places.test(test, name) for test in found.tests}
    for each in asked:
        for test in filter(None, (of_test.get(test) for test in each.tests(found.files[each.node.path]))):
            ran[test] = each.is_fresh or ran.get(test, False)
    for test, is_fresh in ran.items():
        runs.ran[test] = is_fresh or runs.ran.get(test, False)
    if all(each.is_fresh for each in asked):
        runs.spared |= set(of_test.values()) - ran.keys() - {""}
    idle = [each.node.label for each in asked if each.is_idle(found.files[each.node.path])]
    older = sorted({each.node.path for each in asked if not each.is_fresh})
    facts = [f"{counted(len(ran), 'test file')} ran this"] if any(of_test.values()) else []
    facts += [f"no measured test runs {_listed(idle)}"] if idle else []
    facts = facts or ["tests run this, the data does not say which"]
    return "; ".join([*facts, *([f"{_listed(older)} changed since"] if older else [])])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
