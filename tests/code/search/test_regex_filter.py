"""Regular expressions of a user's: matched beside this process, and ended when they take too long."""

from __future__ import annotations

import io
import os
import re
import struct
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vademecum.code.search import filters, regex_filter
from vademecum.errors import UsageError

NESTED = r"(\w+\s*)+@@"
WORDS = b"how are redirects followed when they are many and long " * 40


def found(pattern, *texts):
    """Return the spans of each text as lists."""
    return [lines.tolist() for lines in filters.matched_lines(pattern, texts, sum(map(len, texts)))]


def test_each_text_is_answered_in_turn():
    """With the first and last line of each match; where none does, with nothing."""
    texts = ["def a():\n    pass\n\ndef b(): …".encode(), b"", b"no\n", *[b"x\ndef c"] * 200]
    assert found(r"^def \w", *texts) == [[[1, 1], [4, 4]], [], [], *[[[2, 2]]] * 200]
    assert found(r"pass\s+def", texts[0]) == [[[2, 4]]]


@given(st.text("ab\n", max_size=30))
def test_lines_are_those_of_the_first_and_last_character(text):
    """As counting line feeds before them says."""
    for pattern in ("a+", "b\n", "", r"a\s*b", r"^", r"$"):
        regex = re.compile(pattern, re.MULTILINE)
        wanted = {
            (text.count("\n", 0, m.start()) + 1, text.count("\n", 0, max(m.start(), m.end() - 1)) + 1)
            for m in regex.finditer(text)
        }
        assert set(regex_filter.spans(regex, text)) == wanted


def test_what_is_sent_comes_back_as_it_was():
    """The process answers what it reads until there is no more; run here, to be seen."""
    asked = (
        struct.pack("<I", 10**6) + struct.pack("<I", 1) + b"a" + struct.pack("<I", 1) + struct.pack("<I", 3) + b"b\na"
    )
    sink = io.BytesIO()
    before = regex_filter._limit
    try:
        regex_filter._limit = lambda _: None
        regex_filter.serve(io.BytesIO(asked), sink)
    finally:
        regex_filter._limit = before
    assert np.frombuffer(sink.getvalue(), "<i4").tolist() == [8, 2, 2]


def test_a_pattern_without_an_end_is_given_up_and_named(monkeypatch):
    """The message holds the pattern, how long it took, and what to write instead; others have gone on meanwhile."""
    monkeypatch.setattr(filters, "LEAST_SECONDS", 0.5)
    went_on = []
    other = threading.Timer(0.1, lambda: went_on.append(1))
    other.start()
    with pytest.raises(UsageError, match=r"'\(\\\\w\+\\\\s\*\)\+@@' did not come to an end.*repeat inside of a repeat"):
        found(NESTED, b"x", WORDS)
    assert went_on == [1]


@pytest.mark.skipif(os.name == "nt", reason="Windows counts no processor time")
def test_waiting_for_a_busy_machine_is_no_fault_of_the_pattern(monkeypatch):
    """Only the processor's time counts."""
    monkeypatch.setattr(filters, "LEAST_SECONDS", 0.2)

    def slowly():
        for text in (b"a", b"b\na"):
            time.sleep(0.4)
            yield text

    assert [lines.tolist() for lines in filters.matched_lines("a", slowly(), 0)] == [[[1, 1]], [[2, 2]]]


def test_a_process_that_ends_by_itself_is_told_apart(monkeypatch):
    """As one that the system ended for want of memory."""
    monkeypatch.setattr(filters, "_start", _ended)
    with pytest.raises(UsageError, match="ended the process that matched it"):
        found("a", b"x")


def _ended():
    child = filters.subprocess.Popen(
        [filters.sys.executable, "-c", ""], stdin=filters.subprocess.PIPE, stdout=filters.subprocess.PIPE
    )
    child.wait()
    return child


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no such limit")
def test_no_process_is_left_behind(monkeypatch):
    """Neither when an answer is not waited for, nor when it took too long."""
    started = []
    start = filters._start
    monkeypatch.setattr(filters, "_start", lambda: started.append(start()) or started[-1])
    lines = filters.matched_lines("a", [b"a"] * 200, 0)
    next(lines)
    lines.close()
    monkeypatch.setattr(filters, "LEAST_SECONDS", 0.3)
    with pytest.raises(UsageError):
        found(NESTED, WORDS)
    assert [child.returncode is not None for child in started] == [True, True]


def test_no_process_to_be_had_is_said(monkeypatch):
    """A machine without room for one more is told, not crashed."""
    monkeypatch.setattr(filters.sys, "executable", "/no/such/python")
    with pytest.raises(UsageError, match="search without one"):
        found("a", b"x")


@pytest.mark.parametrize("pattern", ["(", "(" * 3000 + ")" * 3000, "a{99999999999999}"])
def test_what_is_no_pattern_is_refused_before_anything_is_started(pattern, monkeypatch):
    """With what is wrong with it."""
    monkeypatch.setattr(filters, "_start", None)
    with pytest.raises(UsageError, match="is not a regular expression"):
        found(pattern, b"x")


def test_a_search_gives_a_pattern_without_an_end_up(repo, engine, monkeypatch):
    """The whole way from a search."""
    codebase = engine(repo("wordy", {"words.md": WORDS.decode()})).codebase
    with monkeypatch.context() as patch:
        patch.setattr(filters, "LEAST_SECONDS", 0.5)
        with pytest.raises(UsageError, match="did not come to an end"):
            codebase.search("redirects", pattern=NESTED)
    assert codebase.search("redirects", pattern=r"followed\s+when").evidence
