"""Record new transcripts and commits of this machine.

Sync writes to memory only, and nothing leaves the machine. Stopping it costs at most one batch: events are stored before the
position in the file, so events that are read again are known by their ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vademecum.errors import UsageError
from vademecum.memory.records import Event, Recorded, Role, event_id, is_time
from vademecum.memory.transcripts import AGENTS, Transcript, Wanted, found, read
from vademecum.memory.transcripts.convert import MOST, cut
from vademecum.protocols import Clock, Condition, Extractor, Store
from vademecum.types import CommitMessage

GIT = "git"
SOURCES = (*AGENTS, GIT)
_MOST_PATHS = 50  # of a commit
MOST_COMMITS_AT_ONCE = 500

# (id of the newest known commit, "" for none) → newer commits, oldest first
Commits = Callable[[str], Sequence[CommitMessage]]
Record = Callable[[Iterable[Event]], Recorded]  # stores events, without those already known


@dataclass
class Synced:
    """Counts of one sync.

    Attributes:
        files: Source → files with new events.
        events: Source → new events.
        facts: Statements in the new events.
        redacted: Secrets removed, by kind.
        unreadable: Lines that were skipped.
        packed: Compressed files that were skipped, since the package that unpacks them is missing.
    """

    files: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    facts: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0
    packed: int = 0

    def add(self, source: str, done: Recorded) -> None:
        """Add the counts of one batch."""
        self.events[source] += done.events
        self.facts += done.facts
        self.redacted.update(done.redacted)


def no_commits(_known: str) -> Sequence[CommitMessage]:
    """Return no commits, for a directory outside git."""
    return ()


@dataclass(frozen=True)
class Outside:
    """Sources outside memory, as seen from one repository.

    Attributes:
        home: The user's home directory, "" for none.
        environ: The environment, which may move agents' files.
        roots: Directories of the repository's checkouts, its own first; none outside git.
        commits: Returns new commits.
        extractor: Returns the extractor used besides the rules, or None; called on use.
    """

    home: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    commits: Commits = no_commits
    extractor: Callable[[], Extractor | None] = lambda: None


def sync(
    outside: Outside,
    record: Record,
    store: Store,
    clock: Clock,
    *,
    sources: Collection[str] = (),
    told: Callable[[str, int], None] = lambda _source, _events: None,
) -> Synced:
    """Record new events of transcripts and commits, and return the counts.

    Args:
        outside: The sources; without roots nothing is read.
        record: Stores events.
        store: Holds the position in each file.
        clock: Returns the current time.
        sources: Some of `SOURCES`; all if empty.
        told: Called with a source and its number of new events so far.

    Raises:
        UsageError: there is no such source.
        StoreError: memory cannot be written; the events recorded before are kept.
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
    if not sources or GIT in sources:
        _catch_up_commits(outside, record, store, clock, done)
        told(GIT, done.events[GIT])
    return done


def catch_up(transcript: Transcript, wanted: Wanted, record: Record, store: Store, clock: Clock, done: Synced) -> None:
    """Record the new events of one transcript. Raises `StoreError`."""
    state = load_state(store, transcript.path, transcript.agent)
    before = done.events[transcript.agent]
    for batch in read(transcript, state, wanted):
        done.unreadable += batch.skipped
        done.packed += batch.packed
        if batch.events:
            done.add(transcript.agent, record(batch.events))
        save_state(store, transcript.path, transcript.agent, batch.state, clock())
    done.files[transcript.agent] += done.events[transcript.agent] > before


def _catch_up_commits(outside: Outside, record: Record, store: Store, clock: Clock, done: Synced) -> None:
    root = outside.roots[0]
    new = list(outside.commits(load_state(store, root, GIT).get("commit", "")))
    for start in range(0, len(new), MOST_COMMITS_AT_ONCE):
        batch = new[start : start + MOST_COMMITS_AT_ONCE]
        done.add(GIT, record(_commit_events(batch, root)))
        save_state(store, root, GIT, {"commit": batch[-1].id}, clock())
    done.files[GIT] += bool(new)


def _commit_events(commits: Iterable[CommitMessage], root: str) -> Iterator[Event]:
    """Yield an event for each commit that has a message."""
    for commit in commits:
        if text := cut(commit.text.strip(), MOST[Role.COMMIT]):
            known = {"agent": GIT, "commit": commit.id, "paths": list(commit.paths[:_MOST_PATHS])}
            at = commit.at if is_time(commit.at) else 0.0  # a commit may claim any time
            id_ = event_id(commit.id, Role.COMMIT, "", 0.0)
            yield Event(id_, at, Role.COMMIT, text, "", root, commit.author, known)


def load_state(store: Store, path: str, source: str) -> dict[str, Any]:
    """Return the state of a file, {} for a new one. Raises `StoreError`."""
    where: list[Condition] = [("path", "=", _key(path)), ("importer", "=", source)]
    rows = store.scan("sources", where, ("state",)).unwrap()
    try:
        state = json.loads(str(rows[0][0])) if rows else {}
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}


def save_state(store: Store, path: str, source: str, state: Mapping[str, Any], at: float) -> None:
    """Store the state of a file. Raises `StoreError`."""
    store.upsert("sources", [(_key(path), source, json.dumps(state), at)]).unwrap()


def _key(path: str) -> str:
    """Return a path as text that a database can store."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
