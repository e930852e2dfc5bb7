"""What git knows: roots, heads, listings, trees and blobs, on real repositories."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from vademecum.code.checkout import git
from vademecum.code.checkout.root import Root, find_root, worktrees
from vademecum.code.checkout.source import blob_id
from vademecum.errors import GitError, RootError
from vademecum.result import Err, Ok

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, "-c", "protocol.file.allow=always", "-C", str(folder), *arguments],
        env=os.environ | QUIET,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def write(folder: Path, path: str, text: str = "x = 1\n") -> Path:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return target


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """One commit on `main` with `a.py` and `src/b.py`."""
    folder = tmp_path / "repo"
    folder.mkdir()
    run(folder, "init", "-q")
    write(folder, "a.py")
    write(folder, "src/b.py", "y = 2\n")
    run(folder, "add", "-A")
    run(folder, "commit", "-qm", "first")
    return folder


def commit(folder: Path, path: str, text: str) -> str:
    write(folder, path, text)
    run(folder, "add", "-A")
    run(folder, "commit", "-qm", path)
    return run(folder, "rev-parse", "HEAD")


# find_root


def test_a_root_is_the_top_of_the_work_tree(repository: Path) -> None:
    root = find_root(repository / "src")
    top = str(repository)
    assert root == Root(top, f"{top}/.git", f"{top}/.git", top)


def test_a_root_outside_git_is_the_directory_itself(tmp_path: Path) -> None:
    assert find_root(tmp_path) == Root(str(tmp_path))


def test_a_marker_makes_a_part_of_a_repository_a_root_of_that_repository(repository: Path) -> None:
    write(repository, "src/.vade.toml", "")
    root = find_root(repository / "src")
    assert root.path == str(repository / "src")
    assert root.common_dir == str(repository / ".git")
    assert (root.work_tree, root.prefix) == (str(repository), "src/")
    write(repository, "src/new.py")
    assert sorted(git.begin_listing(root)().unwrap().files) == [".vade.toml", "b.py", "new.py"]
    assert [entry.path for entry in git.tree(root, "HEAD").unwrap()] == ["b.py"]


def test_a_marker_is_found_outside_git_too(tmp_path: Path) -> None:
    write(tmp_path, "top/.vade.toml", "")
    (tmp_path / "top/deep/er").mkdir(parents=True)
    assert find_root(tmp_path / "top/deep/er") == Root(str(tmp_path / "top"))


def test_a_link_to_a_repository_is_the_repository(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert find_root(tmp_path / "link" / "src").path == str(repository)


def test_linked_worktrees_share_their_identity(repository: Path, tmp_path: Path) -> None:
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    root = find_root(tmp_path / "side")
    assert root.path == str(tmp_path / "side")
    assert root.common_dir == find_root(repository).common_dir
    assert root.git_dir != root.common_dir
    assert git.head(root).unwrap() == git.Head(run(repository, "rev-parse", "side"), "side")
    assert sorted(git.begin_listing(root)().unwrap().files) == ["a.py", "src/b.py"]


def test_every_worktree_is_told_without_git(repository: Path, tmp_path: Path) -> None:
    """From whichever of them one asks, itself first."""
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    both = [str(repository), str(tmp_path / "side")]
    assert worktrees(find_root(repository)) == both
    assert worktrees(find_root(tmp_path / "side")) == both[::-1]
    (tmp_path / "plain").mkdir()
    assert worktrees(find_root(tmp_path / "plain")) == [str(tmp_path / "plain")]


def test_a_submodule_is_a_root_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    run(outer, "init", "-q")
    run(outer, "submodule", "--quiet", "add", str(repository), "lib/inner")
    root = find_root(outer / "lib/inner/src")
    assert root.path == str(outer / "lib/inner")
    assert root.common_dir == str(outer / ".git/modules/lib/inner")
    assert sorted(git.begin_listing(root)().unwrap().files) == ["a.py", "src/b.py"]
    listing = git.begin_listing(find_root(outer))().unwrap()
    assert (listing.files, listing.repositories) == ([".gitmodules"], ["lib/inner"])


def test_an_empty_git_directory_is_no_repository(repository: Path) -> None:
    (repository / "src/.git").mkdir()
    assert find_root(repository / "src").path == str(repository)


def test_a_worktree_whose_repository_is_gone_is_a_plain_directory(tmp_path: Path) -> None:
    write(tmp_path, "tree/.git", "gitdir: /nowhere/.git/worktrees/tree\n")
    assert find_root(tmp_path / "tree") == Root(str(tmp_path / "tree"))


def test_a_missing_directory_and_a_file_are_refused(repository: Path) -> None:
    with pytest.raises(RootError, match="does not exist"):
        find_root(repository / "nothing")
    with pytest.raises(RootError, match="is a file"):
        find_root(repository / "a.py")


def test_a_bare_repository_is_refused_with_what_to_do(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    with pytest.raises(RootError, match="worktree add"):
        find_root(tmp_path / "bare.git")
    with pytest.raises(RootError, match="name the work tree"):
        find_root(repository / ".git")
    run(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    with pytest.raises(RootError, match="no work tree"):
        find_root(repository / ".git/worktrees/side")
    run(repository, "config", "core.bare", "true")
    failure = git.begin_listing(find_root(repository))()
    assert isinstance(failure, Err)
    assert "worktree add" in str(failure.error)


# head


def test_head_tells_commit_and_branch(repository: Path) -> None:
    root = find_root(repository)
    first = run(repository, "rev-parse", "HEAD")
    assert git.head(root) == Ok(git.Head(first, "main"))
    run(repository, "checkout", "-qb", "feature/one")
    assert git.head(root) == Ok(git.Head(first, "feature/one"))
    run(repository, "pack-refs", "--all")
    assert git.head(root) == Ok(git.Head(first, "feature/one"))
    second = commit(repository, "c.py", "z = 3\n")  # a loose reference wins over the packed one
    assert git.head(root) == Ok(git.Head(second, "feature/one"))
    run(repository, "checkout", "-q", "--detach", first)
    assert git.head(root) == Ok(git.Head(first, ""))


def test_head_follows_symbolic_branches(repository: Path) -> None:
    run(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    run(repository, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert git.head(find_root(repository)) == Ok(git.Head(run(repository, "rev-parse", "HEAD"), "alias"))


def test_head_before_the_first_commit_and_outside_git(tmp_path: Path) -> None:
    assert git.head(find_root(tmp_path)) == Ok(git.Head("", ""))
    run(tmp_path, "init", "-q")
    root = find_root(tmp_path)
    assert git.head(root) == Ok(git.Head("", "main"))
    assert git.begin_listing(root)() == Ok(git.Listing([], [], []))


@pytest.mark.parametrize("content", ["garbage\n", "", "ref:\n", "\0\0"])
def test_a_damaged_head_is_named_with_what_to_write_into_it(repository: Path, content: str) -> None:
    root = find_root(repository)
    (repository / ".git/HEAD").write_text(content)
    for failure in (git.head(root), git.begin_listing(root)(), git.resolve(root, "main")):
        assert isinstance(failure, Err)
        assert str(failure.error) == (
            f"{repository}/.git/HEAD names neither a branch nor a commit: write `ref: refs/heads/BRANCH` into it"
        )


def test_a_damaged_reference_is_gits_to_judge(repository: Path) -> None:
    (repository / ".git/refs/heads/main").write_text("garbage\n")
    failure = git.head(find_root(repository))
    assert isinstance(failure, Err)
    assert "No such ref" in str(failure.error)


@pytest.mark.parametrize(
    "name", [".git", ".git/HEAD", ".git/index", ".git/packed-refs", ".git/config", ".git/info/exclude"]
)
def test_a_pipe_that_stands_for_a_file_of_git_is_never_opened(repository: Path, name: str) -> None:
    """To open one waits for ever: git is asked nothing then, or is not shown the pipe."""
    place = repository / name
    if place.is_dir():
        place.rename(repository / "away")
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    root = find_root(repository)
    if root.git_dir is not None:
        git.head(root)
        listed = git.begin_listing(root)()
        assert isinstance(listed, Ok) or "is no file" in str(listed.error)
        git.list_tracked(root)


def test_head_of_the_reftable_format(tmp_path: Path) -> None:
    try:
        run(tmp_path, "init", "-q", "--ref-format=reftable")
    except subprocess.CalledProcessError:
        pytest.skip("this git is older than the reftable format")
    first = commit(tmp_path, "a.py", "x = 1\n")
    assert git.head(find_root(tmp_path)) == Ok(git.Head(first, "main"))


# begin_listing


def test_listing_holds_what_is_tracked_or_untracked_but_not_what_is_ignored(repository: Path) -> None:
    write(repository, ".gitignore", "*.log\n")
    write(repository, "new.py")
    write(repository, "trace.log")
    (repository / "a.py").unlink()  # still in the index, and a walk finds that it is gone
    listing = git.begin_listing(find_root(repository))().unwrap()
    assert sorted(listing.files) == [".gitignore", "a.py", "new.py", "src/b.py"]
    assert git.list_ignored(find_root(repository)) == Ok(["trace.log"])


def test_a_path_in_conflict_is_listed_once(repository: Path) -> None:
    run(repository, "checkout", "-qb", "side")
    commit(repository, "a.py", "x = 'side'\n")
    run(repository, "checkout", "-q", "main")
    commit(repository, "a.py", "x = 'main'\n")
    with pytest.raises(subprocess.CalledProcessError):
        run(repository, "merge", "side")
    assert sorted(git.begin_listing(find_root(repository))().unwrap().files) == ["a.py", "src/b.py"]


def test_an_untracked_repository_is_told_apart(repository: Path) -> None:
    (repository / "inner").mkdir()
    run(repository / "inner", "init", "-q")
    commit(repository / "inner", "c.py", "x = 1\n")
    listing = git.begin_listing(find_root(repository))().unwrap()
    assert (listing.repositories, "inner/c.py" in listing.files) == (["inner"], False)


def test_odd_names_come_through(repository: Path) -> None:
    names = [
        "with space.py",
        "new\nline.py",
        "tab\tname.py",
        "-rf.py",
        "? a.py",
        "übung.py",
        os.fsdecode(b"caf\xe9.py"),
    ]
    for name in names:
        write(repository, name)
    root = find_root(repository)
    assert set(names) < set(git.begin_listing(root)().unwrap().files)
    run(repository, "add", "-A")
    assert set(names) < set(git.begin_listing(root)().unwrap().files)
    run(repository, "commit", "-qm", "odd")
    assert set(names) < {entry.path for entry in git.tree(root, "HEAD").unwrap()}


def test_a_hooks_environment_does_not_mislead(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert sorted(git.begin_listing(find_root(repository))().unwrap().files) == ["a.py", "src/b.py"]


def test_a_repository_of_another_user_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git refuses one because its settings could run programs; here they are never read."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        run(Path(name), "init", "-q")
        write(Path(name), "a.py")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # root's own settings are not for others to read
        os.seteuid(65534)
        try:
            listed = git.begin_listing(find_root(name))()
        finally:
            os.seteuid(0)
    assert listed.unwrap().files == ["a.py"]


def test_a_git_of_the_repository_is_never_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PATH has a relative entry, or an empty one, a file `git` of the current directory would be found."""
    write(repository, "git", f"#!/bin/sh\ntouch {tmp_path}/sprung\n").chmod(0o755)
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    assert "a.py" in git.begin_listing(find_root("."))().unwrap().files
    assert not (tmp_path / "sprung").exists()


