"""Catching up with what agents and git wrote: all of it once, of this repository only, whatever interrupts it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from vademecum import config
from vademecum.engine import Engine
from vademecum.errors import UsageError
from vademecum.memory.kinds import FactKind
from vademecum.memory.records import Role
from vademecum.memory.sync import Outside, load_state, sync
from vademecum.memory.transcripts import claude

sys.path.insert(0, str(Path(__file__).parent))
from transcript_fixtures import PROJECT, ROOT, write


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with two commits."""
    root = (tmp_path / "app").resolve()
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.py").write_text("x = 1\n", encoding="utf-8")
    git(root, "add", ".")
    git(
        root,
        "commit",
        "-q",
        "-m",
        "Add a module\n\nWe decided to use SQLite over Postgres because there is one writer.",
    )
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    git(root, "commit", "-q", "-a", "-m", "Count from two")
    return root


@pytest.fixture
def opened(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Engine]]:
    """Opens the engine on the repository, transcripts being in a home of our own."""
    for variable in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "XDG_CONFIG_HOME",
        "AIDER_CHAT_HISTORY_FILE",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = config.load(environ={"VADE_HOME": str(tmp_path / "data")}, arguments={"search.embedder": "hashing"})
    engines: list[Engine] = []

    def open_engine() -> Engine:
        engines.append(Engine.open(str(root), settings=settings))
        return engines[-1]

    yield open_engine
    for engine in engines:
        engine.close()


def place(tmp_path: Path, root: Path) -> Path:
    """Write transcripts about the repository, and one about another; returns Claude's."""
    write(tmp_path / "home", root)
    home = tmp_path / "home"
    for path in [*home.rglob("*.jsonl")]:
        text = path.read_text(encoding="utf-8").replace(ROOT, str(root))
        path.write_text(text.replace(PROJECT, hash_of(root)), encoding="utf-8")
    old = home / ".claude/projects/-home-ada-app"
    new = old.with_name("".join(c if c.isalnum() and c.isascii() else "-" for c in str(root)))
    old.rename(new)
    gemini = home / ".gemini/tmp"
    (gemini / PROJECT).rename(gemini / hash_of(root))
    return next(new.glob("*.jsonl"))


def hash_of(root: Path) -> str:
    return hashlib.sha256(str(root).encode()).hexdigest()


def test_everything_comes_once(tmp_path: Path, root: Path, opened: Callable[[], Engine]) -> None:
    """Four agents and git, in one go; asked again, nothing is new."""
    place(tmp_path, root)
    memory = opened().memory
    done = memory.sync()
    assert dict(done.events) == {"claude": 7, "codex": 5, "gemini": 6, "aider": 7, "git": 2}
    assert done.facts >= 4
    again = opened().memory.sync()
    assert sum(again.events.values()) == 0
    assert sum(again.files.values()) == 0
    told = {(each.role, each.speaker) for each in memory.events() if each.role is Role.COMMIT}
    assert (Role.COMMIT, "Ada") in told
    values = {fact.value for fact in memory.facts()}
    assert {"pnpm", "small commits", "SQLite"} <= values


def test_sessions_are_read_in_the_order_of_time(tmp_path: Path, root: Path, opened: Callable[[], Engine]) -> None:
    """What a later session takes back ends, whatever the names of their files."""
    first = place(tmp_path, root)
    row = json.loads(first.read_text(encoding="utf-8").splitlines()[4])
    said = ["TODO: add an index on orders.buyer_id before the launch.", "The index on orders.buyer_id is done."]
    for number, (name, text) in enumerate(zip("zy", said, strict=True)):
        new = row | {"uuid": name, "sessionId": name, "timestamp": f"2027-01-0{number + 1}T09:00:00.000Z"}
        path = first.with_name(f"{name}.jsonl")
        path.write_text(json.dumps(new | {"message": {"role": "user", "content": text}}) + "\n", encoding="utf-8")
        os.utime(path, (1e9 + number, 1e9 + number))
    memory = opened().memory
    memory.sync()
    assert any("index" in fact.value for fact in memory.facts(past=True))
    assert not any("index" in fact.value for fact in memory.facts(kinds=[FactKind.TODO]))


def test_what_is_new_comes_later(tmp_path: Path, root: Path, opened: Callable[[], Engine]) -> None:
    """A line more and a commit more are an event more each."""
    transcript = place(tmp_path, root)
    memory = opened().memory
    memory.sync()
    last = transcript.read_text(encoding="utf-8").splitlines()[4]
    with transcript.open("a", encoding="utf-8") as file:
        file.write(
            last.replace("From now on use pnpm, not npm.", "Never use tabs here.").replace("10:00:01", "11:00:01")
            + "\n"
        )
    git(root, "commit", "-q", "--allow-empty", "-m", "Say nothing")
    done = memory.sync()
    assert {name: count for name, count in done.events.items() if count} == {"claude": 1, "git": 1}


