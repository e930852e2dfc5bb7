"""ContextBench: what counts as chosen, as shown, and as found."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from contextbench import chosen_lines, compared, first_files, summarise
from metrics import Hit


def test_chosen_lines_are_of_files_that_the_tree_holds(tmp_path: Path) -> None:
    """Places in a container lose their folder; a file that a test run wrote does not count; overlapping parts count once."""
    (tmp_path / "src").mkdir()
    for name in ("src/a.c", "b.py"):
        (tmp_path / name).write_text("x\n")
    parts = [
        ("/workspace/jqlang__jq__0.1/src/a.c", 1, 3),
        ("/workspace/jqlang__jq__0.1/src/a.c", 3, 4),
        ("b.py", 2, 2),
        ("/workspace/run_test.js", 1, 9),
    ]
    gold = json.dumps([{"file": path, "start_line": first, "end_line": last} for path, first, last in parts])
    assert chosen_lines(gold, tmp_path) == {"src/a.c": {1, 2, 3, 4}, "b.py": {2}}


def test_an_edited_file_is_found_by_the_files_before_it() -> None:
    """Several results of one file are one file."""
    hits = [Hit("a.py", 1, 2), Hit("a.py", 8, 9), Hit("b.py", 1, 2)]
    assert first_files(hits, {"b.py", "c.py"}) == {"hit@1": 0.0, "hit@3": 1.0, "hit@10": 1.0}


def test_shares_are_of_all_lines_together() -> None:
    """A task with many chosen lines counts for more in recall and precision, and as any other in the mean of tasks."""
    chosen = {"a.py": set(range(1, 91))}
    rows = [
        {"system": "context", "budget": 2000} | compared([Hit("a.py", 1, 45)], chosen),
        {"system": "context", "budget": 2000} | compared([Hit("b.py", 1, 15)], {"b.py": set(range(1, 11))}),
    ]
    shares = summarise(rows)["context 2000"]
    assert shares["lines: recall"] == pytest.approx(55 / 100)
    assert shares["lines: precision"] == pytest.approx(55 / 60, abs=1e-4)
    assert shares["lines: recall, a task"] == pytest.approx(0.75)
