"""Standing preferences and instructions, shown beside what answers a request for help.

A request for help ("how should I store sessions?") is also answered with what was once said about such help: "I prefer Redis
over a table", "always show the types when I ask for code". Such a sentence shares few words with the request, so words do not
find it. But there are few of them, and of few the nearest in meaning is mostly the one that matters. So the last places of
an answer to such a request go to the events that state them.

Measured on 279 questions of chats of the kind that memory is tuned on, none of those that are reported: of what instructions and
preferences such a request has to heed, 0.26 and 0.43 were among the ten shown, with the last four places given to what
stands 0.39 and 0.54; questions of other kinds lose next to nothing, for they ask for no help (decision 0051).
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from vademecum.memory.preferences import read_active
from vademecum.memory.scope import Scope
from vademecum.memory.view import View

PART = 0.4  # of the places of an answer, the last ones, at most


class Standing:
    """The rows of the events that hold what stands, kept while neither facts nor events change. For one thread at a time."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        """Take the scopes."""
        self._scopes = tuple(scopes)
        self._known: tuple[ref[View], tuple[str, ...], NDArray[np.int64]] | None = None  # a view that goes is not held

    def rows(self, view: View) -> NDArray[np.int64]:
        """Return the rows of a view that hold a preference or an instruction that stands: int64 (M,), ascending.

        Raises `StoreError`.
        """
        versions = tuple(scope.journal.version() for scope in self._scopes)
        if self._known is None or self._known[0]() is not view or self._known[1] != versions:
            events = [fact.event for fact in read_active(self._scopes)]
            self._known = ref(view), versions, rows_of(self._scopes, view, events)
        return self._known[2]


def rows_of(scopes: Sequence[Scope], view: View, events: Sequence[str]) -> NDArray[np.int64]:
    """Return the rows of a view that hold events, by their ids, which several scopes may have: int64 (M,), ascending.

    Raises `StoreError`.
    """
    found = []
    for scope in scopes:
        numbers = np.array(sorted(scope.journal.numbers(events).values()), np.int64)
        here = view.rows_in(scope.number)
        own = view.numbers[here]
        place = np.searchsorted(own, numbers)
        there = place < len(own)
        there[there] = own[place[there]] == numbers[there]  # one that was recorded this moment is in the next view
        found.append(place[there] + here.start)
    rows: NDArray[np.int64] = np.concatenate([np.zeros(0, np.int64), *found])
    return rows[view.alive.take(rows)]
