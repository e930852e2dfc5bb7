"""The index stays whole: derived files are rebuilt, readers see one state or the next, clean-ups drop what nothing names."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from vademecum.code.snapshot import view
from vademecum.code.snapshot.catalogue import COMMITS_KEPT, tree_hash
from vademecum.errors import StoreCorruptError
from vademecum.index import segment
from vademecum.index.arrays import load_arrays, save_arrays
from vademecum.index.segment import FORMAT
from vademecum.providers.embedders.hashing import HashingEmbedder
from vademecum.testing import CountingEmbedder


@pytest.fixture
def made(repo):
    """The sample."""
    return repo()


def directory(engine):
    return Path(engine.codebase.status()[0].database).parent


def derived(engine, kind="*"):
    return sorted(directory(engine).glob(f"{kind}*.safetensors"))


def said(engine):
    return engine.codebase.search("token budget", k=20).evidence


def test_few_derived_files_are_kept(made, engine):
    """However many edits there were, segments stay few and nothing unnamed is left."""
    opened = engine(made)
    for n in range(30):
        made.write(f"src/more{n % 9}.py", f"def more_{n}():\n    return {n}\n")
        opened.codebase.index()
    assert len(derived(opened, "segment")) <= 7
    assert len(derived(opened, "files")) == 1
    assert opened.codebase.symbol("more_29").evidence


@pytest.mark.parametrize("kind", ["segment", "files"])
@pytest.mark.parametrize("how", ["lost", "cut", "garbage"])
def test_a_damaged_derived_file_is_rebuilt(made, engine, kind, how):
    """A derived file that is lost or damaged costs time, never an answer; not even a warning is needed."""
    first = engine(made)
    expected = said(first)
    (path,) = derived(first, kind)
    first.close()
    content = path.read_bytes()
    path.unlink()
    if how != "lost":
        path.write_bytes(content[: len(content) // 2] if how == "cut" else b"garbage" * 100)
    assert said(engine(made)) == expected


@pytest.mark.parametrize("full", [False, True])
def test_a_damaged_segment_is_named_once_and_for_all(made, engine, full):
    """What makes its contents again takes its name from the index, so nobody after it hears of it."""
    first = engine(made)
    first.codebase.index()
    (path,) = derived(first, "segment")
    first.close()
    path.write_bytes(b"garbage" * 100)
    with closing(engine(made)) as second:
        codebase = second.codebase
        told = codebase.index(full=True).notes if full else [codebase.search("token budget").reason]
        assert any(f"{path} is damaged" in note for note in told)
        assert "damaged" not in codebase.search("token budget").reason
    with closing(engine(made)) as third:
        assert "damaged" not in third.codebase.search("token budget").reason
        assert third.codebase.status()[0].note == ""
        assert not any("damaged" in note for note in third.codebase.index(full=True).notes)
    assert not path.exists()


@pytest.mark.parametrize("way", ["search", "index"])
def test_a_damaged_segment_that_nothing_needs_is_named_once(made, engine, way):
    """It held what was deleted since, so nothing is made again."""
    with closing(engine(made)) as first:
        first.codebase.index()
        needed = derived(first, "segment")
        made.write("more.py", "def more():\n    return 1\n")
        first.codebase.index()
        (path,) = set(derived(first, "segment")) - set(needed)
        (made.path / "more.py").unlink()
        first.codebase.index()
    path.write_bytes(b"garbage" * 100)
    for is_told in (True, False):
        with closing(engine(made)) as opened:
            codebase = opened.codebase
            told = codebase.index().notes if way == "index" else [codebase.search("token budget").reason]
            assert any(f"{path} is damaged" in note for note in told) is is_told
            assert path not in derived(opened, "segment")


def test_a_clean_up_takes_what_killed_processes_left(made, engine):
    """An unfinished file of an hour ago goes; a young one may be another process's."""
    opened = engine(made)
    opened.codebase.index()
    old, young = (directory(opened) / name for name in ("index.db.seal.7.tmp", "manifest.8.tmp"))
    for path in (old, young):
        path.write_bytes(b"unfinished")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    opened.codebase.gc()
    assert (old.exists(), young.exists()) == (False, True)


