"""What this process analyses itself, beside its workers: all of it, and the arrays of the last files after what they say."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import pytest

from vademecum.codebase.share import PUT_OFF, Halves, Share

SIZE = 50_000
COUNT = 20


class Work:
    """Notes what is done in which order."""

    def __init__(self, language="python", batches=COUNT, halves=True):
        self.steps, self.told = [], []
        jobs = [(b"." * SIZE, language)] * COUNT
        self.batches = deque([n] for n in range(batches))
        self.share = Share(
            jobs, self.batches, self.whole, Halves(self.parse, self.complete, self.note) if halves else None
        )

    def whole(self, jobs):
        self.steps.append("whole")
        return [SimpleNamespace(symbols=("whole",), references="r")] * len(jobs)

    def parse(self, jobs):
        self.steps.append("parse")
        return [(SimpleNamespace(chunks=(), references="p"), True)] * len(jobs)

    def complete(self, jobs, parsed):
        assert len(jobs) == len(parsed)
        self.steps.append("complete")
        return ["completed"] * len(jobs)

    def note(self, number, symbols, references):
        self.told.append((number, symbols, references))

    def run(self):
        """Take all; returns what was finished, and after how many steps all was told."""
        found, last = [], []
        while not self.share.is_done:
            done = self.share.take()
            found += done
            if self.share.tell(done):
                last.append(len(self.steps))
        return found, last


def test_the_arrays_of_the_last_files_are_made_when_all_was_told():
    """It is told once, before any of these arrays is made, of every file in its turn."""
    work = Work()
    found, last = work.run()
    late = sum(SIZE * n < PUT_OFF * SIZE * COUNT for n in range(COUNT))
    assert late > 2
    assert work.steps == ["whole"] * (COUNT - late) + ["parse"] * late + ["complete"] * late
    assert last == [COUNT]
    assert [number for number, *_ in work.told] == list(range(COUNT))
    assert {references for *_, references in work.told[-late:]} == {"p"}
    assert sorted(number for number, _ in found) == list(range(COUNT))


@pytest.mark.parametrize("how", [{"language": "text"}, {"halves": False}])
def test_nothing_is_put_off_where_nobody_waits_long(how):
    """Files that no graph is made of take no time to link; and without a graph nobody is told."""
    work = Work(**how)
    found, last = work.run()
    assert work.steps == ["whole"] * COUNT
    assert len(found) == COUNT
    assert last == ([COUNT] if "language" in how else [])


def test_what_workers_find_is_told_too_and_who_dies_of_a_file_says_nothing():
    """All is told when the last file of theirs has come, or killed its process; the batch may be gone that was there a moment ago."""
    work = Work(batches=0)
    assert work.share.is_done
    assert work.share.take() == []
    for number in range(COUNT - 1):
        assert not work.share.tell([(number, SimpleNamespace(symbols=(), references=""))])
    assert work.share.tell([(COUNT - 1, None)])
    assert not work.share.tell([])
    assert len(work.told) == COUNT - 1
