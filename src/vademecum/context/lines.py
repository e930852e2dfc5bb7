"""Matching lines of a chunk: the window with most rare terms.

The terms are those of the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import accumulate, chain
from math import fsum, log

from vademecum.index.query import title_of
from vademecum.index.tokenize import query_terms, run_terms, runs

WINDOW = 20  # lines shown of a chunk that is longer than LONG
LONG = 50  # lines; shorter chunks are shown whole (docs/context.md)
FIRST_LINE = 0.5  # weight of a chunk's first line, its declaration, relative to the commonest term
TITLE = 2.0  # factor for terms in the first line of a long question


class Matching:
    """Weights of a question's terms, by their rarity in the results.

    A term's rarity is the number of lines that have it.

    Args:
        question: the question's text.
        snippets: the texts of the found chunks.
    """

    def __init__(self, question: str, snippets: Sequence[str]) -> None:
        self._title, self._snippets = title_of(question), snippets
        asked = frozenset(query_terms(question)[0])
        self._asked_in = cache(
            lambda run: asked.intersection(run_terms(run))
        )  # cached, because most names are on many lines

    @cached_property
    def _weights(self) -> dict[str, float]:
        title = set(query_terms(self._title)[0])
        lines = [line for snippet in self._snippets for line in snippet.split("\n")]
        counts = Counter(chain.from_iterable(map(self._matches, lines)))
        return {term: log(1 + len(lines) / count) * (TITLE if term in title else 1.0) for term, count in counts.items()}

    def _matches(self, line: str) -> set[str]:
        """Return the question's terms in a line."""
        return set().union(*map(self._asked_in, runs(line)))

    def window(self, snippet: str, most: int = WINDOW) -> tuple[int, int]:
        """Return first and last line of the best window, from 0."""
        sums = self._sums(snippet)
        size = min(most, len(sums) - 1)
        first = max(range(len(sums) - size), key=lambda start: sums[start + size] - sums[start])
        return first, first + size - 1

    def share(self, snippet: str, first: int, last: int) -> float:
        """Return the share of a chunk's matches in some lines, 0..1."""
        sums = self._sums(snippet)
        return (sums[last + 1] - sums[first]) / sums[-1] if sums[-1] else (last - first + 1) / (len(sums) - 1)

    def _sums(self, snippet: str) -> list[float]:
        weights = self._weights
        scores = [fsum(weights.get(term, 0.0) for term in self._matches(line)) for line in snippet.split("\n")]
        scores[0] += FIRST_LINE
        return list(accumulate(scores, initial=0.0))
