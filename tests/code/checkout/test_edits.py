"""The files on disk beside a commit: compared and blamed as git does it, without git's seeing them."""

from __future__ import annotations

import pytest

from vademecum.code.checkout.commits import blame
from vademecum.code.checkout.root import find_root
from vademecum.code.documented_codebase import writers
from vademecum.result import Err

FILES = {
    "app/price.py": "def price(item):\n    return item.cost\n\n\ndef tax(item):\n    return price(item) * 2\n",
    "app/total.py": "from app.price import price\n\n\ndef total(items):\n    return sum(map(price, items))\n",
    "lib/word.py": "def word():\n    return 'x'\n",
}
CHANGED = FILES["app/price.py"].replace("item.cost", "item.worth")


def changed(engine, repo, revisions="HEAD"):
    """The names of the declarations that a range changed."""
    return [each.name for each in engine(repo).codebase.impact(diff=revisions).of]


@pytest.mark.parametrize("revisions", ["HEAD", "main", "HEAD~0"])
def test_one_revision_is_compared_with_the_disk(repo, engine, revisions):
    made = repo("app", FILES)
    assert changed(engine, made, revisions) == []
    made.write("app/price.py", CHANGED)
    assert changed(engine, made, revisions) == ["price"]


def test_ends_of_lines_that_git_put_on_disk_are_no_change(repo, engine):
    """A checkout for Windows holds CRLF where the commit holds LF; what else changed is told alone."""
    made = repo("app", FILES)
    for path, text in FILES.items():
        made.write(path, text.replace("\n", "\r\n"))
    assert changed(engine, made) == []
    made.write("app/price.py", CHANGED.replace("\n", "\r\n"))
    assert changed(engine, made) == ["price"]


def test_a_commit_with_such_ends_is_compared_as_it_is(repo, engine):
    made = repo("app", {path: text.replace("\n", "\r\n") for path, text in FILES.items()})
    assert changed(engine, made) == []
    made.write("app/price.py", CHANGED.replace("\n", "\r\n"))
    assert changed(engine, made) == ["price"]


def test_a_new_file_counts_once_git_knows_it(repo, engine):
    """As `git diff` has it."""
    made = repo("app", FILES)
    made.write("app/new.py", "def new():\n    return 1\n")
    assert changed(engine, made) == []
    made.git("add", "app/new.py")
    assert changed(engine, made) == ["new"]


def test_a_file_that_a_sparse_checkout_leaves_out_is_not_gone(repo, engine):
    made = repo("app", FILES)
    made.git("sparse-checkout", "set", "app")
    assert not (made.path / "lib").exists()
    assert changed(engine, made) == []
    (made.path / "app/price.py").unlink()
    assert {"price", "tax"} <= set(changed(engine, made))


@pytest.mark.parametrize("revisions", ["HEAD", "HEAD~1..HEAD~0", "HEAD~1"])
def test_a_part_of_a_repository_is_compared_alone(repo, engine, revisions):
    """Where a `.vade.toml` makes a root of it, paths count from there."""
    made = repo("app", {**FILES, "app/.vade.toml": ""})
    made.write("lib/word.py", "def word():\n    return 'y'\n")
    made.write("app/price.py", CHANGED)
    if revisions != "HEAD":
        made.commit()
    found = engine(made.path / "app").codebase.impact(diff=revisions)
    assert [(each.path, each.name) for each in found.of] == [("price.py", "price")]


def test_a_repository_of_sha_256_is_compared(repo, engine):
    made = repo("app", FILES, git=False)
    made.git("init", "-q", "--object-format=sha256")
    made.commit()
    assert changed(engine, made) == []
    made.write("app/price.py", CHANGED)
    assert changed(engine, made) == ["price"]
    assert changed(engine, made, "HEAD...") == []


def test_comparing_leaves_nothing_behind(repo, engine):
    """Neither an object nor an index: a repository is only read."""
    made = repo("app", FILES)
    made.write("app/price.py", CHANGED)

    def held() -> dict[str, bytes]:
        return {str(each): each.read_bytes() for each in (made.path / ".git").rglob("*") if each.is_file()}

    before = held()
    assert changed(engine, made) == ["price"]
    assert held() == before


def test_lines_are_blamed_as_they_stand_on_disk(repo, engine):
    """Lines that an edit moved are still their writer's; those that it wrote are nobody's yet."""
    made = repo("app", FILES)
    first = made.git("rev-parse", "HEAD")
    made.write("app/price.py", CHANGED)
    second = made.commit()
    made.write("app/price.py", f"# a\n# b\n{CHANGED}")
    root, lines = find_root(made.path), f"# a\n# b\n{CHANGED}".count("\n")
    found = {at: blame(root, "app/price.py", at, at).unwrap().split()[0].decode() for at in range(1, lines + 1)}
    assert (found[3], found[4], found[7], found[8]) == (first, second, first, first)
    assert not {found[1], found[2]} & {first, second}
    assert isinstance(blame(root, "app/nothing.py", 1, 1), Err)
    item = engine(made).codebase.symbol("price").evidence[0]
    assert {first, second} <= writers(root, item)


def test_blame_of_a_checkout_for_windows(repo):
    made = repo("app", FILES)
    first = made.git("rev-parse", "HEAD")
    made.write("app/price.py", FILES["app/price.py"].replace("\n", "\r\n"))
    said = blame(find_root(made.path), "app/price.py", 1, 6).unwrap()
    assert {line.split()[0].decode() for line in said.splitlines() if line[40:41] == b" "} == {first}
