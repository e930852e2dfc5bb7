"""Choose the set with the highest expected score.

Of members that are taken independently, the k likeliest have the expected F1

    2 (p1 + ... + pk) / (k + the sum of all p)

by the means of numerator and denominator, and no other set of k has more (Lewis 1995, "Evaluating and optimizing autonomous text
classification systems").
"""

from __future__ import annotations

import numpy as np

from vademecum.index.fusion import top
from vademecum.tools.texts import Floats


def right_on_average(likely: Floats, most: int) -> list[int]:
    """Return the members of the set with the highest expected F1.

    Args:
        likely: float32 (n,), how likely each is a member, each by itself.
        most: members at most.

    >>> right_on_average(np.array([0.5, 0.02, 0.4, 0.3, 0.04], np.float32), 12)
    [0, 2, 3]
    """
    best = top(likely, most)
    if not len(best):
        return []
    size = np.arange(1, len(best) + 1)
    expected = 2 * np.cumsum(likely[best]) / (size + likely.sum())
    return [int(each) for each in best[: int(expected.argmax()) + 1]]
