"""A repository's commits as events: what was done, when and by whom, in its author's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from vademecum.memory.records import Event, Role, event_id, is_time
from vademecum.memory.transcripts.shape import MOST, cut

NAME = "git"
_MOST_PATHS = 50


class CommitMessage(Protocol):
    """A commit as git tells it; `code.checkout.commits.Message` is one."""

    @property
    def id(self) -> str:
        """Its hash."""
        ...

    @property
    def author(self) -> str:
        """Who wrote it."""
        ...

    @property
    def at(self) -> float:
        """When, in seconds since the epoch."""
        ...

    @property
    def text(self) -> str:
        """What it says."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it changed."""
        ...


def events_of(commits: Iterable[CommitMessage], root: str) -> Iterator[Event]:
    """Yield an event for each commit that says something, its time being when it was written."""
    for commit in commits:
        if text := cut(commit.text.strip(), MOST[Role.COMMIT]):
            known = {"agent": NAME, "commit": commit.id, "paths": list(commit.paths[:_MOST_PATHS])}
            at = commit.at if is_time(commit.at) else 0.0  # a commit may claim any
            yield Event(
                event_id(commit.id, Role.COMMIT, "", 0.0), at, Role.COMMIT, text, "", root, commit.author, known
            )
