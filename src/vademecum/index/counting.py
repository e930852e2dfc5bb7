"""Count words in many texts at once, for term indexes and embedders."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from vademecum.index.arrays import ranges

Integers = NDArray[np.int64]

_RUN_LIMIT = 400_000  # distinct runs remembered; a repository of a million lines has about 200,000


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of values in texts: int64 (m,), by text, then code.

    `code` numbers distinct values: `values`, uint64 (c,), has what each stands for, also those that no text here has.
    """

    text: Integers
    code: Integers
    count: Integers
    values: NDArray[np.uint64]


class RunTable:
    """Maps runs of characters to numbers, and counts the numbers in texts.

    `expand` returns the numbers of one run, each a non-negative integer below 2**64. Every distinct run is expanded once; after
    that, a text costs one regular expression and a few array operations. Safe to use from several threads, which take turns.

    >>> table = RunTable(re.compile(r"[a-z]+"), lambda run: [ord(letter) for letter in run])
    >>> counts = table.count(["ab b", "b"])
    >>> counts.text.tolist(), counts.values[counts.code].tolist(), counts.count.tolist()
    ([0, 0, 1], [97, 98, 98], [1, 2, 1])
    """

    def __init__(self, run: re.Pattern[str], expand: Callable[[str], Sequence[int]]) -> None:
        self._find = run.findall
        self._expand = expand
        self._lock = Lock()
        self._runs = self._none()

    def count(self, texts: Sequence[str]) -> Counts:
        """Count every value in every text."""
        with self._lock:
            if len(self._runs) > _RUN_LIMIT:
                self._runs = self._none()
            try:
                return self._runs.count(texts)
            except BaseException:
                self._runs = self._none()  # a run may be half known
                raise

    def _none(self) -> _Runs:
        return _Runs(self._find, self._expand)


class _Codes(dict[int, int]):
    """Numbers the values of runs, in the order of their first use."""

    def __init__(self) -> None:
        super().__init__()
        self._values = np.zeros(0, np.uint64)

    def __missing__(self, value: int) -> int:
        code = self[value] = len(self)
        return code

    def meanings(self) -> NDArray[np.uint64]:
        """Return the value of every code so far."""
        if new := len(self) - len(self._values):
            added = np.fromiter(islice(self, len(self._values), None), np.uint64, new)
            self._values = np.concatenate((self._values, added))
        return self._values


class _Runs(dict[str, int]):
    """Numbers of runs; a new run gets the next number.

    The object refers to no table, so it is freed with its own table.
    """

    def __init__(self, find: Callable[[str], list[str]], expand: Callable[[str], Sequence[int]]) -> None:
        super().__init__()
        self._find = find
        self._expand = expand
        self._codes = _Codes()
        self._starts = array("q", [0])  # run r stands for codes flat[starts[r] : starts[r + 1]]
        self._flat = array("q")
        self._nothing: int | None = (
            None  # the number of all runs that stand for nothing: the first is kept, and single characters
        )

    def count(self, texts: Sequence[str]) -> Counts:
        """Count every value in every text."""
        found = [self._find(text) for text in texts]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        numbers = np.fromiter(map(self.__getitem__, chain.from_iterable(found)), np.int64, int(lengths.sum()))
        size = max(len(self), 1)
        begins = np.frombuffer(self._starts, np.int64)  # no run can be added while these are held
        flat = np.frombuffer(self._flat or array("q", [0]), np.int64)
        pairs, times = np.unique(np.repeat(np.arange(len(texts)), lengths) * size + numbers, return_counts=True)
        text, run = np.divmod(pairs, size)
        starts = begins[run]
        widths = begins[run + 1] - starts
        code = flat[ranges(starts, widths)]
        return _summed(np.repeat(text, widths), code, np.repeat(times, widths), self._codes.meanings())

    def __missing__(self, run: str) -> int:
        number, values = len(self._starts) - 1, self._expand(run)
        if not values:
            if self._nothing is not None:
                if len(run) == 1:  # there are few, each of them everywhere
                    self[run] = self._nothing
                return self._nothing
            self._nothing = number
        self._flat.extend(map(self._codes.__getitem__, values))
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
