"""Issues: what counts as an answer, and when all of it is found."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import pytest

from data import Question
from issues import accuracies, drawn
from metrics import Hit, Target
from swebench import changed_functions, changed_lines

pytestmark = pytest.mark.once

BEFORE = """class Box:
    @property
    def size(self):
        return 1

    def open(self):
        def inside():
            return 2
        return inside()


def shut():
    return 3
"""


def asked(*functions: str) -> Question:
    return Question("1", "a/b", "python", "", "size", (Target("box.py"),), functions=functions)


def test_a_function_counts_as_changed_when_it_was_there_and_reads_otherwise() -> None:
    after = (
        BEFORE.replace("@property", "@cached_property").replace("return 2", "return 4") + "\ndef new():\n    return 5\n"
    )
    assert changed_functions(BEFORE, after) == ["Box.size", "Box.open"]


def test_what_is_added_between_functions_changes_none() -> None:
    assert changed_functions(BEFORE, BEFORE.replace("\n\ndef shut", "\nLIMIT = 1\n\n\ndef shut")) == []


def test_a_patch_names_the_lines_before_it() -> None:
    patch = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -4,4 +4,4 @@ def f():\n a\n-b\n-c\n+d\n e\n@@ -20,2 +20,3 @@\n a\n+b\n c\n"
    assert changed_lines(patch) == {"x.py": [(5, 6), (20, 20)]}


def test_all_right_functions_must_be_among_the_first(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(BEFORE)
    (tmp_path / "notes.md").write_text("size\n")
    hits = [Hit("notes.md", 1, 1), Hit("box.py", 12, 13), Hit("box.py", 4, 6)]
    found = accuracies(hits, asked("box.py:shut", "box.py:Box.open"), tmp_path)
    assert (found["file_acc1"], found["file_acc5"]) == (0.0, 1.0)
    assert (found["function_acc5"], found["function_acc10"]) == (1.0, 1.0)
    assert accuracies(hits[:2], asked("box.py:shut", "box.py:Box.open"), tmp_path)["function_acc10"] == 0.0


def test_an_issue_whose_functions_are_not_known_is_measured_by_file_alone(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(BEFORE)
    assert set(accuracies([Hit("box.py", 1, 2)], asked(), tmp_path)) == {"file_acc1", "file_acc5", "file_acc10"}


def test_the_beginning_of_a_drawn_list_is_a_smaller_draw() -> None:
    """A run that is stopped has measured the same issues as a smaller one."""
    issues = [Question(str(number), "a/b", "python", "", "size", ()) for number in range(40)]
    assert drawn(issues, 30)[:10] == drawn(issues[::-1], 30)[:10]
    assert {issue.id for issue in drawn(issues, 99)} == {issue.id for issue in issues}
