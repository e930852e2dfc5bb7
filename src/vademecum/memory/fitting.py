"""Text that fits: one line of a thing, and as many lines as a number of tokens allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

SNIPPET_CHARACTERS = 240
_PATTERN = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z\d]")


def fitted(sections: Sequence[tuple[str, Sequence[str]]], budget: int, count: Callable[[str], int]) -> str:
    """Return the sections that have lines, as many lines as fit; a line that does not is passed over."""
    parts: list[str] = []
    left = budget
    for heading, lines in sections:
        head = f"### {heading}"
        left_here = left - count(head + "\n\n")
        kept: list[str] = []
        for line in lines:
            cost = count(line + "\n")
            if cost <= left_here:
                kept.append(line)
                left_here -= cost
        if kept:
            parts.append("\n".join([head, *kept]))
            left = left_here
    return "\n\n".join(parts)


def one_line(text: str, most: int = SNIPPET_CHARACTERS) -> str:
    r"""Return a text on one line, cut at a word.

    >>> one_line("a  b\n c", 80), one_line("alpha beta gamma", 12)
    ('a b c', 'alpha beta…')
    """
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return flat[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather more than less: runs of six letters, of three digits, signs.

    >>> estimated_tokens("We decided on SQLite.")
    6
    """
    return len(_PATTERN.findall(text))
