"""Nothing is shown twice within a session, whoever asks and whatever dies on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from vademecum.answers.pack import Form, Part, Piece
from vademecum.context.code import KEPT_SECONDS, turn
from vademecum.errors import StoreError, UsageError
from vademecum.testing import FixedClock

MODULE = "\n\n".join(
    f'def step_{n}(budget):\n    """Split the budget, part {n}."""\n    return budget // {n + 1}' for n in range(40)
)


def shown_by(found):
    return {key for part in found.parts for piece in part.pieces if not piece.brief for key in piece.keys}


def test_an_answer_holds_nothing_that_was_shown(repo, engine):
    """Answer after answer in one session shows what is left, and then says that there is nothing more."""
    opened = engine(repo("app", {"steps.py": MODULE}))
    seen: set[str] = set()
    for _ in range(40):
        found = opened.context("split the budget", 300, session="one")
        new = shown_by(found)
        assert new.isdisjoint(seen)
        seen |= new
        if not new:
            break
    assert not found
    assert found.shown_before > 0
    assert found.text.splitlines()[0].endswith(f" | {found.shown_before} shown before")
    assert shown_by(opened.context("split the budget", 300, session="two"))
    assert shown_by(opened.context("split the budget", 300))


def test_what_was_changed_is_new(repo, engine):
    app = repo("app", {"steps.py": "def step(budget):\n    return budget // 2\n"})
    opened = engine(app)
    assert opened.context("split the budget step", 300, session="s")
    assert not opened.context("split the budget step", 300, session="s")
    app.write("steps.py", "def step(budget):\n    return budget // 3\n")
    assert "budget // 3" in opened.context("split the budget step", 300, session="s").text


def test_what_moved_is_not_new(repo, engine):
    """A function that only slid down its file is the same function."""
    app = repo("app", {"steps.py": "def step(budget):\n    return budget // 2\n"})
    opened = engine(app)
    assert opened.context("split the budget step", 300, session="s")
    app.write("steps.py", "\n\n\n\ndef step(budget):\n    return budget // 2\n")
    assert not opened.context("split the budget step", 300, session="s")


def piece(key, form=Form.WHOLE):
    return Piece("x", (), form, None, (key,))


def test_a_signature_does_not_stand_for_the_whole(tmp_path):
    with turn(tmp_path, "s") as own:
        own.remember([Part("primary", (piece("a", Form.SIGNATURE), piece("b")))])
    with turn(tmp_path, "s") as own:
        assert own.is_new(piece("a"))
        assert not own.is_new(piece("a", Form.SIGNATURE))
        assert not own.is_new(piece("b"))
        assert not own.is_new(piece("b", Form.SIGNATURE))


def test_a_line_that_was_cut_off_is_not_believed(tmp_path):
    """A process that died while writing leaves half a key; what is written next does not grow out of it."""
    with turn(tmp_path, "s") as own:
        own.remember([Part("primary", (piece("a"),))])
    (file,) = (tmp_path / "sessions").glob("*.shown")
    file.write_bytes(file.read_bytes() + b"half")
    with turn(tmp_path, "s") as own:
        assert not own.is_new(piece("a"))
        own.remember([Part("primary", (piece("b"),))])
    with turn(tmp_path, "s") as own:
        assert not own.is_new(piece("b"))


def test_an_answer_that_fails_is_not_remembered(tmp_path):
    with pytest.raises(KeyError), turn(tmp_path, "s"):
        raise KeyError
    with turn(tmp_path, "s") as own:
        assert own.is_new(piece("a"))


def test_processes_share_a_session(repo, engine):
    """Six at once, each its own process: together they show nothing twice."""
    app = repo("app", {"steps.py": MODULE})
    engine(app).codebase.index()
    code = (
        "import sys; from vademecum import Engine, config\n"
        "with Engine.open(sys.argv[1], embedder='hashing') as engine:\n"
        "    found = engine.context('split the budget', 250, session='shared')\n"
        "    print(*(k for part in found.parts for piece in part.pieces if not piece.brief for k in piece.keys), sep='\\n')\n"
    )

    def ask(_):
        done = subprocess.run([sys.executable, "-c", code, str(app.path)], capture_output=True, text=True, check=True, timeout=120, env=os.environ)  # fmt: skip
        return done.stdout.split()

    with ThreadPoolExecutor(6) as pool:
        shown = [key for keys in pool.map(ask, range(6)) for key in keys]
    assert len(shown) >= 6
    assert len(shown) == len(set(shown))


def test_old_sessions_are_forgotten(tmp_path):
    clock = FixedClock(1e10)
    with turn(tmp_path, "old") as own:
        own.remember([Part("primary", (piece("a"),))])
    os.utime(next((tmp_path / "sessions").glob("*.shown")), (clock.now, clock.now))
    clock.now += KEPT_SECONDS - 1
    with turn(tmp_path, "other", clock):
        pass
    with turn(tmp_path, "old", clock) as own:
        assert not own.is_new(piece("a"))
    clock.now += 2
    with turn(tmp_path, "old", clock) as own:
        assert own.is_new(piece("a"))


@pytest.mark.parametrize("name", ["../../escape", "a/b", "\n", "\ud800", "x" * 200])
def test_any_name_will_do(tmp_path, name):
    """A name is never a path."""
    with turn(tmp_path / "home", name) as own:
        own.remember([Part("primary", (piece("a"),))])
    with turn(tmp_path / "home", name) as own:
        assert not own.is_new(piece("a"))
    assert {path.name for path in tmp_path.iterdir()} == {"home"}


def test_a_name_without_end_is_refused(tmp_path):
    with pytest.raises(UsageError, match="too long"), turn(tmp_path, "x" * 201):
        pass


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    """A file stands where the directory would be: not even root can write below it."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="VADE_HOME"), turn(tmp_path / "file", "s"):
        pass
