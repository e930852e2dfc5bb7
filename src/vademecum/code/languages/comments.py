"""The prose in comments and docstrings, without the marks around it."""

from __future__ import annotations

import inspect
import re

# What may stand before the prose on a comment's line, and after it on its last one.
_OPENING = re.compile(
    r"^\s*(?:/\*[*!]?<?|\*(?!/)|//[/!]?<?|#[!:]?(?!\w)|#+|--+\[=*\[|--+\s?\|?|\{-+\s?\|?|=begin|;+|@\w*doc\b)[ \t]?"
)
_CLOSING = re.compile(r"\s*(?:\*+/|-\}|\]=*\]|=end)\s*$")
_CLOSES = ("*/", "-}", "]", "=end")  # few lines end so, and looking for the above costs the most of all here
_RULE = re.compile(r"^[\s*/#=\-~_+.]*$")
_BLANK_LINES = re.compile(r"\n{3,}")
_QUOTES = re.compile(r"^[A-Za-z~]*(\"\"\"|'''|\"|')")


def comment(text: str) -> str:
    r"""Return the prose of a comment, without markers and ruled lines.

    >>> comment("/**\n * Adds.\n *\n * @param a left\n */"), comment("/// Adds.\n/// Twice."), comment("# ----\n# Adds.")
    ('Adds.\n\n@param a left', 'Adds.\nTwice.', 'Adds.')
    """
    lines = []
    for line in text.split("\n"):
        bare = line.rstrip()
        if bare.endswith(_CLOSES):
            bare = _CLOSING.sub("", bare)
        if opening := _OPENING.match(bare):
            bare = bare[opening.end() :]
        if bare.startswith(('"""', "~S", "~s", '"')):
            bare = docstring(bare)
        lines.append("" if _RULE.match(bare) else bare)
    joined = _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
    return joined.removesuffix('"""').rstrip()


def docstring(text: str) -> str:
    r"""Return the prose of a docstring, without quotes and indentation.

    >>> docstring('\"\"\"Adds.\n\n    Twice.\n    \"\"\"')
    'Adds.\n\nTwice.'
    """
    opening = _QUOTES.match(text)
    if not opening:
        return inspect.cleandoc(text)
    return inspect.cleandoc(text[opening.end() :].removesuffix(opening[1])).rstrip()
