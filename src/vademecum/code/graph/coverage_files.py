"""Evidence from coverage data: the tests that ran a declaration.

Read are coverage.py's `.coverage`, lcov, Go's cover profile, and istanbul's JSON, which Jest and c8 write too. Such files
come with a repository and are not trusted: only regular files are opened, for reading only and up to a size, and SQLite
may take so many steps.

They are read where tools leave them: beside the manifests of a repository, under the names they give. Their age is told, and they
count less where the code changed since; lines are then those from before the change, if that is known.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from urllib.request import pathname2url

from vademecum.amounts import counted, long_ago
from vademecum.beneath import open_plain
from vademecum.code.checkout.classify import file_kind
from vademecum.code.graph.changes import ChangedFile
from vademecum.code.graph.graph import Graph
from vademecum.code.graph.terms import Node
from vademecum.types import FileKind

MOST_TEXT = 32 << 20  # bytes of a text
MOST_DATABASE = 1 << 30  # bytes of a `.coverage`, of which only the rows of the files asked about are read
MOST_STEPS = 50_000_000  # of SQLite's machine, some seconds
MOST_BITS = 1 << 17  # bytes of the lines of a file that one test ran: a million lines
MOST_LINES = 20_000_000  # noted, of all tests and wanted files together
_SQLITE = b"SQLite format 3\0"
_BLOCK = re.compile(r"^(.+):(\d{1,9})\.\d+,(\d{1,9})\.\d+ \d+ (\d{1,18})$")
_COUNTED = re.compile(r"(\d{1,9}),(-?\d{1,18})(?:,|$)")
Place = Callable[[str], str]  # from a path as written to that of a wanted file, "" for any other
NAMES = (
    *(".coverage", "coverage.lcov", "lcov.info", "coverage/lcov.info", "coverage/coverage-final.json"),
    *("coverage.out", "cover.out", "c.out", "coverage.txt"),
)
MOST_FOLDERS = 200  # looked into
MOST_NAMED = 5  # declarations, and files, in a sentence
_MANIFEST = re.compile(r"(?:(.*)/)?(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|go\.mod)")
_INSTALLED = re.compile(r"[/\\](?:site-packages|node_modules)[/\\]")


class UnreadableError(Exception):
    """A coverage file is damaged, too large, or of no known format."""


@dataclass(slots=True)
class Ran:
    """The lines of one source file that ran.

    Attributes:
        by_test: line numbers, from 1, by the test as it is named there; "" where none is named.
        missed: lines that could run and did not. coverage.py does not write them.
    """

    by_test: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    missed: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Measured:
    """The content of one coverage file.

    Attributes:
        files: by path, of the wanted files that were measured.
        tests: every test that the file names.
    """

    files: dict[str, Ran] = field(default_factory=lambda: defaultdict(Ran))
    tests: set[str] = field(default_factory=set)
    left: int = MOST_LINES  # that may still be noted

    def note(self, path: str, test: str, lines: Sequence[int], *, did_run: bool = True) -> None:
        """Keep lines of a file. Raises `UnreadableError` beyond `MOST_LINES`."""
        self.left -= len(lines)
        if self.left < 0:
            raise UnreadableError(f"more than {MOST_LINES:,} lines")
        ran = self.files[path]
        (ran.by_test[test] if did_run else ran.missed).update(lines)

    def settled(self) -> Measured:
        """Return itself, without lines among the missed that ran too."""
        for ran in self.files.values():
            ran.missed -= set().union(*ran.by_test.values())
        return self


def read_coverage(file: str, place: Place) -> Measured:
    """Return the content of a coverage file.

    Only the files that `place` wants are read.

    Raises:
        UnreadableError: the file is damaged, too large or of no known format.
        OSError: there is no such file.
    """
    size, head = _regular(file, 16)
    if head == _SQLITE:
        if size > MOST_DATABASE:
            raise UnreadableError(f"more than {MOST_DATABASE >> 20} MiB")
        return _database(file, place)
    if size > MOST_TEXT:
        raise UnreadableError(f"more than {MOST_TEXT >> 20} MiB")
    text = _regular(file, MOST_TEXT)[1].decode(errors="replace")
    if text.startswith("mode:"):
        return _go(text.splitlines()[1:], place)
    if text.lstrip().startswith("{"):
        return _istanbul(text, place)
    if re.match(r"\s*(?:TN|SF):", text):
        return _lcov(text.splitlines(), place)
    raise UnreadableError("of no format that is known")


def _regular(file: str, most: int) -> tuple[int, bytes]:
    """Return the size and the first bytes of a regular file.

    No link is followed.
    """
    with open(open_plain(file, follow=False), "rb") as opened:
        facts = os.fstat(opened.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableError("no regular file")
        return facts.st_size, opened.read(most)


def _database(file: str, place: Place) -> Measured:
    """Read coverage.py's database: contexts are the tests' names."""
    found, steps = Measured(), iter(range(MOST_STEPS // 100_000))
    try:
        with closing(sqlite3.connect(f"file:{pathname2url(file)}?mode=ro&immutable=1", uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            db.set_progress_handler(lambda: next(steps, None) is None, 100_000)
            contexts = {number: str(name or "") for number, name in db.execute("SELECT id, context FROM context")}
            found.tests = set(contexts.values()) - {""}
            has_arcs = dict(db.execute("SELECT key, value FROM meta")).get("has_arcs") in {"1", "True"}
            wanted = {number: place(str(path)) for number, path in db.execute("SELECT id, path FROM file")}
            for number, path in wanted.items():
                for context, lines in (_arcs if has_arcs else _bits)(db, number) if path else ():
                    found.note(path, contexts.get(context, ""), lines)
    except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
        raise UnreadableError(str(error)) from error
    return found


def _bits(db: sqlite3.Connection, file: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield contexts, each with its lines.

    They are written as numbits, a bit for each line.
    """
    asked = "SELECT context_id, numbits FROM line_bits WHERE file_id = ? AND length(numbits) <= ?"
    for context, bits in db.execute(asked, (file, MOST_BITS)):
        yield context, [8 * at + bit for at, byte in enumerate(bits) if byte for bit in range(8) if byte >> bit & 1]


