"""Fit text into one line or into a token budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

SNIPPET_CHARACTERS = 240
_PATTERN = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z\d]")


def fitted(sections: Sequence[tuple[str, Sequence[str]]], budget: int, count: Callable[[str], int]) -> str:
    """Return the sections as Markdown, with as many lines as fit.

    A line that does not fit is skipped, and later lines may still fit. Sections without lines are left out.

    Args:
        sections: Headings, each with its lines.
        budget: Most tokens of the result.
        count: Counts the tokens of a text.
    """
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
    """Return the estimated number of tokens in a text, rather too many.

    Runs of up to six letters, runs of up to three digits, and signs count one each.

    >>> estimated_tokens("We decided on SQLite.")
    6
    """
    return len(_PATTERN.findall(text))
