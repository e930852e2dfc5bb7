"""Fit text into one line, and lines into a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

SNIPPET_CHARACTERS = 240


def fitted(sections: Sequence[tuple[str, Sequence[str]]], budget: int, count: Callable[[str], int]) -> str:
    """Return the sections with as many of their lines as fit.

    A line that does not fit is skipped. A section without lines is left out.
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
