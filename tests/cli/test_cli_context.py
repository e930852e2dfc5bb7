"""`vade context`: what to read for a task, printed."""

from __future__ import annotations

import json
import subprocess

import pytest

from vademecum.index.tokenize import PatternCounter


def test_a_context_is_printed_within_its_budget(vade, repository):
    done = vade("context", "retry with a pause that doubles", "--budget", "200")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("resolved ")
    assert "### src/retry.py:1-" in done.out
    assert PatternCounter().count(done.out) <= 200


def test_a_task_is_read_from_standard_input(vade, repository):
    done = vade("context", "-", "--json", stdin="split the token budget\n\nIt is split twice.\n")
    said = json.loads(done.out)
    assert said["task"].endswith("It is split twice.\n")
    assert said["sections"][0]["chunks"][0]["path"] == "src/budget.py"


def test_a_session_shows_nothing_twice(vade, repository):
    first = vade("context", "split the token budget", "--session", "s")
    again = vade("context", "split the token budget", "--session", "s")
    assert "src/budget.py:" in first.out
    assert "src/budget.py:" not in again.out
    assert again.code == 1


def test_nothing_found_is_exit_code_one(vade, repository):
    assert vade("context", "xylophone quantum marmalade").code == 1


def test_a_task_without_quotes_is_noticed(vade, repository):
    done = vade("context", "split", "the", "budget")
    assert done.code == 2
    assert "quotes" in done.err


def test_no_budget_is_a_wrong_call(vade, repository):
    assert vade("context", "split", "--budget", "0").code == 2
    assert vade("context", "  ").code == 2


def test_it_is_narrowed_by_directory_and_by_glob(vade, repository):
    for narrowed in (["src"], ["--path", "src/**"], ["--path", "src", "--exclude", "*.md"]):
        said = json.loads(vade("context", "split the token budget", *narrowed, "--json").out)
        assert {piece["path"].partition("/")[0] for piece in said["sections"][0]["chunks"]} == {"src"}


def test_a_commit_is_asked_for(vade, repository):
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "all"], check=True)
    (repository / "src" / "budget.py").write_text("GONE = True\n")
    assert "def split" in vade("context", "split the token budget", "--commit", "HEAD").out
    done = vade("context", "split the token budget", "--commit", "no-such")
    assert done.code == 3
    assert "no-such" in done.err


@pytest.mark.parametrize("verb", [["context", "split the token budget"], ["map"]])
def test_a_budget_that_nothing_fits_is_said_to_be_too_small(vade, repository, verb):
    """Nothing on standard output, which the budget holds for, and the way out on the other."""
    done = vade(*verb, "--budget", "2")
    assert (done.out, done.code) == ("", 1)
    assert "give more with --budget" in done.err
