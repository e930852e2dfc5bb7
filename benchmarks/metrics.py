"""Measures of a ranked answer, and what to say about the difference of two systems.

Hits, targets and the usual measures are those of `vade bench`, in `vademecum.bench.measures`; here is what only comparing
tools over many repositories needs.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from vademecum.bench.measures import (
    Hit,
    Span,
    Target,
    file_measures,
    files_of,
    lines_returned,
    ndcg,
    span_recall,
    touches,
)

__all__ = [
    "Hit",
    "Span",
    "Target",
    "accuracy",
    "file_measures",
    "files_of",
    "functions_in",
    "lines_returned",
    "mean_over_repositories",
    "paired_interval",
    "semble_ndcg",
    "span_recall",
]


def functions_in(source: str) -> list[tuple[str, Span]]:
    r"""List the functions and methods of a Python file by qualified name, with their lines; none where it does not parse.

    >>> functions_in("class A:\n    @x\n    def f(self):\n        def g(): pass\n")
    [('A.f', (2, 4))]
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return list(_below(tree, ""))


def _below(node: ast.AST, scope: str) -> Iterator[tuple[str, Span]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            yield scope + child.name, (first, child.end_lineno or first)
        else:
            yield from _below(child, f"{scope}{child.name}." if isinstance(child, ast.ClassDef) else scope)


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


def accuracy(found: Sequence[str], wanted: Collection[str], k: int) -> float:
    """Whether all that is wanted is among the first `k`, as SweRank and LocAgent count it: Acc@k.

    >>> accuracy(["a", "b", "c"], {"a", "c"}, 3), accuracy(["a", "b", "c"], {"a", "c"}, 2)
    (1.0, 0.0)
    """
    return float(set(wanted) <= set(found[:k]))


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
