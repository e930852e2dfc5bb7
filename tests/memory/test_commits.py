"""Commits state decisions in so many words, or nothing."""

from __future__ import annotations

import pytest

from vademecum.memory.extract import extract
from vademecum.memory.records import Role


def test_a_wrapped_sentence_is_read_whole() -> None:
    """The body of a commit is wrapped at 72 columns, and a sentence goes on behind the wrap."""
    message = (
        "Remove the packages topic\n\nWe decided to remove the external packages topic to avoid\n"
        "confusing readers who look for supported software.\n"
    )
    assert [each.text for each in extract(message, Role.COMMIT)] == [
        "We decided to remove the external packages topic to avoid confusing readers who look for supported software."
    ]


@pytest.mark.parametrize(
    "message",
    [
        "fix test - auto choose port number",
        "Speed things up\n\nI chose to go this route because indexing will be a big feature.",
        "The fix was to close the file first.",
        "chore: update the author\n\nagreed with the project's author.",
        "This change resolved the issue by setting the flag.",
    ],
)
def test_work_alone_states_nothing(message: str) -> None:
    """What was done, fixed or chosen on the way is no fact."""
    assert extract(message, Role.COMMIT) == []


@pytest.mark.parametrize(
    "message",
    ["We decided to use SQLite over Postgres because there is one writer.", "From now on use pnpm instead of npm."],
)
def test_a_decision_in_so_many_words_is_read(message: str) -> None:
    """By whom it was made, or from when on it holds."""
    assert len(extract(message, Role.COMMIT)) == 1
