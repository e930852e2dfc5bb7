"""The verbs about how code hangs together, as typed."""

from __future__ import annotations

import json
import subprocess

import pytest

USE = """\
from src.budget import split_budget


def plan(total):
    return split_budget(total)


class Planner:
    def go(self):
        return plan(100)
"""


@pytest.fixture
def used(repository):
    """The small repository with a module that uses it."""
    (repository / "use.py").write_text(USE)
    return repository


def test_callers_and_callees(vade, used):
    """Places, tiers and the lines that say so; JSON has the same."""
    done = vade("callers", "split_budget")
    assert done.code == 0
    assert done.out.startswith("callers of split_budget | found | ")
    assert "use.py:4-5  plan  called_by exact\n  5  return split_budget(total)\n" in done.out
    record = json.loads(vade("callees", "Planner", "--depth", "2", "--json").out)
    assert [(each["name"], each["distance"]) for each in record["found"]] == [("plan", 1), ("split_budget", 2)]


def test_a_depth_of_four_is_refused(vade, used):
    """With the numbers that are allowed."""
    done = vade("callers", "split_budget", "--depth", "4")
    assert (done.code, done.out) == (2, "")
    assert done.err == "vade: depth 4 is not 1, 2 or 3: what is further away is related to nearly everything\n"


def test_nothing_found_and_no_such_name(vade, used):
    """Nobody calls it is an answer; a name that is not there is not found."""
    done = vade("callers", "Planner.go")
    assert done.code == 0
    assert "callers of Planner.go | none" in done.out
    done = vade("callers", "split_budge")
    assert done.code == 1
    assert "nearest: split_budget" in done.out


def test_impact_path_and_related(vade, used):
    """What may break, how one leads to another, what belongs to a line."""
    assert "Planner.go" in vade("impact", "split_budget").out
    assert "split_budget  calls exact" in vade("path", "Planner.go", "split_budget").out
    assert "called_by" in vade("related", "use.py:4", "-q", "plan").out
    assert vade("impact").code == 2
    assert vade("impact", "plan", "--diff", "HEAD").code == 2


def test_graph_writes_one_page(vade, used, tmp_path):
    """The file is named, and holds what is around the name; a place that cannot be written is an error."""
    page = tmp_path / "around.html"
    done = vade("graph", "plan", "--html", str(page))
    assert done.code == 0
    assert done.out.startswith(f"{page}: ")
    assert "split_budget" in page.read_text("utf-8")
    assert "name another file" in vade("graph", "--html", str(tmp_path / "no" / "x.html")).err
    assert "'' cannot be written" in vade("graph", "--html", "").err


def test_a_page_can_go_to_standard_output(vade, used, monkeypatch):
    """A dash is standard output, which then holds the page and nothing else; no file of that name appears."""
    monkeypatch.chdir(used)
    done = vade("graph", "plan", "--html", "-")
    assert done.code == 0
    assert done.out.startswith("<!")
    assert done.out.rstrip().endswith("</html>")
    assert not (used / "-").exists()


@pytest.mark.parametrize("revisions", ["HEAD:src", "HEAD:src..HEAD:src", "HEAD:src/budget.py"])
def test_impact_is_of_commits(vade, repo, monkeypatch, revisions):
    """A directory or a file of a commit is no range of commits: the call is refused, and says what to write."""
    monkeypatch.chdir(repo("app", {"src/budget.py": USE}).path)
    done = vade("impact", "--diff", revisions)
    assert done.code == 2
    assert f"{revisions!r} names files, not commits: write HEAD~3..HEAD" in done.err
    assert vade("impact", "--diff", "HEAD").code == 0


def test_a_file_is_named_as_it_is_seen_from_here(vade, used, monkeypatch, tmp_path):
    """In a directory below the top a path counts from there if it is there, as `vade open` takes it."""
    monkeypatch.chdir(used / "src")
    assert "src/budget.py:" in vade("related", "budget.py:2", "--repo", "..").out
    assert vade("related", "src/budget.py:2", "--repo", "..").code == 0
    assert vade("graph", "budget.py", "--repo", "..", "--html", str(tmp_path / "x.html")).code == 0


def test_what_is_no_name_is_a_wrong_call(vade, used):
    for question in (["callers", ""], ["callees", "."], ["path", "", "x"]):
        done = vade(*question)
        assert done.code == 2
        assert "is not a name" in done.err


TWICE = "def split_budget(total):\n    return total\n\n\ndef halve(total):\n    return split_budget(total)\n"


@pytest.fixture
def twice(used):
    """A second function of the name, in another directory, with a caller of its own."""
    (used / "other").mkdir()
    (used / "other" / "half.py").write_text(TWICE)
    return used


@pytest.mark.parametrize("where", ["other", "other/half.py", "./other/"])
def test_a_path_says_which_of_several_is_meant(vade, twice, where):
    """Callers are those of the whole repository."""
    assert "2 definitions taken together; add a path to choose" in vade("callers", "split_budget").out
    assert "2 definitions; add a path to choose" in vade("symbol", "split_budget").out
    said = vade("callers", "split_budget", where).out
    assert "halve  called_by exact" in said
    assert "plan" not in said
    said = vade("callers", "split_budget", "src").out
    assert "plan  called_by exact" in said
    assert "halve" not in said


def test_all_questions_about_names_take_paths(vade, twice):
    """As `symbol` does."""
    places = [each["path"] for each in json.loads(vade("symbol", "split_budget", "other", "--json").out)["evidence"]]
    assert places == ["other/half.py"]
    for verb in ("callers", "callees", "impact", "related"):
        of = json.loads(vade(verb, "split_budget", "other", "--json").out)["of"]
        assert [each["path"] for each in of] == ["other/half.py"], verb
    assert "split_budget  calls exact" in vade("path", "halve", "split_budget", "other").out
    assert "'plan' is defined nowhere below other; it is in use.py" in vade("path", "plan", "split_budget", "other").out


def test_a_path_narrows_a_diff(vade, twice):
    """Beside `--diff` what stands first is a PATH."""
    for command in (["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "two"]):
        subprocess.run(["git", *command], cwd=twice, check=True)
    for file in (twice / "src" / "budget.py", twice / "other" / "half.py"):
        file.write_text(file.read_text().replace("return", "return 1 +"))
    both = json.loads(vade("impact", "--diff", "HEAD", "--json").out)["of"]
    assert {each["path"] for each in both} == {"src/budget.py", "other/half.py"}
    one = json.loads(vade("impact", "--diff", "HEAD", "other", "--json").out)["of"]
    assert {each["path"] for each in one} == {"other/half.py"}


def test_a_path_and_a_repository_or_two_repositories_are_refused(vade, twice, tmp_path):
    """A graph is that of one repository."""
    done = vade("callers", "split_budget", "src", "--repo", ".")
    assert (done.code, done.err) == (2, "vade: say where by PATH or by --repo, not by both\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = vade("callers", "split_budget", "src", str(elsewhere))
    assert (done.code, done.out) == (2, "")
    assert "a graph is that of one repository" in done.err


def test_a_graph_without_a_page_is_text(vade, used):
    """The neighbourhood of a name, as `vade related` shows it; without a name either is asked for."""
    done = vade("graph", "split_budget")
    assert (done.code, done.out) == (0, vade("related", "split_budget").out)
    assert "plan" in done.out
    done = vade("graph")
    assert done.code == 2
    assert "takes a NAME, or --html FILE" in done.err