def test_one_source_alone_and_none_that_is_unknown(tmp_path: Path, root: Path, opened: Callable[[], Engine]) -> None:
    """Sources are asked for by name."""
    place(tmp_path, root)
    memory = opened().memory
    assert dict(memory.sync(["git"]).events) == {"git": 2}
    with pytest.raises(UsageError, match="cursor"):
        memory.sync(["cursor"])


def test_another_repositorys_work_stays_out(tmp_path: Path, root: Path, opened: Callable[[], Engine]) -> None:
    """A transcript about another directory, even one whose name begins the same, is not read into this memory."""
    transcript = place(tmp_path, root)
    transcript.write_text(
        transcript.read_text(encoding="utf-8").replace(str(root), f"{root}lication"), encoding="utf-8"
    )
    done = opened().memory.sync(["claude"])
    assert sum(done.events.values()) == 0


def test_what_was_rewritten_is_told_again_and_known(root: Path, opened: Callable[[], Engine]) -> None:
    """After a rebase the history has other commits: the new ones come, no old one comes twice."""
    memory = opened().memory
    memory.sync(["git"])
    git(root, "commit", "-q", "--amend", "-m", "Count from two, in other words")
    assert dict(memory.sync(["git"]).events) == {"git": 1}
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    assert sum(memory.sync(["git"]).events.values()) == 0


def test_secrets_do_not_come_with_it(tmp_path: Path, root: Path, opened: Callable[[], Engine]) -> None:
    """What an agent's file holds is redacted before it is kept, and counted."""
    transcript = place(tmp_path, root)
    text = transcript.read_text(encoding="utf-8").replace("pnpm test", "DB_PASSWORD=hunter2 pnpm test")
    transcript.write_text(text, encoding="utf-8")
    memory = opened().memory
    assert memory.sync(["claude"]).redacted["assignment"] == 1
    assert not [each for each in memory.events() if "hunter2" in each.text]


def test_a_crash_between_keeping_and_noting_costs_nothing(
    tmp_path: Path, root: Path, opened: Callable[[], Engine]
) -> None:
    """Events that were kept while how far the file was read was not are known by their ids."""
    place(tmp_path, root)
    memory = opened().memory
    store = memory.scopes[0].store

    class StoppedError(Exception):
        """The process ends here."""

    def stop(*_: object) -> None:
        raise StoppedError

    outside = Outside(str(tmp_path / "home"), {}, (str(root),))
    with pytest.raises(StoppedError):
        sync(outside, memory.record_all, store, stop, sources=["claude"])
    kept = len(memory.events())
    assert kept == 7
    assert load_state(store, "any", claude.NAME) == {}
    done = memory.sync(["claude"])
    assert (done.events["claude"], len(memory.events())) == (0, kept)


WHENS = st.sampled_from([
    "2026-03-01T10:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "2026-13-45", 1e308, 1e18, -1, 0, True,
    float("inf"), float("nan"), 10**400, None, "NaN", [], 1772359200, 1772359200000,
])  # fmt: skip
WORDS = st.one_of(
    st.text(st.characters(), max_size=30),
    st.sampled_from(["Always use tabs. \ud83d", "\udc00\ud83d", "We use npm.\x00", "I prefer \ud83d\ude00 over text", "\u2028"]),
)  # fmt: skip


@given(st.lists(st.tuples(WHENS, WORDS, WORDS), min_size=1, max_size=5))
@settings(
    max_examples=15, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
)
def test_whatever_transcripts_hold_memory_goes_on(
    tmp_path: Path, root: Path, opened: Callable[[], Engine], held: list[tuple[object, str, str]]
) -> None:
    """Halves of characters, zero bytes and times that no clock has: what is sound comes, and every question is answered."""
    path = (
        place(tmp_path, root)
        if not (tmp_path / "home").exists()
        else next((tmp_path / "home/.claude").rglob("*.jsonl"))
    )
    sound = {"type": "user", "cwd": str(root), "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z"}
    odd = [
        {**sound, "timestamp": when, "sessionId": name, "message": {"role": "user", "content": text}}
        for when, text, name in held
    ]
    last = {**sound, "message": {"role": "user", "content": f"Never lose the last line {len(path.read_bytes())}."}}
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(each) + "\n" for each in [*odd, last]))
    with opened() as engine:
        assert engine.memory.sync(["claude"]).events["claude"] >= 1
        found = engine.memory.recall("what must never be lost?", k=50)
        assert last["message"]["content"] in [item.event.text for item in found.evidence]
        engine.memory.timeline()
        engine.memory.build_memory_context("s", "what must never be lost?")
        lines = [line.encode() for line in engine.memory.export()]
        assert engine.memory.import_lines(line.decode() for line in lines).events == 0
