"""Reserve places for tools without usage.

Memory says nothing for a tool that nobody has called yet, and outweighs its text. So, of the tools that fit the intent best
by text alone, the first `KEPT`, those that are new take places among the first `KEPT` from the least likely others:

    by probability   a  b  c  d  e        a b c d e were used, x and y were not
    by text alone    c  x  d              x is the second of three
    shown            a  b  x  c  d  e     x has the place of c

Whoever moves takes the probability of the place: the probabilities that are shown fall, and the first, by which a
prediction abstains, is what it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vademecum.index.fusion import top
from vademecum.tools.texts import Floats

KEPT = 3  # places: as many as a prediction shows unless it is asked for more


def shown(likely: Floats, text: Floats, new: NDArray[np.bool_], count: int, *, yielding: bool = False) -> list[int]:
    """Return the numbers of the first `count` tools to show, in order.

    Let F be the new tools among the first `KEPT` by `text` that fit at all, and a the likeliest tool of all. Then a is
    first, all of F are among the first `KEPT`, and the others keep their order; but where F has `KEPT` members and a is none
    of them, the least likely of F is right behind the others, or, with `yielding`, a is right behind F.

    Args:
        likely: float32 (n,), by what tools are ordered otherwise; the highest is the likeliest.
        text: float32 (n,), how well each fits by its text; 0 for not at all, or for a tool that cannot be called.
        new: bool (n,), whether no trace has used a tool.
        count: how many are wanted.
        yielding: whether the likeliest makes room where there is none left for F.

    >>> likely, text = np.array([5, 4, 3, 2, 1, 0], np.float32), np.array([0, 0, 9, 7, 0, 8], np.float32)
    >>> shown(likely, text, np.array([False, False, False, False, False, True]), 6)
    [0, 1, 5, 2, 3, 4]
    >>> shown(likely, text, np.array([False, False, True, True, False, True]), 6, yielding=True)
    [2, 3, 5, 0, 1, 4]
    """
    order = [int(n) for n in top(likely, max(count, KEPT) + KEPT)]
    fitting = sorted((int(n) for n in top(text, KEPT) if new[n] and text[n] > 0), key=lambda n: -likely[n])
    first = order[:KEPT]
    for tool in fitting:
        others = [other for other in first[1:] if other not in fitting]
        if tool not in first:
            if others:
                first.remove(others[-1])
            first.append(tool)
    if yielding and len(first) > KEPT:
        first = [*first[1:], first[0]]
    return [*first, *(n for n in order if n not in first)][:count]