KILLED_IN_GIT = """
import os, signal, sys
from vademecum.code.checkout.plumbing import quarantined
from vademecum.code.checkout.root import find_root
apart = quarantined(find_root(sys.argv[1]))
print(apart.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_a_clean_up_takes_what_processes_killed_beside_git_left_in_the_temporary_folder(
    made, engine, tmp_path, monkeypatch
):
    """A stand-in of yesterday goes, and nothing that its links lead to; a younger one and another's file stay."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    killed = [sys.executable, "-c", KILLED_IN_GIT, str(made.path)]
    old, young = (
        Path(subprocess.run(killed, capture_output=True, text=True, check=False).stdout.strip()) for _ in "ab"
    )
    other = tmp_path / "tmp" / "vade-git-notes.txt"
    other.write_text("a user's own")
    for path in (old, other):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert old.parent == young.parent == other.parent
    opened = engine(made)
    opened.codebase.index()
    opened.codebase.gc()
    assert (old.exists(), young.exists(), other.exists()) == (False, True, True)
    assert made.git("rev-parse", "--verify", "HEAD")


@pytest.mark.parametrize("array", ["docs", "offsets", "starts", "told_offsets"])
def test_numbers_that_point_outside_are_said_and_mended(made, engine, array):
    """A segment that reads well and is wrong inside is an error that names the command, which makes its contents again."""
    first = engine(made)
    expected = said(first)
    (path,) = derived(first, "segment")
    first.close()
    arrays, metadata = load_arrays(path)
    wrong = {name: values.copy() for name, values in arrays.items()}
    wrong[array][1:] = 2**30
    path.unlink()
    save_arrays(path, wrong, metadata)
    again = engine(made)
    if array in {"docs", "offsets"}:
        with pytest.raises(StoreCorruptError, match="vade index --full"):
            again.codebase.search("how is the token budget split", refresh=False)
    again.codebase.index(full=True)
    assert said(again) == expected


@pytest.mark.parametrize("version", [FORMAT, "0"])
def test_what_another_version_cut_is_cut_anew(made, engine, monkeypatch, version):
    """Where a version before cut files by other rules, the next use of the index cuts them by those of now."""
    with monkeypatch.context() as before:
        for module in (segment, view):
            before.setattr(module, "FORMAT", version)
        first = engine(made)
        expected = said(first)
        database = first.codebase.status()[0].database
        first.close()
    with closing(sqlite3.connect(database)) as db:
        db.execute("UPDATE chunks SET name = 'otherwise'")
        db.commit()
        now = said(engine(made))
        (otherwise,) = db.execute("SELECT count(*) FROM chunks WHERE name = 'otherwise'").fetchone()
    assert (otherwise > 0) == (version == FORMAT)
    assert [each.id for each in now] == [each.id for each in expected]


def test_an_open_engine_sees_what_another_indexed(made, engine):
    """Several engines on one index always answer from the newest complete state."""
    reader, writer = engine(made), engine(made)
    reader.codebase.index()
    for n in range(8):
        made.write("src/budget.py", f"def round_{n}():\n    pass\n")
        writer.codebase.index()
        assert reader.codebase.symbol(f"round_{n}", refresh=False).evidence
        assert not reader.codebase.symbol(f"round_{n - 1}", refresh=False).evidence


def test_gc_drops_what_nothing_names(made, engine):
    """Content of earlier states goes with a clean-up, answers stay, and a second one finds nothing."""
    opened = engine(made)
    opened.codebase.index()
    for n in range(5):
        made.write("src/budget.py", f"def round_{n}():\n    pass\n")
        opened.codebase.index()
    expected = said(opened)
    report = opened.codebase.gc()
    assert report.blobs == 5
    assert report.chunks >= 5
    assert said(opened) == expected
    assert said(engine(made)) == expected
    assert opened.codebase.gc().blobs == 0


def test_gc_keeps_what_worktrees_and_recent_commits_hold(made, engine, tmp_path):
    """Another worktree's files and an indexed commit's survive a clean-up here; a removed worktree's go."""
    old = made.git("rev-parse", "HEAD")
    made.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    other = type(made)(tmp_path / "other")
    other.write("only/there.py", "def only_there(): ...\n")
    engine(other).codebase.index()
    made.write("src/budget.py", "def new(): ...\n")
    made.commit()
    opened = engine(made)
    opened.codebase.search("token budget", commit=old)
    opened.codebase.index()
    assert opened.codebase.gc().blobs == 0
    made.git("worktree", "remove", "--force", str(other.path))
    assert opened.codebase.gc().blobs == 1


