"""Measures of a ranked answer, and what to say about the difference of two systems.

A *hit* is what a tool returned: a path and the lines from `start` to `end`, counted from 1 and inclusive. A *target* is one
right answer: a path, and line spans where the label has them. Every measure is in [0, 1] and higher is better, but
`lines_returned`, which is the price.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

Span = tuple[int, int]


class Hit(NamedTuple):
    """One returned chunk: `path` relative to the indexed directory, lines from 1, inclusive."""

    path: str
    start: int
    end: int


class Target(NamedTuple):
    """One right answer: a file, and the line spans in it, empty where the whole file counts."""

    path: str
    spans: tuple[Span, ...] = ()


def overlaps(hit: Hit, span: Span) -> bool:
    """Say whether the hit shares a line with the span.

    >>> overlaps(Hit("a.py", 10, 20), (20, 30)), overlaps(Hit("a.py", 10, 20), (21, 30))
    (True, False)
    """
    return hit.start <= span[1] and span[0] <= hit.end


def touches(hit: Hit, target: Target) -> bool:
    """Say whether the hit is in the target's file and, where the target has spans, on one of its lines.

    >>> touches(Hit("a.py", 1, 9), Target("a.py")), touches(Hit("a.py", 1, 9), Target("a.py", ((10, 12),)))
    (True, False)
    """
    return hit.path == target.path and (not target.spans or any(overlaps(hit, span) for span in target.spans))


def dcg(ranks: Sequence[int]) -> float:
    """Sum the binary gains at these ranks (from 1), discounted by log2(rank + 1).

    >>> round(dcg([1, 3]), 4)  # 1/1 + 1/2
    1.5
    """
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def ndcg(ranks: Sequence[int], relevant: int, k: int = 10) -> float:
    """Divide the gain of the ranks up to `k` by the gain of `relevant` answers at the top; 0 where none is relevant.

    Two targets found by one chunk share its rank and count once, as in semble's benchmark.

    >>> ndcg([1, 2], 2), ndcg([], 1), ndcg([11], 1)
    (1.0, 0.0, 0.0)
    >>> round(ndcg([2], 1), 4)  # 1/log2(3)
    0.6309
    """
    ideal = dcg(range(1, min(k, relevant) + 1))
    return dcg(sorted({rank for rank in ranks if rank <= k})) / ideal if ideal else 0.0


def semble_ndcg(hits: Sequence[Hit], targets: Sequence[Target], k: int = 10) -> float:
    """NDCG@k by semble's rule: chunks as returned, each target at the rank of the first chunk that touches it.

    Primary and secondary targets weigh the same, and chunks of one file are not merged, so a second chunk of a file
    pushes the others down.

    >>> answer = [Hit("a.py", 1, 9), Hit("a.py", 10, 19), Hit("b.py", 1, 9)]
    >>> round(semble_ndcg(answer, [Target("b.py")]), 4)  # rank 3: 1/log2(4)
    0.5
    >>> round(semble_ndcg(answer, [Target("a.py"), Target("b.py")]), 4)  # (1 + .5) / (1 + .6309)
    0.9197
    """
    firsts = (next((i for i, hit in enumerate(hits[:k], 1) if touches(hit, target)), None) for target in targets)
    return ndcg([rank for rank in firsts if rank], len(targets), k)


def files_of(hits: Sequence[Hit]) -> list[str]:
    """List the files of the hits in order of each file's best chunk.

    >>> files_of([Hit("a.py", 1, 9), Hit("b.py", 1, 9), Hit("a.py", 10, 19)])
    ['a.py', 'b.py']
    """
    return list(dict.fromkeys(hit.path for hit in hits))


def file_measures(hits: Sequence[Hit], targets: Sequence[Target], k: int = 10) -> dict[str, float]:
    """NDCG, recall and MRR at `k`, and hit@1, over files in order of their best chunk.

    >>> answer = [Hit("a.py", 1, 9), Hit("a.py", 10, 19), Hit("b.py", 1, 9)]
    >>> found = file_measures(answer, [Target("b.py"), Target("c.py")])
    >>> {name: round(value, 4) for name, value in found.items()}  # file rank 2 of two targets: .6309 / 1.6309
    {'file_ndcg': 0.3869, 'file_recall': 0.5, 'file_mrr': 0.5, 'file_hit1': 0.0}
    """
    wanted = {target.path for target in targets}
    ranks = [rank for rank, path in enumerate(files_of(hits)[:k], 1) if path in wanted]
    return {
        "file_ndcg": ndcg(ranks, len(wanted), k),
        "file_recall": len(ranks) / len(wanted) if wanted else 0.0,
        "file_mrr": 1 / ranks[0] if ranks else 0.0,
        "file_hit1": float(ranks[:1] == [1]),
    }


def span_recall(hits: Sequence[Hit], targets: Sequence[Target], k: int = 10) -> float | None:
    """Share of the targets' line spans that the first `k` chunks touch; None where no target has a span.

    >>> targets = [Target("a.py", ((5, 6), (40, 44))), Target("b.py", ((1, 2),)), Target("c.py")]
    >>> round(span_recall([Hit("a.py", 1, 9), Hit("b.py", 3, 9)], targets), 4)  # one of three
    0.3333
    """
    spans = [(target.path, span) for target in targets for span in target.spans]
    if not spans:
        return None
    return sum(any(hit.path == path and overlaps(hit, span) for hit in hits[:k]) for path, span in spans) / len(spans)


def lines_returned(hits: Sequence[Hit], k: int = 10) -> int:
    """Count the lines that the first `k` chunks hold, each chunk by itself: what a reader has to read.

    >>> lines_returned([Hit("a.py", 1, 9), Hit("b.py", 3, 3)])
    10
    """
    return sum(hit.end - hit.start + 1 for hit in hits[:k])


def mean_over_repositories(values: Mapping[str, Sequence[float]]) -> float:
    """Mean of the repositories' means: every repository weighs the same however many questions it has.

    >>> mean_over_repositories({"a": [1.0, 0.0], "b": [1.0]})
    0.75
    """
    means = [sum(row) / len(row) for row in values.values() if row]
    return sum(means) / len(means) if means else 0.0


def paired_interval(
    ours: Mapping[str, Sequence[float]],
    theirs: Mapping[str, Sequence[float]],
    *,
    seed: int = 7,
    rounds: int = 5000,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """Difference of two repository means with a bootstrap interval: (ours - theirs, low, high).

    Each round draws repositories with replacement and, inside each, questions with replacement: the interval speaks
    about repositories that were not measured. Both sides must hold the same questions in the same order.

    >>> paired_interval({"a": [1.0, 1.0], "b": [0.5]}, {"a": [0.5, 0.5], "b": [0.0]}, rounds=50)
    (0.5, 0.5, 0.5)
    """
    names = sorted(ours)
    gaps = [np.asarray(ours[name]) - np.asarray(theirs[name]) for name in names]
    random = np.random.default_rng(seed)
    draws = np.empty((len(names), rounds))
    for row, gap in enumerate(gaps):
        draws[row] = gap[random.integers(len(gap), size=(rounds, len(gap)))].mean(axis=1)
    chosen = random.integers(len(names), size=(rounds, len(names)))
    means = draws[chosen.T, np.arange(rounds)].mean(axis=0)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(np.mean([gap.mean() for gap in gaps])), float(low), float(high)