def test_an_upstream_is_known_by_its_name(repository: Path, tmp_path: Path) -> None:
    """Which branch follows which is carried over from the settings of the repository."""
    run(tmp_path, "clone", "-q", str(repository), "clone")
    root = find_root(tmp_path / "clone")
    first = run(repository, "rev-parse", "HEAD")
    commit(tmp_path / "clone", "c.py", "z = 3\n")
    assert git.resolve(root, "@{upstream}") == Ok(first)
    assert git.resolve(root, "origin") == Ok(first)


def test_sha_256_a_shallow_clone_and_a_sparse_checkout_are_read(repository: Path, tmp_path: Path) -> None:
    """What git's settings say of formats holds although git does not read them."""
    (tmp_path / "wide").mkdir()
    run(tmp_path / "wide", "init", "-q", "--object-format=sha256")
    wide = commit(tmp_path / "wide", "a.py", "x = 1\n")
    root = find_root(tmp_path / "wide")
    assert (len(wide), git.resolve(root, "HEAD"), list(git.tree_ids(root, wide).unwrap())) == (64, Ok(wide), ["a.py"])
    commit(repository, "c.py", "z = 3\n")
    run(tmp_path, "clone", "-q", "--depth=1", "--sparse", f"file://{repository}", "part")
    run(tmp_path / "part", "sparse-checkout", "set", "--sparse-index", "nothing")
    root = find_root(tmp_path / "part")
    tracked = git.list_tracked(root).unwrap()
    assert tracked == {"a.py": True, "c.py": True, "src/b.py": False}
    assert set(git.begin_listing(root)().unwrap().files) == set(tracked)
    assert isinstance(git.resolve(root, "HEAD~1"), Err)


