"""Linking ahead: where everything was just analysed, a worker that is through makes the graph while this process stores.

It is handed what analysis found of every content, so that nothing is read, and sends back rows. They are taken where the snapshot
turns out to be of just these files, else, or where the worker died, the graph is made as ever. See `graph.build`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vademecum.codebase.analyse import Analysis
from vademecum.codebase.catalogue import BlobKey
from vademecum.codebase.garbage import uncollected
from vademecum.codebase.graph.terms import DOCUMENTS, MANIFESTS
from vademecum.codebase.repository import Opened
from vademecum.protocols import Progress, Row

if TYPE_CHECKING:
    from vademecum.codebase.graph.records import Rows
    from vademecum.codebase.workers import Child

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

    def answer(self) -> Rows | None:
        """Return the graph's rows; None where a content has to be known that is not among these."""
        from vademecum.codebase.graph.build import linked_afresh

        try:
            return linked_afresh(self.files, self.symbols, self.references, self.contents)
        except KeyError:
            return None


class Ahead:
    """One snapshot's graph in the making. Use it as a context: whatever happens, its worker ends."""

    def __init__(self) -> None:
        self._numbers: dict[BlobKey, int] = {}
        self._analysed: dict[int, Analysis] = {}
        self._files: dict[str, BlobKey] = {}
        self._child: Child | None = None
        self._through = threading.Event()
        self._rows: Rows | None = None

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

    def holds(self, size: int) -> bool:
        """Whether contents of so many bytes are not too much to be held."""
        return size <= MOST_AHEAD

    def note(self, number: int, key: BlobKey, analysis: Analysis) -> None:
        """Keep what was found of a content."""
        self._numbers[key] = number
        self._analysed[number] = analysis

    def means(self, paths: Iterable[tuple[str, BlobKey]]) -> None:
        """Take which files there are, when it is known."""
        self._files = dict(paths)

    def begin(self, child: Child) -> None:
        """Take note of the worker that was given."""
        self._child = child

    def run(self) -> None:
        """Ask it."""
        assert self._child is not None
        with suppress(EOFError), uncollected():
            self._rows = self._child.ask(self._material())
        self._child.stop()
        self._through.set()

    def _material(self) -> Material:
        files = {path: (self._numbers[key], key[1]) for path, key in self._files.items() if key in self._numbers}
        analysed, self._analysed = self._analysed, {}
        read = {
            number for path, (number, language) in files.items()
            if language in DOCUMENTS or MANIFESTS.fullmatch(path)
            or (path.endswith(".json") and len(analysed[number].content) < _SMALL)
        }  # fmt: skip
        return Material(
            files,
            {number: [(*row[:7], "") for row in each.symbols] for number, each in analysed.items()},
            {number: each.references for number, each in analysed.items() if each.references},
            {number: analysed[number].content for number in read},
        )

    def take(self, files: Mapping[str, BlobKey]) -> Rows | None:
        """Return the rows, once, waiting for them; None where they are not of these files, or there are none."""
        if self._child is None or self._files != files:
            return None
        self._through.wait()
        rows, self._rows = self._rows, None
        return rows

    def link(self, opened: Opened, progress: Progress) -> None:
        """Bring the graph of a repository's snapshot up to date, by what was made ahead where that is of use. Raises `StoreError`."""
        from vademecum.codebase.graph.graph import graph_of

        graph_of(opened, progress, self)
