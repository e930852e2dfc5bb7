"""Questions from the history: what is asked, of which tree, and that the answer stands there."""

from __future__ import annotations

import subprocess

import pytest

from vademecum.bench.history import history_questions
from vademecum.bench.queries import LeftOut
from vademecum.code.checkout.commits import commits, hunks_of
from vademecum.code.checkout.root import find_root


def asked(made, most=50, seed=7, prefixes=()):
    found = history_questions(find_root(made.path), prefixes, most, seed)
    assert isinstance(found, list), found
    return found


def test_each_fix_is_a_question_and_nothing_else(trade, fixes):
    """Fixes are asked about without tag and number; blanks, bumps, pages and sweeping changes are not."""
    assert {question.text for question in asked(trade)} == fixes


def test_what_says_the_same_is_asked_once(trade):
    """Of two commits with nearly the same words one is a question."""
    for path in ("web/invoice.ts", "web/shipment.ts"):
        trade.write(path, trade.read(path).replace("<b>", "<i>"))
        trade.commit(f"Slant every badge in the sidebar for {path[4:8]}")
    assert len([question for question in asked(trade) if "Slant" in question.text]) == 1


def test_the_answer_stands_in_the_tree_that_is_asked(trade):
    """The lines of the answer are, in that tree, what the commit then changed."""
    for question in asked(trade):
        (target,) = question.targets
        ((first, last),) = target.spans
        before = trade.git("show", f"{question.commit}:{target.path}").split("\n")
        assert [line.strip() for line in before[first - 1 : last]] == ["first = value + 1"]
        assert "value + 2" not in "\n".join(before)
        assert trade.git("merge-base", "--is-ancestor", question.commit, f"{question.source}~1") == ""
        assert (
            trade.git("show", f"{question.source}:{target.path}").split("\n")[first - 1].strip() == "first = value + 2"
        )


def test_the_same_seed_asks_the_same(trade):
    """A draw can be repeated, and part of the tree asked about alone."""
    assert asked(trade, most=3) == asked(trade, most=3)
    assert len(asked(trade, most=3)) == 3
    assert {q.targets[0].path for q in asked(trade, prefixes=("src/ledger.py",))} == {"src/ledger.py"}


def test_merges_and_robots_are_not_asked(trade):
    """A merge says what its commits said; a robot's words are nobody's question."""
    trade.git("checkout", "-q", "-b", "topic", "HEAD~3")
    trade.write("web/invoice.ts", trade.read("web/invoice.ts").replace("<b>", "<i>"))
    trade.git("add", "-A")
    trade.git("commit", "-q", "--author", "helper[bot] <b@example.org>", "-m", "Paint slanted letters on every badge")
    trade.git("checkout", "-q", "main")
    trade.git("merge", "-q", "--no-ff", "topic", "-m", "Paint letters of every badge slanted after all")
    assert not [question for question in asked(trade) if "badge" in question.text]


def test_why_there_is_none_is_said(repo, tmp_path, trade, sources):
    """Outside git, before the first commit, with nothing to ask, and in a shallow clone."""

    def reason(path):
        found = history_questions(find_root(path), (), 50, 7)
        assert isinstance(found, LeftOut)
        return found.reason

    assert reason(repo("plain", sources, git=False).path) == "not a git repository"
    assert reason(repo("unborn", sources, commit=False).path).startswith("no commit")
    assert reason(repo("young", sources).path).startswith("no commit")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{trade.path}", str(shallow)], check=True)
    assert "shallow clone" in reason(shallow)


def test_commits_are_read_whatever_they_say(repo):
    """Control characters, colons and odd names in a log do not mislead."""
    made = repo("odd", {"a b\té.py": "x = 1\n", "plain.py": "y = 1\n"})
    made.write("a b\té.py", "x = 2\n")
    made.commit(":100644 \x1e odd\x1f subject\ttoo")
    found = commits(find_root(made.path), 10).unwrap()
    assert [commit.subject for commit in found] == [":100644 \x1e odd\x1f subject\ttoo", "the beginning"]
    assert [(change.path, change.status) for change in found[0].changes] == [("a b\té.py", "M")]
    assert {change.status for change in found[1].changes} == {"A"}


@pytest.mark.parametrize(
    ("diff", "spans"),
    [("@@ -0,0 +1,2 @@\n+a\n+b\n", [(1, 1)]), ("@@ -4,2 +3,0 @@ f\n-a\n-b\n", [(4, 5)]), ("Binary files differ\n", [])],
)
def test_hunks_count_in_the_file_before(diff, spans):
    """Insertions at the top and deletions have lines; a binary file has none."""
    assert [hunk.span(9) for hunk in hunks_of(diff)] == spans
