"""Cut code, and questions about code, into terms.

A run of word characters is cut at camelCase, snake_case and digit borders; each part is lower-cased and stemmed, and a
run of several parts is also kept whole, so that `FileWalker`, `file_walker` and `fileWalker` share one compound term.
Queries and documents go through the same function. What is left out: numbers longer than eight digits (hashes,
timestamps) and parts longer than 40 characters (base64, minified names).

    >>> terms("class HTTPServer(fileWalkers):")
    ['class', 'http', 'server', 'httpserver', 'file', 'walker', 'filewalker']

A term is known to the index by its key, the first 64 bits of its BLAKE2b digest: with a million distinct terms the odds
of any collision are about 3 in 10^8, and keys of any two segments agree without a shared dictionary.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from vademecum.digests import blake2b
from vademecum.index.stem import light_stem
from vademecum.index.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from vademecum.index.counting import RunTable

_RUN = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
MAX_PART = 40  # characters of a word that is kept
_MAX_NUMBER = 8


def parts(run: str) -> list[str]:
    """Return the lower-cased parts of one run of word characters.

    >>> parts("parseHTTPResponse2_all")
    ['parse', 'http', 'response', '2', 'all']
    """
    if run.islower() and run.isalpha() and run.isascii():
        return [run]  # most runs are one word
    if run.isascii():
        return [part.lower() for part in _PART.findall(run)]
    found: list[str] = []
    for piece in run.split("_"):
        for cjk in _CJK.findall(piece):  # no spaces between words: overlapping pairs stand in for them
            found += [cjk[i : i + 2] for i in range(max(1, len(cjk) - 1))]
        rest = _CJK.sub("", piece).lower()
        if rest:
            found.append(rest)
    return found


def kept_parts(run: str) -> list[str]:
    """Return the parts of a run without long numbers and words.

    >>> kept_parts("retry_20240131120000_limit")
    ['retry', 'limit']
    """
    return [part for part in parts(run) if len(part) <= MAX_PART and not (part.isdigit() and len(part) > _MAX_NUMBER)]


def run_terms(run: str) -> tuple[str, ...]:
    """Return the stemmed parts of one run, then their compound.

    >>> run_terms("request_handlers")
    ('request', 'handler', 'requesthandler')
    """
    found = [light_stem(part) for part in kept_parts(run)]
    if len(found) > 1:
        found.append("".join(found))
    return tuple(found)


def terms(text: str) -> list[str]:
    """Return every term of a text, in order."""
    return [term for run in _RUN.findall(text) for term in run_terms(run)]


def runs(text: str) -> list[str]:
    """Return the runs of word characters of a text, in order."""
    return _RUN.findall(text)


def key(term: str) -> int:
    """Return the 64-bit key of a term.

    >>> hex(key("walker"))
    '0x7d887cc0d0f3482b'
    """
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def term_table() -> RunTable:
    """Return a table that counts terms by their keys."""
    from vademecum.index.counting import RunTable  # brings numpy, which cutting text into terms does not need

    known = lru_cache(maxsize=1 << 15)(key)
    return RunTable(_RUN, lambda run: list(map(known, run_terms(run))))


def query_terms(text: str) -> tuple[list[str], list[str]]:
    """Return the distinct terms of a question, and compounds of adjacent words.

    Stop words are dropped.

    Code may write two words as one name, so compounds are looked for too; but nobody asked for them. If nothing but
    stop words is there, they stay: a question made of `this` and `use` is about them.

        >>> query_terms("how does the file walker work")
        (['file', 'walker'], ['filewalker'])
    """
    found = _RUN.findall(text)
    asked = [run for run in found if run.lower() not in STOP_WORDS] or found
    known = {run: run_terms(run) for run in dict.fromkeys(asked)}
    own = dict.fromkeys(chain.from_iterable(known.values()))
    last = {run: these[-1] if these else "" for run, these in known.items()}
    ends = [last[run] for run in found if run in last]
    joined = dict.fromkeys(before + after for before, after in pairwise(ends) if before and after)
    return list(own), [term for term in joined if term not in own]


def lowered(text: str) -> str:
    """Return a text in lower case, of the same length.

    A character whose lower case is two characters, like `İ`, is left as is.
    """
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
