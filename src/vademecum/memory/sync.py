"""The flow of catching up: what agents wrote on this machine and what git knows, recorded where it is new.

Nothing is written but to memory, nothing leaves the machine, and stopping it at any moment costs no more than the batch
at hand: events are kept first and how far a file was read after them, so what is read again is known by its ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from vademecum.errors import UsageError
from vademecum.memory.records import Event, Recorded
from vademecum.memory.transcripts import AGENTS, Transcript, Wanted, found, history, read
from vademecum.memory.transcripts.history import CommitMessage
from vademecum.protocols import Clock, Condition, Extractor, Store

SOURCES = (*AGENTS, history.NAME)
MOST_COMMITS_AT_ONCE = 500

# (id of the newest commit told before, "" for none) → what commits say, oldest first
Commits = Callable[[str], Sequence[CommitMessage]]


class Recorder(Protocol):
    """What keeps events: `Memory.record_all`."""

    def __call__(self, events: Iterable[Event], *, everywhere: bool = False) -> Recorded:
        """Keep events; those known already stay as they are."""
        ...


@dataclass
class Synced:
    """What catching up did.

    Attributes:
        files: source → files that had something new.
        events: source → events that are new.
        facts: statements read in them.
        redacted: secrets taken out, by kind.
        unreadable: lines that were passed over.
        packed: compressed files that were left, since what unpacks them is missing.
        read_on: long messages that were read to their end, since nobody waited.
    """

    files: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    facts: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0
    packed: int = 0
    read_on: int = 0

    def add(self, source: str, done: Recorded) -> None:
        """Count what one batch brought."""
        self.events[source] += done.events
        self.facts += done.facts
        self.redacted.update(done.redacted)


def no_commits(_known: str) -> Sequence[CommitMessage]:
    """Tell of no commits, as outside of git."""
    return ()


@dataclass(frozen=True)
class Outside:
    """What lies outside of memory, as it is seen from one repository.

    Attributes:
        home: the user's home directory, "" for none.
        environ: the environment, where agents are told other places.
        roots: the directories the repository is checked out in, its own first; none outside of git.
        commits: tells what commits say.
        extractor: returns what reads events beside the rules, None for nothing; called when it is to.
    """

    home: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    commits: Commits = no_commits
    extractor: Callable[[], Extractor | None] = lambda: None


def sync(
    outside: Outside,
    record: Recorder,
    store: Store,
    clock: Clock,
    *,
    sources: Collection[str] = (),
    told: Callable[[str, int], None] = lambda _source, _events: None,
) -> Synced:
    """Record what is new in transcripts and commits, and say what that was.

    Args:
        outside: where to look, and for the work in which directories; for none of them nothing is read.
        record: keeps events.
        store: where it is kept how far each file was read.
        clock: tells the time.
        sources: which of `SOURCES`; none for each.
        told: is called with a source and the number of new events it had so far.

    Raises:
        UsageError: there is no such source.
        StoreError: memory cannot be written; what was recorded before stays recorded.
    """
    if unknown := set(sources) - set(SOURCES):
        raise UsageError(f"there is no source {min(unknown)!r}: there are {', '.join(SOURCES)}")
    done = Synced()
    wanted = Wanted(outside.roots)
    if not outside.roots:
        return done
    for transcript in found(outside.home, outside.environ, wanted):
        if not sources or transcript.agent in sources:
            catch_up(transcript, wanted, record, store, clock, done)
            told(transcript.agent, done.events[transcript.agent])
    if not sources or history.NAME in sources:
        _catch_up_commits(outside, record, store, clock, done)
        told(history.NAME, done.events[history.NAME])
    return done


def catch_up(
    transcript: Transcript, wanted: Wanted, record: Recorder, store: Store, clock: Clock, done: Synced
) -> None:
    """Record what is new in one transcript. Raises `StoreError`."""
    state = load_state(store, transcript.path, transcript.agent)
    before = done.events[transcript.agent]
    for batch in read(transcript, state, wanted):
        done.unreadable += batch.skipped
        done.packed += batch.packed
        if batch.events:
            done.add(transcript.agent, record(batch.events))
        save_state(store, transcript.path, transcript.agent, batch.state, clock())
    done.files[transcript.agent] += done.events[transcript.agent] > before


def _catch_up_commits(outside: Outside, record: Recorder, store: Store, clock: Clock, done: Synced) -> None:
    root = outside.roots[0]
    new = list(outside.commits(load_state(store, root, history.NAME).get("commit", "")))
    for start in range(0, len(new), MOST_COMMITS_AT_ONCE):
        batch = new[start : start + MOST_COMMITS_AT_ONCE]
        done.add(history.NAME, record(history.events_of(batch, root)))
        save_state(store, root, history.NAME, {"commit": batch[-1].id}, clock())
    done.files[history.NAME] += bool(new)


def load_state(store: Store, path: str, source: str) -> dict[str, Any]:
    """Return how far a file has been read, {} for a new one. Raises `StoreError`."""
    where: list[Condition] = [("path", "=", _key(path)), ("importer", "=", source)]
    rows = store.scan("sources", where, ("state",)).unwrap()
    try:
        state = json.loads(str(rows[0][0])) if rows else {}
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def save_state(store: Store, path: str, source: str, state: Mapping[str, Any], at: float) -> None:
    """Keep how far a file has been read. Raises `StoreError`."""
    store.upsert("sources", [(_key(path), source, json.dumps(state), at)]).unwrap()


def _key(path: str) -> str:
    """A path as text that a database takes, whatever its bytes are."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
