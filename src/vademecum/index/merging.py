"""Keep segments few: merge neighbours in age.

Each segment is at least MERGED_BELOW times the one after it, so a million documents are a handful of segments, and a document is
rewritten a few times in all. This is how log-structured stores merge (O'Neil and others, "The log-structured merge-tree", 1996).
"""

from __future__ import annotations

from collections.abc import Sequence

MERGED_BELOW = 4  # a segment less than this many times the one after it is merged with it
MOST_MERGED = 1 << 18  # documents in a merged segment: merging them takes some 1 GB of memory


def runs_to_merge(sizes: Sequence[int], *, everything: bool = False) -> list[slice]:
    """Return the runs of neighbours, oldest first, that become one segment each.

    With `everything`, as few as MOST_MERGED allows.

    >>> runs_to_merge([20_000, 20_000, 20_000, 200, 60, 1])
    [slice(0, 3, None), slice(3, 5, None), slice(5, 6, None)]
    >>> runs_to_merge([100, 0, 0]), runs_to_merge([])
    ([slice(0, 1, None), slice(1, 3, None)], [])
    >>> runs_to_merge([MOST_MERGED, MOST_MERGED // 2]), runs_to_merge([900, 1], everything=True)
    ([slice(0, 1, None), slice(1, 2, None)], [slice(0, 2, None)])
    """
    runs: list[slice] = []
    end = len(sizes)
    while end:
        begin = end - 1
        total = max(sizes[begin], 1)  # empty segments are merged, too
        while begin and (everything or sizes[begin - 1] < MERGED_BELOW * total):
            if total + sizes[begin - 1] > MOST_MERGED:
                break
            begin -= 1
            total += sizes[begin]
        runs.append(slice(begin, end))
        end = begin
    return runs[::-1]
