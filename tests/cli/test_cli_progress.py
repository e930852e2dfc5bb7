"""Progress: a bar on a terminal, rare plain lines elsewhere, and nothing for short runs."""

from __future__ import annotations

import io

import pytest

from vademecum.cli.session import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """Say so."""
        return True


@pytest.fixture
def clock():
    """A clock that is set by hand."""

    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    return Clock()


def test_a_short_run_shows_nothing(clock):
    for stream in (io.StringIO(), Terminal()):
        with Progress(stream, clock) as progress:
            progress("parse", 1, 2)
            progress("parse", 2, 2)
        assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar_that_is_wiped_at_the_end(clock):
    stream = Terminal()
    with Progress(stream, clock) as progress:
        clock.now = 1.0
        progress("parse", 5, 10)
        assert stream.getvalue().endswith("█" * 12 + "░" * 12 + " parse 5/10")
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()


def test_a_bar_is_not_drawn_more_often_than_the_eye_sees(clock):
    stream = Terminal()
    with Progress(stream, clock) as progress:
        clock.now = 1.0
        for done in range(1000):
            clock.now += 0.001
            progress("parse", done, 1000)
    assert stream.getvalue().count("parse") <= 11


def test_a_log_gets_a_line_now_and_then(clock):
    stream = io.StringIO()
    with Progress(stream, clock) as progress:
        for second in range(12):
            clock.now = float(second)
            progress("parse", second, 0)
    assert stream.getvalue() == "parse 5\nparse 10\n"


def test_more_than_expected_does_not_break_the_bar(clock):
    stream = Terminal()
    with Progress(stream, clock) as progress:
        clock.now = 1.0
        progress("parse", 30, 10)
    assert "█" * 24 + " parse 30/10" in stream.getvalue()
