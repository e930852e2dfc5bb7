"""The search for circular garbage is put off for as long as anybody asks for that, and no longer."""

from __future__ import annotations

import gc
import threading

import pytest

from vademecum.code.indexing.workers import uncollected


def test_the_last_one_out_switches_it_on_whoever_came_first() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with uncollected():
            inside.set()
            leave.wait(10)

    with uncollected():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(10)
    assert not gc.isenabled()  # the other is still at it
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_it_stays_as_it_was_found() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_failure_switches_it_on_again() -> None:
    with pytest.raises(ValueError, match="no"), uncollected():
        raise ValueError("no")
    assert gc.isenabled()
