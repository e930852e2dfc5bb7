"""Counting what texts are made of: every occurrence, whoever else counts at the same time."""

from __future__ import annotations

import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.index import arrays
from vademecum.index.arrays import Counts, RunTable


def letters(run: str) -> list[int]:
    return [ord(letter) for letter in run]


def counted(counts: Counts) -> dict[tuple[int, int], int]:
    """How often each value is in each text."""
    return {
        (where, value): count
        for where, value, count in zip(
            counts.text.tolist(), counts.values[counts.code].tolist(), counts.count.tolist(), strict=True
        )
    }


def expected(texts: list[str]) -> dict[tuple[int, int], int]:
    return dict(Counter((n, ord(each)) for n, said in enumerate(texts) for each in said if "a" <= each <= "z"))


@contextmanager
def turns_taken_often():
    """Have threads take turns as often as they can, so that what may go wrong between two steps does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@given(st.lists(st.text("abcz #", max_size=12), max_size=8), st.lists(st.text("xyz ", max_size=12), max_size=8))
def test_every_value_of_every_text_is_counted(first, then):
    """What a table has counted before makes no difference."""
    table = RunTable(re.compile("[a-z]+"), letters)
    assert counted(table.count(first)) == expected(first)
    assert counted(table.count(then)) == expected(then)


def test_threads_count_with_one_table(monkeypatch):
    """Each gets its own counts, also while the table grows and begins anew."""
    monkeypatch.setattr(arrays, "_RUN_LIMIT", 300)
    table = RunTable(re.compile("[a-z]+"), letters)

    def count(thread: int) -> None:
        for turn in range(60):
            words = [f"{chr(97 + n % 26)}{chr(97 + thread)}{chr(97 + (turn * 7 + n) % 26)}" for n in range(40)]
            texts = [" ".join(words[n : n + 8]) for n in range(0, 40, 8)]
            assert counted(table.count(texts)) == expected(texts)

    with turns_taken_often(), ThreadPoolExecutor(4) as threads:
        assert list(threads.map(count, range(4))) == [None] * 4


def test_runs_that_stand_for_nothing_are_not_kept_one_by_one() -> None:
    """Numbers are new in every text, and a table lives as long as its process."""
    table = RunTable(re.compile(r"\w+"), lambda run: [] if run.isdigit() else letters(run))
    texts = [f"ab {number} b {number + 1}" for number in range(10, 210)]
    assert counted(table.count(texts)) == expected(texts)
    assert len(table._runs) == 3  # ab, b, and the first number


def test_a_single_character_that_stands_for_nothing_is_asked_about_once() -> None:
    """They are everywhere, as in hashes: of other runs there is no end, and none but the first is kept."""
    asked: list[str] = []

    def expand(run: str) -> list[int]:
        asked.append(run)
        return [len(run)] if run == "word" else []

    table = RunTable(re.compile(r"\w+"), expand)
    for _ in range(3):
        counts = table.count(["a b word", "c b a 12 12"])
    assert Counter(asked) == {"a": 1, "b": 1, "c": 1, "word": 1, "12": 6}
    assert (counts.text.tolist(), counts.values[counts.code].tolist(), counts.count.tolist()) == ([0], [4], [1])


def test_a_full_table_begins_anew(monkeypatch):
    """A table above its limit asks for each run again and counts the same."""
    monkeypatch.setattr(arrays, "_RUN_LIMIT", 3)
    asked = []

    def noted(run: str) -> list[int]:
        asked.append(run)
        return letters(run)

    table = RunTable(re.compile("[a-z]+"), noted)
    for _ in range(2):
        assert counted(table.count(["ab cd ef gh ab"])) == expected(["ab cd ef gh ab"])
    assert asked == ["ab", "cd", "ef", "gh"] * 2


def test_a_run_that_fails_leaves_nothing_half_known():
    """An error of one run reaches the caller, and the next call counts every run."""
    fails = [True]

    def expand(run: str) -> list[int]:
        if fails and run == "bad":
            raise KeyError(fails.pop())
        return letters(run)

    table = RunTable(re.compile("[a-z]+"), expand)
    with pytest.raises(KeyError):
        table.count(["ab ab", "cd bad"])
    assert counted(table.count(["ab bad"])) == expected(["ab bad"])
