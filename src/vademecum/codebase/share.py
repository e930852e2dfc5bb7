"""What the calling process analyses itself, of batches that it shares with its workers.

Where a worker is to go on with what the files say of themselves and of others, as to link a graph, it waits for the last of
them to be parsed, and this process then waits for it. So of the last files that this process takes it makes the second
half of the analysis, terms and vectors, while the worker goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from vademecum.codebase.analyse import Analysis, Job, Parsed, symbol_rows
from vademecum.codebase.languages import has_references
from vademecum.protocols import Row

# Linking takes about as long as storing what is found and what is linked, and a little more. Of the files that are left the workers
# take nearly half, so that twice as many are left (shares of .6, .45, .3 and .15 in turns on eight repositories).
PUT_OFF = 0.3

Done = tuple[int, Any]  # a job's number and what was found, None for one that kills its process


@dataclass(frozen=True, slots=True)
class Halves:
    """The two halves of the analysis of some jobs, and who is told of the first: a job's number, its symbols, its references."""

    parse: Callable[[list[Job]], list[Parsed]]
    complete: Callable[[list[Job], list[Parsed]], list[Analysis]]
    note: Callable[[int, tuple[Row, ...], str], None]


class Share:
    """Takes batches, as the workers do, and tells of all that was found, by whomever; `halves` where that matters to anyone."""

    def __init__(
        self,
        jobs: list[Job],
        batches: deque[list[int]],
        whole: Callable[[list[Job]], Sequence[Any]],
        halves: Halves | None,
    ) -> None:
        self._jobs, self._batches, self._whole, self._halves = jobs, batches, whole, halves
        self._untold = set(range(len(jobs)))
        self._is_telling = halves is not None
        self._put_off: list[tuple[list[int], list[Parsed]]] = []
        sizes = [sum(len(jobs[number][0]) for number in batch) for batch in reversed(batches)]
        self._left = list(accumulate(sizes, initial=0))  # bytes, by the number of batches that nobody has taken
        linked = sum(len(content) for content, language in jobs if has_references(language))
        self._last = PUT_OFF * linked if halves is not None else 0

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left for this process to do."""
        return not (self._batches or self._put_off)

    def take(self) -> list[Done]:
        """Do the next thing. Returns what that finished, which may be nothing."""
        batch: list[int] = []
        with suppress(IndexError):  # a worker may have taken the last batch meanwhile
            batch = self._batches.popleft()
        if not batch:
            return self._complete()
        jobs = [self._jobs[number] for number in batch]
        if self._halves is None or self._left[len(self._batches)] >= self._last:
            return list(zip(batch, self._whole(jobs), strict=True))
        parsed = self._halves.parse(jobs)
        self._put_off.append((batch, parsed))
        for number, (file, _) in zip(batch, parsed, strict=True):
            self._tell(number, symbol_rows(file), file.references)
        return []

    def _complete(self) -> list[Done]:
        if self._halves is None or not self._put_off:
            return []
        batch, parsed = self._put_off.pop()
        return list(zip(batch, self._halves.complete([self._jobs[n] for n in batch], parsed), strict=True))

    def tell(self, done: Iterable[Done]) -> bool:
        """Tell of what was found. Returns whether that was the last that had to be told."""
        if not self._is_telling:
            return False
        for number, found in done:
            if found is None:
                self._untold.discard(number)
            elif number in self._untold:
                self._tell(number, found.symbols, found.references)
        self._is_telling = bool(self._untold)
        return not self._is_telling

    def _tell(self, number: int, symbols: tuple[Row, ...], references: str) -> None:
        assert self._halves is not None
        self._untold.discard(number)
        self._halves.note(number, symbols, references)
