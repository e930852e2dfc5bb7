"""Read commit messages: sentences over wrapped lines, and stated decisions."""

from __future__ import annotations

import re
from itertools import pairwise

_WRAPPED_FROM = 50  # characters: a shorter line ends where its author ended it
_BEGINS = re.compile(r"[ \t]*(?:[-*+>#|]|\d+[.)]\s|[\w-]+: )|[ \t]{4,}")  # a list, a quotation, a trailer, code
_DECIDED = re.compile(
    r"(?i)\b(?:we|the team|on|nous)(?:['\u2019\s]+(?:have|has|ve|had|all|both|now|therefore|avons|ai|a)){0,2}\s*(?:decided|agreed|settled on|decid\u00e9|d\u00e9cid\u00e9|convenu)\b"
    r"|\b(?:it was|il a \u00e9t\u00e9) (?:decided|agreed|d\u00e9cid\u00e9|convenu)\b"
    r"|\b(?:instead of|rather than|au lieu d|plut\u00f4t que)\b.*\b(?:from now on|d\u00e9sormais|dor\u00e9navant)\b"
    r"|\b(?:from now on|d\u00e9sormais|dor\u00e9navant)\b.*\b(?:instead of|rather than|au lieu d|plut\u00f4t que)\b"
)


def unwrapped(message: str) -> str:
    r"""Join the wrapped lines of each paragraph; the length stays.

    >>> unwrapped("Subject\n\nWe decided to remove the packages topic to avoid any\nconfusion.\n- one\n- two").count("\n")
    4
    """
    lines = message.split("\n")
    out = lines[0]
    for line, after in pairwise(lines):
        goes_on = len(line.rstrip()) >= _WRAPPED_FROM and after.strip() and not _BEGINS.match(after)
        out += (" " if goes_on else "\n") + after
    return out


def is_decided(sentence: str) -> bool:
    """Return whether a sentence calls a decision one.

    >>> is_decided("We decided to use SQLite."), is_decided("I chose to go this route because indexing is big.")
    (True, False)
    """
    return _DECIDED.search(sentence) is not None
