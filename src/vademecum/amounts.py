"""Amounts in words, for messages and answers."""

from __future__ import annotations


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
