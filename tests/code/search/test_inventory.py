"""The files of an index, with when they changed."""

from __future__ import annotations


def test_a_failure_of_git_is_not_remembered(repo, engine):
    """Once git answers again, files have the times of their commits."""
    made = repo()
    codebase = engine(made).codebase
    codebase.index()
    committed = int(made.git("log", "-1", "--format=%ct"))
    objects = made.path / ".git" / "objects"
    objects.rename(away := made.path.parent / "objects")
    assert committed not in {file.modified_at for file in codebase.files()[0]}
    away.rename(objects)
    assert {file.modified_at for file in codebase.files()[0]} == {committed}
