"""Readers of the files that coverage tools write.

Read are coverage.py's `.coverage`, lcov, Go's cover profile, and istanbul's JSON, which Jest and c8 write too. Such files
come with a repository and are not trusted: only regular files are opened, for reading only and up to a size, and SQLite
may take so many steps.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from urllib.request import pathname2url

from vademecum.beneath import open_plain

MOST_TEXT = 32 << 20  # bytes of a text
MOST_DATABASE = 1 << 30  # bytes of a `.coverage`, of which only the rows of the files asked about are read
MOST_STEPS = 50_000_000  # of SQLite's machine, some seconds
MOST_BITS = 1 << 17  # bytes of the lines of a file that one test ran: a million lines
MOST_LINES = 20_000_000  # noted, of all tests and wanted files together
_SQLITE = b"SQLite format 3\0"
_BLOCK = re.compile(r"^(.+):(\d{1,9})\.\d+,(\d{1,9})\.\d+ \d+ (\d{1,18})$")
_COUNTED = re.compile(r"(\d{1,9}),(-?\d{1,18})(?:,|$)")
Place = Callable[[str], str]  # from a path as written to that of a wanted file, "" for any other


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
