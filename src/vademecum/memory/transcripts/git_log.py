"""Convert a repository's commits into events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from vademecum.memory.records import Event, Role, event_id, is_time
from vademecum.memory.transcripts.convert import MOST, cut

NAME = "git"
_MOST_PATHS = 50


class CommitMessage(Protocol):
    """A commit as git reports it; `code.checkout.commits.Message` is one."""

    @property
    def id(self) -> str:
        """Commit hash."""
        ...

    @property
    def author(self) -> str:
        """Author's name."""
        ...

    @property
    def at(self) -> float:
        """Time of the commit, in seconds since the epoch."""
        ...

    @property
    def text(self) -> str:
        """Commit message."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """Changed files."""
        ...


def events_of(commits: Iterable[CommitMessage], root: str) -> Iterator[Event]:
    """Yield an event for each commit that has a message."""
    for commit in commits:
        if text := cut(commit.text.strip(), MOST[Role.COMMIT]):
            known = {"agent": NAME, "commit": commit.id, "paths": list(commit.paths[:_MOST_PATHS])}
            at = commit.at if is_time(commit.at) else 0.0  # a commit may claim any time
            yield Event(
                event_id(commit.id, Role.COMMIT, "", 0.0), at, Role.COMMIT, text, "", root, commit.author, known
            )
