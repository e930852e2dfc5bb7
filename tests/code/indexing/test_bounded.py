"""An index that is read, merged and kept in parts answers as one that is made at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vademecum.code.indexing import index
from vademecum.index import segment

FILES = {f"dish{number}.py": f"def cook_{number}(pan):\n    return pan.heat({number})\n" for number in range(6)}
FILES |= {"copy.py": FILES["dish0.py"], "blob.py": "\0", "long.py": "x = 1\n" * 40}


@pytest.fixture
def in_parts(monkeypatch):
    """Read one file at once, and merge two chunks at most."""
    monkeypatch.setattr(index, "READ_BYTES", 1)
    monkeypatch.setattr(segment, "MOST_MERGED", 2)


def asked(codebase):
    """Return what is found for a few questions."""
    return [
        [(each.path, each.start_line, each.score) for each in codebase.search(text, k=20).evidence]
        for text in ("cook pan", "heat 3", "cook_5")
    ]


@pytest.fixture
def at_once(repo, engine):
    """Return the report and the answers of an index that is made at once."""
    codebase = engine(repo("once", FILES)).codebase
    return codebase.index(), asked(codebase)


def segments():
    """Return the number of files of arrays of content."""
    return len(list(Path(os.environ["VADE_HOME"]).glob("repos/parts-*/segment-*")))


def test_an_index_in_parts_answers_as_one_made_at_once(at_once, in_parts, repo, engine):
    codebase = engine(repo("parts", FILES)).codebase
    report = codebase.index()
    assert (report.files, report.chunks, report.added, report.skipped) == (
        at_once[0].files, at_once[0].chunks, at_once[0].added, at_once[0].skipped,
    )  # fmt: skip
    assert asked(codebase) == at_once[1]
    assert segments() > 1


def test_a_second_full_index_leaves_no_second_copy(at_once, in_parts, repo, engine):
    codebase = engine(repo("parts", FILES)).codebase
    codebase.index()
    before = segments()
    codebase.index(full=True)
    assert segments() == before
    assert asked(codebase) == at_once[1]


def test_progress_counts_over_all_parts(in_parts, repo, engine):
    seen = []
    engine(repo("parts", FILES)).codebase.index(lambda *told: seen.append(told))
    counts = [done for step, done, _ in seen if step == "indexing"]
    assert counts == sorted(counts)
    assert counts[-1] == len(FILES) - 2  # a copy and a binary
