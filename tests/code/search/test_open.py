"""Lines of a file, from disk or from a commit; nothing outside the root and no secrets."""

from __future__ import annotations

import os

import pytest

from vademecum.errors import GitError, OutsideRootError, SourceError, UnknownError, UsageError
from vademecum.types import Freshness


@pytest.fixture
def made(repo):
    """A repository with a numbered file."""
    return repo("app", {"src/n.txt": "".join(f"line {n}\n" for n in range(1, 51)), "empty.py": "", ".env": "TOKEN=1\n"})


@pytest.fixture
def codebase(made, engine):
    """It, open."""
    return engine(made).codebase


@pytest.mark.parametrize(
    ("location", "first", "last"),
    [("src/n.txt", 1, 50), ("src/n.txt:7", 7, 7), ("src/n.txt:10-12", 10, 12), ("src/n.txt:49-99", 49, 50), ("./src/n.txt:1", 1, 1),
     (" src/n.txt:3-3 ", 3, 3), ("src/n.txt:3:12", 3, 3), ("src/n.txt#L3-L5", 3, 5), ("src/n.txt#L4", 4, 4)],
)  # fmt: skip
def test_a_location_names_lines(codebase, location, first, last):
    """Lines count from 1, both ends belong, and an end past the file is its end."""
    shown = codebase.open(location)
    assert (shown.path, shown.start_line, shown.end_line) == ("src/n.txt", first, last)
    assert shown.snippet == "\n".join(f"line {n}" for n in range(first, last + 1))
    assert shown.freshness is Freshness.FRESH


def test_an_absolute_path_inside_the_root_is_fine(made, codebase):
    """What an agent copies from elsewhere works."""
    assert codebase.open(f"{made.path}/src/n.txt:2").snippet == "line 2"


def test_an_empty_file_has_no_lines(codebase):
    """An empty file is shown as nothing, without an error."""
    shown = codebase.open("empty.py")
    assert (shown.snippet, shown.start_line, shown.end_line) == ("", 0, 0)


@pytest.mark.parametrize(
    "location", ["../secret.txt", "src/../../secret.txt", "/etc/passwd", "src/out.txt", "out/secret.txt", "C:\\x"]
)
def test_nothing_outside_the_root_is_shown(made, codebase, location):
    """Parents, absolute paths and links that lead out are refused by name."""
    (made.path.parent / "secret.txt").write_text("secret")
    (made.path / "src" / "out.txt").symlink_to("../../secret.txt")
    (made.path / "out").symlink_to("..")
    with pytest.raises(OutsideRootError):
        codebase.open(location)


@pytest.mark.parametrize("location", [".env", "alias.txt", ".git/config", ".git/HEAD", ".GIT/config"])
def test_secrets_are_never_shown(made, codebase, location):
    """Not by their name, not through a link, and not what git keeps of passwords in remote addresses."""
    (made.path / "alias.txt").symlink_to(".env")
    with pytest.raises(SourceError, match="never shown"):
        codebase.open(location)


def test_a_committed_secret_is_not_shown_either(codebase):
    """A revision is no way around it."""
    with pytest.raises(SourceError, match="never shown"):
        codebase.open(".env", commit="HEAD")


@pytest.mark.parametrize("location", ["src/n.txt:0", "src/n.txt:5-4", "src/n.txt:51", ""])
def test_lines_that_are_not_there_are_named(codebase, location):
    """A wrong range is refused, saying how lines count or how many there are."""
    with pytest.raises(UsageError, match=r"lines|location"):
        codebase.open(location)


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("src", "not a regular file"),
        (".", "cannot be shown"),
    ],
)
def test_what_is_no_file_is_named(codebase, location, why):
    """Directories are named with the reason."""
    with pytest.raises(SourceError, match=why):
        codebase.open(location)


def test_a_file_that_is_not_there_is_a_wrong_call(codebase):
    with pytest.raises(UnknownError, match=r"there is no nope\.py in .*vade search nope\.py"):
        codebase.open("nope.py")


def test_a_pipe_does_not_hang(made, codebase):
    """A named pipe is not read."""
    os.mkfifo(made.path / "pipe")
    with pytest.raises(SourceError, match="not a regular file"):
        codebase.open("pipe")


def test_a_revision_is_shown_as_it_was(made, codebase):
    """`commit` reads from git: the old text, the old commit's id, even after the file is gone."""
    old = made.git("rev-parse", "HEAD")
    made.git("rm", "-q", "src/n.txt")
    made.commit()
    shown = codebase.open("src/n.txt:5", commit="HEAD~1")
    assert (shown.snippet, shown.commit, shown.id) == ("line 5", old, f"app:{old}:src/n.txt:5-5")
    with pytest.raises(SourceError, match=r"not in commit"):
        codebase.open("src/n.txt", commit="HEAD")
    with pytest.raises(GitError, match="v9"):
        codebase.open("src/n.txt", commit="v9")


def test_uncommitted_lines_are_not_called_by_the_commit(made, codebase):
    """An edited file is not shown under the id of a commit that does not hold it."""
    commit = made.git("rev-parse", "HEAD")
    assert codebase.open("src/n.txt:5").commit == commit
    made.write("src/n.txt", "changed\n")
    assert codebase.open("src/n.txt").commit == f"{commit}+edited"


def test_a_binary_file_is_not_shown(made, codebase):
    """Bytes that are no text are named as such."""
    made.write("data.txt", b"\0\1")
    with pytest.raises(SourceError, match="binary"):
        codebase.open("data.txt")


@pytest.mark.parametrize(
    ("location", "lines"), [("one.py:2", "1 line"), ("empty.py:1", "0 lines"), ("src/n.txt:51", "50 lines")]
)
def test_how_many_lines_a_file_has_is_said(made, codebase, location, lines):
    """One is not several."""
    made.write("one.py", "x = 1\n")
    with pytest.raises(UsageError, match=f"has {lines}: line"):
        codebase.open(location)
