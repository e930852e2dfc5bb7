"""Estimate how many tokens a language model reads a text as.

The patterns follow what byte-pair tokenizers make of code: words, runs of capitals, three digits, runs of signs, and a line's
end with its indent. For nine of ten pieces of code in nine languages the estimate is 0.91-1.25 times the count of o200k_base,
and 1.05 times over all 1,485 pieces. A quarter of the characters is 0.80-1.25 times, and as low as 0.65.

A letter of two bytes in UTF-8 counts as one token, a letter of three bytes as one and a half, a letter of four as three. For
Chinese, Cyrillic, Arabic, Hindi or Thai the estimate is 1.5 to 3.5 times o200k_base; a quarter of the characters is 0.3 to 0.9.
"""

from __future__ import annotations

import math
import re

_ASCII = re.compile(
    r"\n[^\S\n]{0,60}|[A-Z]?[a-z]{1,14}|[A-Z]{1,8}(?![a-z])|[A-Z]|\d{1,3}|[!-/:-@\[-`{-~]{1,12}|(?<=[^\n])[ \t]{3,60}"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
_WIDE = re.compile(r"[^\x00-\x7f]+")
_SHARE = 0.98  # of the matches, over all chunks, that o200k_base counts
_BY_BYTES = {2: 1.0, 3: 1.5, 4: 3.0}


def estimated_tokens(text: str) -> int:
    r"""Return about how many tokens a text has; 0 for none.

    >>> estimated_tokens(""), estimated_tokens("def split(total):"), estimated_tokens("\u8a9e\u5f59")
    (0, 5, 3)
    """
    found = len(_ASCII.findall(text)) * _SHARE
    if not text.isascii():
        found += sum(_weight(run[0]) for run in _WIDE.finditer(text))
    return math.ceil(found)


def _weight(run: str) -> float:
    return sum(_BY_BYTES[len(letter.encode("utf-8", "surrogatepass"))] for letter in run)