def test_another_embedder_is_never_mixed_in(made, engine):
    """Changing the embedder embeds everything again, and changing back gives the first answers."""
    first = said(engine(made, embedder="hashing:32"))
    assert {e.signals["dense"] for e in said(engine(made, embedder="hashing:48"))} != {
        e.signals["dense"] for e in first
    }
    assert said(engine(made, embedder="hashing:32")) == first


def test_an_embedder_by_name_and_as_an_object_is_the_same(made, engine):
    """`"hashing:32"` and an object of that name share their vectors."""
    expected = said(engine(made, embedder="hashing:32"))
    embedder = CountingEmbedder(HashingEmbedder("32"))
    assert said(engine(made, embedder=embedder)) == expected
    assert embedder.passages == 0


def test_a_killed_runs_leftovers_are_swept(made, engine):
    """Files that no record names go with the next run that writes."""
    opened = engine(made)
    opened.codebase.index()
    for name in ("segment-lost.safetensors", "files-lost.safetensors", "segment-x.safetensors.123.tmp"):
        (directory(opened) / name).write_bytes(b"left")
    made.write("src/new.py", "x = 1\n")
    opened.codebase.index()
    assert not [path for path in directory(opened).iterdir() if path.name.endswith(".tmp") or "lost" in path.name]


WRITER = """
import sys
from vademecum import config
from vademecum.engine import Engine
with Engine.open(sys.argv[1], settings=config.load(None), embedder="hashing") as engine:
    for n in range(int(sys.argv[2])):
        open(sys.argv[1] + f"/src/round{n % 5}.py", "w").write(f"def round_{n}():\\n    return {n}\\n")
        engine.codebase.index()
        if n % 20 == 19:
            engine.codebase.gc()
"""


@pytest.mark.slow
def test_a_reader_never_sees_half_a_state(made, engine):
    """While another process indexes and cleans up, each state that is read is whole and is what its hash says."""
    opened = engine(made)
    opened.codebase.index()
    catalogue = opened.codebase._repositories[0][0].catalogue
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", WRITER, str(made.path), "50"], env=environ) as writer:
        seen = set()
        while writer.poll() is None:
            snapshot, view = catalogue.load("worktree", str(made.path))
            assert tree_hash(view.files) == snapshot.tree_hash
            assert view.missing == ()
            seen.add(snapshot.tree_hash)
            opened.codebase.search("token budget", refresh=False)
    assert writer.returncode == 0
    assert len(seen) > 5


class MeddledStore:
    """A store in which another process writes right after the n-th look at it."""

    def __init__(self, inner, after, meddle):
        self._inner, self._left, self._meddle = inner, after, meddle

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def scan(self, *arguments):
        found = self._inner.scan(*arguments)
        self._left -= 1
        if self._left == 0:
            self._meddle()
        return found


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_a_state_that_changes_while_it_is_read_is_read_again(made, engine, after):
    """Whatever another process commits and cleans up between two looks, snapshot, files and segments belong together."""
    writer = engine(made)
    writer.codebase.index()
    opened = engine(made)
    catalogue = opened.codebase._repositories[0][0].catalogue

    def meddle():
        for path in ("src/budget.py", "src/net/retry.py"):
            made.write(path, "def changed(): ...\n")
        made.write("src/added.py", "def added(): ...\n")
        writer.codebase.index()
        writer.codebase.gc()

    catalogue.store = MeddledStore(catalogue.store, after, meddle)
    snapshot, view = catalogue.load("worktree", str(made.path))
    assert tree_hash(view.files) == snapshot.tree_hash
    assert view.missing == ()


def test_an_engine_keeps_few_of_the_commits_that_were_asked_for(made, engine):
    """A server that is asked about one commit after another holds the last ones, and answers of each as before."""
    commits = []
    for n in range(COMMITS_KEPT + 3):
        made.write("src/counted.py", f"def counted_{n}():\n    return {n}\n")
        commits.append(made.commit(f"count {n}"))
    opened = engine(made)
    for n, commit in enumerate(commits):
        assert f"counted_{n}" in opened.codebase.search("counted", commit=commit).evidence[0].snippet
    catalogue = opened.codebase._repositories[0][0].catalogue
    assert len(catalogue._loaded) <= COMMITS_KEPT + 1
    assert len(catalogue._asked) <= COMMITS_KEPT + 1
    assert "counted_0" in opened.codebase.search("counted", commit=commits[0]).evidence[0].snippet
