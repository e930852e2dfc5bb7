"""Git hooks: they index behind git's back, never hold it up, and leave what others wrote as it was, to the last byte."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vademecum import Engine
from vademecum.code.checkout.root import find_root
from vademecum.code.indexing.watch import HOOKS, catch_up, install, status, turn_of, uninstall
from vademecum.errors import SourceError, UsageError
from vademecum.private import exclusive

SHELL = b'#!/bin/sh\necho mine $1 >> "$MARKS"\nexit 7\n'
PYTHON = (
    b"#!%s\nimport os, sys\nopen(os.environ['MARKS'], 'a').write('python ' + ' '.join(sys.argv[1:]) + sys.stdin.read())\n"
    % sys.executable.encode()
)


@pytest.fixture(autouse=True)
def _environment(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("MARKS", str(tmp_path / "marks"))


def root_of(repo):
    return find_root(repo.path)


def write_hook(repo, name, content, mode=0o755, folder=".git/hooks"):
    path = repo.write(f"{folder}/{name}", content)
    path.chmod(mode)
    return path


def states(hooks):
    return {hook.name: hook.state for hook in hooks}


def snapshots(repo):
    """What is indexed of the worktree, by commit; nothing is brought up to date by looking."""
    with Engine.open(repo.path) as engine:
        return engine.codebase.status()[0]


def until(condition, seconds=180):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_a_commit_is_indexed_behind_gits_back(repo):
    app = repo()
    assert set(states(install(root_of(app))).values()) == {"installed"}
    app.write("new.py", "def brand_new():\n    pass\n")
    commit = app.commit()
    assert until(lambda: snapshots(app).commit == commit)


def test_a_hook_runs_nothing_of_the_repository(repo, tmp_path, monkeypatch):
    """A module of it that is called as one of Python's own, or ours, is never imported."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    app = repo()
    install(root_of(app))
    for name in ("click", "html", "json", "vademecum"):
        app.write(f"{name}.py", f"open({str(tmp_path / 'marks')!r}, 'a').write(__name__)\n")
    commit = app.commit()
    assert until(lambda: (tmp_path / "marks").exists() or snapshots(app).commit == commit)
    assert not (tmp_path / "marks").exists()


def test_a_merge_a_checkout_and_a_rewrite_are_indexed(repo):
    app = repo()
    install(root_of(app))
    app.git("checkout", "-q", "-b", "side")
    app.write("side.py", "def side():\n    pass\n")
    side = app.commit()
    app.git("checkout", "-q", "main")
    main = app.git("rev-parse", "HEAD")
    assert until(lambda: snapshots(app).commit == main)
    app.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    merged = app.git("rev-parse", "HEAD")
    assert merged != side
    assert until(lambda: snapshots(app).commit == merged)
    app.git("commit", "-q", "--amend", "-m", "other words")
    assert until(lambda: snapshots(app).commit == app.git("rev-parse", "HEAD"))


def test_git_does_not_wait(repo):
    """While another process holds the index, a commit is made at once, and is indexed in the end."""
    app = repo()
    install(root_of(app))
    with Engine.open(app.path) as engine:
        engine.codebase.index()
        lock = engine.codebase._repositories[0][0].lock
        with exclusive(lock, 0):
            app.write("new.py", "def brand_new():\n    pass\n")
            commit = app.commit()  # returns although nothing can be indexed
            assert engine.codebase.status()[0].commit != commit
    assert until(lambda: snapshots(app).commit == commit)


def test_git_works_without_vademecum(repo, monkeypatch):
    """The package is gone and so is its Python: a commit and a checkout say nothing of it."""
    app = repo()
    install(root_of(app))
    for name in HOOKS:
        path = app.path / ".git" / "hooks" / name
        path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    app.commit()
    assert app.git("checkout", "-b", "side") == ""


