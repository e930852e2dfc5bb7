"""Amounts and lists in words, as people read and write them."""

from __future__ import annotations

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))  # in seconds


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "file"), counted(2, "file"), counted(0, "guess"), counted(3, "repository")
    ('1 file', '2 files', '0 guesses', '3 repositories')
    """
    if number == 1:
        return f"{number} {noun}"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{number} {noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}s"


def long_ago(seconds: float) -> str:
    """Return how long ago something was: `3 days ago`.

    >>> long_ago(5), long_ago(90), long_ago(3 * 86_400)
    ('just now', '1 minute ago', '3 days ago')
    """
    number, unit = next(((int(seconds // long), unit) for long, unit in _UNITS if seconds >= long), (0, ""))
    return f"{counted(number, unit)} ago" if number else "just now"


def between_commas(text: str) -> tuple[str, ...]:
    """Return the words between commas.

    >>> between_commas("files/read, git/log,")
    ('files/read', 'git/log')
    """
    return tuple(word for part in text.split(",") if (word := part.strip()))