def test_without_git_installed_it_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    root = find_root(repository)
    assert git.head(root).unwrap().branch == "main"  # which needs no git
    failure = git.begin_listing(root)()
    assert isinstance(failure, Err)
    assert "not installed" in str(failure.error)
    with pytest.raises(GitError, match="cannot be run"):
        list(git.read_blobs(root, []))


# resolve, tree, blobs


def test_revisions_are_resolved(repository: Path) -> None:
    root = find_root(repository)
    first = run(repository, "rev-parse", "HEAD")
    second = commit(repository, "c.py", "z = 3\n")
    run(repository, "tag", "-am", "annotated", "v1")
    for revision, expected in (("HEAD", second), ("main~1", first), ("v1", second), (first[:9], first)):
        assert git.resolve(root, revision) == Ok(expected)


@pytest.mark.parametrize("revision", ["", "--output=/tmp/x", "-h", "nothing", "a\0b", "HEAD:a.py"])
def test_what_is_no_revision_is_refused(repository: Path, revision: str) -> None:
    failure = git.resolve(find_root(repository), revision)
    assert isinstance(failure, Err)
    assert isinstance(git.tree(find_root(repository), revision), Err)


def test_a_tree_lists_regular_files_with_sizes_and_blobs(repository: Path, tmp_path: Path) -> None:
    (repository / "link.py").symlink_to("a.py")
    write(repository, "tool.sh", "#!/bin/sh\n").chmod(0o755)
    run(tmp_path, "clone", "-q", str(repository), "other")
    run(repository, "submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    commit(repository, "empty.py", "")
    root = find_root(repository)
    entries = {entry.path: entry for entry in git.tree(root, "HEAD").unwrap()}
    assert sorted(entries) == [".gitmodules", "a.py", "empty.py", "src/b.py", "tool.sh"]
    assert (entries["a.py"].size, entries["a.py"].mtime_ns) == (6, 0)
    assert entries["a.py"].blob == blob_id(b"x = 1\n")
    ids = git.tree_ids(root, git.head(root).unwrap().commit).unwrap()
    assert ids == {path: entry.blob for path, entry in entries.items()}
    assert isinstance(git.tree_ids(root, "HEAD"), Err)


def test_the_time_of_a_files_last_commit_is_known(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the root, by the files' paths there, as of a commit and as far back as is asked."""
    after = 1_900_000_000
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{after} +0000")
    last = commit(repository, "src/tö\nb.py", "z = 3\n")
    times = git.commit_times(find_root(repository), last).unwrap()
    assert {path for path, time in times.items() if time == after} == {"src/tö\nb.py"}
    assert set(times) == {"a.py", "src/b.py", "src/tö\nb.py"}
    write(repository, "src/.vade.toml", "")
    assert set(git.commit_times(find_root(repository / "src"), last).unwrap()) == {"b.py", "tö\nb.py"}
    assert set(git.commit_times(find_root(repository), last, most=1).unwrap()) == {"src/tö\nb.py"}
    odd = commit(repository, "od\x01d.py", "z = 3\n")
    assert {"a.py", "src/b.py"} < set(git.commit_times(find_root(repository), odd).unwrap())
    assert isinstance(git.commit_times(find_root(repository), "HEAD"), Err)


def test_blobs_are_streamed_in_the_order_asked_for(repository: Path) -> None:
    contents = [f"# {number}\n" * (number + 1) for number in range(150)] + ["long line " * 400_000, "", "no newline"]
    for number, content in enumerate(contents):
        write(repository, f"many/{number}.py", content)
    run(repository, "add", "-A")
    root = find_root(repository)
    ids = [blob_id(content.encode()) for content in contents]
    missing = "0" * 40
    asked = [*ids[:70], missing, *ids[70:], ids[0]]
    got = list(git.read_blobs(root, asked))
    assert [blob for blob, _ in got] == [*ids, ids[0]]
    assert [content.decode() for _, content in got] == [*contents, contents[0]]


def test_a_reader_may_stop_early(repository: Path) -> None:
    content = b"x" * 3_000_000
    (repository / "big.txt").write_bytes(content)
    run(repository, "add", "-A")
    blobs = git.read_blobs(find_root(repository), [blob_id(content)] * 50)
    assert len(next(blobs)[1]) == len(content)
    blobs.close()


def test_what_is_no_blob_id_never_reaches_git(repository: Path) -> None:
    with pytest.raises(GitError, match="not a blob id"):
        list(git.read_blobs(find_root(repository), ["HEAD:a.py"]))


def test_a_commit_is_not_a_blob(repository: Path) -> None:
    assert list(git.read_blobs(find_root(repository), [run(repository, "rev-parse", "HEAD")])) == []
