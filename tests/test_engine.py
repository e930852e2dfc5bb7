"""Opening: what is named, what is found, what is closed again."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from vademecum import config
from vademecum.code.checkout.root import Root
from vademecum.engine import Engine
from vademecum.errors import ConsentError, RootError, StoreVersionError, UnknownProviderError
from vademecum.providers.embedders.hashing import HashingEmbedder
from vademecum.wiring.roots import distinct_names


class Remote(HashingEmbedder):
    """An embedder that says it sends text away."""

    remote = True


def test_three_lines_find_code(repo, monkeypatch):
    """Open, index, search: with nothing else set up, and the default embedder."""
    monkeypatch.chdir(repo().path)
    with Engine.open(".") as engine:
        engine.codebase.index()
        evidence = engine.codebase.search("how is the token budget split").evidence
    assert evidence[0].path in ("src/budget.py", "README.md")


def test_a_part_keeps_its_engine_open(repo):
    """What is done with one part of an engine that nobody holds finds its data open, and nothing stays open after it."""
    place = str(repo().path)
    codebase = Engine.open(place, embedder="hashing").codebase
    gc.collect()
    assert codebase.search("how is the token budget split").evidence
    memory = Engine.open(place, embedder="hashing").memory
    memory.record("We decided to keep sessions in Redis.")
    gc.collect()
    assert memory.recall("where are sessions kept").evidence
    tools = Engine.open(place, embedder="hashing").tools
    gc.collect()
    assert tools.search("anything") is not None
    del codebase, memory, tools
    gc.collect()  # Python 3.13 warns of a database that nobody closed


def test_a_search_needs_no_index_first(repo, engine):
    """The first search indexes."""
    assert engine(repo()).codebase.search("retry with backoff").evidence[0].path == "src/net/retry.py"


def test_nothing_is_written_into_the_repository(repo, engine):
    """The working tree stays as it was."""
    made = repo()
    engine(made).codebase.search("anything")
    assert made.git("status", "--porcelain", "--ignored") == ""


def test_data_is_readable_by_its_owner_only(repo, engine, tmp_path):
    """The directories that hold private code are private."""
    home = tmp_path / "home"
    engine(repo(), home=home).codebase.index()
    assert {path.parent.stat().st_mode & 0o077 for path in home.rglob("*") if path.is_file()} == {0}


def test_paths_below_a_root_open_it_once(repo, engine):
    """Two directories of one repository are one root, narrowed to both."""
    made = repo()
    opened = engine(made.path / "src", made.path / "web")
    assert [(root.name, root.path) for root in opened.roots] == [("handbook", str(made.path))]
    found = {e.path.split("/")[0] for e in opened.codebase.search("budget log readme", k=50).evidence}
    assert found == {"src", "web"}


def test_the_whole_wins_over_its_parts(repo, engine):
    """Naming the top as well as a part is naming the top."""
    made = repo()
    found = engine(made.path / "src", made).codebase.search("token budget", k=50).evidence
    assert "README.md" in {e.path for e in found}


def test_a_link_to_a_repository_opens_it(repo, engine, tmp_path):
    """A symbolic link is the directory it leads to."""
    made = repo()
    (tmp_path / "alias").symlink_to(made.path)
    assert engine(tmp_path / "alias").roots == engine(made).roots


@pytest.mark.parametrize("inside", [".git", ".git/refs"])
def test_gits_own_data_is_refused(repo, engine, inside):
    """A directory of git's is not source."""
    with pytest.raises(RootError, match="git's own data"):
        engine(repo().path / inside)


def test_an_unknown_embedder_is_named(repo, engine):
    """A name that no provider has is refused with the nearest."""
    with pytest.raises(UnknownProviderError, match="did you mean 'static'"):
        engine(repo(), embedder="statik").codebase.index()


def test_nothing_is_sent_away_without_consent(repo, engine):
    """A remote embedder is refused before it sees any text, unless the user agreed."""
    made = repo()
    with pytest.raises(ConsentError, match="allow_remote"):
        engine(made, embedder=Remote()).codebase.index()
    assert engine(made, embedder=Remote(), privacy__allow_remote=True).codebase.index().files == 6


def test_a_failed_opening_closes_what_it_opened(repo, engine):
    """When the second repository cannot be opened, the first one's database is let go of."""
    import sqlite3
    from contextlib import closing

    one, two = repo("one"), repo("two")
    database = engine(two).codebase.status()[0].database
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA user_version=999")
    with pytest.raises(StoreVersionError):
        engine(one, two)
    held = subprocess.run(["ls", "-l", f"/proc/{os.getpid()}/fd"], capture_output=True, text=True, check=False).stdout
    assert "/one-" not in held


def test_a_closed_engine_can_be_closed_again(repo):
    """Closing twice is fine."""
    engine = Engine.open(repo().path, settings=config.load(None), embedder="hashing")
    engine.close()
    engine.close()


def test_names_are_distinct_however_deep_they_differ():
    """As many parent directories as it takes stand in front."""
    roots = [Root("/a/x/app"), Root("/b/x/app"), Root("/b/y/app"), Root("/lib")]
    assert len(set(distinct_names(roots))) == 4
    assert distinct_names([Root("/a/app")], {"app"}) != ["app"]


def test_two_answers_in_two_processes_are_equal(repo, tmp_path, monkeypatch):
    """Hash seeds, processes and runs change nothing of an answer."""
    made = repo()
    code = (
        "import sys;from vademecum.engine import Engine;from vademecum import config;"
        "e=Engine.open(sys.argv[1],settings=config.load(None),embedder='hashing');"
        "print([(x.id,x.score,x.signals) for x in e.codebase.search('split the token budget').evidence])"
    )
    outputs = []
    for seed in "12":
        environ = os.environ | {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONHASHSEED": seed,
            "VADE_HOME": str(tmp_path / seed),
        }
        done = subprocess.run(
            [sys.executable, "-c", code, str(made.path)], env=environ, capture_output=True, text=True, check=True
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] != "[]\n"


def test_a_script_that_closes_nothing_ends_in_silence(repo, tmp_path):
    """The interpreter's end closes what is open, while that is still possible."""
    script = "from vademecum import Engine\ne = Engine.open('.', embedder='hashing')\nprint(len(e.codebase.search('budget').evidence))\n"
    environ = {"PATH": os.environ["PATH"], "VADE_HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=repo().path, env=environ, capture_output=True, text=True, check=True
    )
    assert int(ended.stdout) > 0
    assert ended.stderr == ""