@pytest.mark.parametrize(
    "content", [SHELL, b'#!/usr/bin/env bash\nset -euo pipefail\necho mine $1 >> "$MARKS"; exit 7', PYTHON]
)
def test_a_hook_of_others_runs_as_before_and_is_restored(repo, content):
    """Same arguments, same exit status; after uninstalling the same bytes and mode."""
    app = repo()
    path = write_hook(app, "post-checkout", content, 0o750)
    install(root_of(app))
    assert path.read_bytes() != content
    import subprocess

    done = subprocess.run(["git", "-C", str(app.path), "checkout", "-b", "side"], capture_output=True, check=False)
    head = app.git("rev-parse", "HEAD")
    assert head in Path(os.environ["MARKS"]).read_text()
    assert done.returncode == (0 if content is PYTHON else 1)  # git says 1 for a hook's 7
    assert until(lambda: snapshots(app).branch == "side")
    uninstall(root_of(app))
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == 0o750
    assert sorted(p.name for p in path.parent.iterdir() if not p.name.endswith(".sample")) == ["post-checkout"]


def test_a_hook_gets_its_input(repo):
    """post-rewrite is told on standard input what became what: the one that was there still reads it."""
    app = repo()
    write_hook(app, "post-rewrite", PYTHON)
    install(root_of(app))
    before = app.git("rev-parse", "HEAD")
    app.git("commit", "-q", "--amend", "-m", "other words")
    assert (
        Path(os.environ["MARKS"]).read_text().split() == ["python", "amend", before, app.git("rev-parse", "HEAD")]
        or before in Path(os.environ["MARKS"]).read_text()
    )


def test_a_link_stays_a_link(repo):
    app = repo()
    app.write("tools/hook.sh", SHELL).chmod(0o755)
    path = app.path / ".git" / "hooks" / "post-commit"
    path.parent.mkdir(exist_ok=True)
    path.symlink_to("../../tools/hook.sh")
    install(root_of(app))
    app.write("a", "b")
    app.commit()
    assert "mine" in Path(os.environ["MARKS"]).read_text()
    uninstall(root_of(app))
    assert os.readlink(path) == "../../tools/hook.sh"
    assert (app.path / "tools/hook.sh").read_bytes() == SHELL


def test_a_hook_that_git_does_not_run_is_not_run_by_us(repo):
    app = repo()
    path = write_hook(app, "post-commit", SHELL, 0o644)
    install(root_of(app))
    app.write("a", "b")
    commit = app.commit()
    assert until(lambda: snapshots(app).commit == commit)
    assert not Path(os.environ["MARKS"]).exists()
    uninstall(root_of(app))
    assert path.read_bytes() == SHELL
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.fixture
def plain(repo):
    """A repository without a commit and without hooks."""
    return repo(files={"a": "b"}, commit=False)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=60)
    | st.binary(max_size=60).map(lambda tail: b"#!/bin/sh\n" + tail)
    | st.sampled_from([b"#!/bin/sh", b"", b"\r\n", b"#!/bin/sh\r\n"]),
    mode=st.sampled_from([0o755, 0o644, 0o700]),
    twice=st.booleans(),
)
def test_any_hook_is_restored_to_the_last_byte(plain, content, mode, twice):
    """Whatever it holds; the repository is the same each time, since nothing is left in it."""
    app = plain
    path = write_hook(app, "post-merge", content, mode)
    for _ in range(1 + twice):
        assert set(states(install(root_of(app))).values()) == {"installed"}
    assert set(states(uninstall(root_of(app))).values()) == {"not installed"}
    assert path.read_bytes() == content
    assert path.stat().st_mode & 0o777 == mode
    assert [p.name for p in path.parent.iterdir() if not p.name.endswith(".sample")] == ["post-merge"]


def test_what_others_added_since_stays(repo):
    """A tool that wrote into our hook keeps its lines when ours go."""
    app = repo()
    install(root_of(app))
    path = app.path / ".git" / "hooks" / "post-commit"
    path.write_text(path.read_text() + "echo theirs\n")
    uninstall(root_of(app))
    assert path.read_text().endswith("echo theirs\n")
    assert "vademecum" not in path.read_text()