def _arcs(db: sqlite3.Connection, file: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield contexts, each with the lines of a step.

    A negative line enters or leaves the code.
    """
    for context, *ends in db.execute("SELECT context_id, fromno, tono FROM arc WHERE file_id = ?", (file,)):
        yield context, [line for line in ends if line > 0]


def _lcov(lines: Iterable[str], place: Place) -> Measured:
    """Read lcov's tracefile: `TN` names a test, if anything."""
    found, test, path = Measured(), "", ""
    for line in lines:
        key, _, value = line.partition(":")
        if key == "TN":
            test = value.strip()
            found.tests |= {test} - {""}
        elif key == "SF":
            path = place(value.strip())
        elif key == "DA" and path:
            counted = _COUNTED.match(value)
            if counted is None:
                raise UnreadableError(f"{line[:60]!r} is no line of a tracefile")
            found.note(path, test, [int(counted[1])], did_run=int(counted[2]) > 0)
    return found.settled()


def _go(lines: Iterable[str], place: Place) -> Measured:
    """Read Go's cover profile: blocks of files.

    A file is named by the path of its package.
    """
    found = Measured()
    for line in filter(str.strip, lines):
        block = _BLOCK.match(line)
        if block is None:
            raise UnreadableError(f"{line[:60]!r} is no block of a cover profile")
        first, last, count = map(int, block.groups()[1:])
        path = place(block[1])
        if path:
            found.note(path, "", range(first, last + 1), did_run=count > 0)
    return found.settled()


def _istanbul(text: str, place: Place) -> Measured:
    """Read istanbul's JSON: statements, and how often each ran.

    A statement counts for its first line; the others are of statements inside.
    """
    found = Measured()
    try:
        for written, said in json.loads(text).items():
            path = place(written)
            for number, where in said["statementMap"].items() if path else ():
                found.note(path, "", [int(where["start"]["line"])], did_run=said["s"][number] > 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"no coverage of istanbul's: {error!r}"[:120]) from error
    return found.settled()


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
