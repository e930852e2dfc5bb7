"""The compiled count of what texts are made of: equal to Python's for any text, and unharmed by what is not to be counted."""

from __future__ import annotations

import re
from string import ascii_letters, digits

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vademecum import text
from vademecum.kernel import compiled
from vademecum.text import Counts, RunTable, byte_classes

pytestmark = pytest.mark.skipif(compiled is None, reason="nothing was compiled: no C compiler, or VADE_KERNEL=off")

WORD, WORDS = re.compile(r"\w+"), byte_classes(f"{ascii_letters}{digits}_", beyond=1)
PIECE, PIECES = re.compile("[A-Za-z]+|[0-9]+"), byte_classes(ascii_letters, digits)
KEY = bytes(range(16))
odd = st.text(st.sampled_from("ab_B1 29.\0\n\x7fé—日本\U0001f600\ud800\u0301"), max_size=30)
lists = st.lists(odd | st.text(max_size=20), max_size=6)


def expand(run: str) -> list[int]:
    """One number for each letter, the same for both cases; none for what begins with a 2."""
    return [] if run[0] == "2" else [ord(letter) for letter in run.lower()]


def assert_equal(ours: Counts, theirs: Counts) -> None:
    for name in ("text", "code", "count", "values"):
        own, their = getattr(ours, name), getattr(theirs, name)
        assert own.dtype == their.dtype
        np.testing.assert_array_equal(own, their)


def twins(run: re.Pattern[str], classes: bytes) -> tuple[RunTable, RunTable]:
    return RunTable(run, expand, classes), RunTable(run, expand)


@pytest.mark.parametrize(("run", "classes"), [(WORD, WORDS), (PIECE, PIECES)])
@given(st.lists(lists, max_size=3))
@example([[]])
@example([["", "\0", "a" * 70_000 + " " + "é" * 9_000], ["a" * 70_000], ["\ud800a", "b\udfff"]])
def test_it_counts_what_python_counts(run: re.Pattern[str], classes: bytes, calls: list[list[str]]) -> None:
    """Call after call the same numbers, coded in the same order."""
    ours, theirs = twins(run, classes)
    for texts in calls:
        assert_equal(ours.count(texts), theirs.count(texts))


def test_it_remembers_thousands_of_runs() -> None:
    """More than it has room for at first: each is found again where it was put."""
    ours, theirs = twins(WORD, WORDS)
    texts = [" ".join(f"{n * 7919:x}" for n in range(begin, begin + 3000)) for begin in range(0, 30_000, 1500)]
    for _ in range(2):
        assert_equal(ours.count(texts), theirs.count(texts))


@pytest.mark.parametrize("limit", ["_RUN_LIMIT", "_BYTES_LIMIT"])
def test_a_table_that_is_full_begins_anew(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """It is asked about runs again, and counts the same."""
    monkeypatch.setattr(text, limit, 3)
    asked: list[str] = []

    def noted(run: str) -> list[int]:
        asked.append(run)
        return expand(run)

    table = RunTable(WORD, noted, WORDS)
    for _ in range(2):
        counts = table.count(["ab cd ef gh ab"])
        assert counts.count.tolist() == [2, 2, 1, 1, 1, 1, 1, 1]
    assert asked == ["ab", "cd", "ef", "gh"] * 2


def test_a_run_that_cannot_be_expanded_leaves_nothing_half_known() -> None:
    """The error reaches the caller, and the next call counts."""
    fails = [True]

    def expand_later(run: str) -> list[int]:
        if fails and run == "bad":
            raise KeyError(fails.pop())
        return expand(run)

    table = RunTable(WORD, expand_later, WORDS)
    with pytest.raises(KeyError):
        table.count(["ab ab", "cd bad"])
    counts = table.count(["ab bad"])
    assert (counts.values[counts.code].tolist(), counts.count.tolist()) == ([97, 98, 100], [2, 2, 1])


def test_codes_that_are_none_are_refused() -> None:
    """They are places in arrays."""
    for codes in ([1], [-1], [0, 2], [2**31], [2**70], ["0"], (0,), None):
        table = compiled.run_table(KEY)
        with pytest.raises((ValueError, OverflowError, TypeError)):
            compiled.count_runs(table, WORDS, ("a",), lambda _, codes=codes: codes)
        found, runs, size = compiled.count_runs(table, WORDS, ("a a",), lambda _: [0])
        assert (np.frombuffer(found, np.int64).tolist(), runs, size) == ([0, 0, 2], 1, 1)


def test_what_is_no_text_no_table_or_no_classes_is_refused() -> None:
    """Each by an error, and nothing is counted."""
    table = compiled.run_table(KEY)
    none: list[int] = []
    with pytest.raises(ValueError, match="16 bytes"):
        compiled.run_table(KEY[:15])
    with pytest.raises(ValueError, match="256 classes"):
        compiled.count_runs(table, WORDS[:255], ("a",), lambda _: none)
    with pytest.raises(ValueError, match="PyCapsule"):
        compiled.count_runs(object(), WORDS, ("a",), lambda _: none)
    with pytest.raises(TypeError):
        compiled.count_runs(table, WORDS, ["a"], lambda _: none)
    with pytest.raises(TypeError):
        compiled.count_runs(table, WORDS, ("a", 7), lambda _: none)
    with pytest.raises(UnicodeEncodeError):
        compiled.count_runs(table, WORDS, ("\ud800",), lambda _: none)


def test_a_table_that_is_counting_counts_for_nobody_else() -> None:
    """Whoever asks meanwhile, as from what expands a run, is refused."""
    table = compiled.run_table(KEY)

    def again(_: bytes) -> list[int]:
        compiled.count_runs(table, WORDS, ("b",), lambda _: [0])
        return []

    with pytest.raises(ValueError, match="one caller at a time"):
        compiled.count_runs(table, WORDS, ("a",), again)
    assert compiled.count_runs(table, WORDS, ("a",), lambda _: [0])[1:] == (1, 1)
