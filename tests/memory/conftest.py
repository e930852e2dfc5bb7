"""A memory of a repository and one for everything, on a clock that stands where it is put."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vademecum.memory.extract import read
from vademecum.memory.ledger import GLOBAL, REPOSITORY, scope_of
from vademecum.memory.memory import Memory
from vademecum.memory.records import Event, Role
from vademecum.plugins import load

NOON = 1_760_000_400.0  # 9 October 2025, 09:00 UTC
DAY = 86_400.0


@dataclass
class Clock:
    """Tells the time it was told."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += days * DAY


@dataclass
class Maker:
    """Opens memories on one directory, as several processes would, and closes their stores."""

    home: Path
    clock: Clock
    stores: list = field(default_factory=list)

    def __call__(self, **options):
        scopes = []
        for number, (name, root, folder) in enumerate(
            ((REPOSITORY, "/src/handbook", "repos/handbook"), (GLOBAL, "", "."))
        ):
            directory = self.home / folder
            store = load("store", "sqlite", path=directory / "memory.db", durable=True)
            self.stores.append(store)
            scopes.append(scope_of(number, name, root, directory, store))
        embedder = options.pop("embedder", None) or load("embedder", "hashing")
        return Memory(scopes, lambda: embedder, options.pop("extract", read), self.clock, **options)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_memory(tmp_path, clock):
    maker = Maker(tmp_path / "home", clock)
    yield maker
    for store in maker.stores:
        store.close()


@pytest.fixture
def memory(open_memory):
    return open_memory()


@pytest.fixture
def said(memory, clock):
    """Record what the user says, a minute apart."""

    def said(text, *, session="s1", role="user", **options):
        clock.now += 60
        done = memory.record(text, role=role, session=session, **options)
        return done.ids[0]

    return said


@pytest.fixture(scope="session")
def event():
    """Make an event with a short id."""

    def event(number, text, *, at=None, role=Role.USER, session="s1", **options):
        return Event(f"e{number}", NOON + number if at is None else at, role, text, session, **options)

    return event


@pytest.fixture
def vade_home(tmp_path, monkeypatch):
    """A data directory of our own for the engine."""
    monkeypatch.setenv("VADE_HOME", str(tmp_path / "vade"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "vade"
