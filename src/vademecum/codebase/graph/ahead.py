"""Linking ahead: where everything was just analysed, a worker that is through makes the graph while this process stores.

It is handed what analysis found of every content, so that nothing is read, and sends back rows as they are made, so that
they are kept while it makes the next. They are taken where the snapshot turns out to be of just these files, else, or where the
worker died, the graph is made as ever. See `graph.build`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from vademecum.codebase.algebra import one_thread
from vademecum.codebase.analyse import Job
from vademecum.codebase.catalogue import BlobKey
from vademecum.codebase.garbage import uncollected
from vademecum.codebase.graph.terms import DOCUMENTS, MANIFESTS
from vademecum.codebase.repository import Opened
from vademecum.protocols import Progress, Row

if TYPE_CHECKING:
    from vademecum.codebase.child import Child
    from vademecum.codebase.graph.records import Rows

MOST_AHEAD = (
    32_000_000  # bytes of content: all that was found of it is held, here and in the worker, some ten times as much
)
_SMALL = 100_000  # bytes of JSON: what other settings may be continued in


@dataclass(slots=True)
class Material:
    """What linking needs of a snapshot. Files name their content by the number of its analysis, for want of another."""

    files: dict[str, tuple[int, str]]  # path → content, language
    symbols: dict[int, list[Row]]
    references: dict[int, str]
    contents: dict[int, bytes]  # of documents and of files that say where modules lie

    def answers(self) -> Iterator[Rows | Literal["whole"]]:
        """Yield the graph's rows, then that they are all: not where a content has to be known that is not among these."""
        from vademecum.codebase.graph.build import linked_afresh

        with suppress(KeyError):
            yield from linked_afresh(self.files, self.symbols, self.references, self.contents)
            yield "whole"


class Ahead:
    """One snapshot's graph in the making. Use it as a context: whatever happens, its worker ends."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._keys: list[BlobKey] = []
        self._files: dict[str, int] = {}  # path → job
        self._symbols: dict[int, tuple[Row, ...]] = {}
        self._references: dict[int, str] = {}
        self._child: Child | None = None
        self._is_taken = False
        self._beside = ExitStack()  # what holds while the worker is at it
        self._through = threading.Event()
        self._parts: SimpleQueue[Rows | Literal["whole", "lost"]] = SimpleQueue()

    def __enter__(self) -> Self:
        """Begin with nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End the worker."""
        if self._child is not None:
            self._child.stop()
            self._through.wait()
        self._beside.close()

    def holds(self, size: int) -> bool:
        """Whether contents of so many bytes are not too much to be held."""
        return size <= MOST_AHEAD

    def means(self, jobs: list[Job], keys: list[BlobKey], paths: Iterable[tuple[str, BlobKey]]) -> None:
        """Take which contents there are, as jobs and as the index names them, and which files hold them."""
        self._jobs, self._keys = jobs, keys
        numbers = {key: number for number, key in enumerate(keys)}
        self._files = {path: numbers[key] for path, key in paths if key in numbers}

    def load(self) -> None:
        """Load what makes edges."""
        from vademecum.codebase.graph import build, documents, edges  # noqa: F401 - loading them is what is wanted

    def note(self, number: int, symbols: tuple[Row, ...], references: str) -> None:
        """Keep what was found of a content."""
        self._symbols[number], self._references[number] = symbols, references

    def begin(self, child: Child) -> None:
        """Take note of the worker that was given."""
        self._child = child
        self._beside.enter_context(one_thread())
        self._files = {path: number for path, number in self._files.items() if number in self._symbols}

    def run(self) -> None:
        """Ask it."""
        assert self._child is not None
        try:
            with suppress(EOFError), uncollected():
                for part in self._child.ask_in_parts(self._material()):
                    self._parts.put(part)
        finally:  # whatever happened: somebody may be waiting
            self._parts.put("lost")  # which is looked at only where not all of them came
            self._child.stop()
            self._through.set()

    def _material(self) -> Material:
        jobs, symbols, references = self._jobs, self._symbols, self._references
        self._jobs, self._symbols, self._references = [], {}, {}
        read = {
            number for path, number in self._files.items()
            if jobs[number][1] in DOCUMENTS or MANIFESTS.fullmatch(path)
            or (path.endswith(".json") and len(jobs[number][0]) < _SMALL)
        }  # fmt: skip
        return Material(
            {path: (number, jobs[number][1]) for path, number in self._files.items()},
            {number: [(*row[:7], "") for row in rows] for number, rows in symbols.items()},
            {number: text for number, text in references.items() if text},
            {number: jobs[number][0] for number in read},
        )

    def take(self, files: Mapping[str, BlobKey]) -> Iterator[Rows] | None:
        """Return the rows, once, in parts as they come; None where they are not of these files, or there are none.

        Raises:
            LostError: there are no more, and these are not all; raised as they are gone through.
        """
        if self._child is None or self._is_taken:
            return None
        self._is_taken = True
        here = {path: self._keys[number] for path, number in self._files.items()}
        return self._coming() if here == files else None

    def _coming(self) -> Iterator[Rows]:
        from vademecum.codebase.graph.build import LostError

        while (part := self._parts.get()) != "whole":
            if part == "lost":
                raise LostError
            yield part

    def link(self, opened: Opened, progress: Progress) -> None:
        """Bring the graph of a repository's snapshot up to date, by what was made ahead where that is of use. Raises `StoreError`."""
        from vademecum.codebase.graph.graph import graph_of

        graph_of(opened, progress, self)
