"""Convert a repository's commits into events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vademecum.memory.records import Event, Role, event_id, is_time
from vademecum.memory.transcripts.convert import MOST, cut
from vademecum.types import CommitMessage

NAME = "git"
_MOST_PATHS = 50


def events_of(commits: Iterable[CommitMessage], root: str) -> Iterator[Event]:
    """Yield an event for each commit that has a message."""
    for commit in commits:
        if text := cut(commit.text.strip(), MOST[Role.COMMIT]):
            known = {"agent": NAME, "commit": commit.id, "paths": list(commit.paths[:_MOST_PATHS])}
            at = commit.at if is_time(commit.at) else 0.0  # a commit may claim any time
            yield Event(
                event_id(commit.id, Role.COMMIT, "", 0.0), at, Role.COMMIT, text, "", root, commit.author, known
            )
