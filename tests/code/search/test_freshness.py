"""No answer is silently out of date, even when nothing is indexed again first."""

from __future__ import annotations

import os

import pytest

from vademecum.types import Freshness


@pytest.fixture
def made(repo):
    """The sample."""
    return repo()


@pytest.fixture
def codebase(made, engine):
    """It, indexed."""
    codebase = engine(made).codebase
    codebase.index()
    return codebase


def first(codebase, question="retry with backoff"):
    answer = codebase.search(question, refresh=False)
    return next(e for e in answer.evidence if e.path == "src/net/retry.py" and "retry_with_backoff" in e.symbols)


def test_an_untouched_file_is_fresh(codebase):
    """What the disk still holds is fresh."""
    assert first(codebase).freshness is Freshness.FRESH


def test_a_touched_file_is_fresh(made, codebase):
    """A new time on the same content changes nothing."""
    os.utime(made.path / "src/net/retry.py", (1, 1))
    assert first(codebase).freshness is Freshness.FRESH


def test_a_moved_function_is_shown_where_it_is_now(made, codebase):
    """Lines inserted above shift the lines of the answer, which is marked, and is exactly what the file holds."""
    made.write("src/net/retry.py", "# one\n# two\n" + made.read("src/net/retry.py"))
    hit = first(codebase)
    assert (hit.freshness, hit.start_line) == (Freshness.EDITED, 6)
    assert hit.snippet == "\n".join(made.read("src/net/retry.py").split("\n")[hit.start_line - 1 : hit.end_line])
    assert hit.id.split(":")[1] == hit.commit == made.git("rev-parse", "HEAD") + "+edited"


def test_an_edited_function_is_shown_as_it_is_now(made, codebase):
    """The text of the answer is the new one, under the hash of the new text."""
    before = first(codebase)
    made.write("src/net/retry.py", made.read("src/net/retry.py").replace("attempts=3", "attempts=5"))
    after = first(codebase)
    assert after.freshness is Freshness.EDITED
    assert "attempts=5" in after.snippet
    assert after.id.split(":")[3] != before.id.split(":")[3]


@pytest.mark.parametrize("how", ["deleted", "binary", "link out"])
def test_a_file_that_is_gone_is_stale(made, codebase, how):
    """What cannot be read any more is shown as it was indexed, and said to be stale."""
    path = made.path / "src/net/retry.py"
    path.unlink()
    if how == "binary":
        path.write_bytes(b"\0\0")
    if how == "link out":
        path.symlink_to("/etc/passwd")
    hit = first(codebase)
    assert hit.freshness is Freshness.STALE
    assert "def retry_with_backoff" in hit.snippet


def test_a_directory_replaced_by_a_link_out_is_stale(made, codebase, tmp_path):
    """The file is not read through a link that replaced its directory."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "retry.py").write_text("def retry_with_backoff():\n    return 'stolen'\n")
    (made.path / "src/net").rename(tmp_path / "moved")
    (made.path / "src/net").symlink_to(outside)
    hit = first(codebase)
    assert hit.freshness is Freshness.STALE
    assert "stolen" not in hit.snippet


def test_a_function_that_is_gone_from_its_file_is_stale(made, codebase):
    """When nothing in the edited file corresponds, the old text is shown as stale."""
    made.write("src/net/retry.py", "xyzzy = {}\n")
    assert first(codebase).freshness is Freshness.STALE


def test_a_refresh_makes_it_fresh_again(made, codebase):
    """A plain search takes the edit in first."""
    made.write("src/net/retry.py", made.read("src/net/retry.py").replace("attempts=3", "attempts=5"))
    (hit,) = [e for e in codebase.search("retry with backoff").evidence if "retry_with_backoff" in e.symbols]
    assert hit.freshness is Freshness.FRESH
    assert "attempts=5" in hit.snippet


def test_the_status_says_whether_the_index_matches_the_disk(made, codebase):
    """Fresh after indexing, not fresh after an edit, fresh when the edit is taken back."""
    path, text = "src/budget.py", made.read("src/budget.py")
    assert codebase.status()[0].fresh
    made.write(path, "x = 1\n")
    assert not codebase.status()[0].fresh
    made.write(path, text)
    assert codebase.status()[0].fresh


def test_a_symbol_in_an_edited_file_is_shown_as_it_is(made, codebase):
    """Look-ups check the file too."""
    made.write("src/budget.py", "\n\n" + made.read("src/budget.py"))
    (hit,) = codebase.symbol("Budget.split", refresh=False).evidence
    assert hit.freshness is Freshness.EDITED
    assert hit.snippet == "\n".join(made.read("src/budget.py").split("\n")[hit.start_line - 1 : hit.end_line])