def test_what_replaced_ours_is_left_alone(repo):
    app = repo()
    write_hook(app, "post-commit", PYTHON)
    install(root_of(app))
    write_hook(app, "post-commit", b"#!/bin/sh\necho other\n")
    before = status(root_of(app))[0]
    assert (before.state, "replaced" in before.detail) == ("not installed", True)
    uninstall(root_of(app))
    assert (app.path / ".git/hooks/post-commit").read_bytes() == b"#!/bin/sh\necho other\n"


def test_hooks_stand_where_git_looks(repo):
    """core.hooksPath, relative to the top as git has it; a worktree has those of its repository."""
    app = repo()
    app.git("config", "core.hooksPath", "tools/hooks")
    write_hook(app, "post-commit", b'#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n', folder="tools/hooks")
    app.write("tools/hooks/h", 'echo "by $(basename "$0")" >> "$MARKS"\n')
    install(root_of(app))
    assert (app.path / "tools/hooks/post-merge").exists()
    assert not (app.path / ".git/hooks/post-merge").exists()
    app.commit()
    assert Path(os.environ["MARKS"]).read_text() == "by post-commit\n"
    uninstall(root_of(app))
    app.git("config", "--unset", "core.hooksPath")
    app.git("worktree", "add", "-q", "../other")
    hooks = install(find_root(app.path.parent / "other"))
    assert {Path(hook.path).parent for hook in hooks} == {app.path / ".git" / "hooks"}
    other = app.path.parent / "other"
    (other / "there.py").write_text("def there():\n    pass\n")
    app.git("-C", str(other), "add", "-A")
    app.git("-C", str(other), "commit", "-q", "-m", "there")

    def indexed():
        with Engine.open(other) as engine:
            return engine.codebase.status()[0].commit

    assert until(lambda: indexed() == app.git("-C", str(other), "rev-parse", "HEAD"))


def test_hooks_of_many_repositories_index_only_those_that_are_known(repo, tmp_path, engine):
    """A directory of hooks for everything does not make an index of everything."""
    app = repo()
    app.git("config", "core.hooksPath", str(tmp_path / "all"))
    opened = engine(app)
    own = opened.codebase._repositories[0][0]
    assert catch_up(own, 0) is False
    opened.codebase.index()
    assert catch_up(own, 0) is True


def test_of_many_one_waits(repo, engine):
    """While one is about to index, others leave it to that one."""
    app = repo()
    own = engine(app).codebase._repositories[0][0]
    with exclusive(turn_of(own), 0):
        assert catch_up(own, 0) is False
    assert catch_up(own, 0) is True
    app.git("worktree", "add", "-q", "../other")
    other = engine(app.path.parent / "other").codebase._repositories[0][0]
    with exclusive(turn_of(own), 0):
        assert catch_up(other, 0) is True  # nobody waits for another worktree's turn


def test_a_folder_has_no_hooks(tmp_path):
    with pytest.raises(UsageError, match="no git repository"):
        install(find_root(tmp_path))


def test_a_place_that_is_taken_is_named(repo):
    app = repo()
    (app.path / ".git" / "hooks" / "post-merge").mkdir(parents=True)
    with pytest.raises(SourceError, match="post-merge"):
        install(root_of(app))


def test_the_verb_shows_and_does(repo, monkeypatch, capsys):
    from vademecum.cli import main

    monkeypatch.chdir(repo().path)
    assert main(["hooks"]) == 0
    assert capsys.readouterr().out.count("not installed") == len(HOOKS)
    assert main(["hooks", "install"]) == 0
    assert capsys.readouterr().out.count(" installed ") == len(HOOKS)
    assert main(["hooks", "run"]) == 0
    assert main(["hooks", "uninstall", "--json"]) == 0
    assert '"not installed"' in capsys.readouterr().out
