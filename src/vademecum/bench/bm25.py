"""Plain BM25 over windows of lines, as in the textbook.

    score(window) = sum over the question's distinct words of  idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / average))
    idf = ln(1 + (N - n + 0.5) / (n + 0.5))

with k1 = 1.2 and b = 0.75, for N windows of which n hold the word. Words are those of the text, compound identifiers also by
their parts, and a window counts its file's path as part of its text; nothing is stemmed. Source: Robertson & Zaragoza 2009,
"The Probabilistic Relevance Framework: BM25 and Beyond", §3; Manning, Raghavan & Schütze 2008, §11.4.3.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from vademecum.bench.measures import Hit

WINDOW = 40  # lines
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def tokens_of(text: str) -> list[str]:
    """Split into lower-cased words, each compound identifier followed by its parts.

    >>> tokens_of("getHTTPResponse(max_rows)")
    ['gethttpresponse', 'get', 'http', 'response', 'max_rows', 'max', 'rows']
    """
    return [token for word in _WORD.findall(text) for token in _tokens_of_word(word)]


@functools.lru_cache(1 << 16)
def _tokens_of_word(word: str) -> tuple[str, ...]:
    parts = _PART.findall(word)
    return (word.lower(), *(part.lower() for part in parts)) if len(parts) > 1 else (word.lower(),)


class Bm25:
    r"""An index over windows of 40 lines.

    >>> index = Bm25([("src/retry.py", "def call():\n    sleep()\n"), ("src/parse.py", "def parse(line):\n    pass\n")])
    >>> index.search("where do we sleep before a retry", 10)
    [Hit(path='src/retry.py', start=1, end=2)]
    """

    def __init__(self, files: Iterable[tuple[str, str]], k1: float = 1.2, b: float = 0.75) -> None:
        """Cut files into windows, and count their words.

        `files` are paths with their texts.
        """
        self.windows: list[Hit] = []
        self._k1 = k1
        lengths: list[int] = []
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for path, content in files:
            lines = content.removesuffix("\n").split("\n") if content else []
            heading = tokens_of(path)
            for first in range(0, len(lines), WINDOW):
                part = lines[first : first + WINDOW]
                counts = Counter(heading + tokens_of("\n".join(part)))
                for token, count in counts.items():
                    postings[token].append((len(self.windows), count))
                lengths.append(counts.total())
                self.windows.append(Hit(path, first + 1, first + len(part)))
        size = np.array(lengths, np.float64)
        self._norm = k1 * (1 - b + b * size / max(size.mean(), 1.0)) if lengths else size
        self._postings = {token: np.array(rows) for token, rows in postings.items()}

    def search(self, question: str, k: int) -> list[Hit]:
        """Return the best `k` windows with a word of the question."""
        scores = np.zeros(len(self.windows))
        for token in set(tokens_of(question)):
            rows = self._postings.get(token)
            if rows is not None:
                windows, counts = rows[:, 0], rows[:, 1]
                idf = math.log(1 + (len(self.windows) - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[windows] += idf * counts * (self._k1 + 1) / (counts + self._norm[windows])
        order = np.argsort(-scores, kind="stable")[:k]
        return [self.windows[i] for i in order if scores[i] > 0]
