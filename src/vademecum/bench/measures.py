"""Measures of ranked answers, with intervals for differences between systems.

A *hit* is a chunk that a system returned: a path and the lines from `start` to `end`, counted from 1 and inclusive. A
*target* is one right answer: a path, with line spans if the label has them. Every measure is in [0, 1] and higher is
better, except for the costs `lines_returned` and `tokens_to_evidence`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

Span = tuple[int, int]

CHARACTERS_PER_TOKEN = 4  # within a third of tokenizers' counts on code; the same rule for every system
TEN = 10  # results that are measured
MOST_TOKENS = 10_000  # a reader gives up here: later evidence counts as never found
ROUNDS = 5_000  # of the bootstrap: the ends of an interval differ by about 0.002 between seeds


class Hit(NamedTuple):
    """One returned chunk: its path and its lines."""

    path: str  # relative to the indexed directory
    start: int  # lines count from 1
    end: int  # inclusive


class Target(NamedTuple):
    """One right answer: a file, whole or in some spans."""

    path: str
    spans: tuple[Span, ...] = ()


class Piece(NamedTuple):
    """One returned chunk with its reading cost."""

    hit: Hit
    tokens: int


class Reading(NamedTuple):
    """The pieces a reader gets for a question, in reading order."""

    pieces: tuple[Piece, ...]
    before: int = 0  # tokens read before the first piece

    @property
    def hits(self) -> list[Hit]:
        """The places of the pieces."""
        return [piece.hit for piece in self.pieces]


def tokens_in(text: str) -> int:
    """Estimate a text's tokens for a language model.

    >>> tokens_in("def f(): pass")
    4
    """
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def overlaps(hit: Hit, span: Span) -> bool:
    """Return whether the hit shares a line with the span.

    >>> overlaps(Hit("a.py", 10, 20), (20, 30)), overlaps(Hit("a.py", 10, 20), (21, 30))
    (True, False)
    """
    return hit.start <= span[1] and span[0] <= hit.end


def touches(hit: Hit, target: Target) -> bool:
    """Return whether the hit is in the target's file and spans.

    >>> touches(Hit("a.py", 1, 9), Target("a.py")), touches(Hit("a.py", 1, 9), Target("a.py", ((10, 12),)))
    (True, False)
    """
    return hit.path == target.path and (not target.spans or any(overlaps(hit, span) for span in target.spans))


def dcg(ranks: Iterable[int]) -> float:
    """Sum the binary gains at these ranks, with logarithmic discount.

    The discount is log2(rank + 1); ranks count from 1. Source: Järvelin & Kekäläinen 2002.

    >>> round(dcg([1, 3]), 4)  # 1/1 + 1/2
    1.5
    """
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def ndcg(ranks: Iterable[int], relevant: int, k: int = 10) -> float:
    """Divide the gain up to rank `k` by the ideal gain.

    The ideal is `relevant` answers at the top; 0 if none is relevant. Two targets found by one chunk share its rank and
    count once.

    >>> ndcg([1, 2], 2), ndcg([], 1), ndcg([11], 1)
    (1.0, 0.0, 0.0)
    >>> round(ndcg([2], 1), 4)  # 1/log2(3)
    0.6309
    """
    ideal = dcg(range(1, min(k, relevant) + 1))
    return dcg(sorted({rank for rank in ranks if rank <= k})) / ideal if ideal else 0.0


def files_of(hits: Sequence[Hit]) -> list[str]:
    """Return the files of the hits, by their best chunk.

    >>> files_of([Hit("a.py", 1, 9), Hit("b.py", 1, 9), Hit("a.py", 10, 19)])
    ['a.py', 'b.py']
    """
    return list(dict.fromkeys(hit.path for hit in hits))


def file_measures(hits: Sequence[Hit], targets: Sequence[Target]) -> dict[str, float]:
    """Return NDCG, recall and MRR at 10, and hit@1, of files.

    Files are in the order of their best chunk.

    >>> answer = [Hit("a.py", 1, 9), Hit("a.py", 10, 19), Hit("b.py", 1, 9)]
    >>> found = file_measures(answer, [Target("b.py"), Target("c.py")])
    >>> {name: round(value, 4) for name, value in found.items()}  # file rank 2 of two targets: .6309 / 1.6309
    {'file_ndcg': 0.3869, 'file_recall': 0.5, 'file_mrr': 0.5, 'file_hit1': 0.0}
    """
    wanted = {target.path for target in targets}
    ranks = [rank for rank, path in enumerate(files_of(hits)[:TEN], 1) if path in wanted]
    return {
        "file_ndcg": ndcg(ranks, len(wanted)),
        "file_recall": len(ranks) / len(wanted) if wanted else 0.0,
        "file_mrr": 1 / ranks[0] if ranks else 0.0,
        "file_hit1": float(ranks[:1] == [1]),
    }


def span_recall(hits: Sequence[Hit], targets: Sequence[Target], k: int = 10) -> float | None:
    """Return the share of target spans that the first `k` chunks touch.

    None if no target has a span.

    >>> targets = [Target("a.py", ((5, 6), (40, 44))), Target("b.py", ((1, 2),)), Target("c.py")]
    >>> round(span_recall([Hit("a.py", 1, 9), Hit("b.py", 3, 9)], targets), 4)  # one of three
    0.3333
    """
    spans = [(target.path, span) for target in targets for span in target.spans]
    if not spans:
        return None
    return sum(any(hit.path == path and overlaps(hit, span) for hit in hits[:k]) for path, span in spans) / len(spans)


def lines_returned(hits: Sequence[Hit]) -> int:
    """Count the lines of the first ten chunks.

    Each chunk counts by itself, as a reader has to read it.

    >>> lines_returned([Hit("a.py", 1, 9), Hit("b.py", 3, 3)])
    10
    """
    return sum(hit.end - hit.start + 1 for hit in hits[:TEN])


def tokens_to_evidence(reading: Reading, targets: Sequence[Target]) -> int | None:
    """Count the tokens read until the first result on a target.

    That result is included. None beyond `MOST_TOKENS`.

    >>> reading = Reading((Piece(Hit("a.py", 1, 9), 70), Piece(Hit("b.py", 1, 9), 80)), before=20)
    >>> tokens_to_evidence(reading, [Target("b.py")]), tokens_to_evidence(reading, [Target("c.py")])
    (170, None)
    """
    spent = reading.before
    for piece in reading.pieces:
        spent += piece.tokens
        if spent > MOST_TOKENS:
            return None
        if any(touches(piece.hit, target) for target in targets):
            return spent
    return None


class Difference(NamedTuple):
    """A difference of two means, with its 95 % interval."""

    mean: float
    low: float
    high: float


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], groups: Sequence[str], *, seed: int, rounds: int = ROUNDS
) -> Difference:
    """Return the mean of ours - theirs, with a 95 % interval.

    The bootstrap draws groups of questions with replacement; `groups` names each question's, such as its file. Questions about
    one file resemble each other: drawn one by one they would make the interval too narrow. Source: Davison & Hinkley 1997,
    §3.8, resampling whole clusters.

    >>> paired_difference([1.0, 1.0, 0.5], [0.5, 0.5, 0.0], ["a", "a", "b"], seed=7, rounds=50)
    Difference(mean=0.5, low=0.5, high=0.5)
    """
    gaps = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(group, gaps), np.bincount(group)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(rounds, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    mean = float(gaps.mean())
    return Difference(mean, min(mean, float(low)), max(mean, float(high)))
