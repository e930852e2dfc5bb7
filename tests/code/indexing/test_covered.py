"""`vade index --only`: a part of a checkout is indexed, remembered, and every answer says what it does not cover."""

from __future__ import annotations

import shutil

import pytest

from vademecum.errors import OutsideRootError, UsageError
from vademecum.types import Verdict

FILES = {
    "app/core/a.py": "def alpha():\n    return 1\n",
    "app/core/deep/b.py": "from app.core.a import alpha\n\n\ndef beta():\n    return alpha()\n",
    "app/core/gone.py": "def gone(): ...\n",
    "app/web/c.py": "from app.core.deep.b import beta\n\n\ndef gamma():\n    return beta()\n",
    "app/.vadeignore": "gone.py\n",
    "lib/d.py": "def delta(): ...\n",
    "top.py": "def top(): ...\n",
}
KEPT = ["app/core/a.py", "app/core/deep/b.py"]


def paths(engine):
    return [facts.path for facts in engine.codebase.files()[0] if ".vadeignore" not in facts.path]


@pytest.fixture(params=[True, False], ids=["git", "folder"])
def made(repo, request):
    return repo("app", FILES, git=request.param, commit=request.param)


def test_only_a_part_is_indexed_and_the_choice_is_remembered(made, engine):
    """Ignore files above the part still count; another process, an edit and `--full` keep the choice."""
    report = engine(made).codebase.index(only=["app/core"])
    assert report.files == 2
    assert "only app/core is indexed: `vade index --only .` lifts that" in report.notes
    made.path.joinpath("app/core/new.py").write_text("def fresh(): ...\n")
    made.path.joinpath("lib/d.py").write_text("def delta(): return 2\n")
    again = engine(made)
    assert again.codebase.symbol("fresh").evidence
    assert paths(again) == [*KEPT, "app/core/new.py"]
    again.codebase.index(full=True)
    assert paths(again) == [*KEPT, "app/core/new.py"]
    [status] = again.codebase.status()
    assert status.fresh
    assert "only app/core" in status.note


def test_the_root_lifts_the_choice(made, engine):
    """Files that were left out are read then, and nothing is said any more; a later choice takes the place of one before."""
    opened = engine(made)
    opened.codebase.index(only=["app/core", "top.py"])
    assert paths(opened) == [*KEPT, "top.py"]
    opened.codebase.index(only=["lib"])
    assert paths(opened) == ["lib/d.py"]
    assert opened.codebase.index(only=["."]).notes == ()
    assert paths(opened) == [*KEPT, "app/web/c.py", "lib/d.py", "top.py"]
    assert "outside" not in opened.codebase.symbol("nobody").reason


def test_denials_name_what_is_not_covered(made, engine):
    """A symbol, a search, and the callers of a name that is not there."""
    opened = engine(made)
    opened.codebase.index(only=["app/core"])
    said = "1 path was skipped and may hold it: everything outside app/core (not indexed)"
    denied = opened.codebase.symbol("delta")
    assert denied.verdict is Verdict.NOT_FOUND
    assert said in denied.reason
    assert said in opened.codebase.search("zyzzyva quux").reason
    assert said in opened.codebase.callers("delta").reason


def test_no_callers_is_unknown_while_a_part_is_not_covered(made, engine):
    """`beta` is called from outside: nobody may say "none"; what was found does not hide it either."""
    opened = engine(made)
    assert {each.path for each in opened.codebase.callers("beta").found} == {"app/web/c.py"}
    opened.codebase.index(only=["app/core"])
    answer = opened.codebase.callers("beta")
    assert (answer.verdict, answer.reason) == ("unknown", "1 place may refer to it unseen")
    assert [str(each) for each in answer.uncovered] == ["everything outside app/core"]
    found = opened.codebase.callers("alpha")
    assert found.verdict == "found"
    assert "1 place not read may use it too" in found.reason
    opened.codebase.index(only=["."])
    assert opened.codebase.callers("delta").verdict == "none"


def test_no_callers_is_unknown_in_a_sparse_checkout(repo, engine):
    """What git did not check out may call it."""
    made = repo("app", FILES)
    made.git("sparse-checkout", "set", "--no-cone", "/app/core")
    answer = engine(made).codebase.callers("beta")
    assert answer.verdict == "unknown"
    assert "app/web" in [each.path for each in answer.uncovered]


def test_a_worktree_has_a_choice_of_its_own(repo, engine):
    """Two checkouts share contents, not what is chosen of them; a commit is indexed whole."""
    made = repo("app", FILES)
    engine(made).codebase.index(only=["app/core"])
    made.git("worktree", "add", "-q", str(made.path.parent / "second"))
    second = engine(made.path.parent / "second")
    second.codebase.index()
    assert "lib/d.py" in paths(second)
    assert engine(made).codebase.search("delta", commit="HEAD").evidence
    with pytest.raises(UsageError, match="files on disk"):
        second.codebase.index(only=["lib"], commit="HEAD")


@pytest.mark.parametrize("part", ["nowhere", "node_modules", "app/core/gone.py"])
def test_a_part_without_files_is_refused_and_the_choice_stays(repo, engine, part):
    """A word mistyped must not empty an index."""
    made = repo("app", {**FILES, ".gitignore": "node_modules/\n", "node_modules/x.js": "var x\n"})
    opened = engine(made)
    opened.codebase.index(only=["lib"])
    with pytest.raises(UsageError, match=part):
        opened.codebase.index(only=[part])
    with pytest.raises(OutsideRootError):
        opened.codebase.index(only=["../other"])
    opened.codebase.index()
    assert paths(opened) == ["lib/d.py"]


def test_a_part_that_went_leaves_nothing_and_says_so(repo, engine):
    """A switch of branches may take the folder away; what came back is indexed again."""
    made = repo("app", FILES)
    opened = engine(made)
    opened.codebase.index(only=["lib"])
    shutil.rmtree(made.path / "lib")
    assert "everything outside lib" in opened.codebase.symbol("delta").reason
    made.git("checkout", "-q", "lib")
    assert opened.codebase.symbol("delta").evidence


def test_a_name_with_signs_of_patterns_is_taken_as_it_is(repo, engine):
    """Brackets, stars and a colon in a folder's name choose that folder alone."""
    opened = engine(repo("app", {"a[b]*/x.py": "x = 1\n", "ab/y.py": "y = 1\n", ":a/z.py": "z = 1\n"}))
    opened.codebase.index(only=["a[b]*"])
    assert paths(opened) == ["a[b]*/x.py"]
    opened.codebase.index(only=[":a"])
    assert paths(opened) == [":a/z.py"]
