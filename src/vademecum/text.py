"""Counting words in many texts at once: the inner loop of indexing, shared by term indexes and word-piece embedders."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from vademecum.arrays import ranges

Integers = NDArray[np.int64]

_RUN_LIMIT = 400_000  # distinct runs remembered; a repository of a million lines has about 200,000


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each value occurs in each text: int64 (m,) each, ascending by text, then by `code`.

    `code` numbers distinct values: `values`, uint64 (c,), has what each stands for, also those that no text here has.
    """

    text: Integers
    code: Integers
    count: Integers
    values: NDArray[np.uint64]


class RunTable:
    """Maps each run of characters to the numbers it stands for, and counts those numbers in texts.

    Every distinct run is expanded once; after that, a text costs one regular expression and a few array operations.
    Safe to use from several threads, which take turns.

    Args:
        run: what a run is.
        expand: returns the numbers of one run, each a non-negative integer below 2**64.

    >>> table = RunTable(re.compile(r"[a-z]+"), lambda run: [ord(letter) for letter in run])
    >>> counts = table.count(["ab b", "b"])
    >>> counts.text.tolist(), counts.values[counts.code].tolist(), counts.count.tolist()
    ([0, 0, 1], [97, 98, 98], [1, 2, 1])
    """

    def __init__(self, run: re.Pattern[str], expand: Callable[[str], Sequence[int]]) -> None:
        self._find = run.findall
        self._expand = expand
        self._lock = Lock()
        self._runs = _Runs(expand)

    def count(self, texts: Sequence[str]) -> Counts:
        """Count every value in every text."""
        with self._lock:
            return self._count(texts)

    def _count(self, texts: Sequence[str]) -> Counts:
        if len(self._runs) > _RUN_LIMIT:
            self._runs = _Runs(self._expand)
        found = [self._find(text) for text in texts]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        numbers = np.fromiter(map(self._runs.__getitem__, chain.from_iterable(found)), np.int64, int(lengths.sum()))
        size = max(len(self._runs), 1)
        begins, flat = self._runs.arrays()
        pairs, times = np.unique(np.repeat(np.arange(len(texts)), lengths) * size + numbers, return_counts=True)
        text, run = np.divmod(pairs, size)
        starts = begins[run]
        widths = begins[run + 1] - starts
        code = flat[ranges(starts, widths)]
        return _summed(np.repeat(text, widths), code, np.repeat(times, widths), self._runs.meanings())


class _Runs(dict[str, int]):
    """Numbers of runs; one that is new gets the next, and what it stands for. It refers to no table, so it goes with its own."""

    def __init__(self, expand: Callable[[str], Sequence[int]]) -> None:
        super().__init__()
        self._expand = expand
        self.codes: dict[int, int] = {}
        self._starts = array("q", [0])  # run r stands for codes flat[starts[r] : starts[r + 1]]
        self._flat = array("q")
        self._values = np.zeros(0, np.uint64)
        self._nothing: int | None = (
            None  # the number of all runs that stand for nothing: the first is kept, and single characters
        )

    def arrays(self) -> tuple[Integers, Integers]:
        """Return where the codes of each run begin, and the codes. No run can be added while one of them is held."""
        return np.frombuffer(self._starts, np.int64), np.frombuffer(self._flat or array("q", [0]), np.int64)

    def meanings(self) -> NDArray[np.uint64]:
        """Return what every code so far stands for."""
        if new := len(self.codes) - len(self._values):
            added = np.fromiter(islice(self.codes, len(self._values), None), np.uint64, new)
            self._values = np.concatenate((self._values, added))
        return self._values

    def __missing__(self, run: str) -> int:
        number, values = len(self._starts) - 1, self._expand(run)
        if not values:
            if self._nothing is not None:
                if len(run) == 1:  # there are few, each of them everywhere
                    self[run] = self._nothing
                return self._nothing
            self._nothing = number
        known = self.codes
        for value in values:
            code = known.get(value)
            if code is None:
                code = known[value] = len(known)
            self._flat.append(code)
        self._starts.append(len(self._flat))
        self[run] = number
        return number


def _summed(text: Integers, code: Integers, count: Integers, values: NDArray[np.uint64]) -> Counts:
    """Add up the counts of the same code in the same text."""
    codes = max(len(values), 1)
    key = text * codes + code
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if len(key) else order
    total = np.add.reduceat(count[order], first) if len(key) else count
    return Counts(*np.divmod(key[first], codes), total, values)
