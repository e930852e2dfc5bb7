"""A token counter that needs no file and no dependency."""

from __future__ import annotations

from vademecum.index.tokenize import estimated_tokens


class PatternCounter:
    """Estimates tokens by pattern."""

    name = "pattern-1"

    def count(self, text: str) -> int:
        """Return a text's estimated tokens; 0 for empty text.

        >>> PatternCounter().count("def split(total):")
        5
        """
        return estimated_tokens(text)
