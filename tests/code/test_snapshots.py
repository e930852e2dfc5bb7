"""Commits, branches, worktrees and parts of a repository: each a state of its own over shared content."""

from __future__ import annotations

import pytest

from vademecum.types import Verdict


@pytest.fixture
def made(repo):
    """Two commits on main, one on a branch."""
    made = repo("app", {"a.py": "def first(): ...\n"})
    made.write("b.py", "def second(): ...\n")
    made.commit()
    made.git("checkout", "-q", "-b", "topic")
    made.write("a.py", "def third(): ...\n")
    made.commit()
    return made


def names(codebase, **narrowed):
    asked = ("first", "second", "third", "fourth")
    return {name for name in asked for e in codebase.search(name, k=9, **narrowed).evidence if name in e.symbols}


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        ("HEAD", {"second", "third"}),
        ("main", {"first", "second"}),
        ("main~1", {"first"}),
        ("topic^", {"first", "second"}),
    ],
)
def test_each_revision_is_searched_as_it_was(made, engine, revision, expected):
    """Branches, ancestors and HEAD name states, each with its own files."""
    assert names(engine(made).codebase, commit=revision) == expected


def test_a_short_id_names_the_same_state(made, engine):
    """Short and full ids give the same ids of evidence."""
    codebase, commit = engine(made).codebase, made.git("rev-parse", "HEAD")
    assert codebase.search("third", commit=commit[:8]) == codebase.search("third", commit=commit)


def test_a_commit_of_many_files_is_indexed_whole(repo, engine):
    """More files than git is asked for at once are all read, those with the same content too."""
    files = {f"part{n}/a.py": f"def part_{n // 2}(): ...\n" for n in range(300)}
    codebase = engine(repo("many", files)).codebase
    assert codebase.index(commit="HEAD").files == 300
    assert {e.path for e in codebase.search("part_149", commit="HEAD").evidence[:2]} == {"part298/a.py", "part299/a.py"}


def test_the_worktree_does_not_see_commits_and_they_do_not_see_it(made, engine):
    """Uncommitted edits are in the worktree's state only."""
    made.write("c.py", "def fourth(): ...\n")
    codebase = engine(made).codebase
    assert codebase.symbol("fourth").verdict is Verdict.RESOLVED
    assert "fourth" not in names(codebase, commit="HEAD")


def test_evidence_says_its_branch(made, engine):
    """The branch that is checked out is on the evidence; a detached head has none."""
    codebase = engine(made).codebase
    assert codebase.search("third").evidence[0].branch == "topic"
    made.git("checkout", "-q", "--detach")
    assert codebase.search("third").evidence[0].branch == ""


def test_a_commit_keeps_the_rules_of_the_walk(repo, engine):
    """Secrets, binaries and `.vadeignore` hold for commits as for the disk."""
    made = repo(
        "app",
        {
            "a.py": "def kept(): ...\n",
            ".env": "T=1\n",
            "b.txt": b"\0",
            "gen/c.py": "def made(): ...\n",
            ".vadeignore": "gen/\n",
        },
    )
    codebase = engine(made).codebase
    disk, commit = codebase.index(), codebase.index(commit="HEAD")
    assert commit.files == disk.files
    assert {s.path for s in commit.skipped} == {s.path for s in disk.skipped} - {"gen"} | {"gen/c.py"} or (
        {s.path for s in commit.skipped} == {s.path for s in disk.skipped}
    )


def test_a_part_with_its_own_settings_is_a_root_of_its_own(repo, engine):
    """A `.vade.toml` in a directory makes it a root, with paths and labels of its own."""
    made = repo(
        "mono",
        {"part/.vade.toml": "[search]\nk = 3\n", "part/a.py": "def inner(): ...\n", "b.py": "def outer(): ...\n"},
    )
    codebase = engine(made.path / "part").codebase
    assert codebase.index().commit == made.git("rev-parse", "HEAD")
    assert codebase.symbol("inner").evidence[0].path == "a.py"
    assert codebase.symbol("outer").verdict is Verdict.NOT_FOUND


def test_a_repository_within_is_not_part_of_it(repo, engine, make_repo):
    """A nested repository is reported and left to itself."""
    made = repo("outer", {"a.py": "def outer(): ...\n"})
    make_repo(made.path / "inner", {"b.py": "def inner(): ...\n"})
    report = engine(made).codebase.index()
    assert [(s.path, s.reason) for s in report.skipped] == [("inner", "another repository")]


def test_sha256_repositories_work(repo, engine, tmp_path, make_repo):
    """The newer object format is indexed, on disk and by commit."""
    made = make_repo(tmp_path / "new", {}, git=False)
    made.git("init", "-q", "-b", "main", "--object-format=sha256")
    made.write("a.py", "def first(): ...\n")
    commit = made.commit()
    codebase = engine(made).codebase
    assert codebase.index().commit.startswith(commit)
    assert names(codebase, commit="HEAD") == {"first"}
